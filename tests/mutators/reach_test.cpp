#include "mutators/reach.h"

#include <gtest/gtest.h>

namespace neutra::mutators {
namespace {

program::Program buggy() {
  return {parse_json(R"({
    "format": "neutra-program", "version": 1, "task": "regression",
    "model": {"class_name": "Sequential", "config": {"name": "m", "layers": [
      {"class_name": "Dense", "config": {"units": 12, "activation": "relu", "batch_input_shape": [null, 3]}},
      {"class_name": "Dropout", "config": {"rate": 0.5}},
      {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}},
    "compile": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.05}}, "loss": "mse", "metrics": ["mae"]},
    "fit": {"batch_size": 16, "epochs": 10},
    "data": {"source": "generator", "arguments": {"name": "linear", "rows": 100}}})",
                     "m.json")};
}

Reach reach(const program::Parameters& changes, Preset preset) {
  const program::ProgramSpace space = program::ProgramSpace::with_default_keys(buggy());
  const program::Parameters parameters = space.with_changes(changes);
  return reach_of(space, space.instantiate(parameters), parameters, preset);
}

std::vector<std::string> reasons(const Reach& reach) {
  std::vector<std::string> list;
  for (const OutOfReach& part : reach.missing) list.push_back(part.reason);
  return list;
}
using Words = std::vector<std::string>;

TEST(Reach, SaysWhatThePresetLacks) {
  EXPECT_EQ(reasons(reach({{"act2", "linear"}, {"loss", "mean_absolute_error"}}, Preset::kPaper)),
            Words{"act2=linear is not among the values of preset paper"});
  EXPECT_TRUE(reach({{"act2", "linear"}}, Preset::kKeras).missing.empty());
  EXPECT_EQ(reasons(reach({{"batch_size", "100"}}, Preset::kKeras)),
            Words{"batch_size=100 is not among the values of preset keras"});
  EXPECT_EQ(reasons(reach({{"optimizer", "adam"}}, Preset::kPaper)),
            Words{"optimizer=adam is not among the values of preset paper"});
}

TEST(Reach, FollowsChainsOfSteps) {
  struct Step {
    const char *key, *value;
    int changes;  ///< 0: out of reach
  };
  for (const auto& [key, value, changes] :
       std::initializer_list<Step>{{"lr", "0.5", 1},
                                   {"lr", "0.0005", 2},
                                   {"lr", "5e-07", 5},
                                   {"lr", "0.01", 0},
                                   {"epochs", "40", 2},
                                   {"epochs", "2", 2},  // 10, 5, 2
                                   {"epochs", "4", 3},  // 10, 5, 2, 4
                                   {"epochs", "6", 0},
                                   {"epochs", "100", 0},
                                   {"unit1", "3", 2},
                                   {"unit1", "1", 3},
                                   {"unit1", "64", 9},  // 12, 6, 3, 1, then doubled six times
                                   {"unit1", "100", 0}}) {
    const Reach result = reach({{key, value}}, Preset::kPaper);
    EXPECT_EQ(result.missing.empty(), changes > 0) << key << value;
    EXPECT_EQ(result.changes, changes) << key << value;
  }
  EXPECT_EQ(reasons(reach({{"lr", "0.01"}}, Preset::kPaper)),
            Words{"lr=0.01 is not reached from 0.05 by *10 and /10"});
  EXPECT_EQ(reach({{"lr", "0.5"}, {"epochs", "40"}}, Preset::kPaper).changes, 3);
}

TEST(Reach, NoOperatorChangesADropoutRate) {
  EXPECT_EQ(reasons(reach({{"dropout1", "0.1"}}, Preset::kKeras)),
            Words{"dropout1=0.1: no operator changes a dropout key"});
}

TEST(Reach, NamesWhatBelongsToNoKey) {
  const program::ProgramSpace space = program::ProgramSpace::with_default_keys(buggy());
  program::Program fixed = buggy();
  fixed.document["compile"]["loss"] = "mae";
  fixed.document["model"]["config"]["layers"][2]["config"]["activation"] = "linear";
  fixed.document["data"]["preprocess"] = {{{"op", "standardize"}}};
  ASSERT_FALSE(space.parameters_of(fixed));
  const Reach keras = reach_of(space, fixed, std::nullopt, Preset::kKeras);
  ASSERT_EQ(keras.missing.size(), 1U);
  EXPECT_EQ(keras.missing[0].key, "");
  EXPECT_NE(keras.missing[0].reason.find("/data/preprocess"), std::string::npos)
      << keras.missing[0].reason;
  EXPECT_EQ(keras.changes, 2);
  const Reach paper = reach_of(space, fixed, std::nullopt, Preset::kPaper);
  ASSERT_EQ(paper.missing.size(), 2U);
  EXPECT_EQ(paper.missing[0].reason, "act2=linear is not among the values of preset paper");
  EXPECT_EQ(to_json(paper.missing)[0]["key"], "act2");
  EXPECT_TRUE(to_json(paper.missing)[1]["key"].is_null());

  program::Program other = buggy();
  other.document["model"]["config"]["layers"].insert(
      other.document["model"]["config"]["layers"].begin() + 1,
      Json{{"class_name", "BatchNormalization"}, {"config", Json::object()}});
  const Reach layers = reach_of(space, other, std::nullopt, Preset::kKeras);
  ASSERT_EQ(layers.missing.size(), 1U);
  EXPECT_EQ(layers.missing[0].reason,
            "no key makes its layers (Dense, BatchNormalization, Dropout, Dense) of those of the "
            "buggy program (Dense, Dropout, Dense)");
}

}  // namespace
}  // namespace neutra::mutators
