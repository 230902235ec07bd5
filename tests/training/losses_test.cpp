#include "training/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "training/activations.h"
#include "training/keras_release.h"

namespace neutra::training {
namespace {

constexpr double kEps = 1e-7;

at::Tensor matrix(std::initializer_list<std::vector<float>> rows) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  const auto n = static_cast<std::int64_t>(rows.size());
  return at::from_blob(values.data(), {n, static_cast<std::int64_t>(values.size()) / n}, at::kFloat)
      .clone();
}

double value(const char* name, const at::Tensor& o, const at::Tensor& y,
             const char* activation = "") {
  return Loss(name, activation).mean(o, y).item<double>();
}

/// Gradient of the mean by the output, in closed form or by autograd.
at::Tensor gradient(const char* name, const at::Tensor& o, const at::Tensor& y,
                    const char* activation = "", bool closed = true) {
  const Loss loss(name, activation);
  if (closed) {
    if (const auto g = loss.gradient(o, y)) return *g;
  }
  at::Tensor leaf = o.detach().clone().set_requires_grad(true);
  loss.mean(leaf, y).backward();
  return leaf.grad();
}

void expect_near(const at::Tensor& t, const std::vector<double>& expected,
                 double tolerance = 1e-6) {
  const at::Tensor flat = t.contiguous().view(-1);
  ASSERT_EQ(flat.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat[static_cast<std::int64_t>(i)].item<double>(), expected[i], tolerance) << i;
  }
}

TEST(Losses, RegressionValues) {
  const at::Tensor o = matrix({{1, 2}, {3, -1}}), y = matrix({{0, 4}, {3, 1}});
  EXPECT_NEAR(value("mean_squared_error", o, y), (1 + 4 + 0 + 4) / 4.0, 1e-6);
  EXPECT_NEAR(value("mean_absolute_error", o, y), (1 + 2 + 0 + 2) / 4.0, 1e-6);
  EXPECT_NEAR(value("huber", o, y), (0.5 + 1.5 + 0 + 1.5) / 4.0, 1e-6);
  const double percent = 100 * (1 / 1e-7 + 2 / 4.0 + 0 + 2) / 4;
  EXPECT_NEAR(value("mean_absolute_percentage_error", o, y), percent, 1e-6 * percent);
  auto sq = [](double x) { return x * x; };
  const double logs = (sq(std::log(2) - std::log(1 + kEps)) + sq(std::log(3) - std::log(5)) + 0 +
                       sq(std::log(1 + kEps) - std::log(2))) /
                      4;
  EXPECT_NEAR(value("mean_squared_logarithmic_error", o, y), logs, 1e-6);
  auto logcosh = [](double d) { return std::log(std::cosh(d)); };
  EXPECT_NEAR(value("logcosh", o, y), (logcosh(1) + logcosh(2) + 0 + logcosh(2)) / 4, 1e-6);
  const double cosine = (8 / (std::sqrt(5) * 4) + 8 / (std::sqrt(10) * std::sqrt(10))) / 2;
  EXPECT_NEAR(value("cosine_similarity", o, y), -cosine, 1e-6);
  const at::Tensor p = matrix({{1, 2}}), counts = matrix({{0, 3}});
  EXPECT_NEAR(value("poisson", p, counts), (1 + 2 - 3 * std::log(2 + kEps)) / 2, 1e-6);
}

TEST(Losses, HingeFamilyConvertsPureZeroOneBatches) {
  const at::Tensor o = matrix({{0.5f, -0.5f}});
  EXPECT_NEAR(value("hinge", o, matrix({{1, 0}})), (0.5 + 0.5) / 2, 1e-6);
  EXPECT_NEAR(value("squared_hinge", o, matrix({{1, 0}})), 0.25, 1e-6);
  EXPECT_NEAR(value("hinge", o, matrix({{2, 0}})), (0 + 1) / 2.0, 1e-6);  // a 2: left as they are
  // Inside the margin's edge the gradient passes: maximum(x, 0) where x = 0.
  expect_near(gradient("hinge", matrix({{1}}), matrix({{1}})), {-1});
  expect_near(gradient("hinge", matrix({{1.5f}}), matrix({{1}})), {0});
}

TEST(Losses, CategoricalHingeSharesTies) {
  const at::Tensor o = matrix({{0.5f, 0.5f, 0.1f}}), y = matrix({{0, 0, 1}});
  EXPECT_NEAR(value("categorical_hinge", o, y), 1.4, 1e-6);
  expect_near(gradient("categorical_hinge", o, y), {0.5, 0.5, -1});
}

TEST(Losses, CategoricalCrossentropyOfProbabilities) {
  const at::Tensor o = matrix({{1, 3}}), y = matrix({{0.5f, 1}});
  EXPECT_NEAR(value("categorical_crossentropy", o, y), -(0.5 * std::log(0.25) + std::log(0.75)),
              1e-6);
  // One output: it is divided by itself and clipped, so no gradient is left.
  expect_near(gradient("categorical_crossentropy", matrix({{3}}), matrix({{1}})), {0});
}

TEST(Losses, CategoricalCrossentropyOfLogitsHasTensorFlowsGradient) {
  const at::Tensor z = matrix({{1, 2, 3}, {0, 0, 0}}), y = matrix({{1, 0, 1}, {0, 0, 0}});
  const double sum = std::exp(1) + std::exp(2) + std::exp(3), third = 1.0 / 3;
  EXPECT_NEAR(value("categorical_crossentropy", z, y, "softmax"),
              ((std::log(sum) - 1) + (std::log(sum) - 3)) / 2, 1e-5);
  // softmax - target, although the targets sum to two and to none.
  expect_near(gradient("categorical_crossentropy", z, y, "softmax"),
              {(std::exp(1) / sum - 1) / 2, std::exp(2) / sum / 2, (std::exp(3) / sum - 1) / 2,
               third / 2, third / 2, third / 2});
}

TEST(Losses, AnyLogitsAreThoseOfSoftmaxAndSigmoid) {
  const program::LossOptions any{.any_logits = true};
  const at::Tensor z = matrix({{1, 2, 3}}), y = matrix({{0, 1, 0}});
  for (const char* name : {"categorical_crossentropy", "binary_crossentropy"}) {
    for (const char* activation : {"softmax", "sigmoid"}) {
      const Loss loss(name, activation, any);
      EXPECT_TRUE(loss.on_logits()) << name << activation;
      const char* fitting = name[0] == 'c' ? "softmax" : "sigmoid";
      EXPECT_EQ(loss.mean(z, y).item<double>(), value(name, z, y, fitting)) << activation;
    }
    EXPECT_FALSE(Loss(name, "tanh", any).on_logits());
    EXPECT_FALSE(Loss(name, name[0] == 'c' ? "sigmoid" : "softmax").on_logits());
  }
}

TEST(Losses, SparseCrossentropy) {
  const at::Tensor z = matrix({{1, 2}, {3, 1}}), y = matrix({{1}, {1}});
  const double expected = (std::log(1 + std::exp(-1)) + std::log(1 + std::exp(2))) / 2;
  EXPECT_NEAR(value("sparse_categorical_crossentropy", z, y, "softmax"), expected, 1e-6);
  const at::Tensor closed = gradient("sparse_categorical_crossentropy", z, y, "softmax");
  EXPECT_TRUE(at::allclose(
      closed, gradient("sparse_categorical_crossentropy", z, y, "softmax", false), 0, 1e-6));
  // Other outputs: clipped, and their logarithms taken as logits.
  const at::Tensor p = matrix({{0.2f, 2}});
  EXPECT_NEAR(value("sparse_categorical_crossentropy", p, matrix({{0}})),
              std::log(0.2 + 1 - kEps) - std::log(0.2), 1e-6);
  // Fractions are cut off, as the cast to integers does.
  EXPECT_EQ(value("sparse_categorical_crossentropy", p, matrix({{0.9f}})),
            value("sparse_categorical_crossentropy", p, matrix({{0}})));
}

TEST(Losses, BinaryCrossentropy) {
  const at::Tensor p = matrix({{0.25f, 1}}), y = matrix({{1, 0}});
  const double expected =
      -(std::log(0.25 + kEps) +
        std::log(1 - static_cast<double>(static_cast<float>(1 - kEps)) + kEps)) /
      2;
  EXPECT_NEAR(value("binary_crossentropy", p, y), expected, 1e-2);
  // Clipped outputs, and NaN, get no gradient.
  expect_near(gradient("binary_crossentropy", matrix({{1, NAN}}), y), {0, 0});
  const at::Tensor z = matrix({{2, -100}}), t = matrix({{1, 0.5f}});
  EXPECT_NEAR(value("binary_crossentropy", z, t, "sigmoid"), (std::log(1 + std::exp(-2)) + 50) / 2,
              1e-5);
  EXPECT_TRUE(at::allclose(gradient("binary_crossentropy", z, t, "sigmoid"),
                           gradient("binary_crossentropy", z, t, "sigmoid", false), 0, 1e-6));
}

TEST(Losses, KullbackLeiblerClips) {
  EXPECT_NEAR(value("kullback_leibler_divergence", matrix({{0.5f, 2}}), matrix({{1, 0}})),
              std::log(2) + kEps * std::log(kEps), 1e-6);
  expect_near(gradient("kullback_leibler_divergence", matrix({{2, -1}}), matrix({{1, 0}})), {0, 0});
}

TEST(Losses, ShapesBroadcastAndSqueeze) {
  const at::Tensor wide = matrix({{1, 2}, {3, 4}}), column = matrix({{1}, {3}});
  EXPECT_NEAR(value("mean_squared_error", column, wide), (0 + 1 + 0 + 1) / 4.0, 1e-6);
  const at::Tensor cube = wide.unsqueeze(-1);
  EXPECT_NEAR(value("mean_squared_error", cube, wide), 0, 1e-6);
  EXPECT_NEAR(value("mean_squared_error", wide, cube), 0, 1e-6);
}

TEST(Losses, ClosedGradientOfSquaredErrorIsAutograds) {
  const at::Tensor o = matrix({{1, 2}, {3, -1}}), y = matrix({{0, 4}, {3, 1}});
  EXPECT_TRUE(at::allclose(gradient("mean_squared_error", o, y),
                           gradient("mean_squared_error", o, y, "", false)));
}

/// keras/backend/tensorflow_backend.py, keras/losses.py of 2.2.4.
TEST(Losses, OfKeras224ClipProbabilities) {
  const double top = std::log(1 - kEps);
  const at::Tensor certain = matrix({{1, 0}, {0.25, 0.75}}), y = matrix({{0, 1}, {0, 1}});
  // The first row is as wrong as can be: its loss is that of 1e-7, and it has no gradient.
  const char* const categorical = "keras-2.2.4/categorical_crossentropy";
  EXPECT_NEAR(value(categorical, certain, y, "softmax"), (-std::log(kEps) - std::log(0.75)) / 2,
              1e-5);
  expect_near(gradient(categorical, certain, y, "softmax"), {0, 0, 0.5, 0.5 - 0.5 / 0.75});
  EXPECT_FALSE(Loss(categorical, "softmax").on_logits());
  const char* const sparse = "keras-2.2.4/sparse_categorical_crossentropy";
  const at::Tensor labels = matrix({{1}, {1}});
  EXPECT_TRUE(Loss(sparse, "softmax").sparse());
  EXPECT_NEAR(value(sparse, certain, labels, "softmax"), (-std::log(kEps) - std::log(0.75)) / 2,
              1e-5);
  expect_near(gradient(sparse, certain, labels, "softmax"), {0, 0, 0.5, 0.5 - 0.5 / 0.75});
  const char* const binary = "keras-2.2.4/binary_crossentropy";
  const at::Tensor o = matrix({{0, 0.25, 1, 1}}), t = matrix({{1, 1, 1, 0}});
  EXPECT_NEAR(value(binary, o, t, "sigmoid"),
              -(std::log(kEps) + std::log(0.25) + top + std::log(kEps)) / 4, 0.05);
  for (const bool closed : {true, false}) {
    expect_near(gradient(binary, o, t, "sigmoid", closed), {0, -1, 0, 0});
  }
}

TEST(Losses, OfKeras224TakeLabelsAsTheyAre) {
  const at::Tensor o = matrix({{0.5, -0.5}}), y = matrix({{0, 1}});
  EXPECT_NEAR(value("hinge", o, y), (1.5 + 1.5) / 2, 1e-6);
  EXPECT_NEAR(value("keras-2.2.4/hinge", o, y), (1 + 1.5) / 2, 1e-6);
  EXPECT_NEAR(value("keras-2.2.4/squared_hinge", o, y), (1 + 2.25) / 2, 1e-6);
}

TEST(Losses, EveryOneOfKeras224IsThere) {
  for (const std::string& name : loss_names()) {
    const auto old = loss_of(KerasRelease::k224, name);
    EXPECT_EQ(old.has_value(), name != "huber") << name;
    if (!old) continue;
    const Loss loss(*old, "softmax");
    EXPECT_FALSE(loss.on_logits()) << name;
    EXPECT_EQ(loss.sparse(), takes_class_indices(name)) << name;
  }
}

TEST(Losses, Names) {
  EXPECT_EQ(loss_names().size(), 15u);
  EXPECT_THROW(Loss("crps", ""), Error);
}

TEST(Activations, Values) {
  const at::Tensor x = matrix({{-3, -1, 0, 2}});
  auto check = [&](const char* name, auto f) {
    const at::Tensor y = find_activation(name)(x);
    for (std::int64_t i = 0; i < 4; ++i) {
      const double v = x[0][i].item<double>();
      EXPECT_NEAR(y[0][i].item<double>(), f(v), 1e-5) << name << " of " << v;
    }
  };
  check("relu", [](double v) { return std::max(v, 0.0); });
  check("elu", [](double v) { return v > 0 ? v : std::exp(v) - 1; });
  check("selu", [](double v) {
    return 1.0507009873554805 * (v > 0 ? v : 1.6732632423543772 * (std::exp(v) - 1));
  });
  check("softplus", [](double v) { return std::log(1 + std::exp(v)); });
  check("softsign", [](double v) { return v / (1 + std::abs(v)); });
  check("swish", [](double v) { return v / (1 + std::exp(-v)); });
  check("gelu", [](double v) { return v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))); });
  check("tanh", [](double v) { return std::tanh(v); });
  check("sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); });
  check("exponential", [](double v) { return std::exp(v); });
  check("hard_sigmoid", [](double v) { return std::clamp(0.2 * v + 0.5, 0.0, 1.0); });
  EXPECT_EQ(find_activation("linear"), nullptr);
  EXPECT_NEAR(find_activation("softmax")(x)[0][3].item<double>(),
              1 / (1 + std::exp(-2) + std::exp(-3) + std::exp(-5)), 1e-6);
  EXPECT_EQ(activation_names().size(), 13u);
  EXPECT_THROW(find_activation("mish"), Error);
}

/// Gradients of TensorFlow 2.4.0 where LibTorch's own differ.
TEST(Activations, GradientsAtTheEdgesAreTensorFlows) {
  const auto slopes = [](const char* name, const at::Tensor& incoming) {
    at::Tensor x = matrix({{-1, 0, 2}}).requires_grad_();
    find_activation(name)(x).backward(incoming);
    return x.grad();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(at::equal(slopes("relu", matrix({{3, 4, 5}})), matrix({{0, 0, 5}})));
  const at::Tensor spread = slopes("relu", matrix({{nan, inf, nan}}));
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(spread[0][i].item<float>())) << i;
  EXPECT_NEAR(slopes("selu", matrix({{1, 1, 1}}))[0][1].item<double>(), 1.0507009873554805, 1e-6);
}

}  // namespace
}  // namespace neutra::training
