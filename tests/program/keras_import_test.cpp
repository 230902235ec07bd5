#include "program/formats/keras_import.h"

#include <tuple>

#include "keras_models.h"
#include "program/document.h"

namespace neutra::program {
namespace {

using tests::assumes;
using tests::error_of;
using tests::import_of;
using tests::kDense;
using tests::model_of;
using tests::sequential;

TEST(KerasImport, SaysWhatItAssumes) {
  const KerasImport softmax = import_of(sequential(kDense));
  EXPECT_EQ(softmax.document["compile"]["loss"], "categorical_crossentropy");
  EXPECT_TRUE(assumes(softmax, "compile.loss", "categorical_crossentropy"));
  EXPECT_TRUE(assumes(softmax, "compile.optimizer", "rmsprop"));
  EXPECT_TRUE(assumes(softmax, "compile.metrics", "accuracy"));
  EXPECT_TRUE(assumes(softmax, "fit.batch_size", "32"));
  EXPECT_TRUE(assumes(softmax, "fit.epochs", "1"));
  EXPECT_TRUE(assumes(softmax, "data", "none"));
  EXPECT_EQ(softmax.document["data"]["source"], "none");
  DataInfo labels;
  labels.x = {2};
  labels.y_is_integer = true;
  labels.y_max = 2;
  labels.training_rows = 10;
  EXPECT_EQ(import_of(sequential(kDense), Json(), &labels).document["compile"]["loss"],
            "sparse_categorical_crossentropy");
  labels.y_max = 3;
  EXPECT_NE(error_of([&] { import_of(sequential(kDense), Json(), &labels); }).find("labels from 0"),
            std::string::npos);
  const KerasImport linear = import_of(
      sequential(R"({"class_name": "Dense", "config": {"units": 1, "activation": null}})"));
  EXPECT_EQ(linear.document["compile"]["loss"], "mean_squared_error");
  EXPECT_TRUE(assumes(linear, "metric", "loss"));
  const KerasImport batches =
      import_of(model_of(R"({"class_name": "Sequential", "config": {"layers": [
      {"class_name": "Dense", "config": {"batch_input_shape": [16, 2], "units": 1}}]}})"));
  EXPECT_EQ(batches.document["fit"]["batch_size"], 16);
  EXPECT_TRUE(assumes(batches, "fit.batch_size", "16"));
}

TEST(KerasImport, OptimisersOfOtherVersions) {
  const auto optimizer = [&](const std::string& config, const std::string& version) {
    return import_of(sequential(
        kDense, R"({"loss": "mse", "metrics": ["mae"], "optimizer_config": )" + config + "}",
        version));
  };
  const KerasImport adagrad = optimizer(
      R"({"class_name": "Adagrad", "config": {"learning_rate": 0.1, "decay": 0.0}})", "2.3.1");
  EXPECT_EQ(adagrad.document["compile"]["optimizer"]["config"]["initial_accumulator_value"], 0);
  EXPECT_TRUE(assumes(adagrad, "compile.optimizer.config.initial_accumulator_value", "0"));
  const KerasImport custom = optimizer(
      R"({"class_name": "Custom>Adam", "config": {"name": "Adam", "weight_decay": null,
          "use_ema": false, "ema_momentum": 0.99, "jit_compile": false,
          "is_legacy_optimizer": false, "learning_rate": 0.009999999776482582}})",
      "2.15.0");
  EXPECT_EQ(
      custom.document["compile"]["optimizer"],
      (Json{{"class_name", "Adam"}, {"config", {{"learning_rate", 0.01}, {"rules", "keras3"}}}}));
  const KerasImport decayed =
      optimizer(R"({"class_name": "AdamW", "config": {"weight_decay": 0.1}})", "3.0.0");
  EXPECT_EQ(
      decayed.document["compile"]["optimizer"],
      (Json{{"class_name", "Adam"}, {"config", {{"weight_decay", 0.1}, {"rules", "keras3"}}}}));
  EXPECT_FALSE(optimizer(R"({"class_name": "Adam", "config": {"decay": 0.0}})", "2.15.0")
                   .document["compile"]["optimizer"]["config"]
                   .contains("rules"));
  EXPECT_NE(error_of([&] {
              optimizer(R"({"class_name": "Lion", "config": {}})", "3.0.0");
            }).find("\"Lion\""),
            std::string::npos);
  const KerasImport decay = optimizer(R"({"class_name": "SGD", "config": {"learning_rate":
      {"class_name": "ExponentialDecay", "config": {"initial_learning_rate": 0.1,
       "decay_steps": 2, "decay_rate": 0.25, "staircase": false, "name": null}}}})",
                                      "2.4.0");
  EXPECT_EQ(decay.document["fit"]["schedule"]["decay_rate"], 0.5);
  EXPECT_EQ(decay.document["compile"]["optimizer"]["config"]["learning_rate"], 0.1);
}

TEST(KerasImport, NamesTheWrongSettingsOfASchedule) {
  const auto refusal = [&](const std::string& class_name, const std::string& settings) {
    return error_of([&] {
      import_of(
          sequential(kDense, R"({"loss": "mse", "optimizer_config": {"class_name": "SGD", "config":
                     {"learning_rate": {"class_name": ")" +
                                 class_name + R"(", "config": )" + settings + "}}}}"));
    });
  };
  for (const char* name : {"ExponentialDecay", "InverseTimeDecay"}) {
    for (const char* steps : {"0", "-5", "null"}) {
      const std::string message =
          refusal(name, std::string(R"({"initial_learning_rate": 0.1, "decay_rate": 0.5,
                                        "staircase": false, "decay_steps": )") +
                            steps + "}");
      EXPECT_NE(message.find(std::string("learning_rate: ") + name + ": decay_steps: found " +
                             steps + "; allowed: a number > 0; --training FILE"),
                std::string::npos)
          << message;
    }
  }
  EXPECT_NE(refusal("ExponentialDecay", R"({"initial_learning_rate": 0.1, "decay_rate": 1.5,
                                            "decay_steps": 10})")
                .find("decay_rate: found 1.5; allowed: a number in (0, 1]"),
            std::string::npos);
  EXPECT_NE(refusal("PolynomialDecay", R"({"initial_learning_rate": 0.1, "decay_steps": 10,
                                           "cycle": true})")
                .find("PolynomialDecay: cycle: found true; allowed: false"),
            std::string::npos);
  EXPECT_NE(refusal("CosineDecay", R"({"initial_learning_rate": 0.1, "decay_steps": 10,
                                       "warmup_target": 1.0, "warmup_steps": 5})")
                .find("CosineDecay: warmup_target: found 1.0; allowed: null"),
            std::string::npos);
  EXPECT_NE(refusal("PiecewiseConstantDecay", R"({"boundaries": [1, 2], "values": [1, 0.1]})")
                .find("boundaries: found [1,2]; allowed: one number less than there are values"),
            std::string::npos);
  EXPECT_NE(refusal("CosineDecayRestarts", R"({"initial_learning_rate": 0.1})")
                .find("found CosineDecayRestarts"),
            std::string::npos);
}

// What Keras stores of each kind, and what it becomes; rates: tests/program/rate_schedule_test.cpp.
TEST(KerasImport, SchedulesBecomeThoseOfPrograms) {
  const auto schedule = [&](const std::string& class_name, const std::string& settings) {
    const KerasImport import =
        import_of(sequential(kDense, R"({"loss": "mse", "optimizer_config": {"class_name": "SGD",
            "config": {"learning_rate": {"class_name": ")" +
                                         class_name + R"(", "config": )" + settings + "}}}}"));
    EXPECT_EQ(import.document["compile"]["optimizer"]["config"]["learning_rate"], 0.1);
    EXPECT_TRUE(validate(import.document).empty());
    return import.document["fit"]["schedule"];
  };
  EXPECT_EQ(schedule("CosineDecay", R"({"initial_learning_rate": 0.1, "decay_steps": 10,
                                        "alpha": 0.2, "warmup_target": null, "warmup_steps": 0})"),
            Json({{"kind", "cosine"}, {"every", "batch"}, {"steps", 10.0}, {"end", 0.2}}));
  EXPECT_EQ(schedule("PolynomialDecay", R"({"initial_learning_rate": 0.1, "decay_steps": 10,
                                            "end_learning_rate": 0.01, "power": 2.0,
                                            "cycle": false})"),
            Json({{"kind", "polynomial"},
                  {"every", "batch"},
                  {"steps", 10.0},
                  {"end", 0.1},
                  {"power", 2.0}}));
  EXPECT_EQ(schedule("ExponentialDecay", R"({"initial_learning_rate": 0.1, "decay_steps": 4,
                                             "decay_rate": 0.5, "staircase": true})"),
            Json({{"decay_rate", 0.5}, {"every", "batch"}, {"steps", 4.0}, {"staircase", true}}));
  EXPECT_EQ(schedule("InverseTimeDecay", R"({"initial_learning_rate": 0.1, "decay_steps": 4,
                                             "decay_rate": 0.5, "staircase": true})"),
            Json({{"kind", "inverse_time"},
                  {"decay_rate", 0.5},
                  {"every", "batch"},
                  {"steps", 4.0},
                  {"staircase", true}}));
  EXPECT_EQ(schedule("PiecewiseConstantDecay", R"({"boundaries": [3, 6],
                                                   "values": [0.1, 0.05, 0.01]})"),
            Json({{"kind", "piecewise"},
                  {"every", "batch"},
                  {"boundaries", {4, 7}},
                  {"factors", {0.5, 0.1}}}));
}

TEST(KerasImport, ClippingAtZeroIsOff) {
  const auto clipped = [&](const std::string& version) {
    return import_of(
        sequential(kDense, R"({"loss": "mse", "optimizer_config": {"class_name": "SGD", "config":
                   {"learning_rate": 0.1, "clipnorm": 0.0, "clipvalue": 0}}})",
                   version));
  };
  for (const char* version : {"2.2.4", "2.15.0", "3.15.1"}) {
    const KerasImport import = clipped(version);
    EXPECT_EQ(import.document["compile"]["optimizer"]["config"], (Json{{"learning_rate", 0.1}}));
    EXPECT_TRUE(assumes(import, "compile.optimizer.config.clipnorm", "null"));
    EXPECT_TRUE(assumes(import, "compile.optimizer.config.clipvalue", "null"));
  }
  EXPECT_NE(error_of([&] { clipped("2.4.0"); }).find("with which Keras 2.4.0 trains no weight"),
            std::string::npos);
}

TEST(KerasImport, SaysThatTheOptimiserIsLost) {
  const KerasImport import =
      import_of(sequential(kDense, R"({"loss": "mse", "metrics": ["mae"]})", "3.15.1"));
  EXPECT_TRUE(assumes(import, "compile.optimizer", "rmsprop"));
  for (const Assumption& each : import.assumptions) {
    if (each.field != "compile.optimizer") continue;
    EXPECT_NE(each.reason.find("its optimiser is lost"), std::string::npos) << each.reason;
    EXPECT_NE(each.reason.find("--training"), std::string::npos) << each.reason;
  }
}

TEST(KerasImport, TrainingOptionsWinOverWhatAProgramCantRepresent) {
  const KerasModel lion =
      sequential(kDense, R"({"loss": {"class_name": "Mine", "config": {}}, "loss_weights": [2.0],
                  "metrics": ["accuracy"],
                  "optimizer_config": {"class_name": "Lion", "config": {}}})");
  const std::string message = error_of([&] { import_of(lion); });
  EXPECT_NE(message.find("loss_weights: found [2.0]; allowed: a model trained without; --training"),
            std::string::npos)
      << message;
  const KerasImport import = import_of(
      lion, parse_json(R"({"optimizer": "adam", "loss": "mse", "compile": {"loss_weights": null}})",
                       "test"));
  EXPECT_EQ(import.document["compile"]["optimizer"]["class_name"], "adam");
  EXPECT_EQ(import.document["compile"]["metrics"], Json::array({"accuracy"}));
}

TEST(KerasImport, Metrics) {
  const auto metrics = [&](const std::string& list) {
    return import_of(
        sequential(kDense, R"({"loss": "categorical_crossentropy", "metrics": )" + list + "}"));
  };
  EXPECT_EQ(metrics(R"([["accuracy"]])").document["compile"]["metrics"], Json::array({"accuracy"}));
  const KerasImport wrapped = metrics(R"([[{"class_name": "MeanMetricWrapper", "config":
      {"name": "categorical_accuracy", "fn": "categorical_accuracy"}}]])");
  EXPECT_EQ(wrapped.document["compile"]["metrics"], Json::array({"categorical_accuracy"}));
  EXPECT_EQ(resolve({wrapped.document}).metric, "categorical_accuracy");
  const KerasImport own = metrics(R"([{"class_name": "F1", "config": {}}, "AUC", "mae"])");
  EXPECT_EQ(own.document["compile"]["metrics"], Json::array({"AUC", "mae"}));
  EXPECT_EQ(resolve({own.document}).metric, "AUC");
  const KerasImport top =
      metrics(R"([{"class_name": "TopKCategoricalAccuracy", "config": {"k": 3}}])");
  EXPECT_EQ(resolve({top.document}).metric, "top_k_categorical_accuracy(k=3)");
  const KerasImport logits =
      metrics(R"([{"class_name": "BinaryAccuracy", "config": {"threshold": 0.25}}])");
  EXPECT_EQ(resolve({logits.document}).metric, "binary_accuracy(threshold=0.25)");
}

TEST(KerasImport, MetricsWithOptionsThatNeutraHasNotAreLeftOut) {
  for (const char* metric :
       {R"({"class_name": "AUC", "config": {"name": "prc", "curve": "PR"}})",
        R"({"class_name": "AUC", "config": {"from_logits": true}})",
        R"({"class_name": "Precision", "config": {"thresholds": 0.7, "top_k": null}})",
        R"({"class_name": "Recall", "config": {"thresholds": null, "class_id": 0}})",
        R"({"class_name": "BinaryCrossentropy", "config": {"label_smoothing": 0.1}})"}) {
    const KerasImport import =
        import_of(sequential(kDense, R"({"loss": "categorical_crossentropy", "metrics": [)" +
                                         std::string(metric) + R"(, "accuracy"]})"));
    EXPECT_EQ(import.document["compile"]["metrics"], Json::array({"accuracy"})) << metric;
    EXPECT_TRUE(
        assumes(import, "compile.metrics", "without " + shown(parse_json(metric, "metric"))));
  }
  const KerasImport usual =
      import_of(sequential(kDense, R"({"loss": "categorical_crossentropy", "metrics": ["accuracy",
        {"class_name": "AUC", "config": {"curve": "ROC", "from_logits": false}},
        {"class_name": "BinaryAccuracy", "config": {"threshold": 0.5}},
        {"class_name": "TopKCategoricalAccuracy", "config": {"k": 2}}]})"));
  EXPECT_EQ(usual.document["compile"]["metrics"],
            (Json{"accuracy", "AUC", "binary_accuracy"}));  // the k is the first metric's alone
}

TEST(KerasImport, TakesTrainingOptions) {
  const KerasImport import = import_of(sequential(kDense), parse_json(R"({
      "optimizer": "SGD", "opt_kwargs": {"lr": 0.2, "momentum": 0.5}, "batchsize": 7, "epoch": 3,
      "loss": "categorical_crossentropy", "dataset": "mnist", "metrics": ["accuracy"],
      "callbacks": []})",
                                                                      "test"));
  EXPECT_EQ(import.document["fit"], (Json{{"batch_size", 7}, {"epochs", 3}}));
  EXPECT_EQ(import.document["compile"]["optimizer"]["config"]["momentum"], 0.5);
  EXPECT_TRUE(assumes(import, "data", "\"mnist\""));
  EXPECT_NE(error_of([&] {
              import_of(sequential(kDense), parse_json(R"({"batchsiz": 7})", "test"));
            }).find("did you mean batchsize"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              import_of(sequential(kDense), parse_json(R"({"batchsize": "many"})", "test"));
            }).find("fit.batch_size: found \"many\""),
            std::string::npos);
}

TEST(KerasImport, HoldsOutAgainstStrangeModels) {
  for (const char* model :
       {"5", "[]", "{}", R"({"class_name": 3})", R"({"class_name": "Sequential"})",
        R"({"class_name": "Sequential", "config": {"layers": 3}})",
        R"({"class_name": "Sequential", "config": [1]})",
        R"({"class_name": "Sequential", "config": [{"class_name": "Dense"}]})",
        R"({"class_name": "Sequential", "config": [{"class_name": "Dense", "config": 4}]})",
        R"({"class_name": "Sequential", "config": [{"class_name": "Sequential", "config": []}]})",
        R"({"class_name": "Model", "config": {"layers": []}})",
        R"({"class_name": "Model", "config": {"layers": [], "input_layers": [["a", 0, 0]],
            "output_layers": [["a", 0, 0]]}})",
        R"({"class_name": "Model", "config": {"layers": [{"class_name": "Dense", "config": {}}],
            "input_layers": [["", 0, 0]], "output_layers": [["", 0, 0]]}})"}) {
    EXPECT_NE(error_of([&] { import_of(model_of(model)); }), "") << model;
  }
  for (const char* training : {"5", R"({"loss": 5})", R"({"optimizer_config": []})",
                               R"({"loss": "mse", "metrics": 7, "optimizer": {"config": 1}})"}) {
    EXPECT_NE(error_of([&] { import_of(sequential(kDense, training)); }), "") << training;
  }
}

}  // namespace
}  // namespace neutra::program
