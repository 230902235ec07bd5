#include "training/loop.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/parallel.h"
#include "loop_cases.h"

namespace neutra::training::tests {
namespace {

ReplicaResult measured(Tiny& t, std::int64_t epochs, Observer* observer = nullptr) {
  const TrainingRows rows{t.rows(), {}, t.rows(), t.rows(), {}};
  TrainingLoop loop(t.program, rows, {1, 2}, *t.engine, {}, observer);
  ReplicaResult result;
  loop.run({}, {}, epochs, result);
  loop.finish();
  loop.measure(result);
  return result;
}

TEST_P(Loops, WithoutInferenceModeDropoutIsActiveInTheEvaluation) {
  const std::vector<float> xs{1, 2, 3, 4, 5, 6, 7}, ys(7, 0);
  Json loop = {{"eval_mode", false}, {"step", false}};
  Tiny t(GetParam(), Json::array({layer("Dropout", {{"rate", 0.5}}), one_weight()[0]}), xs, ys,
         loop, optimizer("SGD", 0.1), Json(), 3);
  // Batches of three rows in their order, masks of the evaluation's own streams.
  const RandomKey key = evaluation_key({1, 2});
  double sum = 0;
  std::size_t row = 0;
  for (std::uint32_t batch = 0; batch < 3; ++batch) {
    std::vector<float> mask(batch < 2 ? 3 : 1);
    fill_dropout_mask({key, Stream::kDropout, 0, batch}, 0.5f, mask);
    for (const float kept : mask) sum += std::abs(kept * xs[row++]);
  }
  const double whole = std::accumulate(xs.begin(), xs.end(), 0.0);
  EXPECT_NE(sum, whole);
  EXPECT_NEAR(measured(t, 1).metric, sum / 7, 1e-5);
  t.program.loop.eval_mode = true;
  EXPECT_NEAR(measured(t, 1).metric, whole / 7, 1e-5);
}

TEST_P(Loops, WithoutInferenceModeTheEvaluationTakesBatchStatisticsAndMovesAverages) {
  const std::vector<float> xs{1, 3, 10, 20}, ys(4, 0);
  const Json loop = {{"eval_mode", false}, {"step", false}};
  Json layers = Json::array(
      {layer("BatchNormalization", {{"momentum", 0.5}, {"epsilon", 0}}), one_weight()[0]});
  Tiny t(GetParam(), layers, xs, ys, loop, optimizer("SGD", 0.1), Json(), 2);
  // Of two values, one is a standard deviation below the mean, one above.
  EXPECT_NEAR(measured(t, 0).metric, 1, 1e-5);
  EXPECT_NEAR(t.weight(0, 2), (0 * 0.5 + 2 * 0.5) * 0.5 + 15 * 0.5, 1e-5);
  // A frozen one infers all the same.
  layers[0]["config"]["trainable"] = false;
  Tiny frozen(GetParam(), layers, xs, ys, loop, optimizer("SGD", 0.1), Json(), 2);
  EXPECT_NEAR(measured(frozen, 0).metric, (1 + 3 + 10 + 20) / 4.0, 1e-4);
  EXPECT_EQ(frozen.weight(0, 2), 0);
}

program::Program with_loop(program::Program p, Json loop) {
  p.document["fit"]["loop"] = std::move(loop);
  return p;
}

/// Everything that has a state or draws numbers, and rows that are watched.
program::Program restless(int epochs = 4) {
  program::Program p = moons(epochs);
  Json& layers = p.document["model"]["config"]["layers"];
  layers.insert(layers.begin() + 2, layer("BatchNormalization", Json::object()));
  p.document["fit"]["validation_split"] = 0.1;
  p.document["metric"] = {{"name", "loss"}, {"goal", "minimize"}};
  return p;
}

std::vector<Json> styles() {
  std::vector<Json> all;
  for (const char* text :
       {R"({"zero_grad": "never"})", R"({"zero_grad": "each_epoch"})",
        R"({"zero_grad": "before_step"})", R"({"step": false})", R"({"eval_mode": false})",
        R"({"reduction": "sum"})", R"({"left_out": [0, 2]})", R"({"detached": 3})",
        R"({"zero_grad": "never", "eval_mode": false, "reduction": "sum", "left_out": [4]})"}) {
    all.push_back(Json::parse(text));
  }
  return all;
}

std::string essence(const ReplicaResult& result) {
  return std::to_string(std::bit_cast<std::uint64_t>(result.metric)) + " " +
         std::string(to_string(result.status)) + " " + std::to_string(result.steps);
}

TEST_P(Loops, EachStyleIsAnotherTraining) {
  const auto trainer = this->trainer();
  std::set<std::string> seen;
  for (const Json& style : styles()) {
    const program::Program p = with_loop(restless(), style);
    const ReplicaResult result = trainer->train({&p});
    EXPECT_NE(result.status, RunStatus::kFailed) << result.message;
    EXPECT_TRUE(seen.insert(essence(result)).second) << style;
  }
}

TEST_P(Loops, WorkersChangeNothing) {
  std::vector<program::Program> programs;
  for (const Json& style : styles()) programs.push_back(with_loop(restless(), style));
  programs.push_back(restless());
  programs.back().document["fit"]["schedule"] = {{"decay_rate", 0.9}, {"every", "batch"}};
  std::vector<std::string> alone;
  for (const int workers : {1, 3}) {
    const auto trainer = this->trainer();
    std::vector<std::string> found(programs.size());
    run_all(found.size(), workers, nullptr,
            [&](std::size_t i) { found[i] = essence(trainer->train({&programs[i]})); });
    if (alone.empty()) alone = found;
    EXPECT_EQ(found, alone) << workers;
  }
}

TEST_P(Loops, ReusedEpochsChangeNothing) {
  TrainerOptions reuse;
  reuse.reuse_epochs = true;
  std::vector<program::Program> programs;
  for (const Json& style : styles()) programs.push_back(with_loop(restless(), style));
  for (const char* every : {"epoch", "batch"}) {
    programs.push_back(restless());
    programs.back().document["fit"]["schedule"] = {{"decay_rate", 0.7}, {"every", every}};
  }
  for (program::Program& p : programs) {
    const auto reusing = trainer(reuse), fresh = trainer();
    for (const int epochs : {4, 2, 8, 6}) {
      p.document["fit"]["epochs"] = epochs;
      const ReplicaResult a = reusing->train({&p}), b = fresh->train({&p});
      EXPECT_EQ(essence(a), essence(b)) << p.document["fit"];
      const bool prefixes =
          p.document["fit"].value("loop", Json::object()).value("eval_mode", true);
      EXPECT_EQ(a.epochs_reused, !prefixes || epochs == 4 ? 0 : epochs == 2 ? 2 : 4);
    }
  }
}

TEST_P(Loops, GoOnFromAState) {
  for (const char* zeroed : {"never", "each_epoch"}) {
    const auto make = [&] {
      return Tiny(GetParam(), one_weight(), {1, 2, -1}, {3, 1, 2}, loop_field("zero_grad", zeroed),
                  optimizer("Adam", 0.1), Json(), 2);
    };
    Tiny whole = make(), first = make(), second = make();
    const auto loop = [&](Tiny& t) {
      return TrainingLoop(t.program, {t.rows(), {}, t.rows(), t.rows(), {}}, {1, 2}, *t.engine, {},
                          nullptr);
    };
    ReplicaResult result;
    loop(whole).run({}, {}, 6, result);
    TrainingLoop begun = loop(first), continued = loop(second);
    begun.run({}, {}, 3, result);
    const TrainingState state = begun.state();
    EXPECT_EQ(state.bytes(), begun.state_bytes());
    EXPECT_FALSE(state.gradients.empty());
    continued.resume(state);
    continued.run({}, {}, 6, result);
    EXPECT_EQ(second.weight(0), whole.weight(0));
    EXPECT_NE(first.weight(0), whole.weight(0));
  }
}

/// Looks at what validation gives.
struct Watcher final : Observer {
  bool wants_validation() const override { return true; }
  void epoch_end(const EpochEvent& event) override { logs.push_back(event.logs); }
  std::vector<std::map<std::string, double>> logs;
};

TEST_P(Loops, BeingWatchedChangesNothing) {
  const auto trainer = this->trainer();
  for (const bool own_rows : {true, false}) {
    for (const Json& style : styles()) {
      program::Program p = with_loop(restless(), style);
      if (!own_rows) p.document["fit"].erase("validation_split");
      Watcher watcher;
      const ReplicaResult watched = trainer->train({&p}, &watcher);
      EXPECT_EQ(essence(watched), essence(trainer->train({&p}))) << style;
      EXPECT_EQ(watcher.logs.size(), 4u);
      EXPECT_TRUE(watcher.logs[0].contains("val_loss"));
    }
  }
}

TEST_P(Loops, DeadEpochsAreSavedWhereNothingCanCome) {
  program::Program p =
      program_of("moons", 2,
                 Json::array({dense(4, "relu", {{"bias_initializer", "ones"}}),
                              layer("Dropout", {{"rate", 0.5}}), dense(2, "linear")}),
                 "mean_squared_error", "accuracy", optimizer("SGD", 1e12), 20);
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"one_hot","on":"y","classes":2}])");
  TrainerOptions full;
  full.skip_dead_epochs = false;
  for (const Json& style :
       {Json::object(), loop_field("zero_grad", "never"), loop_field("reduction", "sum"),
        loop_field("eval_mode", false), loop_field("left_out", {2})}) {
    const program::Program q = with_loop(p, style);
    const ReplicaResult saved = trainer()->train({&q}), whole = trainer(full)->train({&q});
    const bool can_be = style.value("eval_mode", true) && !style.contains("left_out");
    EXPECT_EQ(saved.epochs_saved > 0, can_be) << style;
    EXPECT_EQ(saved.correct, whole.correct) << style;
    EXPECT_EQ(saved.status, whole.status) << style;
  }
}

TEST_P(Loops, ThePredictorIsAskedAsTheProgramEvaluates) {
  struct Kept final : Observer {
    std::vector<std::vector<float>> weights;
    void end(Probe& probe) override {
      const std::int64_t row = 0;
      for (const LayerView& view : probe.forward({&row, 1}).layers) {
        for (const auto w : view.weights) weights.emplace_back(w.begin(), w.end());
      }
    }
  } kept;
  const auto trainer = this->trainer();
  program::Program p = with_loop(restless(), loop_field("eval_mode", false));
  p.document["metric"] = {{"name", "mae"}, {"goal", "minimize"}};
  TrainingJob job;
  job.program = &p;
  job.replica = 3;
  job.stream = StreamKey::kIndependent;
  const ReplicaResult result = trainer->train(job, &kept);
  const auto metric = [&](RandomKey key) {
    const auto predictor = trainer->predictor(p, DataPart::kHoldout, key);
    Weights& weights = predictor->weights();
    std::size_t next = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      for (const Weights::Variable& variable : weights.of_layer(i)) {
        const std::vector<float>& values = kept.weights[next++];
        std::copy(values.begin(), values.end(), variable.extent.of(weights.all()).begin());
      }
    }
    const DataRows rows = trainer->rows(p, DataPart::kHoldout);
    Metric mean("mae");
    for (std::int64_t begin = 0; begin < rows.count; begin += predictor->max_rows()) {
      const std::int64_t count = std::min(predictor->max_rows(), rows.count - begin);
      const auto targets =
          rows.targets.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
      mean.add({predictor->outputs(begin, count), {count, 1}}, {targets, {count, 1}});
      EXPECT_EQ(predictor->activations().size(), 5u);
    }
    return mean.value();
  };
  EXPECT_EQ(metric(random_key(0, program::program_hash(p), 3)), result.metric);
  EXPECT_NE(metric({}), result.metric);
}

}  // namespace
}  // namespace neutra::training::tests
