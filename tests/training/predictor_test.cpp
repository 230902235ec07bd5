#include "training/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/training/programs.h"
#include "training/metrics.h"

namespace neutra::training {
namespace {

class Predicting : public EachBackend {};
NEUTRA_EACH_BACKEND(Predicting);

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST_P(Predicting, GivesTheMetricOfTheTraining) {
  const auto trainer = this->trainer();
  for (const program::Program& p : {moons(5), line(20)}) {
    const TrainedModel model = trainer->train_model({&p});
    ASSERT_EQ(model.training.status, RunStatus::kOk) << model.training.message;
    EXPECT_EQ(model.training.metric, trainer->train({&p}).metric);
    EXPECT_EQ(model.epochs, p.document["fit"]["epochs"].get<std::int64_t>());
    const auto predictor = trainer->predictor(p, DataPart::kHoldout, {});
    predictor->weights().assign(model.weights);
    const DataRows rows = trainer->rows(p, DataPart::kHoldout);
    ASSERT_EQ(predictor->rows(), rows.count);
    Metric metric(p.document["metric"]["name"]);
    const std::int64_t step = std::min<std::int64_t>(predictor->max_rows(), 7);
    for (std::int64_t begin = 0; begin < rows.count; begin += step) {
      const std::int64_t count = std::min(step, rows.count - begin);
      const auto targets =
          rows.targets.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
      metric.add({predictor->outputs(begin, count), {count, 1}}, {targets, {count, 1}});
    }
    EXPECT_NEAR(metric.value(), model.training.metric, 1e-6);
  }
}

TEST_P(Predicting, FromALayerOnWithThatLayersInputs) {
  const auto trainer = this->trainer();
  const program::Program p = moons(4);
  const TrainedModel model = trainer->train_model({&p});
  ASSERT_EQ(model.training.status, RunStatus::kOk);
  const auto whole = trainer->predictor(p, DataPart::kTest, {});
  whole->weights().assign(model.weights);
  const std::int64_t count = std::min<std::int64_t>(whole->max_rows(), 50);
  const std::vector<float> outputs = copy(whole->outputs(3, count));
  const program::ResolvedProgram resolved = trainer->resolved(p);
  std::vector<std::vector<float>> activations;
  for (const auto values : whole->activations()) activations.push_back(copy(values));
  ASSERT_EQ(activations.size(), resolved.layers.size());
  EXPECT_EQ(activations.back(), outputs);
  for (std::size_t first = 1; first < resolved.layers.size(); ++first) {
    Array inputs{resolved.layers[first].input_shape, activations[first - 1]};
    inputs.extents.insert(inputs.extents.begin(), count);
    const auto rest = trainer->predictor(p, first, inputs);
    rest->weights().assign(model.weights, first);
    EXPECT_EQ(rest->rows(), count);
    EXPECT_EQ(copy(rest->outputs(0, count)), outputs) << first;
  }
}

TEST_P(Predicting, WeightsAreZeroAtFirstAndMayChange) {
  const auto trainer = this->trainer();
  const program::Program p = line(1);
  const auto predictor = trainer->predictor(p, DataPart::kTest, {});
  EXPECT_EQ(predictor->outputs(0, 2)[1], 0);
  Weights& weights = predictor->weights();
  weights.of_layer(0)[0].extent.of(weights.all())[0] = 2;
  weights.of_layer(0)[1].extent.of(weights.all())[0] = -1;
  const DataRows rows = trainer->rows(p, DataPart::kTest);
  EXPECT_EQ(rows.count, 100);
  EXPECT_EQ(rows.row, program::Shape{1});
  EXPECT_FLOAT_EQ(predictor->outputs(5, 3)[2], 2 * rows.features[7] - 1);
  EXPECT_EQ(trainer->rows(p, DataPart::kTraining).count, 400);
}

TEST(Predictor, ProgramsThatKerasRefusesAreErrors) {
  program::Program p = moons();
  p.document["model"]["config"]["layers"][0]["config"]["units"] = 0;
  const auto trainer = make_local_trainer({});
  EXPECT_THROW(trainer->predictor(p, DataPart::kTest, {}), Error);
  EXPECT_THROW(trainer->rows(p, DataPart::kTest), Error);
  EXPECT_THROW(trainer->resolved(p), Error);
}

}  // namespace
}  // namespace neutra::training
