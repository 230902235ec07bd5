#include "program/formats/stored_weights.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "program/edit.h"
#include "program/layer.h"
#include "support.h"
#include "tests/error_of.h"

namespace neutra::program {
namespace {

using tests::sample;

Json dense(int units) { return {{"class_name", "Dense"}, {"config", {{"units", units}}}}; }

ResolvedProgram chain(const std::vector<int>& units) {
  Program program = sample("mlp");
  Json layers = Json::array();
  for (const int each : units) layers.push_back(dense(each));
  layers[0]["config"]["batch_input_shape"] = Json::array({nullptr, 4});
  layers_of(program.document) = layers;
  return resolve(program);
}

/// Weights that are told apart by the number of their layer.
ModelWeights numbered(const ResolvedProgram& program) {
  ModelWeights weights;
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    auto& layer = weights.emplace_back();
    for (const Weight& weight : program.layers[i].weights) {
      layer.emplace_back(static_cast<std::size_t>(element_count(weight.shape)),
                         static_cast<float>(i + 1));
    }
  }
  return weights;
}

/// For each layer the number of the one whose weights it gets; 0: none.
std::vector<int> givers(const std::vector<int>& stored, const std::vector<int>& units) {
  const ResolvedProgram from = chain(stored), to = chain(units);
  const ModelWeights given =
      fitting_weights(read_weight_groups(weight_file(from, numbered(from)), "w.h5"), to);
  std::vector<int> found;
  for (const auto& arrays : given) {
    found.push_back(arrays.empty() ? 0 : static_cast<int>(arrays[0][0]));
  }
  return found;
}

TEST(StoredWeights, FileAndBack) {
  const ResolvedProgram program = chain({5, 5, 2});
  const ModelWeights weights = numbered(program);
  const auto groups = read_weight_groups(weight_file(program, weights), "w.h5");
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "dense");
  EXPECT_EQ(groups[2].shapes, (std::vector<Shape>{{5, 2}, {2}}));
  EXPECT_EQ(fitting_weights(groups, program), weights);
}

using Ints = std::vector<int>;

TEST(StoredWeights, LayersKeepTheirWeightsThroughChanges) {
  EXPECT_EQ(givers({5, 6, 2}, {5, 6, 2}), (Ints{1, 2, 3}));
  EXPECT_EQ(givers({5, 5, 2}, {5, 2}), (Ints{1, 3}));                 // a layer less
  EXPECT_EQ(givers({5, 2}, {5, 5, 2}), (Ints{1, 0, 2}));              // a layer more
  EXPECT_EQ(givers({5, 6, 7, 2}, {5, 8, 7, 2}), (Ints{1, 0, 0, 4}));  // other units
  EXPECT_EQ(givers({5, 5, 5, 2}, {5, 5, 2}), (Ints{1, 2, 4}));
  EXPECT_EQ(givers({5, 2}, {7, 3}), (Ints{0, 0}));
}

TEST(StoredWeights, OtherFiles) { EXPECT_THROW(read_weight_groups("no HDF5", "w.h5"), Error); }

}  // namespace
}  // namespace neutra::program
