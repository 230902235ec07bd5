// Rules of symptoms: their file, what they say of faults of the data, their counts.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "base/error.h"
#include "base/json.h"
#include "symptom_cases.h"

namespace neutra::evaluators::tests {
namespace {

using enum Property;
using enum Aggregate;

// (n + 1) / 32 for n of 30 models.
TEST(DataFaults, LogOddsOfThePrevalences) {
  const std::vector<Symptom> none;
  const std::vector<DataFaultScore> quiet = rank_data_faults(none);
  ASSERT_EQ(quiet.size(), 4U);
  double sum = 0;
  for (const DataFaultScore& score : quiet) {
    EXPECT_LT(score.log_odds, 0);
    sum += score.probability;
  }
  EXPECT_LT(sum, 0.5);

  const MonitoredRun run = changed([](MonitoredRun& r) {
    set(r, kWeights, kVar, 2, {3, 4, 5});
    set(r, kGradients, kSkew, 2.9, kEachLayer);
  });
  const std::vector<Symptom> found = find_symptoms(run);
  ASSERT_EQ(ids(found), (Ids{"abnormal_weights", "gradient_skewness"}));
  const std::vector<DataFaultScore> scores = rank_data_faults(found);
  EXPECT_EQ(scores[0].fault->id, "concept_drift");
  // Present: abnormal weights 28, gradient skewness 23 (clean 2 and 3); absent: the other seven
  // that are reported of concept drift.
  double expected = std::log(29.0 / 3) + std::log(24.0 / 4);
  for (const auto& [drift, clean] :
       {std::pair(17, 1), {19, 2}, {5, 3}, {13, 2}, {4, 2}, {5, 3}, {3, 4}}) {
    expected += std::log((31.0 - drift) / (31.0 - clean));
  }
  EXPECT_NEAR(scores[0].log_odds, expected, 1e-12);
  EXPECT_GT(scores[0].probability, 0.5);
  EXPECT_EQ(scores.back().fault->id, "missing_preprocessing");
}

TEST(SymptomCounts, PairByPlace) {
  const auto found = [](double variance) {
    return find_symptoms(changed([=](MonitoredRun& run) {
      set(run, kWeights, kVar, variance, {3, 4, 5});
    }));
  };
  const std::vector<SymptomCount> counts = count_symptoms({found(2), found(2), found(0), found(2)},
                                                          {found(2), found(0), found(2), found(0)});
  ASSERT_EQ(counts.size(), 16U);
  for (const SymptomCount& count : counts) {
    const bool seen = count.rule->id == "abnormal_weights";
    EXPECT_EQ(count.faulty, seen ? 3U : 0U);
    EXPECT_EQ(count.clean, seen ? 2U : 0U);
    EXPECT_EQ(count.pairs.both, seen ? 1 : 0);
    EXPECT_EQ(count.pairs.first_only, seen ? 2 : 0);
    EXPECT_EQ(count.pairs.second_only, seen ? 1 : 0);
  }
  EXPECT_EQ(count_symptoms({found(2)}, {})[6].faulty, 1U);
}

TEST(SymptomRules, BundledOnesAreThoseOfTheThesis) {
  const SymptomRules& rules = SymptomRules::bundled();
  ASSERT_EQ(rules.rules().size(), 16U);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(rules.rules()[static_cast<std::size_t>(i)].number, i + 1);
  EXPECT_EQ(rules.models(), 30);
  EXPECT_EQ(rules.data_faults().size(), 4U);
  // Table 3.4: 80 % of 30 models.
  EXPECT_EQ(rules.rules()[0].prevalence.at("label_noise"), 24);
}

/// The bundled rules with one place changed.
Json own_rules(const std::string& pointer, const Json& value) {
  Json document = parse_json(R"({
    "format": "neutra-symptoms", "version": 1, "source": "own", "kurtosis": "pearson",
    "share_factor": 1, "models": 10, "data_faults": [{"id": "noise", "name": "noise"}],
    "rules": [{
      "number": 1, "id": "heavy", "name": "heavy tails", "data": "any", "meaning": "m",
      "layer_kinds": [], "share": 1, "prevalence": {"noise": 9}, "clean": 0,
      "absolute": [{"each": [{"of": "weights.kurt", "at_least": 5}], "source": "own"}],
      "relative": [{"each": [{"of": "weights.kurt", "ratio_at_least": 2}], "source": "own"}]}]})",
                             "own.json");
  if (!pointer.empty()) document[Json::json_pointer(pointer)] = value;
  return document;
}

TEST(SymptomRules, OwnRulesAndPearsonsKurtosis) {
  const SymptomRules rules(own_rules("", {}).dump(), "own.json");
  const auto found = [&](double kurt) {
    return ids(find_symptoms(
        changed([=](MonitoredRun& run) { set(run, kWeights, kKurt, kurt, kEachLayer); }), {},
        rules));
  };
  EXPECT_EQ(found(5), Ids{"heavy"});
  EXPECT_EQ(found(4.9), Ids{});
}

TEST(SymptomRules, MistakesAreNamed) {
  const std::string each = "/rules/0/absolute/0/each/0";
  for (const auto& [pointer, value, message] :
       {std::tuple<std::string, Json, std::string>{"/format", "x", "/format"},
        {"/kurtosis", "x", "/kurtosis: found \"x\"; allowed: excess, pearson"},
        {"/rules/0/where", "x", "/rules/0/where: found \"x\"; allowed: all, early, output"},
        {"/rules/0/prevalence/drift", 1, "/rules/0/prevalence/drift"},
        {"/rules/0/prevalence/noise", 11, "/rules/0/prevalence/noise: found 11"},
        {"/rules/0/id", "noise", "/rules/0/id"},
        {"/rules/0/absolute", Json::array(), "/rules/0/absolute: found nothing"},
        {each + "/of", "weights.mode", each + "/of: found \"weights.mode\""},
        {each + "/of", "mean_loss", each + "/of"},
        {each + "/over", "first", each + "/over: found \"first\"; allowed: last, median, highest"},
        {each + "/below", 1, each + ": found 2 comparisons"},
        {each, Json{{"of", "weights.var"}, {"ratio_below", 1}}, each + "/ratio_below"},
        {"/rules/0/absolute/0", Json{{"source", "own"}}, "/rules/0/absolute/0: found no condition"},
        {"/rules/0/absolute/0/run",
         Json::parse(R"([{"of": "improvement", "below": 1, "over": "last"}])"),
         "/rules/0/absolute/0/run/0/over"}}) {
    try {
      SymptomRules(own_rules(pointer, value).dump(), "own.json");
      ADD_FAILURE() << "no error: " << message;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::kBadInput);
      EXPECT_NE(std::string(e.what()).find("own.json: " + message), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace neutra::evaluators::tests
