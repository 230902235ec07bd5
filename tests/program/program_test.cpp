#include "program/program.h"

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
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
  EXPECT_EQ(words(kInitializer).size(), 16U);
}

TEST(Resolve, SampleWeightsAreArgumentsOfTheData) {
  Program program = sample("mlp");
  EXPECT_FALSE(resolve(program).sample_weights);
  for (const auto& [arguments, weighted] :
       {std::pair{R"({"file": "a.npz", "sample_weight": true})", true},
        {R"({"file": "a.npz", "sample_weight": false})", false},
        {R"({"x": "x.npy", "y": "y.npy", "sample_weight": "w.npy"})", true},
        {R"({"x_train": "x.npy", "sample_weight_train": "w.npy"})", true}}) {
    program.document["data"] = {{"source", "npz"}, {"arguments", Json::parse(arguments)}};
    EXPECT_EQ(resolve(program).sample_weights, weighted) << arguments;
  }
}

TEST(Validation, RefusesSampleWeightsOfMasksAndOfLossesOfManyAxes) {
  Program program = sample("mlp");
  program.document["data"]["arguments"]["sample_weight"] = true;
  const auto problems = [&](const Json& layers) {
    program.document["model"]["config"]["layers"] = layers;
    std::string text;
    for (const Problem& problem : validate(program.document)) text += to_string(problem) + "\n";
    return text;
  };
  const auto layer = [](const char* name, Json config) {
    return Json{{"class_name", name}, {"config", std::move(config)}};
  };
  Json masking = layer("Masking", {{"batch_input_shape", {nullptr, 4, 3}}});
  const Json dense = layer("Dense", {{"units", 2}});
  const Json image = layer("Dense", {{"units", 2}, {"batch_input_shape", {nullptr, 4, 3, 5}}});
  const Json steps = layer("Dense", {{"units", 2}, {"batch_input_shape", {nullptr, 4, 3}}});
  EXPECT_EQ(problems({steps, dense}).find("/data/arguments"), std::string::npos);
  EXPECT_NE(problems({masking, dense})
                .find("/data/arguments: found weights of rows beside an output "
                      "with a mask of steps"),
            std::string::npos)
      << problems({masking, dense});
  EXPECT_NE(problems({image, dense}).find("losses of more than two axes"), std::string::npos);
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
