#include "fl_adapters/registry.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace neutra {
namespace {

const std::filesystem::path kSource = NEUTRA_SOURCE_DIR;

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Tools, SortedAndWithoutRepetition) {
  ASSERT_FALSE(tools().empty());
  for (std::size_t i = 1; i < tools().size(); ++i) {
    EXPECT_LT(tools()[i - 1]->name, tools()[i]->name);
  }
}

TEST(Tools, SayWhatTheyAre) {
  for (const Tool* tool : tools()) {
    EXPECT_FALSE(tool->version.empty() || tool->description.empty() || tool->source.empty() ||
                 tool->needs.empty())
        << tool->name;
    EXPECT_TRUE(tool->localise) << tool->name;
    EXPECT_EQ(find_tool(tool->name), tool);
  }
  EXPECT_EQ(find_tool("nothing"), nullptr);
}

TEST(Tools, EachHasItsPageInTheIndex) {
  const std::string index = read(kSource / "docs/index.md");
  for (const Tool* tool : tools()) {
    // The formulas of one tool ("deepmufl-muse") share its page.
    const std::string page = "methods/" + tool->name.substr(0, tool->name.find('-')) + ".md";
    EXPECT_NE(read(kSource / "docs" / page).find("# "), std::string::npos) << page;
    EXPECT_NE(index.find(page), std::string::npos) << page;
  }
}

}  // namespace
}  // namespace neutra
