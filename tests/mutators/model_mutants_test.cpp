#include "mutators/model_mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace neutra::mutators {
namespace {

using Kind = ModelMutant::Kind;

program::Program cnn() {
  const auto layer = [](const char* name, Json config) {
    return Json{{"class_name", name}, {"config", std::move(config)}};
  };
  program::Program p;
  p.document = {
      {"format", "neutra-program"},
      {"version", 1},
      {"name", "test"},
      {"task", "classification"},
      {"model",
       {{"class_name", "Sequential"},
        {"config",
         {{"name", "m"},
          {"layers",
           {layer("Conv2D", {{"batch_input_shape", {nullptr, 8, 8, 1}},
                             {"filters", 4},
                             {"kernel_size", {3, 3}},
                             {"activation", "relu"}}),
            layer("MaxPooling2D", {{"pool_size", {2, 2}}}), layer("Dropout", {{"rate", 0.5}}),
            layer("Flatten", Json::object()),
            layer("Dense", {{"units", 5}, {"activation", "relu"}}),
            layer("Dense", {{"units", 5}, {"use_bias", false}}),
            layer("Activation", {{"activation", "softmax"}})}}}}}},
      {"compile",
       {{"optimizer", {{"class_name", "Adam"}, {"config", Json::object()}}},
        {"loss", "categorical_crossentropy"},
        {"metrics", {"accuracy"}}}},
      {"fit", {{"batch_size", 32}, {"epochs", 1}}},
      {"data", {{"source", "generator"}, {"arguments", {{"name", "moons"}, {"rows", 10}}}}},
      {"metric", {{"name", "accuracy"}, {"goal", "maximize"}}}};
  return p;
}

std::map<std::pair<std::size_t, std::string>, int> count(const std::vector<ModelMutant>& mutants) {
  std::map<std::pair<std::size_t, std::string>, int> counts;
  for (const ModelMutant& mutant : mutants) ++counts[{mutant.layer, mutant.op}];
  return counts;
}

const ModelMutant& find(const std::vector<ModelMutant>& mutants, std::size_t layer,
                        const std::string& op, std::ptrdiff_t number = 0) {
  for (const ModelMutant& mutant : mutants) {
    if (mutant.layer == layer && mutant.op == op && number-- == 0) return mutant;
  }
  throw std::logic_error("no " + op);
}

TEST(WeightChange, OfOneUnitOrOfAll) {
  std::vector<float> kernel{1, 2, 3, 4, 5, 6};  // (3, 2)
  apply({0, 1, 2, 0}, {3, 2}, kernel);
  EXPECT_EQ(kernel, (std::vector<float>{1, 4, 3, 8, 5, 12}));
  apply({0, -1, 1, -1}, {3, 2}, kernel);
  EXPECT_EQ(kernel, (std::vector<float>{0, 3, 2, 7, 4, 11}));
  std::vector<float> bias{1, 2, 3};
  apply({1, 2, 0.5f, 0}, {3}, bias);
  EXPECT_EQ(bias, (std::vector<float>{1, 2, 1.5f}));
}

TEST(DeepmuflMutants, OfEachLayer) {
  const program::Program p = cnn();
  const auto counts = count(deepmufl_mutants(p, program::resolve(p), true));
  const std::map<std::pair<std::size_t, std::string>, int> expected{
      {{0, "MATH_WEIGHT_CONV"}, 4}, {{0, "MATH_CONV_BIAS"}, 4}, {{0, "MATH_FILTERS"}, 2},
      {{0, "MATH_KERNEL_SZ"}, 2},   {{0, "MATH_STRIDES"}, 2},   {{0, "PADDING"}, 1},
      {{0, "ACT_FUNC_REP"}, 10},    {{1, "MATH_STRIDES"}, 2},   {{1, "MATH_POOL_SZ"}, 2},
      {{1, "PADDING"}, 1},          {{4, "MATH_WEIGHT"}, 20},   {{4, "MATH_BIAS"}, 20},
      {{4, "ACT_FUNC_REP"}, 10},    {{4, "DEL_LAYER"}, 1},      {{4, "DUP_LAYER"}, 1},
      {{5, "MATH_WEIGHT"}, 20},     {{5, "ACT_FUNC_REP"}, 10},  {{5, "DEL_LAYER"}, 1},
      {{5, "DUP_LAYER"}, 1},        {{6, "ACT_FUNC_REP"}, 10}};
  EXPECT_EQ(counts, expected);
  auto repaired = count(deepmufl_mutants(p, program::resolve(p), false));
  // Shapes that never fit the weights are left out.
  EXPECT_EQ((repaired.count({0, "MATH_FILTERS"})), 0u);
  EXPECT_EQ(repaired.size(), expected.size() - 2);
}

TEST(DeepmuflMutants, WindowsGrowAndShrinkByOneOrAsPublishedByTwo) {
  const program::Program p = cnn();
  const auto published = deepmufl_mutants(p, program::resolve(p), true);
  const auto repaired = deepmufl_mutants(p, program::resolve(p), false);
  const auto config = [](const ModelMutant& mutant) {
    return mutant.structure->program.document["model"]["config"]["layers"][1]["config"];
  };
  EXPECT_EQ(config(find(published, 1, "MATH_POOL_SZ", 0))["pool_size"], Json::parse("[3, 3]"));
  // The strides stay what they were.
  EXPECT_EQ(config(find(published, 1, "MATH_POOL_SZ", 0))["strides"], Json::parse("[2, 2]"));
  EXPECT_EQ(config(find(published, 1, "MATH_POOL_SZ", 1))["pool_size"], Json::parse("[0, 0]"));
  EXPECT_EQ(config(find(repaired, 1, "MATH_POOL_SZ", 1))["pool_size"], Json::parse("[1, 1]"));
  EXPECT_EQ(config(find(repaired, 1, "MATH_STRIDES", 1))["strides"], Json::parse("[1, 1]"));
  EXPECT_EQ(config(find(repaired, 1, "MATH_STRIDES", 1))["pool_size"], Json::parse("[2, 2]"));
}

TEST(DeepmuflMutants, DeletionAndDuplication) {
  const program::Program p = cnn();
  const auto repaired = deepmufl_mutants(p, program::resolve(p), false);
  const ModelMutant& deleted = find(repaired, 5, "DEL_LAYER");
  EXPECT_EQ(deleted.structure->origin, (std::vector<std::size_t>{0, 1, 2, 3, 4, 6}));
  EXPECT_EQ(deleted.first, 5u);
  EXPECT_TRUE(program::validate(deleted.structure->program.document).empty());
  const ModelMutant& doubled = find(repaired, 5, "DUP_LAYER");
  EXPECT_EQ(doubled.structure->origin, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 5, 6}));
  EXPECT_TRUE(program::validate(doubled.structure->program.document).empty());
  EXPECT_EQ(program::resolve(doubled.structure->program).layers.size(), 8u);
  // As published, the fifth layer is deleted, and nothing is doubled.
  const auto published = deepmufl_mutants(p, program::resolve(p), true);
  EXPECT_EQ(find(published, 5, "DEL_LAYER").structure->origin,
            (std::vector<std::size_t>{0, 1, 2, 3, 5, 6}));
  EXPECT_EQ(find(published, 5, "DUP_LAYER").kind, Kind::kEquivalent);
  program::Program small = cnn();
  Json& layers = small.document["model"]["config"]["layers"];
  layers.erase(layers.begin(), layers.begin() + 4);
  layers[0]["config"]["batch_input_shape"] = {nullptr, 5};
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(find(deepmufl_mutants(small, program::resolve(small), true), 1, "DEL_LAYER").kind,
            Kind::kEquivalent);
}

TEST(DeepmuflMutants, ActivationsAreAllOthers) {
  const program::Program p = cnn();
  std::set<std::string> activations;
  for (const ModelMutant& mutant : deepmufl_mutants(p, program::resolve(p), true)) {
    if (mutant.layer != 6) continue;
    EXPECT_TRUE(program::validate(mutant.structure->program.document).empty());
    EXPECT_EQ(mutant.first, 6u);
    activations.insert(
        mutant.structure->program.document["model"]["config"]["layers"][6]["config"]["activation"]);
  }
  EXPECT_EQ(activations.size(), 10u);
  EXPECT_FALSE(activations.contains("softmax"));
}

}  // namespace
}  // namespace neutra::mutators
