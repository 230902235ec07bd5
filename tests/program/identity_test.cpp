#include <random>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
#include "program/edit.h"
#include "program/metric_name.h"
#include "program/parameters.h"
#include "program/program.h"
#include "program/vocabulary.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::at;
using tests::sample;

TEST(MetricNames, ThresholdsOfBinaryAccuracy) {
  const MetricName logits = parse_metric_name("binary_accuracy(threshold=0)");
  EXPECT_EQ(logits.name, "binary_accuracy");
  EXPECT_EQ(logits.threshold, 0);
  EXPECT_EQ(to_string(logits), "binary_accuracy(threshold=0)");
  EXPECT_EQ(to_string(parse_metric_name("binary_accuracy(threshold=-0.25)")),
            "binary_accuracy(threshold=-0.25)");
  Program program = sample("mlp");
  at(program, "/metric") = {{"name", "binary_accuracy"}, {"threshold", 0}};
  at(program, "/compile/loss") = "mse";
  EXPECT_EQ(resolve(program).metric, "binary_accuracy(threshold=0)");
  at(program, "/metric") = {{"name", "mae"}, {"threshold", 0}};
  EXPECT_EQ(validate(program.document).at(0).path, "/metric/threshold");
  at(program, "/metric") = {{"name", "binary_accuracy"}, {"threshold", 0.5}};
  const Hash hash = program_hash(program);
  at(program, "/metric").erase("threshold");
  EXPECT_EQ(program_hash(program), hash);
}

// Spellings that Keras takes for the same: none may change the identity.
TEST(Canonical, SpellingDoesNotMatter) {
  const Hash hash = program_hash(sample("mlp"));
  const std::vector<std::pair<std::string, Json>> spellings = {
      {"/name", "other"},
      {"/task", "regression"},
      {"/model/config/name", "other"},
      {"/model/config/layers/0/config/name", "other"},
      {"/model/config/layers/0/config/dtype", "float32"},
      {"/model/config/layers/0/config/dtype",
       {{"module", "keras"}, {"class_name", "DTypePolicy"}, {"config", {{"name", "float32"}}}}},
      {"/model/config/layers/0/config/trainable", true},
      {"/model/config/layers/0/config/kernel_constraint", nullptr},
      {"/model/config/layers/0/config/units", 16.0},
      {"/model/config/layers/0/config/use_bias", true},
      {"/model/config/layers/0/config/batch_input_shape", nullptr},
      {"/model/config/layers/0/config/kernel_initializer", "glorot_uniform"},
      {"/model/config/layers/0/config/kernel_initializer", "GlorotUniform"},
      {"/model/config/layers/0/config/kernel_initializer",
       {{"class_name", "VarianceScaling"},
        {"config",
         {{"seed", nullptr}, {"mode", "fan_avg"}, {"distribution", "uniform"}, {"scale", 1.0}}}}},
      {"/model/config/layers/0/config/bias_initializer", "zero"},
      {"/model/config/layers/0/config/bias_initializer", "constant"},
      {"/model/config/layers/0/config/bias_initializer",
       {{"module", "keras.initializers"}, {"class_name", "Zeros"}, {"config", Json::object()}}},
      {"/model/config/layers/0/config/kernel_regularizer",
       {{"class_name", "L1L2"}, {"config", {{"l1", 0.0}, {"l2", 0.0}}}}},
      {"/model/config/layers/1/config/seed", 7},
      {"/model/config/layers/1/registered_name", nullptr},
      {"/model/config/layers/1/build_config", {{"input_shape", {nullptr, 16}}}},
      {"/compile/optimizer", "adam"},
      {"/compile/optimizer", {{"class_name", "ADAM"}, {"config", {{"lr", 0.001}}}}},
      {"/compile/optimizer/config/epsilon", nullptr},
      {"/compile/optimizer/config/decay", 0.0},
      {"/compile/loss", "CategoricalCrossentropy"},
      {"/compile/loss",
       {{"class_name", "CategoricalCrossentropy"},
        {"config",
         {{"from_logits", false},
          {"label_smoothing", 0.0},
          {"reduction", "sum_over_batch_size"}}}}},
      {"/fit/class_weight", nullptr},
      {"/metric", {{"name", "accuracy"}, {"from_logits", false}}},
      {"/compile/metrics", {"acc"}},
      {"/compile/metrics", {"accuracy", "mse"}},
      {"/compile/metrics", Json::array({Json::array({{{"class_name", "MeanMetricWrapper"},
                                                      {"config", {{"name", "accuracy"}}}}})})},
      {"/fit/shuffle", true},
      {"/fit/verbose", 2},
      {"/fit/callbacks", Json::array()},
      {"/fit/validation_split", 0},
      {"/fit/schedule", nullptr},
      {"/fit/loop", Json::object()},
      {"/fit/loop", {{"zero_grad", "each_step"}, {"step", true}, {"left_out", Json::array()}}},
      {"/trained", {{"mutations", Json::array()}}},
      {"/metric", {{"name", "accuracy"}}},
      {"/data/holdout", nullptr},
      {"/data/preprocess", Json::array()},
      {"/data/split", {{"seed", 42}, {"test_size", 0.2}}}};
  for (const auto& [path, value] : spellings) {
    Program program = sample("mlp");
    at(program, path) = value;
    EXPECT_TRUE(validate(program.document).empty()) << path << " " << value;
    EXPECT_EQ(program_hash(program), hash) << path << " " << value << "\n" << canonical(program);
  }
  Program bare = sample("mlp");
  const Json layers = at(bare, "/model/config/layers");
  at(bare, "/model/config") = layers;
  EXPECT_TRUE(validate(bare.document).empty());
  EXPECT_EQ(program_hash(bare), hash);
}

// The same for options that aren't Keras's defaults.
TEST(Canonical, SpellingOfOptionsDoesNotMatter) {
  const auto hash = [](const std::string& path, const Json& value) {
    Program program = sample("mlp");
    at(program, path) = value;
    EXPECT_TRUE(validate(program.document).empty()) << path << " " << value;
    return program_hash(program);
  };
  const std::string constraint = "/model/config/layers/0/config/kernel_constraint";
  const Hash bounded = hash(constraint, "max_norm");
  EXPECT_EQ(hash(constraint, {{"class_name", "MaxNorm"},
                              {"config", {{"max_value", 2.0}, {"axis", Json::array({0})}}}}),
            bounded);
  EXPECT_NE(hash(constraint, {{"class_name", "MaxNorm"}, {"config", {{"axis", 1}}}}), bounded);
  EXPECT_NE(hash(constraint, "unit_norm"), bounded);
  const Hash logits = hash("/compile/loss", {{"class_name", "categorical_crossentropy"},
                                             {"config", {{"from_logits", true}}}});
  EXPECT_EQ(hash("/compile/loss",
                 {{"module", "keras.losses"},
                  {"class_name", "CategoricalCrossentropy"},
                  {"config", {{"from_logits", true}, {"label_smoothing", 0}, {"axis", -1}}}}),
            logits);
  EXPECT_NE(hash("/compile/loss", "categorical_crossentropy"), logits);
  EXPECT_EQ(hash("/fit/class_weight", {{"0", 1}, {"1", 2.0}}),
            hash("/fit/class_weight", {{"1", 2}, {"0", 1.0}}));
  EXPECT_NE(hash("/fit/class_weight", {{"0", 1}, {"1", 2}}), program_hash(sample("mlp")));
}

TEST(Canonical, LayersLeftOutAreASet) {
  Program program = sample("mlp");
  at(program, "/fit/loop") = {{"left_out", {2, 0, 2.0}}};
  Program sorted = sample("mlp");
  at(sorted, "/fit/loop") = {{"left_out", {0, 2}}};
  EXPECT_EQ(program_hash(program), program_hash(sorted));
}

TEST(Canonical, ABackwardLayerThatIsTheForwardOneTurnedGoesWithoutSaying) {
  Program program = sample("sequence");
  Json& layer = at(program, "/model/config/layers")[3];
  Json lstm = layer;
  layer = {{"class_name", "Bidirectional"}, {"config", {{"layer", lstm}, {"merge_mode", "sum"}}}};
  const Hash usual = program_hash(program);
  Json turned = lstm;
  turned["config"] = {{"go_backwards", true}, {"units", 5.0}, {"name", "backward"}};
  turned["config"]["zero_output_for_mask"] = true;  // Bidirectional sets it itself
  layer["config"]["backward_layer"] = turned;
  EXPECT_EQ(program_hash(program), usual);
  layer["config"]["backward_layer"]["config"]["dropout"] = 0.5;
  EXPECT_NE(program_hash(program), usual);
}

TEST(Canonical, EveryHyperparameterMatters) {
  const std::vector<std::pair<std::string, Json>> changes = {
      {"/model/config/layers/0/config/units", 17},
      {"/model/config/layers/0/config/activation", "tanh"},
      {"/model/config/layers/0/config/activation", nullptr},
      {"/model/config/layers/0/config/use_bias", false},
      {"/model/config/layers/0/config/trainable", false},
      {"/model/config/layers/0/config/kernel_initializer", "glorot_normal"},
      {"/model/config/layers/0/config/kernel_initializer",
       {{"class_name", "RandomNormal"}, {"config", {{"stddev", 1}}}}},
      {"/model/config/layers/0/config/kernel_initializer", "random_normal"},
      {"/model/config/layers/0/config/bias_initializer", "ones"},
      {"/model/config/layers/0/config/kernel_regularizer", "l1"},
      {"/model/config/layers/0/config/kernel_regularizer", "l2"},
      {"/model/config/layers/0/config/bias_regularizer", "l2"},
      {"/model/config/layers/1/config/rate", 0.5},
      {"/model/config/layers/1", {{"class_name", "Flatten"}}},
      {"/compile/optimizer", "nadam"},
      {"/compile/optimizer/config/learning_rate", 0.01},
      {"/compile/optimizer/config/beta_1", 0.8},
      {"/compile/optimizer/config/clipnorm", 1},
      {"/compile/loss", "mse"},
      {"/fit/batch_size", 33},
      {"/fit/epochs", 6},
      {"/fit/shuffle", false},
      {"/fit/validation_split", 0.1},
      {"/fit/callbacks", {{{"class_name", "TerminateOnNaN"}}}},
      {"/fit/callbacks", {{{"class_name", "EarlyStopping"}}}},
      {"/fit/schedule", {{"decay_rate", 0.9}}},
      {"/fit/schedule", {{"decay_rate", 0.9}, {"every", "batch"}}},
      {"/fit/loop", {{"zero_grad", "never"}}},
      {"/fit/loop", {{"zero_grad", "each_epoch"}}},
      {"/fit/loop", {{"zero_grad", "before_step"}}},
      {"/fit/loop", {{"step", false}}},
      {"/fit/loop", {{"eval_mode", false}}},
      {"/fit/loop", {{"reduction", "sum"}}},
      {"/fit/loop", {{"left_out", {0, 2}}}},
      {"/fit/loop", {{"detached", 0}}},
      {"/metric", {{"name", "loss"}}},
      {"/metric", {{"name", "accuracy"}, {"goal", "minimize"}}},
      {"/data/source", "csv"},
      {"/data/arguments/file", "other.h5"},
      {"/data/preprocess", {{{"op", "scale"}, {"by", 255}}}},
      {"/data/split/seed", 43},
      {"/data/holdout", {{"test_size", 0.2}, {"seed", 42}}}};
  std::set<Hash> seen = {program_hash(sample("mlp"))};
  for (const auto& [path, value] : changes) {
    Program program = sample("mlp");
    at(program, path) = value;
    EXPECT_TRUE(validate(program.document).empty()) << path << " " << value;
    EXPECT_TRUE(seen.insert(program_hash(program)).second) << path << " " << value;
  }
}

/// A metric's options that are the usual ones aren't there, as far as identity goes.
TEST(Canonical, MetricsKeepTheirHash) {
  const auto hash = [](const Json& metric) {
    Program program = sample("mlp");
    program.document["metric"] = metric;
    EXPECT_TRUE(validate(program.document).empty()) << metric;
    return program_hash(program);
  };
  EXPECT_EQ(hash({{"name", "mae"}}), hash({{"name", "mae"}, {"scale", "as_trained"}}));
  EXPECT_EQ(hash({{"name", "mae"}}), hash({{"name", "MeanAbsoluteError"}, {"k", nullptr}}));
  EXPECT_NE(hash({{"name", "mae"}}), hash({{"name", "mae"}, {"scale", "original"}}));
  const char* top_k = "top_k_categorical_accuracy";
  EXPECT_EQ(hash({{"name", top_k}}), hash({{"name", top_k}, {"k", 5}}));
  EXPECT_NE(hash({{"name", top_k}}), hash({{"name", top_k}, {"k", 3}}));
  EXPECT_EQ(hash({{"name", "rmse"}}),
            hash({{"name", "RootMeanSquaredError"}, {"goal", "minimize"}}));
  // Keras's class says the same.
  Program compiled = sample("mlp");
  compiled.document.erase("metric");
  compiled.document["compile"]["metrics"] = {
      {{"class_name", "TopKCategoricalAccuracy"}, {"config", {{"name", "top"}, {"k", 3}}}}};
  EXPECT_EQ(resolve(compiled).metric, "top_k_categorical_accuracy(k=3)");
  // Keras always stores the thresholds by which it approximates an area.
  compiled.document["compile"]["metrics"] = {
      {{"class_name", "AUC"}, {"config", {{"curve", "ROC"}, {"thresholds", {0.25, 0.5, 0.75}}}}}};
  EXPECT_EQ(resolve(compiled).metric, "AUC");
}

TEST(Canonical, IsStableAndIndependentOfKeyOrder) {
  std::mt19937 random(7);
  const std::function<Json(const Json&)> shuffled = [&](const Json& value) -> Json {
    if (value.is_array()) {
      Json result = Json::array();
      for (const Json& item : value) result.push_back(shuffled(item));
      return result;
    }
    if (!value.is_object()) return value;
    std::vector<std::string> keys;
    for (const auto& [key, item] : value.items()) keys.push_back(key);
    std::shuffle(keys.begin(), keys.end(), random);
    Json result = Json::object();
    for (const std::string& key : keys) result[key] = shuffled(value.at(key));
    return result;
  };
  for (const char* name : {"mlp", "cnn"}) {
    const Program program = sample(name);
    const nlohmann::json first = canonical(program);
    EXPECT_EQ(canonical({Json(first)}), first);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(canonical({shuffled(program.document)}), first);
  }
}

TEST(Canonical, HoldsNoDefaultsAndNoNames) {
  const nlohmann::json text = canonical(sample("cnn"));
  EXPECT_EQ(
      text.dump(),
      R"({"compile":{"loss":"sparse_categorical_crossentropy","optimizer":{"class_name":"Adam"}},)"
      R"("data":{"source":"idx"},"metric":{"name":"accuracy"},)"
      R"("model":{"config":{"layers":[{"class_name":"Conv2D","config":{"activation":"relu",)"
      R"("filters":8,"kernel_size":[3,3]}},{"class_name":"MaxPooling2D"},)"
      R"({"class_name":"Flatten"},{"class_name":"Dense","config":{"activation":"softmax",)"
      R"("units":10}}]}}})");
}

TEST(Canonical, ActivationLayersAreLayers) {
  Program program = sample("mlp");
  at(program, "/model/config/layers/2/config").erase("activation");
  at(program, "/model/config/layers")
      .push_back({{"class_name", "Activation"}, {"config", {{"activation", "softmax"}}}});
  EXPECT_NE(program_hash(program), program_hash(sample("mlp")));
}

TEST(Hash, StreamsDoNotDependOnEpochs) {
  Program program = sample("mlp");
  const Hash full = program_hash(program), stream = stream_hash(program);
  at(program, "/fit/epochs") = 50;
  EXPECT_NE(program_hash(program), full);
  EXPECT_EQ(stream_hash(program), stream);
  at(program, "/fit/batch_size") = 50;
  EXPECT_NE(stream_hash(program), stream);
}

TEST(Hash, TheTrainedModelsMutationsAreNoPartOfTheTraining) {
  Program program = sample("mlp");
  const Hash full = program_hash(program), stream = stream_hash(program);
  at(program, "/trained/mutations") =
      Json::array({{{"op", "gaussian_fuzz"}, {"percentage", 5}, {"seed", 0}}});
  const Hash mutated = program_hash(program);
  EXPECT_NE(mutated, full);
  EXPECT_EQ(stream_hash(program), stream);
  // One spelling of everything.
  at(program, "/trained/mutations/0") = {
      {"stddev", 0.1}, {"layer", nullptr}, {"percentage", 5.0}, {"op", "gaussian_fuzz"}};
  EXPECT_EQ(program_hash(program), mutated);
  EXPECT_EQ(resolve(program).trained_mutations, Json::array({{{"op", "gaussian_fuzz"},
                                                              {"percentage", 5},
                                                              {"distribution", "normal"},
                                                              {"stddev", 0.1},
                                                              {"seed", 0},
                                                              {"layer", nullptr}}}));
  at(program, "/trained/mutations") = Json::array();
  EXPECT_EQ(program_hash(program), full);
}

TEST(Hash, TextReadsBack) {
  const Hash hash{0x0123456789abcdefULL, 0xfULL};
  EXPECT_EQ(to_string(hash), "0123456789abcdef000000000000000f");
  EXPECT_EQ(parse_hash(to_string(hash)), hash);
  EXPECT_EQ(parse_hash("0123"), std::nullopt);
  EXPECT_EQ(parse_hash("0123456789ABCDEF000000000000000f"), std::nullopt);
}

// A changed hash would orphan every stored evaluation.
TEST(Hash, StaysWhatItWas) {
  EXPECT_EQ(to_string(program_hash(sample("cnn"))), "8ea3065d625340a039ebc871956f68ce");
}

}  // namespace
}  // namespace neutra::program
