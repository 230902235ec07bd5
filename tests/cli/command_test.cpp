// What every call of the command has in common.

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

TEST(Command, ReferencePageIsWhatHelpSays) {
  const Folder folder;
  const Called called = call({"help", "--markdown"}, folder.path());
  ASSERT_EQ(called.exit, 0);
  EXPECT_EQ(called.out, read_file(source_file("docs/reference/commands.md"), "a page"))
      << "run scripts/update_docs";
}

TEST(Command, VersionNamesLibrariesAndBlasRoute) {
  const Folder folder;
  const Called called = call({"--version"}, folder.path());
  ASSERT_EQ(called.exit, 0);
  EXPECT_TRUE(has(called.out, {"neutra 0.1.0", "LibTorch", "oneDNN", "HDF5",
                               "MPI: ", "BLAS route: oneDNN", "GFLOP/s"}));
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
