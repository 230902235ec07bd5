#include <cmath>
#include <iostream>

#include "fused_comparison.h"
#include "training/activations.h"
#include "training/fused/engine.h"
#include "training/initializers.h"
#include "training/losses.h"
#include "training/optimizers/registry.h"

namespace neutra::training::tests {
namespace {

Json random_regularizer(Random& random) {
  return {{"class_name", "L1L2"},
          {"config", {{"l1", 0.01 * below(random, 3)}, {"l2", 0.01 * below(random, 3)}}}};
}

Json random_dense(Random& random, int units, const std::string& activation) {
  Json one = dense(units, activation);
  Json& config = one["config"];
  static const std::vector<std::string> kInitial{"glorot_uniform", "he_normal", "random_normal",
                                                 "lecun_uniform",  "ones",      "zeros"};
  if (chance(random, 0.3)) config["kernel_initializer"] = pick(random, kInitial);
  if (chance(random, 0.3)) {
    config["bias_initializer"] = chance(random, 0.5) ? "ones" : "random_uniform";
  }
  if (chance(random, 0.1)) config["use_bias"] = false;
  if (chance(random, 0.1)) config["kernel_regularizer"] = random_regularizer(random);
  if (chance(random, 0.1)) config["bias_regularizer"] = random_regularizer(random);
  if (chance(random, 0.05)) config["trainable"] = false;
  return one;
}

Json random_other_layer(Random& random) {
  switch (below(random, 7)) {
    case 0:
      return layer("Dropout", {{"rate", 0.1 * below(random, 9)}});
    case 1: {
      Json config = Json::object();
      if (chance(random, 0.2)) config["scale"] = false;
      if (chance(random, 0.2)) config["center"] = false;
      if (chance(random, 0.2)) config["momentum"] = 0.5;
      if (chance(random, 0.1)) config["trainable"] = false;
      return layer("BatchNormalization", config);
    }
    case 2: {
      Json config = Json::object();
      if (chance(random, 0.4)) config["max_value"] = 1 + below(random, 6);
      if (chance(random, 0.4)) config["negative_slope"] = 0.1 * below(random, 4);
      if (chance(random, 0.4)) config["threshold"] = 0.25 * below(random, 4);
      return layer("ReLU", config);
    }
    case 3:
      return layer("LeakyReLU", {{"alpha", 0.1 * (1 + below(random, 5))}});
    case 4:
      return layer("ELU", {{"alpha", 0.5 * (1 + below(random, 3))}});
    case 5:
      return layer("Flatten", Json::object());
    default:
      return activation_layer(pick(random, activation_names()));
  }
}

Json random_noise_or_normalization(Random& random) {
  if (chance(random, 0.5)) return layer("GaussianNoise", {{"stddev", 0.1 * below(random, 4)}});
  Json config = Json::object();
  if (chance(random, 0.2)) config["scale"] = false;
  if (chance(random, 0.2)) config["center"] = false;
  if (chance(random, 0.1)) config["trainable"] = false;
  return layer("LayerNormalization", std::move(config));
}

Subject random_subject(unsigned seed) {
  Random random(seed), more(seed + 2'000'000);
  const std::string loss = pick(random, loss_names());
  std::vector<std::string> last{"linear", "sigmoid", "softmax"};
  if (chance(random, 0.2)) last = activation_names();
  static const std::vector<int> kUnits{1, 2, 3, 4, 5, 8, 10, 16, 17, 20, 33};
  Json layers = Json::array();
  const int depth = below(random, 4);
  for (int i = 0; i < depth; ++i) {
    layers.push_back(random_dense(random, pick(random, kUnits), pick(random, activation_names())));
    if (chance(random, 0.4)) layers.push_back(random_other_layer(random));
  }
  const int outputs = chance(random, 0.3) ? 1 : 2 + below(random, 9);
  layers.push_back(random_dense(random, outputs, pick(random, last)));
  if (chance(random, 0.1)) layers.push_back(random_other_layer(random));
  // Behind a batch normalisation, gradients that cancel would cancel twice.
  const bool normalised = std::any_of(layers.begin(), layers.end(), [](const Json& one) {
    return one["class_name"] == "BatchNormalization";
  });
  if (!normalised && chance(more, 0.3)) {
    layers.insert(layers.begin() + 1 + below(more, static_cast<int>(layers.size())),
                  random_noise_or_normalization(more));
  }
  Json how = optimizer(pick(random, optimizer_names()), std::pow(10.0, -1 - below(random, 3)));
  if (chance(random, 0.1)) how["config"]["learning_rate"] = std::pow(10.0, 3 * below(random, 12));
  if (chance(random, 0.1)) how["config"]["clipnorm"] = 1;
  Subject s = subject(pick(random, kUnits), std::move(layers), loss, how,
                      chance(random, 0.1) ? 1 : 1 + below(random, 40));
  s.rows = 1 + below(random, 60);
  s.seed = seed;
  s.steps = 1 + below(random, 6);
  return s;
}

/// What decides on gradients: the rest of a loop is the same code for both.
Json random_loop(Random& random, std::size_t layers) {
  Json loop = Json::object();
  const auto position = [&] { return below(random, static_cast<int>(layers)); };
  if (chance(random, 0.5)) loop["reduction"] = "sum";
  if (chance(random, 0.5)) loop["detached"] = position();
  if (chance(random, 0.5)) loop["left_out"] = {position(), position()};
  return loop;
}

TEST_F(FusedEngine, AgreesOnRandomPrograms) {
  int checked = 0, failures = 0;
  const auto check = [&](const Subject& s) {
    const std::optional<Made> made = make(s);
    if (!made || fused_refusal(made->program, {&made->x, &made->y, 0, s.rows})) return;
    ++checked;
    if (const auto problem = disagreement(s, counts_)) {
      ++failures;
      const Subject smallest = shrunk(s);
      ADD_FAILURE() << *problem << "\nsmallest: " << smallest << "\n"
                    << *disagreement(smallest, counts_);
    }
  };
  for (unsigned seed = 0; checked < 3000 && failures < 8; ++seed) {
    Subject s = random_subject(seed);
    check(s);
    if (seed % 2 == 1) continue;
    Random random(seed + 1'000'000);
    s.document["fit"]["loop"] = random_loop(random, layers_of(s.document).size());
    if (chance(random, 0.3)) s.document["compile"]["logits"] = "any";
    check(s);
  }
  // Most comparisons must hold without a doubt.
  EXPECT_LT(static_cast<double>(counts_.doubted), 0.02 * static_cast<double>(counts_.comparisons))
      << counts_.doubted << " of " << counts_.comparisons;
}

}  // namespace
}  // namespace neutra::training::tests
