#include "program/program.h"
#include "base/numbers.h"

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "program/edit.h"
#include "program/layer.h"
#include "program/metric_name.h"
#include "program/parameters.h"
#include "program/vocabulary.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::at;
using tests::error_of;
using tests::sample;

TEST(Validate, ReportsExactlyTheProblemsOfEachCase) {
  const Json file = read_json(tests::test_data("problems.json"));
  for (const Json& c : file.at("cases")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    Json document = file.at(c.at("base").get<std::string>());
    for (const Json& path : c.value("remove", Json::array())) {
      document = document.patch({{{"op", "remove"}, {"path", path}}});
    }
    const Json changes = c.value("set", Json::object());
    for (const auto& [path, value] : changes.items()) document[Json::json_pointer(path)] = value;
    DataInfo info;
    if (c.contains("x")) {
      info.x = c.at("x").get<Shape>();
      info.y = c.at("y").get<Shape>();
      info.y_min = c.value("y_min", 0.0);
      info.y_max = c.value("y_max", 0.0);
      info.training_rows = c.value("rows", 1000);
    }
    const auto problems = validate(document, c.contains("x") ? &info : nullptr);
    ASSERT_EQ(problems.size(), c.at("expect").size()) << error_of(
        [&] { require_valid(document, "file.json", c.contains("x") ? &info : nullptr); });
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Json& expected = c.at("expect")[i];
      EXPECT_EQ(problems[i].path, expected[0]);
      EXPECT_NE(problems[i].found.find(expected[1].get<std::string>()), std::string::npos)
          << problems[i].found;
      EXPECT_NE(problems[i].allowed.find(expected[2].get<std::string>()), std::string::npos)
          << problems[i].allowed;
    }
  }
}

TEST(Validate, RequireValidListsFileAndAllProblems) {
  Program program = sample("mlp");
  at(program, "/fit/epochs") = 0;
  at(program, "/fit/batch_size") = 0;
  const std::string message = error_of([&] { require_valid(program.document, "file.json"); });
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1);
  EXPECT_EQ(message.find("file.json: /fit/batch_size: found 0; allowed: a whole number"), 0U);
}

TEST(Validate, NothingMakesItThrow) {
  Program program = sample("mlp");
  at(program, "/trained/mutations") = Json::array(
      {{{"op", "gaussian_fuzz"}, {"percentage", 5}}, {{"op", "activation_removal"}, {"layer", 0}}});
  const Json flat = program.document.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (const Json& other : {Json(), Json(true), Json(-1), Json(1e300), Json("x"), Json("é\xFF"),
                              Json::array(), Json::object(), Json::array({Json()}),
                              Json({{"class_name", 5}}), Json({{"config", Json::array()}})}) {
      // Replaces the value and each of the objects and arrays that hold it.
      for (auto pointer = Json::json_pointer(path); !pointer.empty(); pointer.pop_back()) {
        Program changed = program;
        changed.document[pointer] = other;
        const DataInfo info{{20}, {10}, 100, true, 0, 1};
        EXPECT_NO_THROW({
          if (validate(changed.document).empty()) resolve(changed);
          if (validate(changed.document, &info).empty()) resolve(changed, &info);
          program_hash(changed);
          stream_hash(changed);
        }) << pointer.to_string()
           << " = " << shortest(0) << other.dump(-1, ' ', true, Json::error_handler_t::replace);
      }
    }
  }
}

TEST(Resolve, FillsInDefaultsAndShapes) {
  const DataInfo info{{28, 28, 1}, {}, 100, true, 0, 9};
  const ResolvedProgram program = resolve(sample("cnn"), &info);
  ASSERT_EQ(program.layers.size(), 4U);
  EXPECT_EQ(program.input_shape, (Shape{28, 28, 1}));
  EXPECT_EQ(program.layers[0].output_shape, (Shape{26, 26, 8}));
  EXPECT_EQ(program.layers[1].output_shape, (Shape{13, 13, 8}));
  EXPECT_EQ(program.layers[2].output_shape, (Shape{1352}));
  EXPECT_EQ(program.layers[3].input_shape, (Shape{1352}));
  EXPECT_EQ(program.layers[3].output_shape, (Shape{10}));
  EXPECT_EQ(program.layers[0].weights[0].shape, (Shape{3, 3, 1, 8}));
  EXPECT_EQ(program.layers[3].weights[1].shape, (Shape{10}));
  EXPECT_EQ(program.layers[3].config.at("kernel_initializer").at("class_name"), "GlorotUniform");
  EXPECT_EQ(program.layers[3].config.at("activation"), "softmax");
  EXPECT_TRUE(program.layers[3].config.at("kernel_regularizer").is_null());
  EXPECT_EQ(program.optimizer.at("class_name"), "Adam");
  EXPECT_EQ(program.optimizer.at("config").at("epsilon"), 1e-7);
  EXPECT_EQ(program.optimizer.at("config").at("learning_rate"), 0.001);
  EXPECT_EQ(program.metric, "accuracy");
  EXPECT_EQ(program.goal, Goal::kMaximize);
  EXPECT_EQ(program.batch_size, 32);
  EXPECT_EQ(program.epochs, 1);
  EXPECT_TRUE(program.shuffle);
  EXPECT_EQ(program.task, "classification");
  EXPECT_EQ(to_string(program.input_shape), "(28, 28, 1)");
}

TEST(Resolve, UsesTheShapeThatTheModelDeclares) {
  const ResolvedProgram program = resolve(sample("mlp"));
  EXPECT_EQ(program.input_shape, (Shape{20}));
  EXPECT_EQ(program.layers[2].output_shape, (Shape{10}));
}

TEST(Resolve, RegularisersAreSumsOfL1AndL2) {
  for (const auto& [written, l1, l2] : std::vector<std::tuple<Json, double, double>>{
           {"l1", 0.01, 0},
           {"l2", 0, 0.01},
           {"l1_l2", 0.01, 0.01},
           {{{"class_name", "L1L2"}, {"config", {{"l1", 0.5}}}}, 0.5, 0},
           {{{"class_name", "L2"}, {"config", {{"l2", 0.5}}}}, 0, 0.5}}) {
    Program program = sample("mlp");
    at(program, "/model/config/layers/0/config/kernel_regularizer") = written;
    const Json regularizer = resolve(program).layers[0].config.at("kernel_regularizer");
    EXPECT_EQ(regularizer.at("class_name"), "L1L2");
    EXPECT_EQ(regularizer.at("config").at("l1"), l1);
    EXPECT_EQ(regularizer.at("config").at("l2"), l2);
  }
}

TEST(Resolve, OptimisersHaveKerasDefaults) {
  for (const auto& [word, field, value] : std::vector<std::tuple<std::string, std::string, double>>{
           {"sgd", "learning_rate", 0.01},
           {"SGD", "momentum", 0},
           {"rmsprop", "rho", 0.9},
           {"RMSprop", "learning_rate", 0.001},
           {"adagrad", "initial_accumulator_value", 0.1},
           {"adadelta", "rho", 0.95},
           {"Adadelta", "learning_rate", 0.001},
           {"adam", "beta_2", 0.999},
           {"adamax", "epsilon", 1e-7},
           {"nadam", "schedule_decay", 0.004},
           {"ftrl", "learning_rate_power", -0.5}}) {
    Program program = sample("mlp");
    at(program, "/compile/optimizer") = word;
    EXPECT_EQ(resolve(program).optimizer.at("config").at(field), value) << word << " " << field;
  }
}

TEST(Vocabulary, KnowsTheSpellingsOfKeras) {
  using enum Vocabulary;
  for (const auto& [vocabulary, name, spellings] :
       std::vector<std::tuple<Vocabulary, std::string, std::vector<std::string>>>{
           {kLoss, "mean_squared_error", {"mse", "MSE", "MeanSquaredError"}},
           {kLoss, "kullback_leibler_divergence", {"kld", "KLD", "kl_divergence", "KLDivergence"}},
           {kLoss, "huber", {"huber", "huber_loss", "Huber"}},
           {kLoss, "logcosh", {"logcosh", "log_cosh", "LogCosh"}},
           {kLoss, "cosine_similarity", {"cosine_similarity", "CosineSimilarity"}},
           {kInitializer, "RandomNormal", {"normal", "random_normal", "RandomNormal"}},
           {kInitializer, "Zeros", {"zero", "zeros", "Zeros"}},
           {kInitializer, "LecunUniform", {"lecun_uniform", "LecunUniform"}},
           {kActivation, "linear", {"linear", "None"}},
           {kOptimizer, "RMSprop", {"rmsprop", "RMSprop", "RMSProp"}},
           {kMetric, "accuracy", {"acc", "accuracy"}}}) {
    for (const std::string& word : spellings) {
      ASSERT_NE(find(vocabulary, word), nullptr) << word;
      EXPECT_EQ(find(vocabulary, word)->name, name);
    }
  }
  EXPECT_EQ(find(kLoss, "Mse"), nullptr);
  EXPECT_EQ(words(kActivation).size(), 13U);
  EXPECT_EQ(words(kOptimizer).size(), 8U);
  EXPECT_EQ(words(kLoss).size(), 15U);
  EXPECT_EQ(words(kInitializer).size(), 15U);
}

TEST(Layers, AreSortedAndFoundByNameAndAlias) {
  EXPECT_TRUE(std::is_sorted(layers().begin(), layers().end(), [](auto* a, auto* b) {
    const auto lower = [](std::string text) {
      for (char& c : text) c = static_cast<char>(std::tolower(c));
      return text;
    };
    return lower(a->class_name) < lower(b->class_name);
  }));
  EXPECT_EQ(find_layer("MaxPool2D"), find_layer("MaxPooling2D"));
  EXPECT_EQ(find_layer("Lambda"), nullptr);
}

TEST(Layers, ElementCountSaturates) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 0, 5}), 0);
  EXPECT_EQ(element_count({kMaxElements, kMaxElements, kMaxElements}), kMaxElements + 1);
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

TEST(Resolve, OptionsOfLosses) {
  Program program = sample("mlp");
  EXPECT_EQ(resolve(program).loss_options, LossOptions{});
  EXPECT_TRUE(resolve(program).class_weights.empty());
  at(program, "/compile/loss") = {{"class_name", "CategoricalCrossentropy"},
                                  {"config", {{"from_logits", true}, {"label_smoothing", 0.1}}}};
  at(program, "/fit/class_weight") = {{"1", 3}, {"0", 0.5}};
  const ResolvedProgram resolved = resolve(program);
  EXPECT_EQ(resolved.loss, "categorical_crossentropy");
  EXPECT_EQ(resolved.loss_options, (LossOptions{true, 0.1}));
  EXPECT_EQ(resolved.class_weights, (std::vector<double>{0.5, 3}));
  // A search keeps the options of the program's own loss.
  const ProgramSpace space = ProgramSpace::with_default_keys(program);
  const Parameters own = space.base_parameters();
  EXPECT_EQ(own.at("loss"), "categorical_crossentropy");
  EXPECT_EQ(program_hash(space.instantiate(own)), program_hash(program));
  Parameters changed = own;
  changed["loss"] = "mean_squared_error";
  EXPECT_EQ(resolve(space.instantiate(changed)).loss_options, LossOptions{});
}

/// Output shape and weights of one layer.
struct Inferred {
  Shape output;
  std::vector<Shape> weights;
};
Inferred inferred(const std::string& class_name, const Json& config, const Shape& input) {
  Program program = sample("mlp");
  Json& layers = at(program, "/model/config/layers");
  layers = Json::array({{{"class_name", class_name}, {"config", config}},
                        {{"class_name", "Flatten"}, {"config", Json::object()}},
                        {{"class_name", "Dense"}, {"config", {{"units", 10}}}}});
  layers[0]["config"]["batch_input_shape"] = Json::array({nullptr});
  for (const std::int64_t extent : input) {
    layers[0]["config"]["batch_input_shape"].push_back(extent);
  }
  const ResolvedLayer layer = resolve(program).layers.front();
  Inferred result{layer.output_shape, {}};
  for (const Weight& weight : layer.weights) result.weights.push_back(weight.shape);
  return result;
}

TEST(Shapes, OfLayersThatScaleAndEnlarge) {
  const auto transposed = [](Json config) {
    config.update({{"filters", 5}});
    return inferred("Conv2DTranspose", config, {4, 6, 3});
  };
  EXPECT_EQ(transposed({{"kernel_size", 3}}).output, (Shape{6, 8, 5}));
  EXPECT_EQ(transposed({{"kernel_size", 3}}).weights, (std::vector<Shape>{{3, 3, 5, 3}, {5}}));
  EXPECT_EQ(transposed({{"kernel_size", 2}, {"strides", 3}}).output, (Shape{12, 18, 5}));
  EXPECT_EQ(transposed({{"kernel_size", 3}, {"strides", 2}, {"padding", "same"}}).output,
            (Shape{8, 12, 5}));
  EXPECT_EQ(transposed({{"kernel_size", 3}, {"strides", 2}, {"output_padding", 1}}).output,
            (Shape{10, 14, 5}));
  EXPECT_THROW(transposed({{"kernel_size", 3}, {"strides", 2}, {"output_padding", 2}}), Error);
  EXPECT_THROW(transposed({{"kernel_size", 3}, {"strides", 2}, {"dilation_rate", 2}}), Error);
  EXPECT_EQ(inferred("PReLU", {{"shared_axes", {2, 1}}}, {4, 6, 3}).weights,
            (std::vector<Shape>{{1, 1, 3}}));
  EXPECT_THROW(inferred("PReLU", {{"shared_axes", 4}}, {4, 6, 3}), Error);
  EXPECT_EQ(inferred("Normalization", Json::object(), {4, 3}).weights,
            (std::vector<Shape>{{3}, {3}}));
  EXPECT_EQ(inferred("Normalization", {{"axis", nullptr}}, {4, 3}).weights,
            (std::vector<Shape>{{}, {}}));
  EXPECT_TRUE(inferred("Normalization", {{"mean", 1}, {"variance", 2}}, {4, 3}).weights.empty());
  EXPECT_THROW(inferred("Normalization", {{"mean", 1}}, {4, 3}), Error);
  EXPECT_THROW(inferred("Normalization", {{"mean", {1, 2}}, {"variance", 2}}, {4, 3}), Error);
  EXPECT_THROW(inferred("Normalization", {{"mean", 1}, {"variance", -1}}, {4, 3}), Error);
  EXPECT_THROW(inferred("Rescaling", {{"scale", {1, 2}}}, {4, 3}), Error);
  EXPECT_EQ(inferred("UpSampling2D", {{"size", {2, 3}}}, {4, 6, 3}).output, (Shape{8, 18, 3}));
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

TEST(Resolve, LoopAndSchedule) {
  Program program = sample("mlp");
  EXPECT_EQ(resolve(program).loop, LoopStyle{});
  EXPECT_FALSE(resolve(program).schedule);
  at(program, "/fit/loop") = {{"zero_grad", "never"}, {"step", false},      {"eval_mode", false},
                              {"reduction", "sum"},   {"left_out", {2, 0}}, {"detached", 1}};
  at(program, "/fit/schedule") = {{"decay_rate", 0.5}, {"every", "batch"}};
  const ResolvedProgram resolved = resolve(program);
  EXPECT_EQ(resolved.loop, (LoopStyle{LoopStyle::ZeroGrad::kNever, false, false, true, {0, 2}, 1}));
  EXPECT_EQ(resolved.schedule->decay_rate, 0.5);
  EXPECT_TRUE(resolved.schedule->every_batch);
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

TEST(Resolve, EveryMetricByEveryName) {
  for (const Entry& entry : entries(Vocabulary::kMetric)) {
    std::vector<std::string> spellings = entry.aliases;
    spellings.push_back(entry.name);
    for (const std::string& word : spellings) {
      Program program = sample("mlp");
      program.document["metric"] = nullptr;
      program.document["compile"]["metrics"] = {word};
      const ResolvedProgram resolved = resolve(program);
      EXPECT_EQ(resolved.metric, entry.name);
      EXPECT_EQ(resolved.goal == Goal::kMaximize, entry.facts["goal"] == "maximize") << word;
    }
  }
}

TEST(Resolve, NamesTheMetricWithItsOptions) {
  const auto name = [](const Json& metric) {
    Program program = sample("mlp");
    program.document["metric"] = metric;
    return resolve(program).metric;
  };
  EXPECT_EQ(name({{"name", "top_k"}}), "top_k_categorical_accuracy");
  EXPECT_EQ(name({{"name", "top_k"}, {"k", 5}}), "top_k_categorical_accuracy");
  EXPECT_EQ(name({{"name", "top_k"}, {"k", 3}}), "top_k_categorical_accuracy(k=3)");
  EXPECT_EQ(name({{"name", "MAE"}, {"scale", "original"}}), "mae(scale=original)");
  const MetricName read = parse_metric_name("top_k_categorical_accuracy(k=3)");
  EXPECT_EQ(read.name, "top_k_categorical_accuracy");
  EXPECT_EQ(read.k, 3);
  EXPECT_FALSE(read.original_scale);
  EXPECT_TRUE(parse_metric_name("mae(scale=original)").original_scale);
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

TEST(Edit, StepsOnTheTrainedModelKeepTheirLayers) {
  Program program = sample("mlp");
  const auto steps = [&](std::vector<int> layers) {
    Json list = Json::array({{{"op", "weight_shuffle"}, {"percentage", 5}}});
    for (const int layer : layers) {
      list.push_back({{"op", "weight_shuffle"}, {"layer", layer}, {"percentage", 5}});
    }
    return list;
  };
  at(program, "/trained/mutations") = steps({0, 1, 2});
  Program edited = program;
  repeat_layer(edited.document, 1, 0);
  EXPECT_EQ(at(edited, "/trained/mutations"), steps({0, 1}));
  edited = program;
  repeat_layer(edited.document, 1, 3);
  EXPECT_EQ(at(edited, "/trained/mutations"), steps({0, 1, 4}));
  edited = program;
  insert_layer(edited.document, 1, {{"class_name", "Flatten"}});
  EXPECT_EQ(at(edited, "/trained/mutations"), steps({0, 2, 3}));
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

/// tf.keras 2.4 logs a metric under the word that compile() was given, and EarlyStopping ignores a
/// monitor that isn't in the logs (callbacks.py: get_monitor_value warns).
TEST(Resolve, EarlyStoppingActsOnWhatIsCompiled) {
  const auto with = [](const Json& metrics, const std::string& monitor) {
    Program program = sample("mlp");
    program.document["compile"]["metrics"] = metrics;
    program.document["fit"]["callbacks"] = {
        {{"class_name", "EarlyStopping"}, {"config", {{"monitor", monitor}}}}};
    return program;
  };
  for (const auto& [metrics, monitor, kept] :
       {std::tuple{Json{"acc"}, "val_acc", "val_accuracy"},
        {Json{"accuracy"}, "val_acc", ""},
        {Json{"accuracy"}, "accuracy", "accuracy"},
        {Json{"acc"}, "accuracy", ""},
        {Json::array(), "val_accuracy", ""},
        {Json::array(), "val_loss", "val_loss"},
        {Json{"mean_absolute_error"}, "mean_absolute_error", "mae"},
        {Json{{{"class_name", "MeanSquaredError"}}}, "val_mean_squared_error", "val_mse"}}) {
    const Program program = with(metrics, monitor);
    Program without = program;
    without.document["fit"].erase("callbacks");
    const Json callbacks = resolve(program).callbacks;
    if (std::string(kept).empty()) {
      EXPECT_TRUE(callbacks.empty()) << metrics << monitor;
      EXPECT_EQ(program_hash(program), program_hash(without)) << metrics << monitor;
    } else {
      ASSERT_EQ(callbacks.size(), 1U) << metrics << monitor;
      EXPECT_EQ(callbacks[0].at("config").at("monitor"), kept) << metrics << monitor;
      EXPECT_NE(program_hash(program), program_hash(without)) << metrics << monitor;
    }
  }
}

}  // namespace
}  // namespace neutra::program
