#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "fl_adapters/localise_runs.h"
#include "fl_adapters/registry.h"
#include "fl_adapters/tools/deepfault.h"
#include "fl_adapters/tools/deepmufl.h"
#include "tests/training/programs.h"

/// Tools that rank, on models that are trained or made by hand.
namespace neutra::fl_adapters {

using namespace training;
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;

const std::vector<std::string> kDeepFault{"deepfault-dstar", "deepfault-ochiai",
                                          "deepfault-tarantula"};
std::vector<std::string> deepmufl_names() {
  std::vector<std::string> names;
  for (const Tool* tool : tools()) {
    if (tool->name.starts_with("deepmufl-")) names.push_back(tool->name);
  }
  return names;
}

class RankingTools : public EachBackend {
 protected:
  void SetUp() override { trainer_ = trainer(); }
  LocaliseContext context(ToolVariant variant = kPublished) const {
    LocaliseContext context;
    context.trainer = trainer_.get();
    context.variant = variant;
    return context;
  }
  std::unique_ptr<training::LocalTrainer> trainer_;
};
NEUTRA_EACH_BACKEND(RankingTools);

/// y = 5 x for x in [-1, 1]: the positive and the negative half go their own ways.
program::Program halves() {
  program::Program p =
      program_of("linear", 1, Json::array({dense(2, "relu"), dense(3, "relu"), dense(1, "linear")}),
                 "mean_squared_error", "mae", optimizer("SGD", 0.1), 1);
  p.document["data"]["arguments"]["slope"] = 5;
  p.document["data"]["arguments"]["low"] = -1;
  return p;
}
/// Right weights for it. The third neuron of layer 1 is never active.
program::ModelWeights right_weights() {
  return {{{1, -1}, {0, 0}},
          {{1, 0, 0, 0, 1, 0}, {0, 0, -1}},  // kernel (2, 3), row by row
          {{5, -5, 1}, {0}}};
}

TEST_P(RankingTools, DeepFaultFindsTheBrokenNeuron) {
  const FaultyProgram faulty{"broken", halves()};
  program::ModelWeights weights = right_weights();
  // The neuron is active, and takes 3 (x - 0.3) off the output, where x > 0.3.
  weights[1] = {{1, 0, 1, 0, 1, 0}, {0, 0, -0.3f}};
  weights[2] = {{5, -5, -3}, {0}};
  const auto layers = deepfault::spectra(faulty, context(kRepaired), weights);
  ASSERT_EQ(layers.size(), 3u);
  const deepfault::Spectrum& broken = layers[1].neurons[2];
  EXPECT_GT(broken.active_failed, 20);
  EXPECT_GT(broken.idle_passed, 50);
  EXPECT_EQ(broken.active_passed + broken.idle_failed, 0);
  for (const auto measure :
       {deepfault::Measure::kTarantula, deepfault::Measure::kOchiai, deepfault::Measure::kDStar}) {
    const std::vector<evaluators::Suspect> ranking = deepfault::ranking(layers, measure);
    EXPECT_EQ(first_layers(ranking), std::set<int>{1});
    const auto neuron =
        std::find_if(ranking.begin(), ranking.end(),
                     [](const evaluators::Suspect& suspect) { return suspect.neuron >= 0; });
    ASSERT_NE(neuron, ranking.end());
    EXPECT_EQ(std::pair(neuron->layer, neuron->neuron), std::pair(1, std::int64_t{2}));
  }
  // As published, the output isn't looked at, and an output of one value is always right.
  const auto published = deepfault::spectra(faulty, context(), weights);
  ASSERT_EQ(published.size(), 2u);
  EXPECT_EQ(published[1].neurons[2].active_failed, 0);
}

TEST_P(RankingTools, DeepFaultOfARightModelSuspectsNothing) {
  const auto layers = deepfault::spectra({"right", halves()}, context(kRepaired), right_weights());
  for (const evaluators::Suspect& suspect :
       deepfault::ranking(layers, deepfault::Measure::kOchiai)) {
    EXPECT_EQ(suspect.suspiciousness, 0);
  }
}

deepmufl::Results run_mutants(const FaultyProgram& faulty, const LocaliseContext& context,
                              const program::ModelWeights& weights) {
  Trouble trouble;
  deepmufl::Results results =
      deepmufl::run_mutants(faulty, context, weights, std::chrono::steady_clock::now(), trouble);
  EXPECT_EQ(trouble.status, LocalisationStatus::kOk);
  return results;
}

TEST_P(RankingTools, DeepmuflFindsTheBrokenLayer) {
  using Kind = deepmufl::Formula::Kind;
  const FaultyProgram faulty{"broken", halves()};
  for (const std::size_t broken : {0, 1}) {
    program::ModelWeights weights = right_weights();
    // A weight twice what it should be, where x > 0: halving it fixes all failing tests.
    weights[broken][0][0] *= 2;
    for (const ToolVariant variant : {kPublished, kRepaired}) {
      const deepmufl::Results results = run_mutants(faulty, context(variant), weights);
      ASSERT_EQ(results.layers.size(), 3u);
      EXPECT_GT(results.failing, 20);
      EXPECT_GT(results.passing, 20);
      const auto& mutants = results.layers[broken].mutants;
      EXPECT_TRUE(std::any_of(mutants.begin(), mutants.end(), [&](const auto& mutant) {
        return mutant.fail_to_pass == results.failing && mutant.pass_to_fail == 0;
      }));
    }
  }
  // A bias: no mutant of another layer fixes it.
  program::ModelWeights weights = right_weights();
  weights[1][1][0] = 1;
  const deepmufl::Results results = run_mutants(faulty, context(), weights);
  for (const deepmufl::Formula& formula : {deepmufl::Formula{Kind::kMetallaxis1, false, false},
                                           deepmufl::Formula{Kind::kMetallaxis1, true, true},
                                           deepmufl::Formula{Kind::kMetallaxis1, true, false},
                                           deepmufl::Formula{Kind::kMuse, false, false}}) {
    EXPECT_EQ(first_layers(deepmufl::ranking(results, formula, kPublished)), std::set<int>{1})
        << formula.ochiai << formula.maximum;
  }
}

TEST_P(RankingTools, DeepmuflCountsWhatAMutantDoes) {
  const FaultyProgram faulty{"right", halves()};
  const deepmufl::Results results = run_mutants(faulty, context(), right_weights());
  EXPECT_EQ(results.failing, 0);
  EXPECT_EQ(results.passing, 100);
  // Layer 2: one neuron. Its kernel plus 1: 6 m0 - 4 m1; m2 is 0.
  const deepmufl::LayerResults& last = results.layers[2];
  EXPECT_EQ(last.layer, 2);
  EXPECT_EQ(last.mutants[0].pass_to_fail, 100);
  EXPECT_EQ(last.mutants[0].fail_to_pass, 0);
  // Its bias doubled is as it was: 0.
  EXPECT_EQ(last.mutants[6].pass_to_fail, 0);
  EXPECT_EQ(last.inputs_pass_to_fail, 100);
  EXPECT_EQ(last.inputs_fail_to_pass, 0);
  // Ten activations, DEL_LAYER and DUP_LAYER after 4 + 4 weights and biases; the last two do
  // nothing as published.
  ASSERT_EQ(last.mutants.size(), 20u);
  for (const std::size_t i : {18, 19}) {
    EXPECT_TRUE(last.mutants[i].viable);
    EXPECT_EQ(last.mutants[i].pass_to_fail, 0);
  }
  // Repaired: without the output layer there are three outputs, which no loss takes; another
  // output layer doesn't fit behind it.
  const auto repaired = run_mutants(faulty, context(kRepaired), right_weights()).layers[2].mutants;
  ASSERT_EQ(repaired.size(), 20u);
  EXPECT_FALSE(repaired[19].viable);
}

TEST_P(RankingTools, LayersOnImages) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("neutra_ranking_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  constexpr std::uint64_t kRows = 60, kRow = 8 * 7 * 2;
  std::vector<float> x(kRows * kRow), y(kRows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
  for (std::size_t i = 0; i < kRows; ++i) y[i] = x[i * kRow] > 0 ? 1.0f : 0.0f;
  Hdf5File file = Hdf5File::create(folder / "images.h5");
  file.write("/x", x, {kRows, 8, 7, 2});
  file.write("/y", y, {kRows});
  file.close();
  program::Program p = program_of(
      "moons", 2,
      Json::array({layer("Conv2D", {{"filters", 3}, {"kernel_size", 3}, {"activation", "relu"}}),
                   layer("BatchNormalization", Json::object()),
                   layer("MaxPooling2D", {{"padding", "same"}}),
                   layer("Conv2D", {{"filters", 4}, {"kernel_size", 2}, {"padding", "same"}}),
                   layer("GlobalMaxPooling2D", Json::object()), layer("Dropout", {{"rate", 0.25}}),
                   dense(2, "softmax")}),
      "sparse_categorical_crossentropy", "accuracy", optimizer("Adam", 0.01), 2);
  p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = {nullptr, 8, 7, 2};
  p.document["data"]["source"] = "hdf5";
  p.document["data"]["arguments"] = {{"file", "images.h5"}};
  training::TrainerOptions options;
  options.data_path = {folder};
  const auto trainer = this->trainer(options);
  LocaliseContext own = context(kRepaired);
  own.trainer = trainer.get();
  const FaultyProgram faulty{"images", p};

  const training::TrainedModel model = trainer->train_model(training_job(p, own));
  ASSERT_EQ(model.training.status, training::RunStatus::kOk) << model.training.message;
  const deepmufl::Results results = run_mutants(faulty, own, model.weights);
  std::filesystem::remove_all(folder);
  std::map<int, std::pair<int, int>> mutants;  // by layer: all, viable
  for (const deepmufl::LayerResults& each : results.layers) {
    for (const deepmufl::MutantResult& mutant : each.mutants) {
      ++mutants[each.layer].first;
      mutants[each.layer].second += mutant.viable;
    }
  }
  // Before a global pooling any window fits that there can be. Layer 0: 8 weights, strides of 2
  // (0 is none), padding, 10 activations. Layer 2: strides 3 and 1, pools 3 and 1, padding. Layer
  // 6: another output layer doesn't fit behind it.
  const std::map<int, std::pair<int, int>> expected{
      {0, {21, 20}}, {2, {5, 5}}, {3, {21, 20}}, {6, {28, 27}}};
  EXPECT_EQ(mutants, expected);

  const auto layers = deepfault::spectra(faulty, own, model.weights);
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[0].neurons.size(), 3u);
  EXPECT_EQ(layers[2].neurons.size(), 4u);
}

TEST_P(RankingTools, AnswerAfterATraining) {
  // Constant weights: no neuron learns anything of its own.
  const program::Program p =
      program_of("moons", 2, Json::array({dense(8, "relu"), dense(4, "relu"), dense(2, "softmax")}),
                 "sparse_categorical_crossentropy", "accuracy", optimizer("Adam", 0.01), 3);
  const FaultyProgram faulty{"moons", p};
  std::vector<std::string> names = deepmufl_names();
  EXPECT_EQ(names.size(), 9u);
  names.insert(names.end(), kDeepFault.begin(), kDeepFault.end());
  for (const std::string& name : names) {
    const Localisation found = find_tool(name)->localise(faulty, context(kRepaired));
    ASSERT_EQ(found.status, LocalisationStatus::kOk) << name << found.reason;
    EXPECT_GT(found.seconds, 0);
    ASSERT_EQ(found.messages.size(), 1u);
    const ToolMessage& message = found.messages[0];
    EXPECT_EQ(message.epochs, std::vector<std::int64_t>{2});
    EXPECT_EQ(message.severity, "Ranking");
    EXPECT_EQ(message.layers, first_layers(found.ranking));
    if (name.starts_with("deepfault")) {
      EXPECT_EQ(message.text, "Suspicious neurons");
      // Ten of the fourteen.
      EXPECT_EQ(std::count(message.detail.begin(), message.detail.end(), '('), 10);
    } else {
      EXPECT_EQ(message.text, "Suspicious layers");
      EXPECT_TRUE(message.detail.ends_with("of 100 tests fail")) << message.detail;
    }
    const auto layers =
        std::count_if(found.ranking.begin(), found.ranking.end(),
                      [](const evaluators::Suspect& suspect) { return suspect.neuron < 0; });
    EXPECT_EQ(layers, 3) << name;
    EXPECT_EQ(found.ranking.size(), name.starts_with("deepfault") ? 3u + 14 : 3u) << name;
    const std::set<int> first = first_layers(found.ranking);
    if (first.empty()) {
      EXPECT_EQ(to_string(found.faults), "-") << name;
    } else {
      ASSERT_EQ(found.faults.items.size(), 1u) << name;
      for (const program::FaultEntry& fault : found.faults.items[0]) EXPECT_EQ(fault.layers, first);
    }
  }
}

TEST_P(RankingTools, AskTheModelThatTrainedMutationsLeave) {
  program::Program p =
      program_of("moons", 2, Json::array({dense(8, "relu"), dense(8, "relu"), dense(1, "sigmoid")}),
                 "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), 3);
  const auto mutated = [&](Json step) {
    program::Program mutant = p;
    mutant.document["trained"]["mutations"] = Json::array({std::move(step)});
    return mutant;
  };
  for (const std::string name : {"deepfault-tarantula", "deepmufl-muse"}) {
    const auto ranking = [&](const program::Program& asked) {
      const Localisation found = find_tool(name)->localise({"moons", asked}, context(kRepaired));
      EXPECT_EQ(found.status, LocalisationStatus::kOk) << found.reason;
      std::vector<double> values;
      for (const evaluators::Suspect& suspect : found.ranking) {
        values.push_back(suspect.suspiciousness);
      }
      return values;
    };
    const auto original = ranking(p);
    EXPECT_NE(ranking(mutated({{"op", "neuron_activation_inverse"}, {"percentage", 100}})),
              original);
    EXPECT_NE(ranking(mutated({{"op", "activation_removal"}, {"layer", 0}})), original);
    const Localisation found = find_tool(name)->localise(
        {"moons", mutated({{"op", "layer_copy"}, {"layer", 1}})}, context(kRepaired));
    EXPECT_EQ(found.status, LocalisationStatus::kNotApplicable);
    EXPECT_NE(found.reason.find("other layers"), std::string::npos) << found.reason;
  }
}

TEST_P(RankingTools, PublishedOchiaiEndsInAnError) {
  const Localisation found =
      find_tool("deepfault-ochiai")->localise({"moons", moons(1)}, context());
  EXPECT_EQ(found.status, LocalisationStatus::kNotApplicable);
  EXPECT_NE(found.reason.find("Ochiai"), std::string::npos);
  EXPECT_EQ(to_string(found.faults), "N/A");
}

TEST_P(RankingTools, AlikeForAnyNumberOfWorkers) {
  const FaultyProgram faulty{"moons", moons(2)};
  for (const std::string name : {"deepfault-tarantula", "deepmufl-muse"}) {
    std::vector<ToolAnswers> answers;
    for (const int workers : {1, 3}) {
      LocaliseContext own = context(kRepaired);
      own.time_limit = 100 + workers;  // nothing is shared
      answers.push_back(localise_runs(*find_tool(name), faulty, own, 4, workers));
    }
    for (std::size_t run = 0; run < 4; ++run) {
      const std::vector<evaluators::Suspect>& a = answers[0].runs[run].ranking;
      const std::vector<evaluators::Suspect>& b = answers[1].runs[run].ranking;
      ASSERT_FALSE(a.empty());
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(std::tuple(a[i].layer, a[i].neuron, a[i].suspiciousness),
                  std::tuple(b[i].layer, b[i].neuron, b[i].suspiciousness));
      }
    }
  }
}

TEST_P(RankingTools, NotApplicableTimeoutAndStop) {
  program::Program refused = moons(1);
  refused.document["model"]["config"]["layers"][0]["config"]["units"] = 0;
  const program::Program endless = moons(1000000);
  for (const std::string name : {"deepfault-tarantula", "deepmufl-muse"}) {
    const Tool& tool = *find_tool(name);
    EXPECT_EQ(tool.localise({"refused", refused}, context()).status,
              LocalisationStatus::kNotApplicable);
    LocaliseContext limited = context();
    limited.time_limit = 0.1;
    const Localisation cut = tool.localise({"endless", endless}, limited);
    EXPECT_EQ(cut.status, LocalisationStatus::kTimeout);
    EXPECT_TRUE(cut.ranking.empty());
    EXPECT_EQ(to_string(cut.faults), "-");
    std::atomic<bool> stop = true;
    LocaliseContext stopped = context();
    stopped.stop = &stop;
    EXPECT_THROW(tool.localise({"endless", endless}, stopped), Error);
  }
  EXPECT_EQ(find_tool("deepfault-tarantula")->localise({"line", line()}, context()).status,
            LocalisationStatus::kNotApplicable);
}

TEST_P(RankingTools, MutantsKeepToTheTimeLimitToo) {
  LocaliseContext limited = context();
  limited.time_limit = 1;
  Trouble trouble;
  deepmufl::run_mutants({"late", halves()}, limited, right_weights(),
                        std::chrono::steady_clock::now() - std::chrono::seconds(2), trouble);
  EXPECT_EQ(trouble.status, LocalisationStatus::kTimeout);
}

}  // namespace
}  // namespace neutra::fl_adapters
