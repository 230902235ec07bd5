#include "training/local_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "programs.h"

namespace neutra::training {
namespace {

class Training : public EachBackend {
 protected:
  ReplicaResult train(const program::Program& p, std::uint64_t seed = 0, int replica = 0,
                      StreamKey stream = StreamKey::kPrefix, TrainerOptions options = {}) const {
    TrainingJob job;
    job.program = &p;
    job.seed = seed;
    job.replica = replica;
    job.stream = stream;
    return trainer(std::move(options))->train(job);
  }
};
NEUTRA_EACH_BACKEND(Training);

/// Remembers what a training showed.
struct Recorder final : Observer {
  BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return BatchDetail::kActivations;
  }
  void batch_end(const BatchEvent& event) override {
    losses.push_back(event.loss);
    weights.clear();
    for (const LayerView& view : event.layers) {
      for (const auto& w : view.weights) weights.insert(weights.end(), w.begin(), w.end());
      if (!view.gradients.empty()) slopes = statistics(view.gradients[0]).count;
    }
  }
  void epoch_end(const EpochEvent& event) override {
    logs.push_back(event.logs);
    if (event.epoch + 1 == epochs_wanted) stopped = true;
  }
  bool stop() override { return stopped; }
  std::vector<double> losses;
  std::vector<std::map<std::string, double>> logs;
  std::vector<float> weights;
  std::size_t slopes = 0;
  std::int64_t epochs_wanted = -1;
  bool stopped = false;
};

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

TEST_P(Training, LearnsALine) {
  const ReplicaResult r = train(line(30));
  EXPECT_EQ(r.status, RunStatus::kOk);
  EXPECT_LT(r.metric, 0.05);
  EXPECT_EQ(r.steps, 30 * 13);  // 400 rows: twelve full batches and one of 16
  EXPECT_EQ(r.samples, 30 * 400);
  EXPECT_EQ(r.backend, to_string(GetParam()));
  EXPECT_GT(r.seconds, 0);
  EXPECT_EQ(r.correct, -1);
}

TEST_P(Training, LearnsTwoClassesAndCountsExactly) {
  const ReplicaResult r = train(moons(40));
  EXPECT_EQ(r.status, RunStatus::kOk);
  EXPECT_GT(r.metric, 0.9);
  EXPECT_EQ(r.total, 100);
  EXPECT_DOUBLE_EQ(r.metric, static_cast<double>(r.correct) / static_cast<double>(r.total));
}

TEST_P(Training, OneStepByHand) {
  // One batch of all rows, w = b = 0: the gradients are -2 mean(x y) and -2 mean(y).
  program::Program p = line(1);
  p.document["fit"]["batch_size"] = 400;
  p.document["model"]["config"]["layers"][0]["config"]["kernel_initializer"] = "zeros";
  p.document["data"]["arguments"]["slope"] = 0;
  p.document["data"]["arguments"]["intercept"] = 2;
  Recorder seen;
  trainer()->train({&p}, &seen);
  EXPECT_NEAR(seen.losses.at(0), 4, 1e-5);
  EXPECT_NEAR(seen.weights.at(1), 0.1 * 2 * 2, 1e-5);
  EXPECT_NEAR(seen.weights.at(0), 0.1 * 2 * 2 * 0.5, 0.03);  // mean of x is about a half
}

TEST_P(Training, SeedsAndReplicasDiffer) {
  const program::Program p = line();
  const double base = train(p).metric;
  EXPECT_TRUE(same_bits(train(p).metric, base));
  EXPECT_NE(train(p, 1).metric, base);
  EXPECT_NE(train(p, 0, 1).metric, base);
  EXPECT_NE(train(p, 0, 0, StreamKey::kIndependent).metric, base);
}

TEST_P(Training, FewerEpochsAreAPrefix) {
  Recorder shorter, longer;
  const program::Program two = moons(2), four = moons(4);
  const auto trainer = this->trainer();
  trainer->train({&two}, &shorter);
  trainer->train({&four}, &longer);
  ASSERT_EQ(shorter.losses.size() * 2, longer.losses.size());
  for (std::size_t i = 0; i < shorter.losses.size(); ++i) {
    EXPECT_TRUE(same_bits(shorter.losses[i], longer.losses[i])) << i;
  }
}

TEST_P(Training, BitwiseEqualAloneAndAmongOthers) {
  const program::Program p = moons(), q = line(), big = [] {
    program::Program wide = moons();
    wide.document["model"]["config"]["layers"][0]["config"]["units"] = 200;
    return wide;
  }();
  const auto trainer = this->trainer();
  auto bits = [&](const program::Program& program, int replica) {
    Recorder seen;
    TrainingJob job;
    job.program = &program;
    job.replica = replica;
    trainer->train(job, &seen);
    return seen.weights;
  };
  const auto alone = bits(p, 3), alone_big = bits(big, 1);
  std::vector<std::vector<float>> together(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      bits(q, t);
      together[static_cast<std::size_t>(t)] = t % 2 == 0 ? bits(p, 3) : bits(big, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together[0], alone);
  EXPECT_EQ(together[1], alone_big);
  EXPECT_EQ(together[2], alone);
  EXPECT_EQ(together[3], alone_big);
}

TEST_P(Training, ObserverSeesBatchesAndEpochsAndChangesNothing) {
  const program::Program p = moons();
  Recorder seen;
  const ReplicaResult watched = trainer()->train({&p}, &seen);
  EXPECT_TRUE(same_bits(watched.metric, train(p).metric));
  EXPECT_EQ(seen.losses.size(), static_cast<std::size_t>(watched.steps));
  EXPECT_EQ(seen.logs.size(), 3u);
  EXPECT_TRUE(seen.logs[0].contains("loss"));
  EXPECT_TRUE(seen.logs[0].contains("accuracy"));
  EXPECT_LT(seen.logs[2]["loss"], seen.logs[0]["loss"]);
  EXPECT_EQ(seen.slopes, 8u);
}

TEST_P(Training, ObserverCanStop) {
  const program::Program p = line(10);
  Recorder seen;
  seen.epochs_wanted = 2;
  EXPECT_EQ(trainer()->train({&p}, &seen).steps, 26);
}

TEST_P(Training, ValidationTakesTheLastRows) {
  program::Program p = line();
  p.document["fit"]["validation_split"] = 0.3;
  Recorder seen;
  const ReplicaResult r = trainer()->train({&p}, &seen);
  EXPECT_EQ(r.samples, 3 * 280);
  EXPECT_TRUE(seen.logs[0].contains("val_loss"));
  EXPECT_TRUE(seen.logs[0].contains("val_mae"));

  Recorder watched;
  p.document["fit"].erase("validation_split");
  p.document["data"]["validation"] = "test";
  const ReplicaResult whole = trainer()->train({&p}, &watched);
  EXPECT_EQ(whole.samples, 3 * 400);
  EXPECT_NEAR(watched.logs.back().at("val_mae"), whole.metric,
              1e-6);  // without hold-out: the test rows, too
}

TEST_P(Training, ObserverMayWantTestRowsForValidation) {
  struct Wanting final : Observer {
    bool wants_validation() const override { return true; }
    void begin(const DataView& view, Probe&) override {
      row = view.row;
      training = view.training.size();
      validation = view.validation.size();
    }
    void epoch_end(const EpochEvent& event) override { logs.push_back(event.logs); }
    program::Shape row;
    std::size_t training = 0, validation = 0;
    std::vector<std::map<std::string, double>> logs;
  };
  const auto trainer = this->trainer();
  program::Program p = moons();
  Wanting seen;
  const ReplicaResult watched = trainer->train({&p}, &seen);
  EXPECT_EQ(seen.row, (program::Shape{2}));
  EXPECT_EQ(seen.training, 800u);
  EXPECT_EQ(seen.validation, 200u);
  // No hold-out of its own: the metric is that of the test rows.
  EXPECT_DOUBLE_EQ(seen.logs.back().at("val_accuracy"), watched.metric);
  EXPECT_TRUE(seen.logs[0].contains("val_loss"));
  EXPECT_TRUE(same_bits(watched.metric, train(p).metric));

  // A callback that has nothing to monitor doesn't come to life by being watched.
  p.document["fit"]["epochs"] = 30;
  p.document["fit"]["callbacks"] = Json::parse(
      R"([{"class_name":"EarlyStopping","config":{"monitor":"val_loss","min_delta":100}}])");
  Wanting whole;
  trainer->train({&p}, &whole);
  EXPECT_EQ(whole.logs.size(), 30u);

  // A split of its own wins.
  p.document["fit"]["validation_split"] = 0.25;
  Wanting own;
  trainer->train({&p}, &own);
  EXPECT_EQ(own.training, 600u);
  EXPECT_EQ(own.validation, 200u);
  EXPECT_EQ(own.logs.size(), 2u);
}

TEST_P(Training, EarlyStoppingStopsAndRestores) {
  program::Program p = line(50);
  p.document["fit"]["validation_split"] = 0.2;
  p.document["compile"]["optimizer"]["config"]["learning_rate"] = 1.2;  // gets worse every epoch
  p.document["fit"]["callbacks"] = Json::parse(
      R"([{"class_name":"EarlyStopping",
           "config":{"monitor":"val_loss","patience":2,"restore_best_weights":true}}])");
  const ReplicaResult stopped = train(p);
  EXPECT_EQ(stopped.steps, 3 * 10);
  program::Program once = p;
  once.document["fit"].erase("callbacks");
  once.document["fit"]["epochs"] = 1;
  // The canonical program differs, so the random streams do: only the size of the error can be
  // compared.
  EXPECT_TRUE(std::isfinite(stopped.metric));
  program::Program unrestored = p;
  unrestored.document["fit"]["callbacks"][0]["config"]["restore_best_weights"] = false;
  EXPECT_GT(train(unrestored).metric, 10 * stopped.metric);
}

TEST_P(Training, TerminateOnNaNStops) {
  program::Program p = line(50);
  p.document["compile"]["optimizer"]["config"]["learning_rate"] = 1e20;
  p.document["fit"]["callbacks"] = Json::parse(R"([{"class_name":"TerminateOnNaN","config":{}}])");
  const ReplicaResult r = train(p);
  EXPECT_LT(r.steps, 13);
  EXPECT_EQ(r.status, RunStatus::kDiverged);
}

TEST_P(Training, DivergedIsAValueAndDeadEpochsAreSaved) {
  program::Program p = moons(20);
  p.document["model"]["config"]["layers"] = Json::array({dense(4, "relu"), dense(2, "linear")});
  p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] =
      Json::array({nullptr, 2});
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"one_hot","on":"y","classes":2}])");
  p.document["compile"]["loss"] = "mean_squared_error";
  p.document["compile"]["optimizer"] = optimizer("SGD", 1e12);
  p.document["model"]["config"]["layers"][0]["config"]["bias_initializer"] = "ones";
  TrainerOptions full;
  full.skip_dead_epochs = false;
  const ReplicaResult saved = train(p), whole = train(p, 0, 0, StreamKey::kPrefix, full);
  EXPECT_EQ(saved.status, RunStatus::kDiverged);
  EXPECT_GT(saved.epochs_saved, 0);
  EXPECT_LT(saved.steps, whole.steps);
  EXPECT_EQ(whole.epochs_saved, 0);
  EXPECT_EQ(whole.status, saved.status);
  EXPECT_TRUE(same_bits(saved.metric, whole.metric));
  EXPECT_EQ(saved.correct, whole.correct);
  EXPECT_EQ(saved.total, 100);
}

TEST_P(Training, NaNErrorIsDiverged) {
  program::Program p = line(3);
  p.document["compile"]["optimizer"]["config"]["learning_rate"] = 1e20;
  const ReplicaResult r = train(p);
  EXPECT_EQ(r.status, RunStatus::kDiverged);
  EXPECT_FALSE(std::isfinite(r.metric));
}

TEST_P(Training, Limits) {
  const program::Program p = moons(100000);
  TrainingJob job{&p};
  job.time_limit = 0.05;
  const auto trainer = this->trainer();
  const ReplicaResult late = trainer->train(job);
  EXPECT_EQ(late.status, RunStatus::kTimeout);
  EXPECT_LT(late.seconds, 60);
  EXPECT_TRUE(std::isnan(late.metric));
  job.time_limit = 0;
  job.memory_limit = 1000;
  const ReplicaResult large = trainer->train(job);
  EXPECT_EQ(large.status, RunStatus::kOutOfMemory);
  EXPECT_EQ(large.steps, 0);
}

TEST_P(Training, Refusals) {
  const auto trainer = this->trainer();
  EXPECT_EQ(trainer->refusal(moons()), std::nullopt);

  program::Program bad = moons();
  bad.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"][1] = 3;
  EXPECT_TRUE(trainer->refusal(bad).has_value());
  const ReplicaResult invalid = train(bad);
  EXPECT_EQ(invalid.status, RunStatus::kInvalid);
  EXPECT_NE(invalid.message, "");

  program::Program missing = moons();
  missing.document["data"] = {{"source", "csv"}, {"arguments", {{"file", "absent.csv"}}}};
  EXPECT_THROW(trainer->refusal(missing), Error);
  EXPECT_THROW(train(missing), Error);
}

TEST_P(Training, LabelsOutsideTheClassesAreInvalid) {
  program::Program p = moons();
  auto& layers = p.document["model"]["config"]["layers"];
  layers = Json::array({dense(1, "relu", {{"batch_input_shape", {nullptr, 2}}})});
  p.document["compile"]["loss"] = "sparse_categorical_crossentropy";
  EXPECT_EQ(train(p).status, RunStatus::kInvalid);
}

TEST_P(Training, LossMetricAndFingerprint) {
  program::Program p = moons();
  p.document["metric"] = {{"name", "loss"}, {"goal", "minimize"}};
  const ReplicaResult r = train(p);
  EXPECT_GT(r.metric, 0);
  EXPECT_LT(r.metric, 1);
  EXPECT_NE(trainer()->fingerprint(p).find("torch"), std::string::npos);
}

TEST_P(Training, AnotherDataSetIsAnotherFingerprint) {
  program::Program p = moons();
  const auto trainer = this->trainer();
  const std::string before = trainer->fingerprint(p);
  EXPECT_EQ(this->trainer()->fingerprint(p), before);
  p.document["data"]["arguments"]["seed"] = 12345;
  EXPECT_NE(trainer->fingerprint(p), before);
}

TEST_P(Training, AStopIsNoResult) {
  program::Program p = moons();
  const std::atomic<bool> stop{true};
  TrainingJob job;
  job.program = &p;
  job.stop = &stop;
  try {
    trainer()->train(job);
    FAIL() << "a result";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInterrupted);
  }
}

TEST_P(Training, EveryOptimizerTrains) {
  for (const char* name :
       {"SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl"}) {
    program::Program p = line(20);
    p.document["compile"]["optimizer"] = optimizer(name, 0.1);
    p.document["model"]["config"]["layers"][0]["config"]["kernel_initializer"] = "zeros";
    Recorder seen;
    const ReplicaResult r = trainer()->train({&p}, &seen);
    EXPECT_EQ(r.status, RunStatus::kOk) << name << r.message;
    EXPECT_LT(seen.logs.back()["loss"], seen.logs.front()["loss"]) << name;
  }
}

TEST_P(Training, EveryLossTrainsOnOneHotTargets) {
  for (const char* loss :
       {"mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error",
        "mean_squared_logarithmic_error", "squared_hinge", "hinge", "categorical_hinge", "logcosh",
        "huber", "cosine_similarity", "categorical_crossentropy", "binary_crossentropy",
        "kullback_leibler_divergence", "poisson"}) {
    for (const char* activation : {"softmax", "sigmoid", "linear"}) {
      program::Program p = moons(2);
      p.document["data"]["preprocess"] = Json::parse(R"([{"op":"one_hot","on":"y","classes":2}])");
      p.document["model"]["config"]["layers"][3] = dense(2, activation);
      p.document["compile"]["loss"] = loss;
      const ReplicaResult r = train(p);
      EXPECT_TRUE(r.status == RunStatus::kOk || r.status == RunStatus::kDiverged)
          << loss << " " << activation << ": " << r.message;
      EXPECT_EQ(r.total, 100) << loss << " " << activation;
    }
  }
}

}  // namespace
}  // namespace neutra::training
