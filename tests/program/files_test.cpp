#include "program/files.h"

#include <sys/stat.h>

#include <fstream>
#include <limits>
#include <thread>

#include "support.h"

namespace neutra {
namespace {

using testing::error_of;
using testing::TestFolder;
namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

TEST(Files, ReadsFilesAndPipesToTheirEnd) {
  const TestFolder folder;
  const std::string text = std::string(100000, 'x') + '\0' + "\r\n";
  write(folder / "file", text);
  EXPECT_EQ(read_file(folder / "file", "a file"), text);
  EXPECT_EQ(read_file(folder / "file", "a file", text.size()), text);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write(folder / "pipe", text); });
  EXPECT_EQ(read_file(folder / "pipe", "a file"), text);
  writer.join();
}

TEST(Files, ReadsNoEndlessDevice) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;
  EXPECT_EQ(error_of([] { read_file("/dev/zero", "a log", kLimit); }),
            "/dev/zero: found more than 1 MiB; allowed: a log of at most 1 MiB");
  EXPECT_EQ(error_of([] { read_regular_file("/dev/zero", "a log"); }),
            "/dev/zero: found a pipe or device; allowed: a log");
}

TEST(Files, SaysWhatCannotBeRead) {
  const TestFolder folder;
  EXPECT_NE(error_of([&] { read_file(folder / "none", "a log"); }).find("there is no such file"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              read_regular_file(folder / "", "a log");
            }).find("found a folder; allowed: a log"),
            std::string::npos);
}

TEST(Files, WritablePlacesStayAsTheyAre) {
  const TestFolder folder;
  write(folder / "old", "text");
  for (const char* name : {"old", "new", "."}) {
    const auto place = folder / name;
    const bool is_folder = fs::is_directory(place);
    EXPECT_EQ(error_of([&] {
                is_folder ? require_writable_folder(place, "--keep")
                          : require_writable(place, "--output");
              }),
              "");
  }
  EXPECT_EQ(error_of([&] { require_writable_folder(folder / "a/b/c", "--keep"); }), "");
  EXPECT_EQ(error_of([] { require_writable("/dev/null", "--output"); }), "");
  EXPECT_EQ(read_file(folder / "old", "a text"), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), {}), 1);
}

TEST(Files, UnwritablePlacesAreNamed) {
  const TestFolder folder;
  write(folder / "file", "");
  const auto refusal = [&](const std::string& name) {
    return error_of([&] { require_writable(folder / name, "--output"); });
  };
  EXPECT_NE(refusal("none/new").find("--output: found "), std::string::npos);
  EXPECT_NE(refusal("none/new").find("No such file or directory"), std::string::npos);
  EXPECT_NE(refusal("file/new").find("Not a directory"), std::string::npos);
  EXPECT_NE(refusal("").find("a folder; allowed: a file"), std::string::npos);
  EXPECT_NE(refusal(std::string(250, 'x')).find("File name too long"), std::string::npos);
  EXPECT_NE(error_of([&] {
              require_writable_folder(folder / "file/new", "--keep");
            }).find("Not a directory"),
            std::string::npos);
  EXPECT_NE(error_of([] { require_writable("/proc/neutra", "--output"); }), "");
}

}  // namespace
}  // namespace neutra
