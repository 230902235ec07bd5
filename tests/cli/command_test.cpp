// What every call of the command has in common.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

std::string file_text(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Command, ReferencePageIsWhatHelpSays) {
  const Folder folder;
  const Called called = call({"help", "--markdown"}, folder.path());
  ASSERT_EQ(called.exit, 0);
  EXPECT_EQ(called.out, file_text(NEUTRA_SOURCE_DIR "/docs/reference/commands.md"))
      << "run scripts/update_docs";
}

TEST(Command, VersionNamesLibrariesAndBlasRoute) {
  const Folder folder;
  const Called called = call({"--version"}, folder.path());
  ASSERT_EQ(called.exit, 0);
  for (const char* word :
       {"neutra 0.1.0", "LibTorch", "oneDNN", "HDF5", "MPI: ", "BLAS route: oneDNN", "GFLOP/s"})
    EXPECT_NE(called.out.find(word), std::string::npos) << word << called.out;
}

TEST(Command, ListsSubjectsAndFaults) {
  const Folder folder;
  const Called faults = call({"faults", "--json"}, folder.path());
  ASSERT_EQ(faults.exit, 0) << faults.err;
  EXPECT_EQ(parse_json(faults.out, "out").size(), 25u);
  const Called subjects = call({"subjects", "--json"}, folder.path());
  ASSERT_EQ(subjects.exit, 0) << subjects.err;
  EXPECT_EQ(parse_json(subjects.out, "out").size(), 22u);
}

}  // namespace
}  // namespace neutra::cli
