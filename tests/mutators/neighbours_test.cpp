#include "mutators/neighbours.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace neutra::mutators {
namespace {

/// A hidden layer that may be doubled, a dropout rate and an output without activation.
program::ProgramSpace small_space() {
  program::Program program{parse_json(R"({
    "format": "neutra-program", "version": 1, "task": "regression",
    "model": {"class_name": "Sequential", "config": {"name": "small", "layers": [
      {"class_name": "Dense", "config": {"name": "a", "units": 4, "activation": "relu",
        "kernel_initializer": "random_normal", "bias_initializer": "zeros", "batch_input_shape": [null, 3]}},
      {"class_name": "Dropout", "config": {"name": "b", "rate": 0.5}},
      {"class_name": "Dense", "config": {"name": "c", "units": 1, "activation": null,
        "kernel_initializer": "glorot_uniform", "bias_initializer": "zeros"}}]}},
    "compile": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1}}, "loss": "mse", "metrics": ["mae"]},
    "fit": {"batch_size": 16, "epochs": 1},
    "data": {"source": "hdf5", "arguments": {"file": "small.h5"}}})",
                                      "small.json")};
  const std::string layer = "/model/config/layers/";
  std::vector<program::Key> keys{
      {"layer1", program::KeyKind::kRepeat, {layer + "0"}, {}},
      {"act1", program::KeyKind::kActivation, {layer + "0/config/activation"}, {}},
      {"act2", program::KeyKind::kActivation, {layer + "2/config/activation"}, {}},
      {"ki1", program::KeyKind::kKernelInitializer, {layer + "0/config/kernel_initializer"}, {}},
      {"unit1", program::KeyKind::kUnits, {layer + "0/config/units"}, {}},
      {"dropout1", program::KeyKind::kDropout, {layer + "1/config/rate"}, {}},
      {"loss", program::KeyKind::kLoss, {"/compile/loss"}, {}},
      {"optimizer", program::KeyKind::kOptimizer, {"/compile/optimizer"}, {}},
      {"lr", program::KeyKind::kLearningRate, {"/compile/optimizer/config/learning_rate"}, {}},
      {"batch_size", program::KeyKind::kBatchSize, {"/fit/batch_size"}, {}},
      {"epochs", program::KeyKind::kEpochs, {"/fit/epochs"}, {}}};
  return program::ProgramSpace(program, keys, "small.json");
}

std::vector<std::string> changes(const program::ProgramSpace& space,
                                 const program::Parameters& parameters, const std::string& key,
                                 Preset preset) {
  std::vector<std::string> result;
  for (const Neighbour& neighbour : neighbours(space, parameters, preset)) {
    if (neighbour.mutation.key == key) result.push_back(neighbour.mutation.after);
  }
  return result;
}

using Words = std::vector<std::string>;

TEST(Neighbours, ChangeExactlyOneKey) {
  const program::ProgramSpace space = small_space();
  for (const Preset preset : {Preset::kPaper, Preset::kKeras}) {
    std::set<std::string> seen;
    for (const Neighbour& neighbour : neighbours(space, space.base_parameters(), preset)) {
      int changed = 0;
      for (const auto& [key, value] : neighbour.parameters) {
        if (space.base_parameters().at(key) == value) continue;
        ++changed;
        EXPECT_EQ(key, neighbour.mutation.key);
        EXPECT_EQ(value, neighbour.mutation.after);
        EXPECT_EQ(space.base_parameters().at(key), neighbour.mutation.before);
      }
      EXPECT_EQ(changed, 1);
      EXPECT_TRUE(seen.insert(program::to_string(neighbour.parameters)).second);
      EXPECT_NE(program::canonical(space.instantiate(neighbour.parameters)),
                program::canonical(space.base()))
          << neighbour.mutation.key << "=" << neighbour.mutation.after;
    }
  }
}

TEST(Neighbours, KeysInTheSpacesOrder) {
  const program::ProgramSpace space = small_space();
  std::vector<std::string> order;
  for (const Neighbour& neighbour : neighbours(space, space.base_parameters(), Preset::kPaper)) {
    if (order.empty() || order.back() != neighbour.mutation.key) {
      order.push_back(neighbour.mutation.key);
    }
  }
  EXPECT_EQ(order, (Words{"layer1", "act1", "act2", "ki1", "unit1", "loss", "optimizer", "lr",
                          "batch_size", "epochs"}));
}

TEST(Neighbours, SkipTheCurrentValueByMeaning) {
  const program::ProgramSpace space = small_space();
  const program::Parameters& base = space.base_parameters();
  EXPECT_EQ(changes(space, base, "act1", Preset::kPaper),
            (Words{"sigmoid", "exponential", "softmax"}));
  EXPECT_EQ(changes(space, base, "ki1", Preset::kPaper), (Words{"he_normal", "glorot_normal"}));
  program::Parameters spelled = base;
  spelled["act2"] = "None";
  spelled["ki1"] = "normal";
  spelled["loss"] = "mse";
  EXPECT_EQ(changes(space, spelled, "act2", Preset::kKeras).size(), 12u);
  EXPECT_EQ(changes(space, spelled, "ki1", Preset::kPaper), (Words{"he_normal", "glorot_normal"}));
  EXPECT_EQ(changes(space, spelled, "loss", Preset::kPaper).front(), "mean_absolute_error");
}

TEST(Neighbours, OwnSpellingsKeepTheirMeaning) {
  const program::ProgramSpace small = small_space();
  std::vector<program::Key> keys = small.keys();
  program::Program program = small.base();
  const Json wide = parse_json(
      R"({"class_name": "RandomNormal", "config": {"mean": 0.0, "stddev": 1.0}})", "wide");
  program.document["model"]["config"]["layers"][0]["config"]["kernel_initializer"] = wide;
  keys[3].values = {{"RandomNormal", wide}};
  const program::ProgramSpace space(program, keys, "small.json");
  EXPECT_EQ(space.base_parameters().at("ki1"), "RandomNormal");
  EXPECT_EQ(changes(space, space.base_parameters(), "ki1", Preset::kPaper),
            (Words{"he_normal", "glorot_normal", "random_normal"}));
}

TEST(Neighbours, LayersComeAndGo) {
  const program::ProgramSpace space = small_space();
  program::Parameters parameters = space.base_parameters();
  EXPECT_EQ(changes(space, parameters, "layer1", Preset::kPaper), (Words{"0", "2"}));
  parameters["layer1"] = "0";
  EXPECT_EQ(changes(space, parameters, "layer1", Preset::kPaper), (Words{"1", "2"}));
  parameters["layer1"] = "2";
  EXPECT_EQ(changes(space, parameters, "layer1", Preset::kPaper), (Words{"0", "1"}));
}

TEST(Neighbours, MissingKeyIsTheUsersMistake) {
  const program::ProgramSpace space = small_space();
  program::Parameters parameters = space.base_parameters();
  parameters.erase("loss");
  try {
    neighbours(space, parameters, Preset::kPaper);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    EXPECT_NE(std::string(error.what()).find("loss"), std::string::npos);
  }
}

}  // namespace
}  // namespace neutra::mutators
