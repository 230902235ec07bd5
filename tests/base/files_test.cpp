#include "base/files.h"

#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::error_of;
using tests::TestFolder;
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
            "/dev/zero: found more than 1 MiB; allowed: a log of at most 1 MiB from a pipe or "
            "device");
  // A larger limit is for files, which have an end.
  EXPECT_EQ(error_of([] { read_file("/dev/zero", "a log", std::uint64_t{1} << 40); }),
            "/dev/zero: found more than 64 MiB; allowed: a log of at most 64 MiB from a pipe or "
            "device");
  for (const auto& refuse :
       std::vector<std::function<void()>>{[] { read_regular_file("/dev/zero", "a log"); },
                                          [] { require_no_pipe("/dev/zero", "a log"); }}) {
    EXPECT_EQ(error_of(refuse),
              "/dev/zero: found a pipe or device, which can be read only once; allowed: a log on a "
              "disk, which is read more than once");
  }
}

TEST(Files, WhatIsReadMoreThanOnceIsNoPipe) {
  const TestFolder folder;
  write(folder / "file", "text");
  for (const char* name : {"file", "none", "."}) {
    EXPECT_FALSE(is_pipe_or_device(folder / name)) << name;
    EXPECT_EQ(error_of([&] { require_no_pipe(folder / name, "a log"); }), "") << name;
  }
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(error_of([&] { require_no_pipe(folder / "pipe", "a log"); }).find("only once"),
            std::string::npos);
}

TEST(Files, SizesAreSaidInTheirUnit) {
  for (const auto& [bytes, text] : std::vector<std::pair<std::uint64_t, std::string>>{
           {0, "0 bytes"},
           {1, "1 byte"},
           {1023, "1023 bytes"},
           {1024, "1 KiB"},
           {1536, "1.5 KiB"},
           {20 * 1024 + 1, "20 KiB"},
           {1024 * 1024 - 1, "1 MiB"},
           {std::uint64_t{64} << 20, "64 MiB"},
           {std::uint64_t{1000} << 20, "1000 MiB"},
           {std::uint64_t{5} << 29, "2.5 GiB"},
           {std::numeric_limits<std::uint64_t>::max(), "16 EiB"}}) {
    EXPECT_EQ(size_text(bytes), text);
  }
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
