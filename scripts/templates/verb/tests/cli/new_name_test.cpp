#include <gtest/gtest.h>

#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

TEST(NewName, DoesWhatItsHelpSays) {
  const Folder folder;
  const Called called = call({"new-name", "D7"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  FAIL() << "to be filled in: help, options and what it does in cli/verb_new_name.cpp; here its "
            "text and JSON for one fault, and each kind of bad input. Then scripts/update_docs";
}

}  // namespace
}  // namespace neutra::cli
