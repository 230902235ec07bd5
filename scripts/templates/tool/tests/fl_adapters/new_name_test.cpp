#include <gtest/gtest.h>

#include "fl_adapters/registry.h"

namespace neutra::fl_adapters::new_name::tests {
namespace {

TEST(NewName, SaysWhatIsWrong) {
  ASSERT_NE(find_tool("new_name"), nullptr);
  FAIL() << "to be filled in: the rules in fl_adapters/tools/new_name.cpp, their messages and "
            "thresholds in new_name.json beside it; here each rule with a case that fires it, and "
            "one just below its threshold";
}

}  // namespace
}  // namespace neutra::fl_adapters::new_name::tests
