#include "base/file_kind.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"

namespace neutra {
namespace {

TEST(FileKind, IsToldByTheFirstBytes) {
  const auto file = std::filesystem::path(testing::TempDir()) / "neutra_file_kind";
  const std::string hdf5(kHdf5Start);
  const auto sealed = [&](const char* format) {
    std::string image = std::string(kSealBytes, '\0') + hdf5 + "rest";
    seal(image, format, 1);
    return image;
  };
  const std::string frame = std::string(kJournalBeginning) + "123456789012";
  for (const auto& [bytes, kind] : std::vector<std::pair<std::string, std::string>>{
           {"", "an empty file"},
           {"text", "another kind of file"},
           {"{}", "another kind of file"},
           {hdf5 + "rest", "an HDF5 file"},
           {std::string(kSealBytes, '\0') + hdf5, "an HDF5 file"},
           {std::string(kSealBytes, '\0') + hdf5.substr(0, 7), "another kind of file"},
           {sealed("neutra-store"), "the store of a search"},
           {sealed("neutra-benchmark"), "a benchmark"},
           {frame + R"({"type":"header","header":{"format":"neutra-store"}})",
            "the journal of a search"},
           {frame + R"({"type":"header","header":{"format":"neutra-mutant-runs"}})",
            "the runs of neutra mutate --kill"},
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
}

}  // namespace
}  // namespace neutra
