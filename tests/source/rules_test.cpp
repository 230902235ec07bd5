// The bundled rules: their own examples, what must not change their verdicts, and the labelled
// snippets.

#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "base/error.h"
#include "source/as_published.h"
#include "source/checker.h"
#include "source/fixes.h"
#include "tests/error_of.h"
#include "tests/shared_data.h"

namespace neutra::source::tests {
namespace {

bool fires(const Rule& rule, const std::string& code) {
  const SourceText source("code.py", code);
  return !check(Analysis(source), {&rule}).empty();
}

/// Calls `use` with each example of each bundled rule.
template <typename Use>
void for_each_example(const Use& use) {
  for (const RuleSet& set : bundled_rules())
    for (const Rule& rule : set.rules)
      for (const RuleExample& example : rule.examples) use(rule, example);
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

TEST(Rules, FireOnTheirExamplesAsTheseSay) {
  ASSERT_GE(bundled_rules().size(), 1u);
  for (const RuleSet& set : bundled_rules())
    for (const Rule& rule : set.rules)
      for (const std::string& problem : check_examples(rule))
        ADD_FAILURE() << set.name << ", " << rule.id << ": " << problem;
}

TEST(Rules, DoNotCareAboutForm) {
  for_each_example([](const Rule& rule, const RuleExample& example) {
    const std::string& code = example.code;
    for (const std::string& other :
         {replaced(code, "\n", "\r\n"), replaced(code, "    ", "\t"),
          replaced(code, "\n", "  # note\n"), "import os\nimport collections\n\n" + code,
          code + "\ndef unused(a):\n    return a + 1\n",
          "if True:\n    " + replaced(code, "\n", "\n    ") + "pass\n",
          replaced(replaced(code, "(", "(\n "), ")", "\n )")})
      EXPECT_EQ(fires(rule, other), example.fires) << rule.id << ":\n" << other;
  });
}

TEST(Rules, FixesLeaveNothingToFix) {
  std::size_t fixed = 0;
  for_each_example([&](const Rule& rule, const RuleExample& example) {
    if (!example.fires || !rule.fix) return;
    const SourceText source("code.py", example.code);
    std::size_t applied = 0;
    const std::string text = fixed_text(source, check(Analysis(source), {&rule}), &applied);
    ASSERT_GE(applied, 1u) << rule.id;
    EXPECT_FALSE(fires(rule, text)) << rule.id << ":\n" << text;
    EXPECT_EQ(parse(text).errors(), 0u) << text;
    ++fixed;
  });
  EXPECT_GE(fixed, 3u);
}

TEST(Rules, CommentsSwitchThemOff) {
  const Rule& rule = bundled_rules().front().rules.front();
  const std::string code = "net = nn.Sequential(nn.Linear(1, 2))";
  ASSERT_TRUE(fires(rule, code));
  EXPECT_FALSE(fires(rule, code + "  # neutra: ignore"));
  EXPECT_FALSE(fires(rule, code + "  # neutra: ignore[other, " + rule.id + "]"));
  EXPECT_TRUE(fires(rule, code + "  # neutra: ignore[other]"));
  EXPECT_FALSE(fires(rule, "# neutra: ignore[" + rule.id + "]\n" + code));
}

TEST(Rules, SayWhatIsWrongWithThem) {
  const auto problem = [](const char* rule) {
    Json document = {{"format", "neutra-rules"}, {"version", 1}, {"name", "mine"}};
    document["rules"] = Json::array({Json::parse(rule)});
    return neutra::tests::error_of(
        [&] { parse_rules(document, "mine.json", Vocabulary::standard()); });
  };
  const std::string head =
      R"({"id": "a", "severity": "hint", "category": "c", "root_cause": "r", "symptom": "s", "message": "m")";
  EXPECT_EQ(problem((head + R"x(, "start": ".step"})x").c_str()), "");
  EXPECT_NE(problem((head + "}").c_str()).find("'start' is missing"), std::string::npos);
  EXPECT_NE(problem((head + R"x(, "start": "<modle>()"
})x")
                        .c_str())
                .find("did you mean model?"),
            std::string::npos);
  EXPECT_NE(problem((head + R"x(, "start": "a", "when": [{"pth": "forward"}]})x").c_str())
                .find("rules[0].when[0]"),
            std::string::npos);
  EXPECT_NE(problem((head + R"x(, "start": "a", "faults": ["XYZ"]})x").c_str()).find("found 'XYZ'"),
            std::string::npos);
}

struct Counts {
  int right_alarms = 0, missed = 0, false_alarms = 0, quiet = 0;
  void add(bool buggy, bool alarm) {
    ++(buggy ? (alarm ? right_alarms : missed) : (alarm ? false_alarms : quiet));
  }
  double precision() const {
    return right_alarms / std::max(1.0, double(right_alarms + false_alarms));
  }
  double recall() const { return right_alarms / std::max(1.0, double(right_alarms + missed)); }
};

/// The labelled snippets of docs/methods/source.md.
class Snippets : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = neutra::tests::shared_data("pysiassist") / "snippets.json";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
    snippets_ = read_json(file);
  }
  Json snippets_;
};

TEST_F(Snippets, RulesOfAPatternAgreeWithTheLabels) {
  std::map<int, Counts> patterns;
  Counts all, telling;
  int clean = 0, clean_with_warning = 0;
  std::vector<const Rule*> every_rule;
  for (const RuleSet& set : bundled_rules())
    for (const Rule& rule : set.rules) every_rule.push_back(&rule);
  for (const Json& snippet : snippets_) {
    const int pattern = snippet["pattern"];
    const bool buggy = snippet["label"] == "buggy";
    const SourceText source(snippet["id"], snippet["code"].get<std::string>());
    const Analysis analysis(source);
    std::vector<const Rule*> own = every_rule;
    std::erase_if(own, [&](const Rule* rule) { return rule->pattern != pattern; });
    const bool alarm = !check(analysis, own).empty();
    if (alarm != buggy)
      std::cout << (alarm ? "false alarm: " : "missed: ") << snippet["id"].get<std::string>()
                << ", pattern " << pattern << "\n";
    patterns[pattern].add(buggy, alarm);
    all.add(buggy, alarm);
    if (pattern != 1 && pattern != 7 && pattern != 8 && pattern != 14) telling.add(buggy, alarm);
    if (buggy) continue;
    ++clean;
    for (const Finding& finding : check(analysis, every_rule)) {
      if (finding.rule->severity == Severity::kHint) continue;
      std::cout << "clean, with a warning: " << snippet["id"].get<std::string>() << ", "
                << finding.rule->id << "\n";
      ++clean_with_warning;
      break;
    }
  }
  for (const auto& [pattern, counts] : patterns)
    std::cout << "pattern " << pattern << ": precision " << counts.precision() << ", recall "
              << counts.recall() << "\n";
  std::cout << "all: precision " << all.precision() << ", recall " << all.recall()
            << "; without 1, 7, 8, 14: " << telling.precision() << ", " << telling.recall()
            << "; clean with a warning: " << clean_with_warning << " of " << clean << "\n";
  EXPECT_GE(all.precision(), 0.95);
  EXPECT_GE(all.recall(), 0.90);
  EXPECT_GE(telling.precision(), 0.95);
  EXPECT_GE(telling.recall(), 0.90);
  EXPECT_LE(clean_with_warning, clean / 20);
}

TEST_F(Snippets, AsPublishedAgreesWithTheRecordedVerdicts) {
  int agree = 0;
  for (const Json& snippet : snippets_) {
    const bool recorded =
        (snippet["label"] == "buggy") == snippet["pysiassist_correct"].get<bool>();
    const SourceText source(snippet["id"], snippet["code"].get<std::string>());
    const auto verdicts = published_verdicts(Analysis(source));
    const bool wrong = verdicts.at(snippet["pattern"].get<std::size_t>() - 1).wrong;
    if (wrong == recorded)
      ++agree;
    else
      std::cout << "otherwise than recorded: " << snippet["id"].get<std::string>() << ", pattern "
                << snippet["pattern"] << ", recorded " << recorded << "\n";
  }
  EXPECT_GE(agree, static_cast<int>(0.95 * static_cast<double>(snippets_.size())));
}

}  // namespace
}  // namespace neutra::source::tests
