#include "cli/build_info.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace neutra::cli {
namespace {

TEST(BuildInfo, VersionHasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(version(), std::regex(R"(\d+\.\d+\.\d+)"))) << version();
}

TEST(BuildInfo, CommitIsAFullHashOrUnknown) {
  EXPECT_TRUE(std::regex_match(git_commit(), std::regex("unknown|[0-9a-f]{40}(-dirty)?")))
      << git_commit();
}

TEST(BuildInfo, CompilerNamesVersionAndBuildType) {
  EXPECT_TRUE(std::regex_match(compiler(), std::regex(R"(\w+ \d+\.\d+.*, \w+(, [a-z,]+)?)")))
      << compiler();
}

}  // namespace
}  // namespace neutra::cli
