// Predictions with imported weights against Keras's own (scripts/check_import compares many more).

#include <gtest/gtest.h>

#include <cmath>

#include "program/formats/keras_import.h"
#include "program/formats/keras_model.h"
#include "tests/source_file.h"
#include "training/local_trainer.h"

namespace neutra::training {
namespace {

class KerasPredictions : public testing::TestWithParam<const char*> {};

TEST_P(KerasPredictions, AreTheSame) {
  const std::filesystem::path folder = source_file("tests/program/data/keras");
  const Json expected = read_json(folder / "expected.json").at(GetParam());
  const program::KerasModelFile file(folder / GetParam());
  program::ImportSources sources;
  sources.name = "model";
  const program::ResolvedProgram program =
      program::resolve({program::import_keras(file.model(), sources).document});
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
                                         "keras2_branches.h5", "keras2_merged_masks.h5",
                                         "keras3_nested.h5", "keras3_images.keras",
                                         "keras3_branches.keras"),
                         [](const auto& info) {
                           std::string name = info.param;
                           return name.replace(name.find('.'), 1, "_");
                         });

}  // namespace
}  // namespace neutra::training
