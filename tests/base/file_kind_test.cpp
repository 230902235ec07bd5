#include "base/file_kind.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/json.h"

namespace neutra {
namespace {

TEST(FileKind, IsToldByTheFirstBytes) {
  const auto file = std::filesystem::path(testing::TempDir()) / "neutra_file_kind";
  const std::string hdf5(kHdf5Start);
  std::string with_header = std::string(kChecksumHeaderBytes, '\0') + hdf5 + "rest";
  put_checksum_header(with_header, "some-format", 1);
  const std::string frame = std::string(kJournalBeginning) + "123456789012";
  for (const auto& [bytes, kind] : std::vector<std::pair<std::string, std::string>>{
           {"", "an empty file"},
           {"text", "another kind of file"},
           {"{}", "another kind of file"},
           {hdf5 + "rest", "an HDF5 file"},
           {std::string(kChecksumHeaderBytes, '\0') + hdf5, "an HDF5 file"},
           {std::string(kChecksumHeaderBytes, '\0') + hdf5.substr(0, 7), "another kind of file"},
           {with_header, "an HDF5 file"},
           {frame + R"({"type":"header","header":{"format":"some-format"}})",
            "a journal of neutra"},
           {frame + "{}", "a journal of neutra"},
           {"PK\x03\x04 and so on", "a zip archive"},
           {"\x80\x04}q.", "a pickle, which is Python code"}}) {
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_EQ(kind_of_file(file), kind);
    EXPECT_EQ(is_hdf5_file(file), bytes.find(kHdf5Start) != std::string::npos);
    if (kind == "another kind of file" || kind == "an empty file") continue;
    try {
      read_json(file);
      ADD_FAILURE() << kind;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), file.string() + ": found " + kind + "; allowed: a JSON file");
    }
  }
  std::filesystem::remove(file);
  EXPECT_EQ(kind_of_file(testing::TempDir()), "a folder");
  EXPECT_EQ(kind_of_file("/dev/null"), "something that is no file");
  EXPECT_EQ(kind_of_no_file(testing::TempDir()), "a folder");
  EXPECT_EQ(kind_of_no_file("/dev/null"), "a device");
}

}  // namespace
}  // namespace neutra
