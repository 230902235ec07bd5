#include "training/monitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "evaluators/symptoms.h"
#include "programs.h"

namespace neutra::training {
namespace {

class Monitoring : public EachBackend {
 protected:
  evaluators::MonitoredRun record(const program::Program& p,
                                  ReplicaResult* result = nullptr) const {
    const auto trainer = this->trainer();
    TrainingMonitor monitor(trainer->resolved(p));
    const TrainingJob job{&p};
    const ReplicaResult trained = trainer->train(job, &monitor);
    if (result != nullptr) *result = trained;
    return monitor.run(job, trained);
  }
};
NEUTRA_EACH_BACKEND(Monitoring);

const evaluators::Aggregates& of(const evaluators::MonitoredEpoch& epoch, std::size_t layer,
                                 evaluators::Property property) {
  return epoch.layers[layer][static_cast<std::size_t>(property)];
}

void expect_same(const evaluators::Aggregates& a, const evaluators::Aggregates& b) {
  for (std::size_t i = 0; i < evaluators::kAggregates; ++i) {
    if (std::isnan(a.values[i])) {
      EXPECT_TRUE(std::isnan(b.values[i])) << i;
    } else {
      EXPECT_EQ(a.values[i], b.values[i]) << to_string(static_cast<evaluators::Aggregate>(i));
    }
  }
}

std::vector<float> joined(const std::vector<std::span<const float>>& parts) {
  std::vector<float> values;
  for (const auto& part : parts) values.insert(values.end(), part.begin(), part.end());
  return values;
}

/// Dense, BatchNormalization, Dropout, Dense, Dense.
program::Program normalised() {
  program::Program p = moons();
  Json& layers = p.document["model"]["config"]["layers"];
  layers.insert(layers.begin() + 1, layer("BatchNormalization", Json::object()));
  return p;
}

TEST_P(Monitoring, RecordsWhatTheTrainingDoes) {
  /// The same by hand: 400 rows are twelve whole batches and half of one.
  struct ByHand final : Observer {
    bool wants_validation() const override { return true; }
    BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
      return BatchDetail::kWeights;
    }
    void batch_end(const BatchEvent& event) override {
      if (event.step != event.epoch * 13 + 11) return;
      EXPECT_EQ(event.rows, 32);
      std::vector<float> kernel = joined({event.layers[4].gradients[0]});
      gradients.push_back(joined(event.layers[4].gradients));
      float largest = 0;
      for (const float g : gradients.back()) largest = std::max(largest, std::abs(g));
      std::size_t dead = 0;
      for (std::size_t j = 0; j < 8; ++j) {
        bool alive = std::abs(event.layers[4].gradients.size() > 1 ? event.layers[4].gradients[1][j]
                                                                   : 0) > 1e-8F * largest;
        for (std::size_t i = j; i < kernel.size(); i += 8) {
          alive |= std::abs(kernel[i]) > 1e-8F * largest;
        }
        dead += alive ? 0 : 1;
      }
      dead_shares.push_back(static_cast<double>(dead) / 8);
    }
    void epoch_end(const EpochEvent& event) override {
      logs.push_back(event.logs);
      weights.push_back(joined({event.layers[1].weights[0]}));
      biases.push_back(joined({event.layers[1].weights[1]}));
    }
    std::vector<std::vector<float>> gradients, weights, biases;
    std::vector<double> dead_shares;
    std::vector<std::map<std::string, double>> logs;
  } by_hand;
  program::Program p = normalised();
  Json& layers = p.document["model"]["config"]["layers"];
  layers.insert(layers.begin() + 3, layer("Activation", {{"activation", "relu"}}));
  ReplicaResult result;
  const evaluators::MonitoredRun run = record(p, &result);
  EXPECT_EQ(trainer()->train({&p}, &by_hand).metric, result.metric);
  EXPECT_EQ(trainer()->train(TrainingJob{&p}).metric, result.metric);  // nothing is changed

  EXPECT_EQ(run.status, "ok");
  EXPECT_EQ(run.metric, result.metric);
  EXPECT_EQ(run.loss, "binary_crossentropy");
  ASSERT_EQ(run.layers.size(), 4U);
  EXPECT_EQ(run.layers[0], (evaluators::MonitoredLayer{0, "Dense", {48, 32, 16}, "dense"}));
  EXPECT_EQ(run.layers[1], (evaluators::MonitoredLayer{
                               1, "BatchNormalization", {32, 16, 16}, "batch_normalization"}));
  EXPECT_EQ(run.layers[2], (evaluators::MonitoredLayer{4, "Dense", {136, 128, 8}, "dense_1"}));
  EXPECT_EQ(run.layers[3], (evaluators::MonitoredLayer{5, "Dense", {9, 8, 1}, "dense_2"}));
  ASSERT_EQ(run.epochs.size(), 3U);
  ASSERT_EQ(by_hand.gradients.size(), 3U);
  for (std::size_t e = 0; e < 3; ++e) {
    const evaluators::MonitoredEpoch& epoch = run.epochs[e];
    EXPECT_EQ(epoch.logs, by_hand.logs[e]);
    EXPECT_TRUE(epoch.logs.contains("val_loss") && epoch.logs.contains("val_accuracy"));
    expect_same(of(epoch, 2, evaluators::Property::kGradients),
                evaluators::aggregates(by_hand.gradients[e]));
    expect_same(of(epoch, 1, evaluators::Property::kWeights),
                evaluators::aggregates(by_hand.weights[e]));
    expect_same(of(epoch, 1, evaluators::Property::kBiases),
                evaluators::aggregates(by_hand.biases[e]));
    EXPECT_EQ(epoch.dead[2], by_hand.dead_shares[e]);
  }
}

TEST_P(Monitoring, CurvesAreTheLogsOfAllEpochs) {
  const program::Program p = normalised();
  CurveRecorder recorder;
  const ReplicaResult result = trainer()->train({&p}, &recorder);
  EXPECT_EQ(trainer()->train(TrainingJob{&p}).metric, result.metric);  // nothing is changed
  const evaluators::MonitoredRun run = record(p);
  const evaluators::TrainingCurves& curves = recorder.curves();
  ASSERT_EQ(curves.ends.size(), 3U);
  EXPECT_EQ(curves.series.size(), 4U);
  for (const auto& [name, values] : curves.series) {
    ASSERT_EQ(values.size(), 3U) << name;
    for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(values[e], run.epochs[e].logs.at(name)) << name;
  }
  EXPECT_GT(curves.begin, 1.6e9);
  EXPECT_LE(curves.begin, curves.ends[0]);
  EXPECT_LE(curves.ends[1], curves.ends[2]);
}

TEST_P(Monitoring, SeesDeadNeurons) {
  program::Program p = moons();
  p.document["model"]["config"]["layers"][0]["config"]["bias_initializer"] = {
      {"class_name", "Constant"}, {"config", {{"value", -100}}}};
  const evaluators::MonitoredRun run = record(p);
  for (const evaluators::MonitoredEpoch& epoch : run.epochs) {
    EXPECT_EQ(epoch.dead[0], 1);
    EXPECT_EQ(of(epoch, 0, evaluators::Property::kGradients)[evaluators::Aggregate::kSpar], 1);
    // Its input is zero, so that only the bias learns: its neurons live.
    EXPECT_EQ(epoch.dead[1], 0);
  }
}

TEST_P(Monitoring, LayersWithoutAGradient) {
  const auto gradients = [](const evaluators::MonitoredRun& run) {
    std::vector<std::int64_t> counts;
    for (const evaluators::MonitoredLayer& layer : run.layers) {
      counts.push_back(layer.counts[static_cast<std::size_t>(evaluators::Property::kGradients)]);
    }
    return counts;
  };
  program::Program frozen = moons();
  frozen.document["model"]["config"]["layers"][0]["config"]["trainable"] = false;
  evaluators::MonitoredRun run = record(frozen);
  EXPECT_EQ(gradients(run), (std::vector<std::int64_t>{0, 136, 9}));
  EXPECT_EQ(run.layers[0].counts[static_cast<std::size_t>(evaluators::Property::kWeights)], 32);
  EXPECT_TRUE(std::isnan(
      of(run.epochs[0], 0, evaluators::Property::kGradients)[evaluators::Aggregate::kMeanAbs]));
  EXPECT_TRUE(std::isnan(run.epochs[0].dead[0]));

  program::Program detached = moons();
  detached.document["fit"]["loop"]["detached"] = 2;
  EXPECT_EQ(gradients(record(detached)), (std::vector<std::int64_t>{0, 0, 9}));
  // A regulariser's gradient comes there all the same.
  detached.document["model"]["config"]["layers"][2]["config"]["kernel_regularizer"] = "l2";
  run = record(detached);
  EXPECT_EQ(gradients(run), (std::vector<std::int64_t>{0, 128, 9}));
  EXPECT_GT(of(run.epochs[0], 1, evaluators::Property::kGradients)[evaluators::Aggregate::kMeanAbs],
            0);
}

TEST_P(Monitoring, VanishingGradientsShowBehindAFrozenLayer) {
  program::Program p = moons();
  Json& layers = p.document["model"]["config"]["layers"];
  layers[0]["config"]["trainable"] = false;
  // Sigmoids at their ends let next to nothing through.
  layers[2] =
      dense(8, "sigmoid",
            {{"bias_initializer", {{"class_name", "Constant"}, {"config", {{"value", 20}}}}}});
  std::set<std::string> found;
  for (const evaluators::Symptom& symptom : evaluators::find_symptoms(record(p))) {
    found.insert(symptom.rule->id);
  }
  EXPECT_TRUE(found.contains("vanishing_gradients"));
}

TEST_P(Monitoring, DivergedTrainings) {
  program::Program p = line();
  p.document["compile"]["optimizer"] = optimizer("SGD", 1e30);
  const evaluators::MonitoredRun run = record(p);
  EXPECT_EQ(run.status, "diverged");
  ASSERT_EQ(run.epochs.size(), 3U);
  const evaluators::MonitoredEpoch& last = run.epochs.back();
  EXPECT_EQ(of(last, 0, evaluators::Property::kWeights)[evaluators::Aggregate::kNonfinite], 1);
  EXPECT_TRUE(
      std::isnan(of(last, 0, evaluators::Property::kWeights)[evaluators::Aggregate::kMean]));
  EXPECT_EQ(last.dead[0], 0);
}

TEST_P(Monitoring, ShortEpochsAndCutOffOnes) {
  program::Program p = line(2);
  p.document["fit"]["batch_size"] = 1000;  // one batch, not a full one
  evaluators::MonitoredRun run = record(p);
  ASSERT_EQ(run.epochs.size(), 2U);
  EXPECT_TRUE(std::isfinite(
      of(run.epochs[1], 0, evaluators::Property::kGradients)[evaluators::Aggregate::kMean]));

  p = line(2);
  p.document["compile"]["optimizer"] = optimizer("SGD", 1e30);
  p.document["fit"]["callbacks"] =
      Json::array({{{"class_name", "TerminateOnNaN"}, {"config", Json::object()}}});
  run = record(p);
  ASSERT_EQ(run.epochs.size(), 1U);  // cut off before the watched batch
  EXPECT_TRUE(std::isnan(
      of(run.epochs[0], 0, evaluators::Property::kGradients)[evaluators::Aggregate::kNonfinite]));
  EXPECT_TRUE(std::isnan(run.epochs[0].dead[0]));
  EXPECT_EQ(of(run.epochs[0], 0, evaluators::Property::kBiases)[evaluators::Aggregate::kNonfinite],
            1);
}

TEST_P(Monitoring, ASecondTimeIsTheSame) {
  const program::Program p = normalised();
  const evaluators::MonitoredRun a = record(p), b = record(p);
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t e = 0; e < a.epochs.size(); ++e) {
    EXPECT_EQ(a.epochs[e].logs, b.epochs[e].logs);
    EXPECT_EQ(a.epochs[e].dead, b.epochs[e].dead);
    for (std::size_t i = 0; i < a.layers.size(); ++i) {
      for (std::size_t k = 0; k < evaluators::kProperties; ++k) {
        expect_same(a.epochs[e].layers[i][k], b.epochs[e].layers[i][k]);
      }
    }
  }
}

TEST(Monitors, BackEndsAgree) {
  const program::Program p = normalised();
  std::vector<evaluators::MonitoredRun> runs;
  for (const Backend backend : {Backend::kEager, Backend::kFused}) {
    const auto trainer = make_local_trainer(trained_by(backend));
    TrainingMonitor monitor(trainer->resolved(p));
    const TrainingJob job{&p};
    runs.push_back(monitor.run(job, trainer->train(job, &monitor)));
  }
  EXPECT_EQ(runs[0].layers, runs[1].layers);
  const evaluators::MonitoredEpoch &a = runs[0].epochs.front(), &b = runs[1].epochs.front();
  for (std::size_t i = 0; i < runs[0].layers.size(); ++i) {
    for (const evaluators::Property property :
         {evaluators::Property::kGradients, evaluators::Property::kWeights,
          evaluators::Property::kBiases}) {
      for (const evaluators::Aggregate aggregate :
           {evaluators::Aggregate::kMax, evaluators::Aggregate::kMedian,
            evaluators::Aggregate::kStd, evaluators::Aggregate::kMeanAbs}) {
        const double x = of(a, i, property)[aggregate], y = of(b, i, property)[aggregate];
        EXPECT_NEAR(x, y, 1e-3 * std::max(1e-3, std::abs(x))) << i << to_string(property);
      }
    }
  }
}

}  // namespace
}  // namespace neutra::training
