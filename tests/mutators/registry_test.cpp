#include "mutators/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace neutra {
namespace {

const std::filesystem::path kSource = NEUTRA_SOURCE_DIR;

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Registry, SortedAndWithoutRepetition) {
  const auto& operators = neutrality_operators();
  EXPECT_EQ(operators.size(), 10u);  // Table 2
  std::set<KeyKind> kinds;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(operators[i - 1]->id, operators[i]->id);
    }
    EXPECT_TRUE(kinds.insert(operators[i]->kind).second) << operators[i]->id;
  }
}

TEST(Registry, HoldsEveryOperatorFile) {
  std::set<std::string> files, ids;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "mutators")) {
    if (entry.path().extension() == ".cpp" && entry.path().stem().string().starts_with("change_")) {
      files.insert(entry.path().stem());
    }
  }
  for (const NeutralityOperator* op : neutrality_operators()) ids.emplace(op->id);
  EXPECT_EQ(ids, files);
}

TEST(Registry, EveryOperatorHasItsPage) {
  for (const NeutralityOperator* op : neutrality_operators()) {
    const std::string page = read(kSource / "docs/mutators" / (std::string(op->id) + ".md"));
    EXPECT_NE(page.find("# " + std::string(op->id)), std::string::npos) << op->id;
    EXPECT_NE(page.find(std::string(op->abbreviation)), std::string::npos) << op->id;
    EXPECT_NE(page.find("kind `" + std::string(to_string(op->kind))), std::string::npos) << op->id;
    EXPECT_FALSE(op->description.empty() || op->source.empty()) << op->id;
  }
}

TEST(Registry, FindsByKind) {
  EXPECT_EQ(find_operator(KeyKind::kActivation)->id, "change_activation_function");
  EXPECT_EQ(find_operator(KeyKind::kRepeat)->abbreviation, "LRM|LAD");
  EXPECT_EQ(find_operator(KeyKind::kDropout), nullptr);
}

}  // namespace
}  // namespace neutra
