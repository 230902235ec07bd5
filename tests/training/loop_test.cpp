#include "training/loop.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/parallel.h"
#include "programs.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/optimizers/registry.h"

/// Loops written by hand: what each style makes of a training, to the number, with both back ends.
namespace neutra::training {
namespace {

using enum program::LoopStyle::ZeroGrad;

Json loop_field(const char* field, Json value) { return {{field, std::move(value)}}; }

/// A program on rows of its own, and its engine.
struct Tiny {
  Tiny(Backend backend_, Json layers, const std::vector<float>& xs, const std::vector<float>& ys,
       Json loop = Json::object(), const Json& how = optimizer("SGD", 0.1), Json schedule = Json(),
       int batch = 32)
      : backend(backend_) {
    const auto rows = static_cast<std::int64_t>(ys.size());
    const auto width = static_cast<std::int64_t>(xs.size()) / rows;
    x = {{rows, width}, xs};
    y = {{rows, 1}, ys};
    program::Program p = program_of("moons", static_cast<int>(width), std::move(layers),
                                    "mean_squared_error", "mae", how);
    p.document["fit"]["loop"] = std::move(loop);
    p.document["fit"]["schedule"] = std::move(schedule);
    p.document["fit"]["batch_size"] = batch;
    const program::DataInfo info{{width}, {1}, rows, false, -10, 10};
    program = program::resolve(p, &info);
    engine = make();
  }
  std::unique_ptr<Engine> make() const {
    return backend == Backend::kFused ? make_fused_engine(program, rows(), {1, 2})
                                      : make_eager_engine(program, rows(), {1, 2});
  }
  Rows rows() const { return {&x, &y, 0, x.rows()}; }
  double step(std::vector<std::int64_t> chosen) {
    return engine->step(chosen, steps++, {true, true, false});
  }
  /// Value or gradient `at` of a variable of a layer.
  float weight(std::size_t layer, std::size_t variable = 0, std::size_t at = 0) {
    Weights& weights = engine->weights();
    return weights.of_layer(layer)[variable].extent.of(weights.all())[at];
  }
  float gradient(std::size_t layer, std::size_t variable = 0, std::size_t at = 0) {
    Weights& weights = engine->weights();
    return weights.of_layer(layer)[variable].extent.of(weights.gradients())[at];
  }

  Backend backend;
  Array x, y;
  program::ResolvedProgram program;
  std::unique_ptr<Engine> engine;
  std::uint32_t steps = 0;
};

/// One weight of 1: the loss of a row is (w x - y)^2, its gradient 2 (w x - y) x.
Json one_weight(Json more = Json::object()) {
  Json config = {{"use_bias", false}, {"kernel_initializer", "ones"}};
  config.update(more);
  return Json::array({dense(1, "linear", std::move(config))});
}
double slope(double w, double x, double y) { return 2 * (w * x - y) * x; }

class Loops : public EachBackend {
 protected:
  Tiny tiny(Json loop, const Json& how = optimizer("SGD", 0.1), Json schedule = Json()) const {
    return {GetParam(),      one_weight(), {1, 2, -1},         {3, 1, 2},
            std::move(loop), how,          std::move(schedule)};
  }
};
NEUTRA_EACH_BACKEND(Loops);

TEST_P(Loops, NeverZeroedGradientsAddUpOverTheTraining) {
  Tiny t = tiny(loop_field("zero_grad", "never"));
  double w = 1, sum = 0;
  for (const std::int64_t row : {0, 1, 2, 1}) {
    t.engine->begin_epoch(t.steps);  // an epoch for each step changes nothing
    sum += slope(w, t.x.values[static_cast<std::size_t>(row)],
                 t.y.values[static_cast<std::size_t>(row)]);
    w -= 0.1 * sum;
    t.step({row});
    EXPECT_NEAR(t.weight(0), w, 1e-5) << t.steps;
    EXPECT_NEAR(t.gradient(0), sum, 1e-5) << t.steps;
    EXPECT_NEAR(t.engine->kept_gradients()[0], sum, 1e-5);
  }
  // What a probe asks is no part of it.
  const std::vector<std::int64_t> all{0, 1, 2};
  t.engine->gradients(all, 0, {});
  EXPECT_NEAR(t.engine->kept_gradients()[0], sum, 1e-5);
}

TEST_P(Loops, ZeroedEachEpochGradientsAddUpWithinIt) {
  Tiny t = tiny(loop_field("zero_grad", "each_epoch"));
  double w = 1;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    t.engine->begin_epoch(epoch);
    double sum = 0;
    for (const std::int64_t row : {0, 1, 2}) {
      sum += slope(w, t.x.values[static_cast<std::size_t>(row)],
                   t.y.values[static_cast<std::size_t>(row)]);
      w -= 0.1 * sum;
      t.step({row});
      EXPECT_NEAR(t.weight(0), w, 1e-5);
    }
  }
}

TEST_P(Loops, RegularisersGradientsAddUpToo) {
  Tiny t(GetParam(),
         one_weight({{"kernel_regularizer", {{"class_name", "L2"}, {"config", {{"l2", 0.5}}}}}}),
         {1, 2}, {3, 1}, loop_field("zero_grad", "never"));
  double w = 1, sum = 0;
  for (const std::int64_t row : {0, 1}) {
    sum += slope(w, row + 1, row == 0 ? 3 : 1) + 2 * 0.5 * w;
    w -= 0.1 * sum;
    t.step({row});
    EXPECT_NEAR(t.weight(0), w, 1e-5);
  }
}

TEST_P(Loops, ClippedGradientsAreKeptAsClipped) {
  Json how = optimizer("SGD", 0.1);
  how["config"]["clipvalue"] = 2.5;
  Tiny t = tiny(loop_field("zero_grad", "never"), how);
  t.step({0});  // the slope is -4
  EXPECT_FLOAT_EQ(t.weight(0), 1.25f);
  EXPECT_FLOAT_EQ(t.engine->kept_gradients()[0], -2.5f);
  const double next = slope(1.25, 2, 1) - 2.5;  // 3.5, clipped
  ASSERT_GT(next, 2.5);
  t.step({1});
  EXPECT_FLOAT_EQ(t.weight(0), 1.0f);
}

TEST_P(Loops, ZeroedBeforeTheUpdateNoGradientArrives) {
  for (const std::string& name : optimizer_names()) {
    Tiny t = tiny(loop_field("zero_grad", "before_step"), optimizer(name, 0.1));
    const double loss = t.step({0, 1, 2});
    t.step({0, 1});
    // The first time its accumulator is all there is: Ftrl makes a weight of it.
    EXPECT_EQ(t.weight(0), name == "Ftrl" ? 0.0f : 1.0f) << name;
    EXPECT_EQ(t.gradient(0), 0) << name;
    EXPECT_NEAR(loss, (4 + 1 + 9) / 3.0, 1e-5);
    EXPECT_EQ(t.engine->optimizer().state().iterations, 2) << name;
  }
}

TEST_P(Loops, WithoutAnUpdateOnlyAveragesMove) {
  Tiny t(GetParam(), Json::array({layer("BatchNormalization", Json::object()), one_weight()[0]}),
         {1, 2, -1}, {3, 1, 2}, loop_field("step", false));
  const double first = t.step({0, 1, 2});
  EXPECT_EQ(t.step({0, 1, 2}), first);
  EXPECT_EQ(t.weight(1), 1);
  EXPECT_NE(t.gradient(1), 0);
  EXPECT_NEAR(t.weight(0, 2), (1 - 0.99 * 0.99) * 2 / 3, 1e-6);  // of the mean 2/3
  EXPECT_EQ(t.engine->optimizer().state().iterations, 0);
}

TEST_P(Loops, ASummedLossIsAsManyTimesTheMeanAsThereAreRows) {
  const Json penalty = {{"kernel_regularizer", {{"class_name", "L2"}, {"config", {{"l2", 0.5}}}}}};
  const auto make = [&](Json loop) {
    return Tiny(GetParam(), one_weight(penalty), {1, 2, -1}, {3, 1, 2}, std::move(loop));
  };
  Tiny t = make(loop_field("reduction", "sum"));
  const std::vector<std::int64_t> two{0, 2};
  EXPECT_NEAR(t.engine->look(two), 4 + 9 + 0.5, 1e-5);
  // A batch of two and one of one, weighted with their rows.
  EXPECT_NEAR(t.engine->evaluate(t.rows(), {}, 2), ((4 + 1) * 2 + 9 * 1) / 3.0 + 0.5, 1e-5);
  EXPECT_NEAR(t.step({0, 2}), 4 + 9 + 0.5, 1e-5);
  const double g = slope(1, 1, 3) + slope(1, -1, 2) + 2 * 0.5;  // the penalty's isn't summed
  EXPECT_NEAR(t.gradient(0), g, 1e-5);
  EXPECT_NEAR(t.weight(0), 1 - 0.1 * g, 1e-5);

  Tiny mean = make(Json::object());
  EXPECT_NEAR(mean.engine->evaluate(mean.rows(), {}, 2), (4 + 1 + 9) / 3.0 + 0.5, 1e-5);
}

/// Three layers of one weight, the middle one with a batch normalisation before it.
Json three_layers(const Json& regularizer = Json()) {
  Json config = {
      {"use_bias", false}, {"kernel_initializer", "ones"}, {"kernel_regularizer", regularizer}};
  return Json::array({dense(1, "linear", config), layer("BatchNormalization", Json::object()),
                      dense(1, "linear", config), dense(1, "linear", config)});
}

TEST_P(Loops, LeftOutVariablesHaveAGradientAndNoUpdate) {
  const std::vector<float> xs{1, 2, -1, 4}, ys{3, 1, 2, -1};
  for (const char* name : {"SGD", "Adam", "Ftrl"}) {
    Tiny usual(GetParam(), three_layers(), xs, ys, Json::object(), optimizer(name, 0.1)),
        t(GetParam(), three_layers(), xs, ys, loop_field("left_out", {1, 2}), optimizer(name, 0.1));
    for (Tiny* one : {&usual, &t}) one->step({0, 1, 2, 3});
    for (const std::size_t layer : {0, 1, 2, 3}) {
      EXPECT_FLOAT_EQ(t.gradient(layer), usual.gradient(layer)) << layer;
      const bool updated = layer == 0 || layer == 3;
      EXPECT_EQ(t.weight(layer), updated ? usual.weight(layer) : 1) << name << layer;
    }
    EXPECT_NE(t.gradient(2), 0);
    EXPECT_EQ(t.weight(1, 1), 0);                   // beta
    EXPECT_EQ(t.weight(1, 2), usual.weight(1, 2));  // the moving mean
    EXPECT_NE(t.weight(1, 2), 0);
    EXPECT_EQ(t.engine->optimizer().state().accumulators.size(),
              usual.engine->optimizer().state().accumulators.size());
  }
}

TEST_P(Loops, BehindADetachedOutputNothingHasAGradient) {
  const std::vector<float> xs{1, 2, -1, 4}, ys{3, 1, 2, -1};
  const Json l2 = {{"class_name", "L2"}, {"config", {{"l2", 0.25}}}};
  for (const Json& regularizer : {Json(), l2}) {
    Tiny usual(GetParam(), three_layers(regularizer), xs, ys),
        t(GetParam(), three_layers(regularizer), xs, ys, loop_field("detached", 2));
    for (Tiny* one : {&usual, &t}) one->step({0, 1, 2, 3});
    EXPECT_FLOAT_EQ(t.gradient(3), usual.gradient(3));
    EXPECT_EQ(t.weight(3), usual.weight(3));
    EXPECT_NE(t.weight(3), 1);
    for (const std::size_t layer : {0, 2}) {
      const Weights::Variable& kernel = t.engine->weights().of_layer(layer)[0];
      EXPECT_EQ(kernel.trainable, regularizer.is_object());
      EXPECT_FLOAT_EQ(t.weight(layer), regularizer.is_object() ? 1 - 0.1f * 2 * 0.25f : 1);
    }
    EXPECT_EQ(t.weight(1), 1);
    EXPECT_EQ(t.weight(1, 2), usual.weight(1, 2));  // the moving mean
    t.step({0, 1, 2, 3});                           // earlier penalties don't add up
    if (regularizer.is_object()) {
      EXPECT_FLOAT_EQ(t.gradient(0), 2 * 0.25f * (1 - 0.1f * 2 * 0.25f));
    }
  }
  // All of it: no gradient at all, and no update that Ftrl would make of zeros.
  Tiny all(GetParam(), three_layers(), xs, ys, loop_field("detached", 3), optimizer("Ftrl", 0.1));
  all.step({0, 1, 2, 3});
  EXPECT_EQ(all.weight(0), 1);
  EXPECT_EQ(all.weight(3), 1);
}

TEST(Detached, ActivityRegularisersStillReachTheLayersBefore) {
  Json layers = three_layers();
  layers[0]["config"]["activity_regularizer"] = {{"class_name", "L2"}, {"config", {{"l2", 1}}}};
  const std::vector<float> xs{1, 2}, ys{3, 1};
  Tiny t(Backend::kEager, layers, xs, ys, loop_field("detached", 2));
  t.step({0, 1});
  EXPECT_FLOAT_EQ(t.gradient(0), (2 * 1 + 2 * 4) / 2.0f);  // of (w x)^2, over the rows
  EXPECT_FALSE(t.engine->weights().of_layer(2)[0].trainable);
  // Behind the cut it reaches none of them.
  layers[3]["config"]["activity_regularizer"] = layers[0]["config"]["activity_regularizer"];
  layers[0]["config"].erase("activity_regularizer");
  Tiny behind(Backend::kEager, layers, xs, ys, loop_field("detached", 2));
  behind.step({0, 1});
  EXPECT_FALSE(behind.engine->weights().of_layer(0)[0].trainable);
  EXPECT_EQ(behind.weight(0), 1);
}

TEST_P(Loops, SchedulesDecayTheRateByEpochOrByStep) {
  for (const bool by_batch : {false, true}) {
    for (const double decay : {0.0, 0.5}) {
      Json how = optimizer("SGD", 0.1);
      how["config"]["decay"] = decay;
      Tiny t =
          tiny(Json::object(), how, {{"decay_rate", 0.8}, {"every", by_batch ? "batch" : "epoch"}});
      double w = 1;
      for (int step = 0; step < 6; ++step) {
        const int epoch = step / 3, row = step % 3;
        if (row == 0) t.engine->begin_epoch(epoch);
        const double rate = 0.1 * std::pow(0.8, by_batch ? step : epoch) / (1 + decay * step);
        const auto at = static_cast<std::size_t>(row);
        w -= rate * slope(w, t.x.values[at], t.y.values[at]);
        t.step({row});
        EXPECT_NEAR(t.weight(0), w, 1e-5) << by_batch << decay << step;
      }
    }
  }
}

TEST_P(Loops, SchedulesHoldForEveryOptimizer) {
  // Where each update is the rate times something that isn't the weight, half of it goes half as
  // far.
  for (const std::string& name : optimizer_names()) {
    if (name == "Ftrl") continue;
    Tiny usual = tiny(Json::object(), optimizer(name, 0.1)),
         t = tiny(Json::object(), optimizer(name, 0.1), {{"decay_rate", 0.5}});
    t.engine->begin_epoch(1);
    usual.step({0});
    t.step({0});
    EXPECT_NEAR(t.weight(0) - 1, (usual.weight(0) - 1) / 2, 1e-6) << name;
    EXPECT_NE(t.weight(0), 1) << name;
  }
}

// Trainings.

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
}  // namespace neutra::training
