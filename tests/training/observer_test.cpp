#include "training/observer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "programs.h"

namespace neutra::training {
namespace {

class Observers : public EachBackend {};
NEUTRA_EACH_BACKEND(Observers);

std::vector<float> all_weights(std::span<const LayerView> layers) {
  std::vector<float> all;
  for (const LayerView& view : layers) {
    for (const auto& w : view.weights) all.insert(all.end(), w.begin(), w.end());
  }
  return all;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

std::vector<std::int64_t> first_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

/// Every random stream, and averages that move.
program::Program restless() {
  program::Program p = moons();
  Json& layers = p.document["model"]["config"]["layers"];
  layers.insert(layers.begin() + 2, layer("BatchNormalization", Json::object()));
  return p;
}

TEST_P(Observers, ProbesChangeNothing) {
  struct Curious final : Observer {
    explicit Curious(bool ask) : ask_(ask) {}
    void look(Probe& probe) {
      ++looks;
      if (!ask_) return;
      const auto rows = first_rows(7);
      EXPECT_TRUE(std::isfinite(probe.backward(rows).loss));
      EXPECT_TRUE(std::isfinite(probe.forward(rows).loss));
    }
    void begin(const DataView&, Probe& probe) override { look(probe); }
    BatchDetail batch_detail(std::int64_t, std::int64_t step) const override {
      return step == 3 ? BatchDetail::kLogs : BatchDetail::kNone;
    }
    void batch_end(const BatchEvent& event) override { look(*event.probe); }
    void epoch_end(const EpochEvent& event) override { look(*event.probe); }
    void end(Probe& probe) override {
      look(probe);
      weights = all_weights(probe.forward(first_rows(1)).layers);
    }
    bool ask_;
    int looks = 0;
    std::vector<float> weights;
  };
  const auto trainer = this->trainer();
  const program::Program p = restless();
  Curious curious(true), plain(false);
  const ReplicaResult asked = trainer->train({&p}, &curious);
  const ReplicaResult watched = trainer->train({&p}, &plain);
  const ReplicaResult alone = trainer->train(TrainingJob{&p});
  EXPECT_EQ(curious.looks, 6);  // before, after a batch, after each of three epochs, after all
  EXPECT_EQ(curious.weights, plain.weights);
  EXPECT_EQ(asked.metric, watched.metric);
  EXPECT_EQ(asked.metric, alone.metric);
}

TEST_P(Observers, ProbesSeeWhatAStepSees) {
  struct Comparing final : Observer {
    void begin(const DataView& data, Probe& probe) override {
      EXPECT_EQ(data.target, (program::Shape{1}));
      EXPECT_EQ(data.epochs, 1);
      EXPECT_EQ(data.training_targets.size() * 2, data.training.size());
      EXPECT_EQ(probe.max_rows(), 32);
      const Probe::Answer answer = probe.backward(first_rows(32));
      loss = answer.loss;
      for (const LayerView& view : answer.layers) {
        outputs.push_back(copy(view.activations));
        for (const auto& g : view.gradients) gradients.push_back(copy(g));
      }
      EXPECT_EQ(copy(answer.outputs), outputs.back());
      EXPECT_EQ(copy(answer.targets), copy(data.training_targets.first(32)));
    }
    BatchDetail batch_detail(std::int64_t, std::int64_t step) const override {
      return step == 0 ? BatchDetail::kActivations : BatchDetail::kNone;
    }
    void batch_end(const BatchEvent& event) override {
      ++batches;
      EXPECT_EQ(event.loss, loss);
      EXPECT_DOUBLE_EQ(event.logs.at("loss"), loss);
      EXPECT_TRUE(event.logs.contains("accuracy"));
      std::size_t g = 0;
      for (std::size_t i = 0; i < event.layers.size(); ++i) {
        EXPECT_EQ(copy(event.layers[i].activations), outputs[i]) << i;
        for (const auto& gradient : event.layers[i].gradients) {
          EXPECT_EQ(copy(gradient), gradients[g++]) << i;
        }
      }
    }
    double loss = 0;
    int batches = 0;
    std::vector<std::vector<float>> outputs, gradients;
  } comparing;
  program::Program p = restless();
  p.document["fit"]["epochs"] = 1;
  p.document["fit"]["shuffle"] = false;
  EXPECT_EQ(trainer()->train({&p}, &comparing).status, RunStatus::kOk);
  EXPECT_EQ(comparing.batches, 1);
}

TEST_P(Observers, ForwardIsInference) {
  struct Forward final : Observer {
    void end(Probe& probe) override {
      const Probe::Answer answer = probe.forward(first_rows(5));
      weights = all_weights(answer.layers);
      dropped = copy(answer.layers[1].activations);
      kept = copy(answer.layers[0].activations);
      EXPECT_TRUE(answer.layers[0].gradients.empty());
      double sum = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        const double y = answer.targets[i], q = answer.outputs[i];
        sum -= y * std::log(q) + (1 - y) * std::log(1 - q);
      }
      EXPECT_NEAR(answer.loss, sum / 5, 1e-4);
    }
    std::vector<float> weights, dropped, kept;
  } forward;
  const program::Program p = moons();
  EXPECT_EQ(trainer()->train({&p}, &forward).status, RunStatus::kOk);
  EXPECT_EQ(forward.dropped, forward.kept);
}

TEST_P(Observers, LessDetailIsWhatWasAsked) {
  struct Asking final : Observer {
    BatchDetail batch_detail(std::int64_t epoch, std::int64_t) const override {
      return epoch == 0   ? BatchDetail::kNone
             : epoch == 1 ? BatchDetail::kLogs
                          : BatchDetail::kWeights;
    }
    void batch_end(const BatchEvent& event) override {
      ++batches;
      EXPECT_NE(event.epoch, 0);
      EXPECT_EQ(event.layers.empty(), event.epoch == 1);
      for (const LayerView& view : event.layers) {
        EXPECT_TRUE(view.activations.empty());
        EXPECT_EQ(view.gradients.size(), view.weights.size());
      }
    }
    int batches = 0;
  } asking;
  const program::Program p = moons(3);
  EXPECT_EQ(trainer()->train({&p}, &asking).status, RunStatus::kOk);
  EXPECT_EQ(asking.batches, 2 * 13);
}

/// The last batch's views of all layers.
struct OfALastBatch final : Observer {
  struct Layer {
    std::vector<float> outputs, output_gradient;
    std::vector<std::vector<float>> weights, gradients;
  };
  explicit OfALastBatch(bool wanted = true) : wanted_(wanted) {}
  bool wants_output_gradients() const override { return wanted_; }
  BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return BatchDetail::kActivations;
  }
  void batch_end(const BatchEvent& event) override {
    layers.clear();
    logs = event.logs;
    for (const LayerView& view : event.layers) {
      Layer layer{copy(view.activations), copy(view.output_gradient), {}, {}};
      for (const auto& values : view.weights) layer.weights.push_back(copy(values));
      for (const auto& values : view.gradients) layer.gradients.push_back(copy(values));
      layers.push_back(std::move(layer));
    }
  }
  bool wanted_;
  std::vector<Layer> layers;
  std::map<std::string, double> logs;
};

TEST_P(Observers, OutputGradientsOfEveryLayer) {
  program::Program p = program_of(
      "moons", 2,
      Json::array({dense(16, "tanh"), layer("Reshape", {{"target_shape", {4, 4, 1}}}),
                   layer("MaxPooling2D", Json::object()), layer("Flatten", Json::object()),
                   dense(3, "linear"), layer("Activation", {{"activation", "softmax"}})}),
      "mean_squared_error", "accuracy", optimizer("SGD", 0), 1);  // weights stay
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"one_hot","on":"y","classes":3}])");
  OfALastBatch seen;
  TrainingJob job;
  job.program = &p;
  ASSERT_EQ(trainer()->train(job, &seen).status, RunStatus::kOk);
  ASSERT_EQ(seen.layers.size(), 6u);
  for (const auto& layer : seen.layers) {
    EXPECT_EQ(layer.output_gradient.size(), layer.outputs.size());
  }
  const auto &logits = seen.layers[4].output_gradient, &softmax = seen.layers[5].output_gradient;
  const auto &p_out = seen.layers[5].outputs, &kernel = seen.layers[4].weights[0];
  const std::size_t rows = logits.size() / 3;
  std::vector<float> sums(3);
  for (std::size_t r = 0; r < rows; ++r) {
    float dot = 0;
    for (std::size_t j = 0; j < 3; ++j) dot += softmax[r * 3 + j] * p_out[r * 3 + j];
    for (std::size_t j = 0; j < 3; ++j) {
      // The softmax's own derivative, and the kernel's.
      EXPECT_NEAR(logits[r * 3 + j], p_out[r * 3 + j] * (softmax[r * 3 + j] - dot), 1e-6);
      sums[j] += logits[r * 3 + j];
    }
    for (std::size_t i = 0; i < 4; ++i) {
      float expected = 0;
      for (std::size_t j = 0; j < 3; ++j) expected += kernel[i * 3 + j] * logits[r * 3 + j];
      EXPECT_NEAR(seen.layers[3].output_gradient[r * 4 + i], expected, 1e-6);
    }
  }
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(sums[j], seen.layers[4].gradients[1][j], 1e-5);
  EXPECT_EQ(seen.layers[3].output_gradient, seen.layers[2].output_gradient);  // of the pooling
  OfALastBatch plain(false);
  ASSERT_EQ(trainer()->train(job, &plain).status, RunStatus::kOk);
  for (const auto& layer : plain.layers) EXPECT_TRUE(layer.output_gradient.empty());
}

TEST_P(Observers, LossesOnLogitsGiveTheLastOutputsNoGradient) {
  program::Program p = moons(1);
  TrainingJob job;
  job.program = &p;
  for (const KerasRelease keras : {KerasRelease::kTf24, KerasRelease::k224}) {
    job.keras = keras;
    OfALastBatch seen;
    ASSERT_EQ(trainer()->train(job, &seen).status, RunStatus::kOk);
    EXPECT_EQ(seen.layers.back().output_gradient.empty(), keras == KerasRelease::kTf24);
    EXPECT_FALSE(seen.layers[2].output_gradient.empty());
  }
}

TEST_P(Observers, LogsHaveWhatIsCompiled) {
  program::Program p = moons(1);
  TrainingJob job;
  job.program = &p;
  p.document["compile"]["metrics"] = {"mse", "acc", "AUC"};
  p.document["metric"] = {{"name", "mae"}};
  OfALastBatch seen;
  ASSERT_EQ(trainer()->train(job, &seen).status, RunStatus::kOk);
  EXPECT_TRUE(seen.logs.contains("mse") && seen.logs.contains("accuracy") &&
              seen.logs.contains("mae"));
  p.document["compile"].erase("metrics");
  ASSERT_EQ(trainer()->train(job, &seen).status, RunStatus::kOk);
  EXPECT_FALSE(seen.logs.contains("accuracy"));
}

TEST_P(Observers, LossesThatKeras224LacksAreRefused) {
  program::Program p = line(1);
  p.document["compile"]["loss"] = "huber";
  TrainingJob job;
  job.program = &p;
  EXPECT_EQ(trainer()->train(job, nullptr).status, RunStatus::kOk);
  job.keras = KerasRelease::k224;
  const ReplicaResult refused = trainer()->train(job, nullptr);
  EXPECT_EQ(refused.status, RunStatus::kInvalid);
  EXPECT_EQ(refused.message, "Keras 2.2.4 has no loss huber");
}

}  // namespace
}  // namespace neutra::training
