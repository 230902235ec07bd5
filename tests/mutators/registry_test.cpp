#include "mutators/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "program/faults.h"
#include "tests/source_file.h"

namespace neutra::mutators {
namespace {

const std::filesystem::path kSource = source_file("");

std::set<std::string> files(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "mutators" / folder)) {
    names.insert(entry.path().stem());
  }
  return names;
}

std::string page_of(std::string_view id) {
  return read_file(kSource / "docs/mutators" / (std::string(id) + ".md"), "a page");
}

TEST(NeutralityRegistry, SortedAndWithoutRepetition) {
  const auto& operators = neutrality_operators();
  EXPECT_EQ(operators.size(), 10u);  // Table 2
  std::set<program::KeyKind> kinds;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(operators[i - 1]->id, operators[i]->id);
    }
    EXPECT_TRUE(kinds.insert(operators[i]->kind).second) << operators[i]->id;
  }
}

TEST(NeutralityRegistry, HoldsEveryOperatorFile) {
  std::set<std::string> ids;
  for (const NeutralityOperator* op : neutrality_operators()) ids.emplace(op->id);
  EXPECT_EQ(ids, files("neutrality"));
}

TEST(NeutralityRegistry, EveryOperatorHasItsPage) {
  for (const NeutralityOperator* op : neutrality_operators()) {
    const std::string page = page_of(op->id);
    EXPECT_NE(page.find("# " + std::string(op->id)), std::string::npos) << op->id;
    EXPECT_NE(page.find(std::string(op->abbreviation)), std::string::npos) << op->id;
    EXPECT_NE(page.find("kind `" + std::string(to_string(op->kind))), std::string::npos) << op->id;
    EXPECT_FALSE(op->description.empty() || op->source.empty()) << op->id;
  }
}

TEST(NeutralityRegistry, FindsByKind) {
  EXPECT_EQ(find_operator(program::KeyKind::kActivation)->id, "change_activation_function");
  EXPECT_EQ(find_operator(program::KeyKind::kRepeat)->abbreviation, "LRM|LAD");
  EXPECT_EQ(find_operator(program::KeyKind::kDropout), nullptr);
}

TEST(MutationRegistry, SortedAndWithoutRepetition) {
  const auto& operators = mutation_operators();
  std::set<std::string_view> abbreviations;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(operators[i - 1]->id, operators[i]->id);
    }
    EXPECT_TRUE(abbreviations.insert(operators[i]->abbreviation).second) << operators[i]->id;
  }
}

TEST(MutationRegistry, HoldsEveryOperatorFile) {
  std::set<std::string> ids;
  for (const MutationOperator* op : mutation_operators()) ids.emplace(op->id);
  EXPECT_EQ(ids, files("mutation"));
}

TEST(MutationRegistry, OperatorsAreComplete) {
  for (const MutationOperator* op : mutation_operators()) {
    SCOPED_TRACE(op->id);
    EXPECT_FALSE(op->description.empty() || op->source.empty());
    EXPECT_NE(op->edit, nullptr);
    const OperatorParameter& parameter = op->parameter;
    EXPECT_EQ(parameter.name.empty(), parameter.type == ValueType::kNone);
    EXPECT_EQ(parameter.search == ValueSearch::kBinary, op->range != nullptr);
    EXPECT_EQ(parameter.type != ValueType::kNone, op->range != nullptr || op->values != nullptr);
    // Its fault types are known.
    EXPECT_NO_THROW(program::parse_fault_set(op->fault_type, std::string(op->id)));
  }
}

TEST(MutationRegistry, EveryOperatorHasItsPage) {
  const std::string index = read_file(kSource / "docs/mutators/index.md", "a page");
  for (const MutationOperator* op : mutation_operators()) {
    SCOPED_TRACE(op->id);
    const std::string page = page_of(op->id);
    EXPECT_EQ(page.find("# " + std::string(op->id)), 0u);
    EXPECT_NE(page.find("| abbreviation | " + std::string(op->abbreviation) + " |"),
              std::string::npos);
    EXPECT_NE(page.find("Source:"), std::string::npos);
    if (!op->parameter.name.empty()) {
      EXPECT_NE(page.find("`" + std::string(op->parameter.name) + "`"), std::string::npos);
    }
    EXPECT_NE(index.find("| [" + std::string(op->id) + "](" + std::string(op->id) + ".md) | " +
                         std::string(op->abbreviation) + " |"),
              std::string::npos);
  }
}

TEST(MutationRegistry, FindsByIdAndAbbreviation) {
  EXPECT_EQ(find_mutation_operator("change_label").abbreviation, "TCL");
  EXPECT_EQ(find_mutation_operator("tcl").id, "change_label");
  EXPECT_THROW(find_mutation_operator("change"), Error);
  EXPECT_THROW(find_mutation_operator(""), Error);
}

}  // namespace
}  // namespace neutra::mutators
