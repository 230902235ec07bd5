#include "training/loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loop_cases.h"
#include "training/optimizers/registry.h"

namespace neutra::training::tests {
namespace {

double slope(double w, double x, double y) { return 2 * (w * x - y) * x; }

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

}  // namespace
}  // namespace neutra::training::tests
