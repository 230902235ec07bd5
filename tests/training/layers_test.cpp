#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "program/layer.h"
#include "programs.h"
#include "training/layers/module.h"
#include "training/local_trainer.h"

namespace neutra::training {
namespace {

/// What the layers put out for the first training batch, and the weights before the first update
/// mattered (rate 0).
struct FirstBatch final : Observer {
  BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return BatchDetail::kActivations;
  }
  void batch_end(const BatchEvent& event) override {
    if (event.step != 0) return;
    rows = event.rows;
    loss = event.loss;
    for (const LayerView& view : event.layers) {
      outputs.emplace_back(view.activations.begin(), view.activations.end());
      std::vector<std::vector<float>> copies, slopes;
      for (const auto& w : view.weights) copies.emplace_back(w.begin(), w.end());
      for (const auto& g : view.gradients) slopes.emplace_back(g.begin(), g.end());
      weights.push_back(std::move(copies));
      gradients.push_back(std::move(slopes));
    }
  }
  std::int64_t rows = 0;
  double loss = 0;
  std::vector<std::vector<float>> outputs;
  std::vector<std::vector<std::vector<float>>> weights, gradients;
};

/// Trains one epoch with learning rate 0 on points of the plane.
FirstBatch first_batch(LocalTrainer& trainer, Json layers) {
  layers.push_back(dense(1, "linear"));
  const program::Program p = program_of("moons", 2, std::move(layers), "mean_squared_error", "mae",
                                        optimizer("SGD", 0), 1);
  FirstBatch result;
  const ReplicaResult outcome = trainer.train({&p}, &result);
  EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  return result;
}

class Layers : public EachBackend {
 protected:
  FirstBatch first_batch(Json layers) const {
    return training::first_batch(*trainer(), std::move(layers));
  }

  /// The layer's output must be f of the Dense layer's output before it.
  void expect_function(Json tested, const std::function<double(double)>& f) const {
    const FirstBatch p =
        first_batch(Json::array({dense(8, "linear", {{"kernel_initializer", "ones"}}), tested}));
    ASSERT_EQ(p.outputs[0].size(), p.outputs[1].size());
    for (std::size_t i = 0; i < p.outputs[0].size(); ++i) {
      EXPECT_NEAR(p.outputs[1][i], f(p.outputs[0][i]), 1e-5) << tested << " of " << p.outputs[0][i];
    }
  }
};
NEUTRA_EACH_BACKEND(Layers);

TEST_P(Layers, DenseMultipliesAndAdds) {
  const FirstBatch p = first_batch(Json::array(
      {dense(3, "linear", {{"kernel_initializer", "ones"}, {"bias_initializer", "ones"}}),
       dense(2, "relu", {{"use_bias", false}, {"kernel_initializer", "ones"}})}));
  ASSERT_EQ(p.outputs[0].size(), static_cast<std::size_t>(p.rows * 3));
  EXPECT_EQ(p.weights[0].size(), 2u);
  EXPECT_EQ(p.weights[1].size(), 1u);
  for (std::size_t row = 0; row < static_cast<std::size_t>(p.rows); ++row) {
    EXPECT_FLOAT_EQ(p.outputs[0][3 * row], p.outputs[0][3 * row + 2]);
    EXPECT_NEAR(p.outputs[1][2 * row], std::max(0.0f, 3 * p.outputs[0][3 * row]), 1e-4);
  }
}

TEST_P(Layers, ActivationLayers) {
  expect_function(layer("ReLU", Json::object()), [](double x) { return std::max(x, 0.0); });
  expect_function(layer("ReLU", {{"max_value", 1}}),
                  [](double x) { return std::clamp(x, 0.0, 1.0); });
  expect_function(layer("ReLU", {{"negative_slope", 0.5}}),
                  [](double x) { return x > 0 ? x : 0.5 * x; });
  expect_function(layer("ReLU", {{"threshold", 0.5}, {"negative_slope", 0.25}, {"max_value", 2}}),
                  [](double x) {
                    return std::clamp(x > 0.5 ? x : 0.0, 0.0, 2.0) - 0.25 * std::max(0.5 - x, 0.0);
                  });
  expect_function(layer("LeakyReLU", {{"alpha", 0.3}}),
                  [](double x) { return x > 0 ? x : 0.3 * x; });
  expect_function(layer("ELU", {{"alpha", 2}}),
                  [](double x) { return x > 0 ? x : 2 * (std::exp(x) - 1); });
  expect_function(layer("Activation", {{"activation", "sigmoid"}}),
                  [](double x) { return 1 / (1 + std::exp(-x)); });
  expect_function(layer("Softmax", Json::object()), [](double) { return 1.0 / 8; });
  expect_function(layer("Flatten", Json::object()), [](double x) { return x; });
}

TEST_P(Layers, DropoutKeepsAndScales) {
  const FirstBatch p = first_batch(Json::array(
      {dense(64, "linear", {{"kernel_initializer", "ones"}, {"bias_initializer", "ones"}}),
       layer("Dropout", {{"rate", 0.5}})}));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < p.outputs[0].size(); ++i) {
    const float x = p.outputs[0][i], y = p.outputs[1][i];
    ASSERT_TRUE(y == 0 || y == 2 * x);
    kept += y != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(p.outputs[0].size()), 0.5, 0.06);
}

TEST_P(Layers, GaussianNoiseIsAddedInTrainingAlone) {
  const Json layers = Json::array({dense(64, "linear"), layer("GaussianNoise", {{"stddev", 0.5}})});
  const FirstBatch p = first_batch(layers);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < p.outputs[0].size(); ++i) {
    const double noise = static_cast<double>(p.outputs[1][i]) - p.outputs[0][i];
    sum += noise;
    squares += noise * noise;
  }
  const auto count = static_cast<double>(p.outputs[0].size());
  EXPECT_NEAR(sum / count, 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 0.03);
  // Twice the same program but for the noise: a model that isn't trained is measured alike.
  Json without = layers;
  without[1]["config"]["stddev"] = 0;
  double metric[2];
  for (const Json& tested : {layers, without}) {
    Json all = tested;
    all.push_back(dense(1, "linear", {{"kernel_initializer", "ones"}}));
    all[0]["config"]["kernel_initializer"] = "ones";
    const program::Program program =
        program_of("moons", 2, all, "mean_squared_error", "mae", optimizer("SGD", 0), 1);
    metric[tested == without] = trainer()->train({&program}).metric;
  }
  EXPECT_EQ(metric[0], metric[1]);
}

TEST_P(Layers, DenseAfterReshapeWorksOnTheLastAxis) {
  const FirstBatch p = first_batch(Json::array(
      {dense(6, "linear"), layer("Reshape", {{"target_shape", {3, 2}}}),
       dense(4, "linear", {{"kernel_initializer", "ones"}}), layer("Flatten", Json::object())}));
  ASSERT_EQ(p.outputs[2].size(), static_cast<std::size_t>(p.rows * 3 * 4));
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows) * 3; ++i) {
    EXPECT_NEAR(p.outputs[2][4 * i + 1], p.outputs[0][2 * i] + p.outputs[0][2 * i + 1], 1e-5);
  }
}

TEST_P(Layers, BatchNormalization) {
  const FirstBatch p =
      first_batch(Json::array({dense(3, "linear"), layer("BatchNormalization", Json::object())}));
  const auto rows = static_cast<std::size_t>(p.rows);
  for (std::size_t column = 0; column < 3; ++column) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < rows; ++i) mean += p.outputs[0][3 * i + column] / rows;
    for (std::size_t i = 0; i < rows; ++i) {
      variance += std::pow(p.outputs[0][3 * i + column] - mean, 2) / rows;
    }
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_NEAR(p.outputs[1][3 * i + column],
                  (p.outputs[0][3 * i + column] - mean) / std::sqrt(variance + 1e-3), 1e-4);
    }
    EXPECT_NEAR(p.weights[1][2][column], 0.01 * mean, 1e-6);
    EXPECT_NEAR(p.weights[1][3][column], 0.99 + 0.01 * variance, 1e-6);
  }
}

TEST(EagerLayers, RecurrentLayersStartAsKerasHasIt) {
  const auto trainer = make_local_trainer(trained_by(Backend::kEager));
  const auto first = [&](const char* bias) {
    return first_batch(*trainer,
                       Json::array({layer("Reshape", {{"target_shape", {2, 1}}}),
                                    layer("LSTM", {{"units", 3}, {"bias_initializer", bias}})}));
  };
  const std::vector<std::vector<float>> weights = first("zeros").weights[1];
  ASSERT_EQ(weights[1].size(), 36u);
  for (std::size_t i = 0; i < 3; ++i) {  // rows of the recurrent kernel are orthonormal
    for (std::size_t j = 0; j < 3; ++j) {
      double dot = 0;
      for (std::size_t k = 0; k < 12; ++k) {
        dot += static_cast<double>(weights[1][12 * i + k]) * weights[1][12 * j + k];
      }
      EXPECT_NEAR(dot, i == j ? 1 : 0, 1e-5);
    }
  }
  EXPECT_EQ(weights[2], (std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  // The gates around that of forgetting are drawn in two parts, of 3 and 6 values.
  const std::vector<float> drawn = first("glorot_uniform").weights[1][2];
  for (std::size_t i = 0; i < 12; ++i) {
    if (i / 3 == 1) {
      EXPECT_EQ(drawn[i], 1);
    } else {
      EXPECT_NE(drawn[i], 0);
      EXPECT_LE(std::abs(drawn[i]), std::sqrt(6.0 / (i < 3 ? 6 : 12)));
    }
  }
  EXPECT_NE(drawn[0], drawn[6]);
}

TEST(EagerLayers, IndicesWithoutAnEmbeddingAreKerasError) {
  const auto trainer = make_local_trainer(trained_by(Backend::kAuto));
  const auto train = [&](Json layers, double shift) {
    layers.push_back(layer("Flatten", Json::object()));
    layers.push_back(dense(1, "sigmoid"));
    program::Program p = program_of("moons", 2, std::move(layers), "binary_crossentropy",
                                    "accuracy", optimizer("SGD", 0.1), 1);
    p.document["data"]["preprocess"] = {{{"op", "add"}, {"value", shift}}};
    return trainer->train({&p});
  };
  const Json table = layer("Embedding", {{"input_dim", 6}, {"output_dim", 3}});
  const ReplicaResult good = train(Json::array({table}), 2);
  EXPECT_EQ(good.status, RunStatus::kOk) << good.message;
  EXPECT_STREQ(good.backend.c_str(), "eager");
  for (const double shift : {-2.0, 6.0}) {
    const ReplicaResult bad = train(Json::array({table}), shift);
    EXPECT_EQ(bad.status, RunStatus::kInvalid);
    EXPECT_NE(bad.message.find("indices from 0 to 5"), std::string::npos) << bad.message;
  }
  // Made by a layer, they are known when they come.
  const Json large =
      dense(2, "linear",
            {{"bias_initializer", {{"class_name", "Constant"}, {"config", {{"value", 100}}}}}});
  const ReplicaResult late = train(Json::array({large, table}), 0);
  EXPECT_EQ(late.status, RunStatus::kFailed);
  EXPECT_NE(late.message.find("layer 1 (Embedding)"), std::string::npos) << late.message;
}

TEST_P(Layers, WeightRegularisersAddToLossAndGradient) {
  const Json plain = dense(4, "linear", {{"kernel_initializer", "ones"}});
  Json with = plain;
  with["config"]["kernel_regularizer"] = {{"class_name", "L1L2"},
                                          {"config", {{"l1", 0.5}, {"l2", 0.25}}}};
  const FirstBatch a = first_batch(Json::array({plain})), b = first_batch(Json::array({with}));
  // The last layer's initial values depend on the program; compare through the gradient of a fixed
  // network instead.
  const Json last = dense(1, "linear", {{"kernel_initializer", "ones"}});
  auto fixed = [&](const Json& first) {
    const program::Program p = program_of("moons", 2, Json::array({first, last}),
                                          "mean_squared_error", "mae", optimizer("SGD", 0), 1);
    program::Program still = p;
    still.document["fit"]["shuffle"] = false;
    FirstBatch result;
    trainer()->train({&still}, &result);
    return result;
  };
  const FirstBatch without = fixed(plain), regularised = fixed(with);
  EXPECT_NEAR(regularised.loss - without.loss, 8 * (0.5 + 0.25), 1e-5);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(regularised.gradients[0][0][i] - without.gradients[0][0][i], 0.5 + 2 * 0.25, 1e-5);
  }
}

TEST(EagerLayers, ActivityRegulariserIsDividedByTheBatch) {
  auto fixed = [&](bool regularised) {
    Json last = dense(1, "linear", {{"kernel_initializer", "ones"}});
    if (regularised) {
      last["config"]["activity_regularizer"] = {{"class_name", "L2"}, {"config", {{"l2", 0.5}}}};
    }
    program::Program p = program_of("moons", 2, Json::array({last}), "mean_squared_error", "mae",
                                    optimizer("SGD", 0), 1);
    p.document["fit"]["shuffle"] = false;
    FirstBatch result;
    const ReplicaResult outcome =
        make_local_trainer(trained_by(Backend::kEager))->train({&p}, &result);
    EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
    return result;
  };
  const FirstBatch without = fixed(false), with = fixed(true);
  double squares = 0;
  float outputs = 0;
  for (const float y : with.outputs[0]) squares += y * y, outputs += y;
  EXPECT_NEAR(with.loss - without.loss, 0.5 * squares / with.rows, 1e-5);
  EXPECT_NEAR(with.gradients[0][1][0] - without.gradients[0][1][0], outputs / with.rows, 1e-5);
}

}  // namespace
}  // namespace neutra::training
