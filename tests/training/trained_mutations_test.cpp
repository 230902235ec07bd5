#include "training/trained_mutations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "programs.h"
#include "training/metrics.h"

namespace neutra::training {
namespace {

Json step(const char* op, double percentage, Json more = Json::object()) {
  Json made = {{"op", op}, {"percentage", percentage}};
  made.update(more);
  return made;
}
Json layer_step(const char* op, int layer) { return {{"op", op}, {"layer", layer}}; }

program::Program with_steps(program::Program p, std::vector<Json> steps) {
  p.document["trained"]["mutations"] = steps;
  return p;
}

/// A convolution of 2 channels by 4 filters, 8 neurons, 3 outputs.
program::Program images(std::vector<Json> steps) {
  program::Program p = program_of(
      "moons", 2,
      Json::array({layer("Conv2D", {{"filters", 4}, {"kernel_size", {3, 2}}}),
                   layer("BatchNormalization", Json::object()), layer("Flatten", Json::object()),
                   dense(8, "relu"), dense(3, "softmax")}),
      "categorical_crossentropy", "accuracy", optimizer("Adam", 0.01));
  p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = {nullptr, 4, 3, 2};
  return with_steps(p, std::move(steps));
}

/// Every weight another number, from 1 on.
program::ModelWeights numbered(const program::ResolvedProgram& program) {
  program::ModelWeights weights;
  float next = 1;
  for (const program::ResolvedLayer& layer : program.layers) {
    auto& own = weights.emplace_back();
    for (const program::Weight& weight : layer.weights) {
      std::vector<float> values(1);
      for (const std::int64_t extent : weight.shape) values.resize(values.size() * extent);
      std::iota(values.begin(), values.end(), next);
      next += static_cast<float>(values.size());
      own.push_back(std::move(values));
    }
  }
  return weights;
}

struct Mutated {
  program::ModelWeights before, after;
  /// Kernels that differ, by layer; fails if anything else does.
  std::set<std::size_t> layers() const {
    std::set<std::size_t> found;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t k = 0; k < before[i].size(); ++k) {
        if (before[i][k] == after[i][k]) continue;
        EXPECT_EQ(k, 0u) << "layer " << i;
        found.insert(i);
      }
    }
    return found;
  }
  const std::vector<float>& old_kernel(std::size_t i) const { return before[i][0]; }
  const std::vector<float>& kernel(std::size_t i) const { return after[i][0]; }
};
Mutated mutated(const program::Program& p) {
  const program::ResolvedProgram resolved = program::resolve(p);
  Mutated result{numbered(resolved), numbered(resolved)};
  mutate_weights(resolved, result.after);
  return result;
}

/// A kernel's values for each neuron, or for each input.
std::vector<std::vector<float>> by_neuron(const std::vector<float>& kernel, std::size_t neurons) {
  std::vector<std::vector<float>> columns(neurons);
  for (std::size_t i = 0; i < kernel.size(); ++i) columns[i % neurons].push_back(kernel[i]);
  return columns;
}
std::vector<std::vector<float>> by_input(const std::vector<float>& kernel, std::size_t inputs,
                                         std::size_t neurons) {
  std::vector<std::vector<float>> rows(inputs);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    rows[i / neurons % inputs].push_back(kernel[i]);
  }
  return rows;
}
template <typename T>
std::size_t differences(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

constexpr std::size_t kConv = 0, kHidden = 3, kOutput = 4;  ///< layers of images()
constexpr std::size_t kHiddenInputs = 2 * 2 * 4;

TEST(TrainedWeights, GaussianFuzz) {
  const Mutated all = mutated(images({step("gaussian_fuzz", 25)}));
  EXPECT_EQ(all.layers(), (std::set<std::size_t>{kConv, kHidden, kOutput}));
  for (const std::size_t i : all.layers()) {
    EXPECT_EQ(differences(all.kernel(i), all.old_kernel(i)), all.kernel(i).size() / 4) << i;
    for (std::size_t k = 0; k < all.kernel(i).size(); ++k) {
      EXPECT_NEAR(all.kernel(i)[k], all.old_kernel(i)[k], 0.6);
    }
  }
  // Everything once: the noise has the deviation that was asked for.
  for (const char* distribution : {"normal", "uniform"}) {
    const Mutated one = mutated(images(
        {step("gaussian_fuzz", 100,
              {{"layer", kHidden}, {"stddev", 20}, {"distribution", distribution}, {"seed", 5}})}));
    EXPECT_EQ(one.layers(), std::set<std::size_t>{kHidden});
    double sum = 0, squares = 0, largest = 0;
    for (std::size_t k = 0; k < one.kernel(kHidden).size(); ++k) {
      const double noise = one.kernel(kHidden)[k] - one.old_kernel(kHidden)[k];
      sum += noise;
      squares += noise * noise;
      largest = std::max(largest, std::abs(noise));
    }
    const auto n = static_cast<double>(one.kernel(kHidden).size());
    EXPECT_NEAR(sum / n, 0, 20 * 3 / std::sqrt(n)) << distribution;
    EXPECT_NEAR(std::sqrt(squares / n), 20, 4) << distribution;
    EXPECT_EQ(largest > 20 * std::sqrt(3.0) + 0.001, *distribution == 'n');
  }
}

TEST(TrainedWeights, WeightShuffle) {
  const Mutated all = mutated(images({step("weight_shuffle", 50)}));
  EXPECT_EQ(all.layers(), (std::set<std::size_t>{kConv, kHidden, kOutput}));
  for (const auto& [i, neurons] : {std::pair{kConv, std::size_t{4}}, {kHidden, 8}, {kOutput, 3}}) {
    auto old = by_neuron(all.old_kernel(i), neurons), now = by_neuron(all.kernel(i), neurons);
    EXPECT_EQ(differences(now, old), neurons / 2) << i;
    // Each neuron's weights are those that it had.
    for (auto* columns : {&old, &now}) {
      for (std::vector<float>& column : *columns) std::sort(column.begin(), column.end());
    }
    EXPECT_EQ(now, old);
  }
}

TEST(TrainedWeights, NeuronEffectBlock) {
  const Mutated all = mutated(images({step("neuron_effect_block", 50)}));
  for (const auto& [i, inputs, neurons] : {std::tuple{kConv, std::size_t{2}, std::size_t{4}},
                                           {kHidden, kHiddenInputs, 8},
                                           {kOutput, 8, 3}}) {
    const auto old = by_input(all.old_kernel(i), inputs, neurons);
    const auto now = by_input(all.kernel(i), inputs, neurons);
    EXPECT_EQ(differences(now, old), inputs / 2) << i;
    for (std::size_t row = 0; row < inputs; ++row) {
      if (now[row] == old[row]) continue;
      EXPECT_EQ(now[row], std::vector<float>(now[row].size()));
    }
  }
}

TEST(TrainedWeights, NeuronActivationInverse) {
  const Mutated all = mutated(images({step("neuron_activation_inverse", 50)}));
  for (const auto& [i, neurons] : {std::pair{kConv, std::size_t{4}}, {kHidden, 8}, {kOutput, 3}}) {
    const auto old = by_neuron(all.old_kernel(i), neurons), now = by_neuron(all.kernel(i), neurons);
    EXPECT_EQ(differences(now, old), neurons / 2) << i;
    for (std::size_t column = 0; column < neurons; ++column) {
      if (now[column] == old[column]) continue;
      for (std::size_t k = 0; k < now[column].size(); ++k) {
        EXPECT_EQ(now[column][k], -old[column][k]);
      }
    }
  }
}

TEST(TrainedWeights, NeuronSwitch) {
  const Mutated all = mutated(images({step("neuron_switch", 50)}));
  for (const auto& [i, inputs, neurons] : {std::tuple{kConv, std::size_t{2}, std::size_t{4}},
                                           {kHidden, kHiddenInputs, 8},
                                           {kOutput, 8, 3}}) {
    auto old = by_input(all.old_kernel(i), inputs, neurons);
    auto now = by_input(all.kernel(i), inputs, neurons);
    // One alone has nobody to exchange with.
    EXPECT_LE(differences(now, old), inputs / 2) << i;
    EXPECT_EQ(differences(now, old) == 0, inputs == 2) << i;
    std::sort(old.begin(), old.end());
    std::sort(now.begin(), now.end());
    EXPECT_EQ(now, old);
  }
}

TEST(TrainedWeights, SharesAreRoundedDown) {
  for (const char* op : {"weight_shuffle", "neuron_effect_block", "neuron_activation_inverse"}) {
    EXPECT_TRUE(mutated(images({step(op, 4)})).layers().empty()) << op;
    // An eighth of 16 inputs, of 8 neurons.
    EXPECT_EQ(mutated(images({step(op, 12.5)})).layers().count(kHidden), 1u) << op;
    EXPECT_EQ(mutated(images({step(op, 12.4, {{"layer", kOutput}})})).layers().size(), 0u) << op;
  }
}

TEST(TrainedWeights, SeedsAndPlacesGiveOtherNumbers) {
  const auto kernel = [](std::vector<Json> steps) {
    return mutated(images(std::move(steps))).kernel(kHidden);
  };
  const Json fuzz = step("gaussian_fuzz", 20);
  EXPECT_EQ(kernel({fuzz}), kernel({fuzz}));
  EXPECT_NE(kernel({fuzz}), kernel({step("gaussian_fuzz", 20, {{"seed", 1}})}));
  // Two steps of one seed change other weights.
  EXPECT_GT(differences(kernel({fuzz, fuzz}), kernel({})), differences(kernel({fuzz}), kernel({})));
  // In order: what is blocked first can be fuzzed afterwards.
  const Json block = step("neuron_effect_block", 100), invert = step("gaussian_fuzz", 100);
  const auto blocked_last = kernel({invert, block});
  EXPECT_EQ(std::count(blocked_last.begin(), blocked_last.end(), 0.0f),
            static_cast<std::ptrdiff_t>(blocked_last.size()));
  EXPECT_NE(kernel({block, invert}), blocked_last);
}

/// Layers of equal shapes.
program::Program square(int epochs = 3) {
  return program_of(
      "moons", 2,
      Json::array({dense(8, "relu"), dense(8, "tanh"), dense(8, "relu"), dense(1, "sigmoid")}),
      "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), epochs);
}

TEST(TrainedStructure, LayersLeaveAndAreCopied) {
  const auto structure = [](std::vector<Json> steps) {
    const program::Program p = with_steps(square(), std::move(steps));
    const mutators::ModelStructure made = mutated_structure(p, program::resolve(p));
    EXPECT_FALSE(made.program.document.contains("trained"));
    EXPECT_TRUE(program::validate(made.program.document).empty());
    return made;
  };
  const auto origin = [&](std::vector<Json> steps) { return structure(std::move(steps)).origin; };
  using Origin = std::vector<std::size_t>;
  EXPECT_EQ(origin({layer_step("layer_deactivation", 1)}), (Origin{0, 2, 3}));
  EXPECT_EQ(origin({layer_step("layer_copy", 1)}), (Origin{0, 1, 1, 2, 3}));
  EXPECT_EQ(origin({layer_step("layer_deactivation", 2), layer_step("layer_copy", 1)}),
            (Origin{0, 1, 1, 3}));
  EXPECT_EQ(origin({layer_step("layer_copy", 1), layer_step("layer_copy", 1)}),
            (Origin{0, 1, 1, 1, 2, 3}));
  EXPECT_EQ(origin({layer_step("layer_copy", 1), layer_step("layer_deactivation", 1)}),
            (Origin{0, 1, 2, 3}));
  EXPECT_EQ(origin({step("gaussian_fuzz", 5)}), (Origin{0, 1, 2, 3}));
  program::Program left_out = with_steps(square(), {layer_step("layer_deactivation", 1)});
  left_out.document["fit"]["loop"] = {{"left_out", {3}}, {"detached", 3}, {"eval_mode", false}};
  const program::Program rest = mutated_structure(left_out, program::resolve(left_out)).program;
  EXPECT_TRUE(program::validate(rest.document).empty());
  EXPECT_EQ(rest.document["fit"]["loop"], Json::parse(R"({"eval_mode": false})"));
  // Steps name the program's layers, whatever others did.
  const mutators::ModelStructure linear =
      structure({layer_step("layer_deactivation", 1), layer_step("activation_removal", 2),
                 layer_step("layer_copy", 2)});
  EXPECT_EQ(linear.origin, (Origin{0, 2, 2, 3}));
  std::vector<std::string> activations;
  for (const program::ResolvedLayer& layer : program::resolve(linear.program).layers) {
    activations.push_back(layer.config.at("activation"));
  }
  EXPECT_EQ(activations, (std::vector<std::string>{"relu", "linear", "linear", "sigmoid"}));
}

/// A convolution of equal shapes.
program::Program convolution() {
  return program_of(
      "moons", 2,
      Json::array({dense(256, "relu"), layer("Reshape", {{"target_shape", {4, 4, 16}}}),
                   layer("Conv2D", {{"filters", 16},
                                    {"kernel_size", {3, 3}},
                                    {"padding", "same"},
                                    {"activation", "relu"}}),
                   layer("Flatten", Json::object()), dense(1, "sigmoid")}),
      "binary_crossentropy", "accuracy", optimizer("Adam", 0.002), 2);
}

class TrainedMutations : public EachBackend {
 protected:
  static TrainingJob job(const program::Program& p, int replica = 0,
                         StreamKey stream = StreamKey::kPrefix) {
    TrainingJob made;
    made.program = &p;
    made.replica = replica;
    made.stream = stream;
    return made;
  }
  /// The metric of a model on the hold-out rows.
  static double metric(LocalTrainer& trainer, const TrainedModel& model) {
    const auto predictor = trainer.predictor(model.program, DataPart::kHoldout, model.key);
    predictor->weights().assign(model.weights);
    const DataRows rows = trainer.rows(model.program, DataPart::kHoldout);
    Metric metric("accuracy");
    for (std::int64_t i = 0; i < rows.count; ++i) {
      metric.add({predictor->outputs(i, 1), {1, 1}},
                 {rows.targets.subspan(static_cast<std::size_t>(i), 1), {1, 1}});
    }
    return metric.value();
  }
};
NEUTRA_EACH_BACKEND(TrainedMutations);

TEST_P(TrainedMutations, AReplicaIsTheOriginalsThenMutated) {
  const auto trainer = this->trainer();
  std::set<double> metrics;
  const auto check = [&](const program::Program& original, const std::vector<Json>& steps) {
    const program::Program mutant = with_steps(original, steps);
    SCOPED_TRACE(steps[0].dump());
    const TrainedModel before = trainer->train_model(job(original, 2));
    const TrainedModel after = trainer->train_model(job(mutant, 2));
    ASSERT_EQ(after.training.status, RunStatus::kOk) << after.training.message;
    EXPECT_EQ(after.training.backend, before.training.backend);
    EXPECT_EQ(after.training.steps, before.training.steps);
    EXPECT_EQ(before.program.document, original.document);
    program::ModelWeights expected = before.weights;
    const program::ResolvedProgram resolved = program::resolve(mutant);
    mutate_weights(resolved, expected);
    const mutators::ModelStructure structure = mutated_structure(mutant, resolved);
    EXPECT_EQ(after.weights, weights_of(structure, expected));
    EXPECT_EQ(after.program.document, structure.program.document);
    EXPECT_EQ(after.training.metric, metric(*trainer, after));
    EXPECT_EQ(after.training.metric, trainer->train(job(mutant, 2)).metric);
    metrics.insert(after.training.metric);
  };
  for (const std::vector<Json>& steps :
       {std::vector<Json>{step("gaussian_fuzz", 50, {{"stddev", 2}})},
        {step("weight_shuffle", 50)},
        {step("neuron_effect_block", 50)},
        {step("neuron_activation_inverse", 50)},
        {step("neuron_switch", 50)},
        {layer_step("layer_deactivation", 1)},
        {layer_step("layer_copy", 1)},
        {layer_step("activation_removal", 1)},
        {step("neuron_activation_inverse", 30, {{"seed", 4}}), layer_step("layer_copy", 2)}}) {
    check(square(5), steps);
  }
  for (const std::vector<Json>& steps : {std::vector<Json>{layer_step("layer_deactivation", 2)},
                                         {layer_step("layer_copy", 2)},
                                         {step("neuron_effect_block", 50, {{"layer", 2}})},
                                         {step("neuron_activation_inverse", 50, {{"layer", 2}})}}) {
    check(convolution(), steps);
  }
  EXPECT_GT(metrics.size(), 5u);
}

TEST_P(TrainedMutations, StepsWithoutEffectLeaveTheMetricAsItIs) {
  const auto trainer = this->trainer();
  program::Program penalised = moons(4), images = convolution();
  penalised.document["model"]["config"]["layers"][0]["config"]["kernel_regularizer"] = "l2";
  for (program::Program* p : {&penalised, &images}) {
    p->document["metric"] = {{"name", "loss"}, {"goal", "minimize"}};
  }
  for (const program::Program& p : {moons(4), penalised, images}) {
    const program::Program same = with_steps(p, {step("neuron_activation_inverse", 0.1)});
    const program::Program other = with_steps(p, {step("neuron_activation_inverse", 100)});
    const ReplicaResult original = trainer->train(job(p));
    const ReplicaResult result = trainer->train(job(same));
    EXPECT_EQ(result.metric, original.metric);
    EXPECT_EQ(result.correct, original.correct);
    EXPECT_NE(trainer->train(job(other)).metric, original.metric);
  }
}

TEST_P(TrainedMutations, EarlyStoppingRestoresFirst) {
  program::Program p = moons(30);
  p.document["fit"]["validation_split"] = 0.2;
  p.document["fit"]["callbacks"] = Json::array(
      {{{"class_name", "EarlyStopping"},
        {"config", {{"monitor", "val_loss"}, {"patience", 1}, {"restore_best_weights", true}}}}});
  const auto trainer = this->trainer();
  const TrainedModel before = trainer->train_model(job(p));
  EXPECT_LT(before.epochs, 30);
  const program::Program mutant = with_steps(p, {step("neuron_activation_inverse", 100)});
  for (int time = 0; time < 2; ++time) {  // trained, then known
    const TrainedModel after = trainer->train_model(job(mutant));
    EXPECT_EQ(after.epochs, before.epochs);
    EXPECT_EQ(after.training.epochs_reused, time * before.epochs);
    for (std::size_t i = 0; i < before.weights[0][0].size(); ++i) {
      EXPECT_EQ(after.weights[0][0][i], -before.weights[0][0][i]);
    }
    EXPECT_EQ(after.weights[0][1], before.weights[0][1]);
  }
}

TEST_P(TrainedMutations, IndependentOnesShareTrainingsOfTheirOwn) {
  const auto trainer = this->trainer();
  const program::Program p = moons(4);
  const program::Program one = with_steps(p, {step("neuron_activation_inverse", 1)});
  const program::Program two = with_steps(p, {step("neuron_effect_block", 2)});
  const StreamKey independent = StreamKey::kIndependent;
  const TrainedModel original = trainer->train_model(job(p, 1, independent));
  const TrainedModel first = trainer->train_model(job(one, 1, independent));
  const TrainedModel second = trainer->train_model(job(two, 1, independent));
  EXPECT_NE(first.weights, original.weights);
  EXPECT_EQ(first.weights, second.weights);
  EXPECT_EQ(first.training.epochs_reused, 0);
  EXPECT_EQ(second.training.epochs_reused, 4);
  EXPECT_EQ(second.training.steps, first.training.steps);
  EXPECT_EQ(second.training.metric, first.training.metric);
  EXPECT_NE(trainer->train_model(job(one, 2, independent)).weights, first.weights);
  EXPECT_NE(trainer->train_model(job(one, 1)).weights, first.weights);
  // Another training is another program's.
  program::Program longer = two;
  longer.document["fit"]["epochs"] = 5;
  EXPECT_EQ(trainer->train_model(job(longer, 1, independent)).training.epochs_reused, 0);
  // With a time limit each has its own, and the same result.
  TrainingJob limited = job(two, 1, independent);
  limited.time_limit = 1000;
  const ReplicaResult alone = trainer->train(limited);
  EXPECT_EQ(alone.epochs_reused, 0);
  EXPECT_EQ(alone.metric, second.training.metric);
}

TEST_P(TrainedMutations, RememberedTrainingsAreTheOriginals) {
  TrainerOptions options;
  options.reuse_epochs = true;
  const auto epochs = [](program::Program p, int count) {
    p.document["fit"]["epochs"] = count;
    return p;
  };
  const program::Program original = moons(8);
  const program::Program mutant = with_steps(original, {step("neuron_activation_inverse", 100)});
  const auto plain = this->trainer();
  const std::vector<program::Program> programs{
      original, mutant, epochs(mutant, 4), epochs(original, 4), epochs(mutant, 16), original};
  for (const bool backwards : {false, true}) {
    const auto trainer = this->trainer(options);
    std::vector<program::Program> order = programs;
    if (backwards) std::reverse(order.begin(), order.end());
    std::vector<std::int64_t> reused;
    for (const program::Program& p : order) {
      const ReplicaResult result = trainer->train(job(p));
      const ReplicaResult expected = plain->train(job(p));
      EXPECT_EQ(result.metric, expected.metric);
      EXPECT_EQ(result.steps, expected.steps);
      reused.push_back(result.epochs_reused);
    }
    // The mutant needs no training of its own behind the original.
    if (backwards) continue;
    EXPECT_EQ(reused, (std::vector<std::int64_t>{0, 8, 0, 4, 8, 8}));
  }
}

TEST_P(TrainedMutations, ADivergedModelStaysSo) {
  program::Program p = square(3);
  p.document["compile"]["optimizer"] = optimizer("SGD", 1e30);
  const ReplicaResult result =
      this->trainer()->train(job(with_steps(p, {step("gaussian_fuzz", 10)})));
  EXPECT_EQ(result.status, RunStatus::kDiverged);
}

TEST_P(TrainedMutations, WrongStepsAreRefused) {
  const program::Program p = with_steps(moons(1), {layer_step("layer_copy", 2)});
  const auto trainer = this->trainer();
  EXPECT_NE(
      trainer->refusal(p)->find("/trained/mutations/0/layer: found layer 2, dense_1 (Dense), which "
                                "makes (8) of (16)"),
      std::string::npos)
      << *trainer->refusal(p);
  EXPECT_EQ(trainer->train(job(p)).status, RunStatus::kInvalid);
}

}  // namespace
}  // namespace neutra::training
