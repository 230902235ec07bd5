// Predictions with imported weights against Keras's own (scripts/check_import compares many more).

#include <gtest/gtest.h>

#include <cmath>

#include "program/formats/keras_import.h"
#include "training/local_trainer.h"
#include "training/torch_script.h"

namespace neutra {
namespace {

class KerasPredictions : public testing::TestWithParam<const char*> {};

TEST_P(KerasPredictions, AreTheSame) {
  const std::filesystem::path folder = NEUTRA_TEST_DATA "/../../program/data/keras";
  const Json expected = read_json(folder / "expected.json").at(GetParam());
  const KerasModelFile file(folder / GetParam());
  ImportSources sources;
  sources.name = "model";
  const ResolvedProgram program = resolve({import_keras(file.model(), sources).document});
  Array inputs{{3}, expected["x"].get<std::vector<float>>()};
  for (const Json& extent : expected["shape"]) inputs.extents.push_back(extent);
  const auto wanted = expected["y"].get<std::vector<float>>();
  float largest = 0;
  for (const float value : wanted) largest = std::max(largest, std::abs(value));
  for (const Backend backend : {Backend::kEager, Backend::kAuto}) {
    const Array outputs = predict(program, file.weights(program), inputs, backend);
    ASSERT_EQ(outputs.values.size(), wanted.size());
    EXPECT_EQ(outputs.rows(), 3);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(outputs.values[i], wanted[i], 1e-5 * largest) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, KerasPredictions,
                         testing::Values("keras2_dense.h5", "keras2_functional.keras",
                                         "keras3_nested.h5", "keras3_images.keras"),
                         [](const auto& info) {
                           std::string name = info.param;
                           return name.replace(name.find('.'), 1, "_");
                         });

TEST(Evaluation, OfOutputsFollowsKerasRules) {
  const std::vector<float> features{0, 0}, labels{1, 0};
  const DataRows rows{2, {1}, {}, features, labels, nullptr};
  const Evaluation result = evaluate_outputs({{2, 2}, {0.25F, 0.75F, 0.5F, 0.5F}}, rows,
                                             "sparse_categorical_crossentropy", "accuracy");
  EXPECT_EQ(result.metric, 1);
  EXPECT_EQ(result.total, 2);
  EXPECT_NEAR(result.loss, -(std::log(0.75) + std::log(0.5)) / 2, 1e-6);
  EXPECT_TRUE(std::isnan(evaluate_outputs({{2, 1}, {1, 1}}, rows, "", "mse").loss));
  EXPECT_EQ(evaluate_outputs({{2, 1}, {1, 2}}, rows, "", "mse").metric, 2);
}

}  // namespace
}  // namespace neutra
