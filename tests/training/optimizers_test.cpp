#include "training/optimizers/registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "program/key_access.h"
#include "tests/source_file.h"

namespace neutra::training {
namespace {

struct Case {
  const char* name;
  const char* optimizer;
  std::vector<std::vector<float>> gradients;
  std::vector<double>
      expected;  ///< weights after the steps, from the documented formulas in double precision
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

const std::vector<std::vector<float>> kGrowing{{0.5f, -1}, {1, -2}, {1.5f, -3}};

class OptimizerSequence : public testing::TestWithParam<Case> {};

TEST_P(OptimizerSequence, ThreeSteps) {
  const Case& c = GetParam();
  const auto optimizer = make_optimizer(Json::parse(c.optimizer), {{0, 2}});
  std::vector<float> w{1, -2};
  for (std::vector<float> g : c.gradients) optimizer->step(w, g);
  EXPECT_NEAR(w[0], c.expected[0], 2e-6);
  EXPECT_NEAR(w[1], c.expected[1], 2e-6);
}

INSTANTIATE_TEST_SUITE_P(
    All, OptimizerSequence,
    testing::Values(
        Case{
            "SGD", R"({"class_name":"SGD","config":{"learning_rate":0.1}})", kGrowing, {0.7, -1.4}},
        Case{"Momentum",
             R"({"class_name":"SGD","config":{"learning_rate":0.1,"momentum":0.9}})",
             kGrowing,
             {0.5245, -1.049}},
        Case{
            "Nesterov",
            R"({"class_name":"SGD","config":{"learning_rate":0.1,"momentum":0.9,"nesterov":true}})",
            kGrowing,
            {0.27205, -0.5441}},
        Case{"Decay",
             R"({"class_name":"SGD","config":{"learning_rate":0.1,"decay":0.5}})",
             kGrowing,
             {0.808333333, -1.61666667}},
        Case{"RMSprop",
             R"({"class_name":"RMSprop","config":{"learning_rate":0.1}})",
             kGrowing,
             {0.138994395, -1.13899423}},
        Case{"CenteredRMSprop",
             R"({"class_name":"RMSprop","config":{"learning_rate":0.1,"centered":true}})",
             kGrowing,
             {0.0566117952, -1.05661161}},
        Case{"MomentumRMSprop",
             R"({"class_name":"RMSprop","config":{"learning_rate":0.1,"momentum":0.8}})",
             kGrowing,
             {-0.544943552, -0.455055104}},
        Case{"CenteredMomentumRMSprop",
             R"({"class_name":"RMSprop",
                 "config":{"learning_rate":0.1,"momentum":0.8,"centered":true}})",
             kGrowing,
             {-0.674523299, -0.325475094}},
        Case{"Adagrad",
             R"({"class_name":"Adagrad","config":{"learning_rate":0.1}})",
             kGrowing,
             {0.750361362, -1.73619872}},
        Case{"Adadelta",
             R"({"class_name":"Adadelta","config":{"learning_rate":0.1}})",
             kGrowing,
             {0.999462354, -1.99946235}},
        Case{"Adam",
             R"({"class_name":"Adam","config":{"learning_rate":0.1}})",
             kGrowing,
             {0.707682742, -1.70768221}},
        Case{"AMSGrad",
             R"({"class_name":"Adam","config":{"learning_rate":0.1,"amsgrad":true,"beta_2":0.5}})",
             {{2, -4}, {1, -2}, {0, 0}},
             {0.748249263, -1.74824925}},
        Case{"Adamax",
             R"({"class_name":"Adamax","config":{"learning_rate":0.1}})",
             kGrowing,
             {0.754680553, -1.75468054}},
        Case{"Nadam",
             R"({"class_name":"Nadam","config":{"learning_rate":0.1,"decay":0.004}})",
             kGrowing,
             {0.701880239, -1.70188022}},
        Case{"Ftrl",
             R"({"class_name":"Ftrl","config":{"learning_rate":0.1}})",
             kGrowing,
             {0.215838853, -1.13317602}},
        Case{"RegularisedFtrl",
             R"({"class_name":"Ftrl","config":{"learning_rate":0.1,
                 "l1_regularization_strength":0.01,"l2_regularization_strength":0.02,
                 "l2_shrinkage_regularization_strength":0.03,"beta":0.04}})",
             kGrowing,
             {0.180875998, -1.06645359}},
        Case{"ClipValue",
             R"({"class_name":"SGD","config":{"learning_rate":0.1,"clipvalue":1}})",
             {{3, -0.5f}},
             {0.9, -1.95}},
        Case{"ClipNorm",
             R"({"class_name":"SGD","config":{"learning_rate":0.1,"clipnorm":1}})",
             {{3, -4}},
             {0.94, -1.92}},
        Case{"ClipNormInside",
             R"({"class_name":"SGD","config":{"learning_rate":0.1,"clipnorm":9}})",
             {{3, -4}},
             {0.7, -1.6}}),
    [](const auto& info) { return info.param.name; });

TEST(Optimizers, ClipNormIsByVariableAndGlobalIsNot) {
  const Json by_variable =
      Json::parse(R"({"class_name":"SGD","config":{"learning_rate":1,"clipnorm":1}})");
  const Json global =
      Json::parse(R"({"class_name":"SGD","config":{"learning_rate":1,"global_clipnorm":1}})");
  std::vector<float> w{0, 0}, g{3, -4};
  make_optimizer(by_variable, {{0, 1}, {1, 1}})->step(w, g);
  EXPECT_NEAR(w[0], -1, 1e-6);
  EXPECT_NEAR(w[1], 1, 1e-6);
  w = {0, 0}, g = {3, -4};
  make_optimizer(global, {{0, 1}, {1, 1}})->step(w, g);
  EXPECT_NEAR(w[0], -0.6, 1e-6);
  EXPECT_NEAR(w[1], 0.8, 1e-6);
  w = {0, 0}, g = {std::numeric_limits<float>::infinity(), -4};
  make_optimizer(global, {{0, 1}, {1, 1}})->step(w, g);
  EXPECT_TRUE(std::isnan(w[0]) && std::isnan(w[1]));
}

/// Every optimiser by all rules, with and without what these have more of.
std::vector<Json> all_optimizers() {
  std::vector<Json> all;
  for (const std::string& name : optimizer_names()) {
    for (const char* rules : {"keras", "keras3", "torch"}) {
      const Json config{{"learning_rate", 0.01}, {"rules", rules}};
      all.push_back({{"class_name", name}, {"config", config}});
      Json more = config;
      more.update({{"weight_decay", 0.1}, {"momentum", 0.5}, {"amsgrad", true}});
      all.push_back({{"class_name", name}, {"config", more}});
    }
  }
  return all;
}

// Keras 2.15 and 3 and PyTorch themselves; made by make_optimizer_cases.py.
TEST(Optimizers, StepsOfTheFrameworks) {
  const Json file = read_json(source_file("tests/training/data") / "optimizer_cases.json");
  // The second variable begins at another cache line.
  constexpr std::size_t kSecond = 16;
  const std::vector<Extent> variables{{0, 3}, {kSecond, 2}};
  const auto flat = [&](const Json& values) {
    std::vector<float> all(kSecond + 2);
    for (std::size_t i = 0; i < 3; ++i) all[i] = values[0][i];
    for (std::size_t i = 0; i < 2; ++i) all[kSecond + i] = values[1][i];
    return all;
  };
  std::size_t cases = 0;
  for (const Json& each : file.at("cases")) {
    const Json filled =
        *program::normal_value_of(program::KeyKind::kOptimizer, each.at("optimizer"));
    const auto optimizer = make_optimizer(filled, variables);
    if (!filled.at("config").at("undecayed").empty()) optimizer->decay_only({variables.front()});
    std::vector<float> weights = flat(file.at("start"));
    for (const Json& gradients : file.at("gradients")) {
      std::vector<float> g = flat(gradients);
      optimizer->step(weights, g);
    }
    const std::vector<float> expected = flat(each.at("expected"));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_NEAR(weights[i], expected[i], 2e-6) << each.at("framework") << " " << each.at("made");
    }
    ++cases;
  }
  EXPECT_EQ(cases, 51u);
}

// A long buffer (vectorised body and tail) must give what single weights give, bit for bit.
TEST(Optimizers, BufferLengthDoesNotMatter) {
  for (const Json& json : all_optimizers()) {
    const std::string name = json.dump();
    const auto whole = make_optimizer(json, {{0, 37}});
    std::vector<float> w(37), all_w;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.1f * static_cast<float>(i) - 1;
    const std::vector<float> start = w;
    auto gradient = [](std::size_t i, int t) {
      return std::sin(static_cast<float>(i) + 1.7f * static_cast<float>(t));
    };
    for (int t = 0; t < 5; ++t) {
      std::vector<float> g(37);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = gradient(i, t);
      whole->step(w, g);
    }
    for (std::size_t i = 0; i < start.size(); ++i) {
      const auto single = make_optimizer(json, {{0, 1}});
      std::vector<float> one{start[i]};
      for (int t = 0; t < 5; ++t) {
        std::vector<float> g{gradient(i, t)};
        single->step(one, g);
      }
      EXPECT_EQ(one[0], w[i]) << name << " at " << i;
    }
  }
}

TEST(Optimizers, NaNStaysExceptInFtrl) {
  for (const Json& json : all_optimizers()) {
    const std::string name = json.dump();
    const auto optimizer = make_optimizer(json, {{0, 1}});
    std::vector<float> w{1}, g{std::nanf("")};
    optimizer->step(w, g);
    EXPECT_EQ(std::isnan(w[0]), optimizer->keeps_nan()) << name;
    g = {0.5f};
    optimizer->step(w, g);
    EXPECT_EQ(std::isnan(w[0]), optimizer->keeps_nan()) << name;
  }
}

// PyTorch's clip_grad_norm_ divides by |g| + 1e-6, and Keras 3 takes the first bound alone.
TEST(Optimizers, ClippingByTheRules) {
  const auto step = [](const Json& config, std::vector<float> g) {
    std::vector<float> w{0, 0};
    make_optimizer({{"class_name", "SGD"}, {"config", config}}, {{0, 2}})->step(w, g);
    return w;
  };
  const Json torch{{"learning_rate", 1}, {"rules", "torch"}, {"global_clipnorm", 1e-6}};
  EXPECT_NEAR(step(torch, {1e-6f, 0})[0], -5e-7, 1e-9);
  EXPECT_EQ(step({{"learning_rate", 1}, {"rules", "torch"}, {"global_clipnorm", 9}}, {3, -4}),
            (std::vector<float>{-3, 4}));
  EXPECT_NEAR(step({{"learning_rate", 1}, {"rules", "keras3"}, {"clipnorm", 5}, {"clipvalue", 1}},
                   {3, -4})[0],
              -3, 1e-6);
}

TEST(Optimizers, ReducedRatesAndSchedules) {
  const Json schedule{
      {"kind", "piecewise"}, {"every", "batch"}, {"boundaries", {1, 2}}, {"factors", {0.5, 0.25}}};
  const Json json{{"class_name", "SGD"},
                  {"config", {{"learning_rate", 1}, {"schedule", schedule}}}};
  const auto optimizer = make_optimizer(json, {{0, 1}});
  std::vector<float> w{0}, g{1};
  for (const float expected : {-1.0f, -1.5f, -1.75f, -2.0f}) {
    optimizer->step(w, g);
    EXPECT_EQ(w[0], expected);
  }
  optimizer->reduce_rate(0.5);
  optimizer->step(w, g);
  EXPECT_EQ(w[0], -2.125f);
}

TEST(Optimizers, StatesAndUnknownNames) {
  const Json adam = {{"class_name", "Adam"}, {"config", {{"amsgrad", true}}}};
  EXPECT_EQ(optimizer_states(adam), 3);
  EXPECT_EQ(optimizer_states({{"class_name", "SGD"}, {"config", Json::object()}}), 0);
  EXPECT_EQ(optimizer_names().size(), 8u);
  EXPECT_THROW(make_optimizer({{"class_name", "Lion"}, {"config", Json::object()}}, {}), Error);
}

}  // namespace
}  // namespace neutra::training
