#include "program/file_formats.h"

#include <gtest/gtest.h>

#include "base/checksum_header.h"
#include "base/file_kind.h"
#include "base/json.h"
#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra::program {
namespace {

TEST(FileFormats, MessagesCallThemByTheirNames) {
  name_file_formats();
  const neutra::tests::TestFolder folder;
  const auto with_header = [](const char* format) {
    std::string image = std::string(kChecksumHeaderBytes, '\0') + std::string(kHdf5Start) + "rest";
    put_checksum_header(image, format, 1);
    return image;
  };
  const auto journal = [](const std::string& format) {
    return std::string(kJournalBeginning) + "123456789012" +
           R"({"type":"header","header":{"format":")" + format + R"("}})";
  };
  for (const auto& [bytes, kind] : std::vector<std::pair<std::string, std::string>>{
           {with_header("neutra-store"), "the store of a search"},
           {with_header("neutra-benchmark"), "a benchmark"},
           {with_header("other"), "an HDF5 file"},
           {journal("neutra-store"), "the journal of a search"},
           {journal("neutra-mutant-runs"), "the runs of neutra mutate --kill"},
           {journal("other"), "a journal of neutra"}}) {
    const auto file = folder.write("file", bytes);
    EXPECT_EQ(kind_of_file(file), kind);
    EXPECT_EQ(neutra::tests::error_of([&] { read_json(file); }),
              file.string() + ": found " + kind + "; allowed: a JSON file");
  }
  const auto store = folder.write("store", with_header("neutra-store"));
  EXPECT_EQ(neutra::tests::error_of([&] { require_format(store, "neutra-monitor", 1); }),
            store.string() + ": found the store of a search; allowed: a file of neutra-monitor");
}

}  // namespace
}  // namespace neutra::program
