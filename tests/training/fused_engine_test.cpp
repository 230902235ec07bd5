#include "training/fused/engine.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "fused_comparison.h"
#include "training/activations.h"
#include "training/eager.h"
#include "training/fused/layers/registry.h"
#include "training/fused/plan.h"
#include "training/initializers.h"
#include "training/losses.h"
#include "training/metrics.h"
#include "training/optimizers/registry.h"
#include "training/torch.h"

namespace neutra::training::tests {
namespace {

TEST_F(FusedEngine, EveryActivation) {
  for (const std::string& name : activation_names()) {
    expect_agreement(subject(3, Json::array({dense(7, name), dense(2, "linear")}),
                             "mean_squared_error", optimizer("SGD", 0.05), 16, 50));
    expect_agreement(subject(3, Json::array({dense(5, "linear"), activation_layer(name),
                                             dense(4, "tanh"), activation_layer(name)})));
    // All weights 0: each input is at the kink.
    const Json zeros = {{"kernel_initializer", "zeros"}};
    expect_agreement(subject(3, Json::array({dense(4, "linear", zeros), activation_layer(name),
                                             dense(2, name, {{"kernel_initializer", "ones"}})})));
  }
}

TEST_F(FusedEngine, EveryLayer) {
  const std::vector<Json> tested{
      layer("ReLU", Json::object()),
      layer("ReLU", {{"max_value", 0.7}}),
      layer("ReLU", {{"negative_slope", 0.3}}),
      layer("ReLU", {{"negative_slope", 0.3}, {"threshold", 0.2}, {"max_value", 0.9}}),
      layer("ReLU", {{"threshold", 0.2}}),
      layer("LeakyReLU", Json::object()),
      layer("LeakyReLU", {{"alpha", 1.5}}),
      layer("ELU", Json::object()),
      layer("ELU", {{"alpha", 0.4}}),
      layer("Softmax", Json::object()),
      layer("Dropout", {{"rate", 0.3}}),
      layer("Dropout", {{"rate", 0}}),
      layer("GaussianDropout", {{"rate", 0.3}}),
      layer("GaussianDropout", {{"rate", 0}}),
      layer("GaussianNoise", {{"stddev", 0.3}}),
      layer("GaussianNoise", {{"stddev", 0}}),
      layer("LayerNormalization", Json::object()),
      layer("LayerNormalization", {{"epsilon", 0.2}, {"scale", false}}),
      layer("LayerNormalization", {{"center", false}, {"gamma_regularizer", "l2"}}),
      layer("LayerNormalization", {{"trainable", false}}),
      layer("BatchNormalization", Json::object()),
      layer("BatchNormalization", {{"momentum", 0.5}, {"epsilon", 0.1}}),
      layer("BatchNormalization", {{"scale", false}}),
      layer("BatchNormalization", {{"center", false}}),
      layer("BatchNormalization", {{"scale", false}, {"center", false}}),
      layer("BatchNormalization", {{"trainable", false}, {"moving_mean_initializer", "ones"}}),
      layer("BatchNormalization", {{"gamma_regularizer", "l2"}, {"beta_regularizer", "l1"}}),
      layer("Rescaling", {{"scale", 0.5}, {"offset", 1}}),
      layer("Normalization", Json::object()),
      layer("Normalization", {{"mean", 0.5}, {"variance", 4}}),
      layer("Normalization", {{"mean", 0.5}, {"variance", 4}, {"invert", true}}),
      layer("PReLU", {{"alpha_initializer", "random_normal"}}),
      layer("PReLU", {{"shared_axes", 1}, {"alpha_regularizer", "l2"}}),
      layer("PReLU", {{"alpha_initializer", "ones"}, {"trainable", false}}),
      layer("Flatten", Json::object()),
      layer("Reshape", {{"target_shape", {6}}}),
      layer("InputLayer", {{"batch_input_shape", {nullptr, 6}}}),
      dense(5, "relu", {{"use_bias", false}}),
      dense(5, "relu", {{"trainable", false}}),
      dense(5, "tanh", {{"kernel_regularizer", "l1_l2"}, {"bias_regularizer", "l2"}}),
      dense(5, "tanh", {{"trainable", false}, {"kernel_regularizer", "l2"}}),
  };
  std::set<std::string> seen;
  for (const Json& one : tested) {
    const std::string name = one["class_name"];
    seen.insert(name);
    for (const int batch : {1, 2, 8, 16, 17}) {
      // First, in the middle, last.
      Subject first = subject(6, Json::array({one, dense(3, "linear")}), "mean_squared_error",
                              optimizer("SGD", 0.05), batch);
      expect_agreement(first);
      if (name == "InputLayer") continue;
      expect_agreement(subject(4, Json::array({dense(6, "tanh"), one, dense(3, "linear")}),
                               "mean_squared_error", optimizer("SGD", 0.05), batch));
      expect_agreement(subject(4, Json::array({dense(6, "linear"), one}), "mean_squared_error",
                               optimizer("SGD", 0.05), batch));
    }
  }
  seen.insert("Activation");  // EveryActivation
  seen.insert({"Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply",
               "Subtract"});                         // graph_test.cpp
  seen.insert({"Conv2DTranspose", "UpSampling2D"});  // conv_test.cpp, options_test.cpp
  for (const char* extent : {"1D", "2D"}) {  // conv_test.cpp, fused_conv_test.cpp, masks_test.cpp
    for (const char* name :
         {"Conv", "AveragePooling", "GlobalAveragePooling", "GlobalMaxPooling", "MaxPooling",
          "ZeroPadding", "DepthwiseConv", "SeparableConv", "SpatialDropout"}) {
      seen.insert(std::string(name) + extent);
    }
  }
  for (const std::string& name : fused::fused_layer_names()) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

TEST_F(FusedEngine, EveryLoss) {
  for (const std::string& loss : loss_names()) {
    for (const char* activation : {"linear", "sigmoid", "softmax", "relu", "exponential"}) {
      for (const int units : {1, 2, 5}) {
        expect_agreement(subject(3, Json::array({dense(6, "tanh"), dense(units, activation)}), loss,
                                 optimizer("SGD", 0.05), 16, units == 2 ? 50 : 3));
      }
      // The activation that a loss joins, in a layer of its own, with layers that do nothing
      // behind.
      expect_agreement(subject(3,
                               Json::array({dense(4, "linear"), activation_layer(activation),
                                            activation_layer("linear")}),
                               loss));
    }
    expect_agreement(
        subject(3, Json::array({dense(4, "linear"), layer("Softmax", Json::object())}), loss));
    // Outputs that are all the same, or all 0: ties and kinks.
    expect_agreement(
        subject(3, Json::array({dense(3, "linear", {{"kernel_initializer", "zeros"}})}), loss));
    expect_agreement(subject(
        3,
        Json::array(
            {dense(3, "linear", {{"kernel_initializer", "zeros"}, {"bias_initializer", "ones"}})}),
        loss));
  }
}

TEST_F(FusedEngine, EveryLossOfKeras224) {
  for (const std::string& loss : loss_names()) {
    const auto old = loss_of(KerasRelease::k224, loss);
    if (!old || *old == loss) continue;
    for (const char* activation : {"linear", "sigmoid", "softmax"}) {
      for (const int units : {1, 2, 5}) {
        Subject s = subject(3, Json::array({dense(6, "tanh"), dense(units, activation)}), loss,
                            optimizer("SGD", 0.05), 16);
        s.keras = KerasRelease::k224;
        expect_agreement(s);
      }
    }
  }
}

TEST_F(FusedEngine, EveryOptimizer) {
  for (const std::string& name : optimizer_names()) {
    for (Json more : {Json::object(), Json{{"clipnorm", 0.1}}, Json{{"clipvalue", 0.01}},
                      Json{{"decay", 0.1}}}) {
      Json how = optimizer(name, 0.02);
      if (name == "Ftrl" && more.contains("decay")) continue;
      how["config"].update(more);
      expect_agreement(
          subject(3,
                  Json::array({dense(6, "tanh"), layer("BatchNormalization", Json::object()),
                               dense(2, "linear", {{"kernel_regularizer", "l2"}})}),
                  "mean_squared_error", how, 16, 50));
    }
  }
}

TEST_F(FusedEngine, EqualGradientsGiveEqualWeights) {
  for (const std::string& name : optimizer_names()) {
    const Subject s = subject(3, Json::array({dense(5, "tanh"), dense(2, "linear")}),
                              "mean_squared_error", optimizer(name, 0.02));
    const Made made = *make(s);
    const Rows rows{&made.x, &made.y, 0, s.rows};
    const auto fused = make_fused_engine(made.program, rows, {1, 2});
    const auto eager = make_eager_engine(made.program, rows, {1, 2});
    std::vector<std::int64_t> batch(16);
    std::iota(batch.begin(), batch.end(), std::int64_t{3});
    for (std::uint32_t step = 0; step < 20; ++step) {
      fused->gradients(batch, step, {});
      for (Engine* engine : {fused.get(), eager.get()}) {
        const std::span<float> g = engine->weights().gradients();
        const std::span<float> from = fused->weights().gradients();
        if (g.data() != from.data()) std::copy(from.begin(), from.end(), g.begin());
      }
      for (Engine* engine : {fused.get(), eager.get()}) {
        engine->optimizer().step(engine->weights().updated(), engine->weights().gradients());
      }
      const std::span<float> a = fused->weights().all(), b = eager->weights().all();
      ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size_bytes()), 0) << name << " step " << step;
    }
  }
}

TEST_F(FusedEngine, EveryInitializer) {
  for (const std::string& name : initializer_names()) {
    const Json how = {{"class_name", name}, {"config", Json::object()}};
    Json more = {{"kernel_initializer", how}};
    if (name != "Identity" && name != "Orthogonal") more["bias_initializer"] = how;
    expect_agreement(subject(4, Json::array({dense(4, "tanh", more), dense(4, "linear", more)})));
  }
}

/// Layers whose kernels are large enough for sgemm take and give rows.
TEST_F(FusedEngine, LargeLayers) {
  const std::vector<Json> between{activation_layer("relu"), activation_layer("swish"),
                                  layer("Dropout", {{"rate", 0.3}}),
                                  layer("BatchNormalization", Json::object())};
  for (const int batch : {1, 5, 16}) {
    for (const Json& one : between) {
      expect_agreement(subject(301,
                               Json::array({one, dense(90, "relu"), dense(300, "tanh"), one,
                                            dense(83, "linear"), dense(3, "softmax")}),
                               "categorical_crossentropy", optimizer("SGD", 0.05), batch, 3));
    }
    expect_agreement(
        subject(7, Json::array({dense(280, "relu"), dense(100, "relu"), dense(1, "linear")}),
                "mean_squared_error", optimizer("SGD", 0.01), batch, 3));
  }
}

TEST_F(FusedEngine, ClassesAreCutToWholeNumbers) {
  for (const char* activation : {"softmax", "sigmoid"}) {
    Subject s = subject(4, Json::array({dense(5, "tanh"), dense(3, activation)}),
                        "sparse_categorical_crossentropy");
    Made made = *make(s);
    for (float& label : made.y.values) label = std::trunc(label) + 0.6f;
    const Rows rows{&made.x, &made.y, 0, s.rows};
    const auto fused = make_fused_engine(made.program, rows, {1, 2});
    const auto eager = make_eager_engine(made.program, rows, {1, 2});
    const std::vector<std::int64_t> batch{0, 3, 19};
    const double expected = eager->gradients(batch, 0, {.loss = true});
    EXPECT_NEAR(fused->gradients(batch, 0, {.loss = true}), expected, 1e-5) << activation;
    const auto a = fused->weights().gradients(), b = eager->weights().gradients();
    EXPECT_LT(distance({a.begin(), a.end()}, {b.begin(), b.end()}), 1e-6) << activation;
  }
}

/// Keras broadcasts targets of one value, and outputs of one.
TEST_F(FusedEngine, TargetsOfAnotherWidth) {
  for (const char* loss : {"mean_squared_error", "mean_absolute_error", "hinge", "squared_hinge",
                           "logcosh", "huber"}) {
    for (const auto& [outputs, width] : {std::pair{3, 1}, std::pair{1, 3}}) {
      for (const char* activation : {"linear", "sigmoid"}) {
        for (const int batch : {1, 5, 16}) {
          Subject s = subject(4, Json::array({dense(5, "tanh"), dense(outputs, activation)}), loss,
                              optimizer("SGD", 0.05), batch);
          s.targets = width;
          expect_agreement(s);
        }
      }
    }
  }
}

TEST_F(FusedEngine, RowsNeedNotBeginAtTheFirst) {
  const Subject s = subject(3, Json::array({dense(5, "tanh"), dense(2, "linear")}));
  const Made made = *make(s);
  const Rows rows{&made.x, &made.y, 10, s.rows};
  const auto fused = make_fused_engine(made.program, rows, {1, 2});
  const auto eager = make_eager_engine(made.program, rows, {1, 2});
  const std::vector<std::int64_t> batch{0, 3, 19};
  Counts counts;
  const Observation expected = pass(*eager, made.program, batch, 0, true);
  const auto problem = compare(
      expected, pass(*fused, made.program, batch, 0, true), [&] { return Doubt(expected.size()); },
      counts);
  EXPECT_FALSE(problem) << *problem;
  const Observation evaluated = evaluation(*eager, rows);
  const auto other = compare(
      evaluated, evaluation(*fused, rows), [&] { return Doubt(evaluated.size()); }, counts);
  EXPECT_FALSE(other) << *other;
}

/// An evaluation runs in several chunks; its batches don't begin at whole vectors.
TEST_F(FusedEngine, EvaluatesManyRows) {
  for (const char* loss : {"squared_hinge", "mean_squared_error", "categorical_crossentropy"}) {
    Subject s = subject(
        3, Json::array({dense(5, "tanh"), layer("Dropout", {{"rate", 0.5}}), dense(2, "softmax")}),
        loss);
    s.rows = 2500;
    s.steps = 2;
    expect_agreement(s);
  }
}

TEST_F(FusedEngine, DivergesAtTheSameStep) {
  for (const double rate : {1e3, 1e8, 1e15, 1e20, 1e30}) {
    for (const char* activation : {"relu", "tanh", "linear", "sigmoid"}) {
      const Subject s = subject(3, Json::array({dense(5, activation), dense(3, "linear")}),
                                "mean_squared_error", optimizer("SGD", rate));
      const Made made = *make(s);
      const Rows rows{&made.x, &made.y, 0, s.rows};
      const auto fused = make_fused_engine(made.program, rows, {1, 2});
      const auto eager = make_eager_engine(made.program, rows, {1, 2});
      std::vector<std::int64_t> batch(16);
      std::iota(batch.begin(), batch.end(), std::int64_t{3});
      for (std::uint32_t step = 0; step < 60; ++step) {
        const double a = fused->step(batch, step, {.loss = true});
        const double b = eager->step(batch, step, {.loss = true});
        ASSERT_EQ(std::isfinite(a), std::isfinite(b))
            << rate << " " << activation << " step " << step << ": " << a << " and " << b;
        ASSERT_EQ(fused->weights().all_finite(), eager->weights().all_finite())
            << rate << " " << activation << " step " << step;
      }
      EXPECT_EQ(fused->weights().all_nan(), eager->weights().all_nan()) << rate << activation;
    }
  }
}

// Values that aren't finite, or at the ends.

const std::vector<float> kSpecial{0,     -0.0f, 1,      -1,        0.3f,     2,
                                  1e-8f, 1e30f, -1e30f, -INFINITY, INFINITY, NAN};

void expect_same(float fused, float eager, const std::string& where) {
  if (!std::isfinite(eager) || !std::isfinite(fused)) {
    EXPECT_TRUE((std::isnan(eager) && std::isnan(fused)) || fused == eager)
        << where << ": fused " << fused << ", eager " << eager;
  } else {
    EXPECT_NEAR(fused, eager, 1e-5 * std::max(1.0f, std::abs(eager))) << where;
  }
}

TEST_F(FusedEngine, ActivationsOfSpecialValues) {
  for (const std::string& name : activation_names()) {
    if (name == "linear" || name == "softmax") continue;
    const fused::Activation f = fused::named_activation(name);
    for (const float x : kSpecial) {
      for (const float incoming : {1.0f, 0.0f, INFINITY, NAN}) {
        alignas(64) float values[16], y[16], dy[16];
        std::fill_n(values, 16, x);
        std::fill_n(dy, 16, incoming);
        fused::kernels().activate(f, 16, values, y);
        fused::kernels().differentiate(f, 16, fused::needs_input(f.function) ? values : y, dy);
        const at::Tensor input = at::full({16}, x).set_requires_grad(true);
        const at::Tensor output = find_activation(name)(input);
        output.backward(at::full({16}, incoming));
        const std::string where =
            name + " of " + std::to_string(x) + ", gradient " + std::to_string(incoming);
        expect_same(y[0], output[0].item<float>(), where);
        expect_same(dy[0], input.grad()[0].item<float>(), where + ": slope");
      }
    }
  }
}

/// Outputs take each special value, alone and with others; which gradients are NaN decides which
/// weights stay finite.
TEST_F(FusedEngine, LossesOfSpecialValues) {
  for (const std::string& loss : loss_names()) {
    for (const char* activation : {"linear", "softmax", "sigmoid"}) {
      const Subject s = [&] {
        Subject made =
            subject(2, Json::array({dense(2, activation, {{"kernel_initializer", "zeros"}})}), loss,
                    optimizer("SGD", 0.1), 1);
        made.rows = 4;
        return made;
      }();
      for (const float special : kSpecial) {
        Made made = *make(s);
        for (std::size_t i = 0; i < made.y.values.size(); ++i) {
          made.y.values[i] = i % 3 == 1 ? 1 : loss == "mean_absolute_percentage_error" ? 0.5f : 0;
        }
        const Rows rows{&made.x, &made.y, 0, 4};
        const auto fused = make_fused_engine(made.program, rows, {1, 2});
        const auto eager = make_eager_engine(made.program, rows, {1, 2});
        const Extent bias = fused->weights().of_layer(0)[1].extent;
        for (const auto& [first, second] : std::vector<std::pair<float, float>>{
                 {special, 0.5f}, {0.25f, special}, {special, special}}) {
          for (Engine* engine : {fused.get(), eager.get()}) {  // the bias is the output
            const auto values = bias.of(engine->weights().all());
            values[0] = first;
            values[1] = second;
          }
          for (std::int64_t row = 0; row < 4; ++row) {
            const std::vector<std::int64_t> one{row};
            const auto a = static_cast<float>(fused->gradients(one, 0, {.loss = true}));
            const auto b = static_cast<float>(eager->gradients(one, 0, {.loss = true}));
            std::ostringstream where;
            where << loss << " over " << activation << " of " << first << " and " << second
                  << ", row " << row;
            expect_same(a, b, where.str());
            for (std::size_t i = 0; i < 2; ++i) {
              expect_same(bias.of(fused->weights().gradients())[i],
                          bias.of(eager->weights().gradients())[i],
                          where.str() + ", gradient " + std::to_string(i));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace neutra::training::tests
