#include "fl_adapters/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "fl_adapters/messages.h"
#include "tests/source_file.h"

namespace neutra::fl_adapters {
namespace {

const std::filesystem::path kSource = source_file("");

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

TEST(Tools, NativeOnesTellWhatTheyMaySay) {
  for (const Tool* tool : tools()) {
    ASSERT_EQ(tool->messages != nullptr, tool->kind == ToolKind::kNative) << tool->name;
    if (!tool->messages) continue;
    EXPECT_FALSE(tool->messages().codes().empty()) << tool->name;
    for (const std::string& type : fault_types_of(*tool)) {
      EXPECT_EQ(std::count_if(program::fault_types().begin(), program::fault_types().end(),
                              [&](const auto& known) { return known.first == type; }),
                1)
          << tool->name << ' ' << type;
    }
  }
  EXPECT_TRUE(fault_types_of(*find_tool("umlaut")).contains("HLR"));
  EXPECT_TRUE(fault_types_of(Tool{}).empty());
}

TEST(Tools, EachHasItsPageInTheIndex) {
  const std::string index = read_file(kSource / "docs/index.md", "a page");
  for (const Tool* tool : tools()) {
    // The formulas of one tool ("deepmufl-muse") share its page.
    const std::string page = "methods/" + tool->name.substr(0, tool->name.find('-')) + ".md";
    EXPECT_NE(read_file(kSource / "docs" / page, "a page").find("# "), std::string::npos) << page;
    EXPECT_NE(index.find(page), std::string::npos) << page;
  }
}

}  // namespace
}  // namespace neutra::fl_adapters
