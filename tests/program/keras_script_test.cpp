#include "program/formats/keras_script.h"
#include "format_cases.h"
#include "program/formats/keras_config.h"
#include "program/formats/pytorch_script.h"
#include "program/formats/tool_scripts.h"
#include "program/layer.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::error_of;
using tests::has;
using tests::sample;
using tests::script;
using tests::with_options;
using tests::with_sample_weights;
using tests::wrapped_program;

TEST(KerasScript, ForKeras3) {
  Program program = sample("mlp");
  tests::at(program, "/model/config/layers/0/config/activation") = "hard_sigmoid";
  tests::at(program, "/compile/optimizer") = {{"class_name", "SGD"},
                                              {"config", {{"learning_rate", 1}, {"decay", 0.1}}}};
  tests::at(program, "/compile/loss") = "logcosh";
  EXPECT_EQ(script(program, KerasDialect::kKeras3), R"(import random
import numpy as np
import keras
from keras.layers import Dense, Dropout, Input
from keras.models import Sequential
from keras.optimizers.schedules import InverseTimeDecay
from keras.optimizers import SGD

random.seed(0)
np.random.seed(0)
keras.utils.set_random_seed(0)


@keras.saving.register_keras_serializable()
def hard_sigmoid(x):  # Keras 3 has another one
    return keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0)


def column(y):  # Keras 3 makes none of a vector
    return y[:, None] if y.ndim == 1 else y


x_train = np.load("x_train.npy")
y_train = column(np.load("y_train.npy"))
x_test = np.load("x_test.npy")
y_test = column(np.load("y_test.npy"))

model = Sequential()
model.add(Input((20,)))
model.add(Dense(16, activation=hard_sigmoid))
model.add(Dropout(0.25))
model.add(Dense(10, activation="softmax"))

model.compile(loss="log_cosh", optimizer=SGD(learning_rate=InverseTimeDecay(1.0, 1, 0.1)), metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=32, epochs=5)
)");
  tests::at(program, "/compile/optimizer/config")["clipnorm"] = 1;
  tests::at(program, "/compile/optimizer/config")["clipvalue"] = 1;
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras3); }), "clipnorm"));
}

TEST(KerasScript, Keras3BuildsNoTwoDirectionsOfOtherWidths) {
  Program program = sample("mlp");
  const auto layer = [](const char* name, int units, bool backwards) {
    return Json{{"class_name", name}, {"config", {{"units", units}, {"go_backwards", backwards}}}};
  };
  Json& layers = tests::at(program, "/model/config/layers");
  layers[1] = {
      {"class_name", "Bidirectional"},
      {"config", {{"layer", layer("LSTM", 5, false)}, {"backward_layer", layer("GRU", 4, true)}}}};
  layers.insert(layers.begin() + 1,
                Json{{"class_name", "Reshape"}, {"config", {{"target_shape", {4, 4}}}}});
  EXPECT_TRUE(has(script(program, KerasDialect::kTfKeras), "backward_layer=GRU(4"));
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras3); }),
                  "layers/2/config/backward_layer/config/units: found 4; allowed: 5"));
}

TEST(KerasScript, LeavesClippingAtZeroOut) {
  // A program clips nothing then; tf.keras 2.4 would clip every gradient to nothing.
  Program program = sample("mlp");
  tests::at(program, "/compile/optimizer/config")["clipnorm"] = 0;
  tests::at(program, "/compile/optimizer/config")["clipvalue"] = 0.0;
  for (const KerasDialect dialect : {KerasDialect::kTfKeras, KerasDialect::kKeras3}) {
    EXPECT_FALSE(has(script(program, dialect), "clip")) << script(program, dialect);
  }
  for (const KerasSpelling spelling : {KerasSpelling::kLegacy, KerasSpelling::kModern}) {
    EXPECT_FALSE(has(keras_compile_config(program, spelling).dump(), "clip"));
  }
  tests::at(program, "/compile/optimizer/config")["clipnorm"] = 0.5;
  EXPECT_TRUE(has(script(program, KerasDialect::kTfKeras), "clipnorm=0.5"));
}

TEST(KerasScript, HasConstraintsClassWeightsAndOptionsOfLosses) {
  const std::string text = script(with_options(), KerasDialect::kTfKeras);
  for (const char* part :
       {"keras.constraints import MaxNorm, NonNeg", "kernel_constraint=MaxNorm(max_value=3)",
        "bias_constraint=NonNeg()", "class_weight={0: 1, 1: 2.5}",
        "loss=CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_THROW(script(with_options(), KerasDialect::kKeras224), Error);
  const Json config = keras_compile_config(with_options(), KerasSpelling::kModern);
  EXPECT_EQ(config["loss"]["class_name"], "CategoricalCrossentropy");
  EXPECT_EQ(config["loss"]["module"], "keras.losses");
}

TEST(KerasScript, HasSampleWeights) {
  Program program = with_sample_weights();
  KerasScriptOptions options;
  options.validation = true;
  const std::string plain = keras_script(program, options);
  for (const char* part :
       {"sample_weight_train = np.load(\"sample_weight_train.npy\")\n",
        ", sample_weight=sample_weight_train", "validation_data=(x_validation, y_validation)"}) {
    EXPECT_TRUE(has(plain, part)) << part << "\n" << plain;
  }
  options.validation_weights = true;
  const std::string text = keras_script(program, options);
  for (const char* part :
       {"sample_weight_validation = np.load(\"sample_weight_validation.npy\")\n",
        "validation_data=(x_validation, y_validation, sample_weight_validation)"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_FALSE(has(script(sample("mlp"), KerasDialect::kTfKeras), "sample_weight"));
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras224); }), "weights of rows"));
  script(program, KerasDialect::kKeras3);
  tests::at(program, "/fit")["class_weight"] = {{"0", 2.0}, {"1", 1.0}};
  script(program, KerasDialect::kTfKeras);
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras3); }),
                  "class weights beside weights of rows"));
}

TEST(KerasScript, ForKeras23) {
  Program program = sample("mlp");
  tests::at(program, "/compile/loss") = "huber";
  const std::string text = script(program, KerasDialect::kKeras23, true);
  for (const char* part :
       {"from keras.optimizers import Adam\n", "tf.compat.v1.set_random_seed(seed)\n",
        "model.compile(loss=\"huber_loss\", optimizer=Adam(lr=0.001), metrics=[\"accuracy\"])\n"}) {
    EXPECT_TRUE(has(text, part)) << part << text;
  }
  EXPECT_FALSE(has(text, "tensorflow.keras"));
  tests::at(program, "/model/config/layers/0/config/activation") = "swish";
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras23); }),
                  "/model/config/layers/0/config/activation: found swish"));
  tests::at(program, "/model/config/layers/0/config/activation") = "relu";
  tests::at(program, "/compile/optimizer") = "ftrl";
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras23); }), "Ftrl"));
}

TEST(KerasScript, SavesTheModelWithItsSidecar) {
  KerasScriptOptions options;
  options.standalone = true;
  options.sidecar = R"({"a": "\"x\""})";
  const std::string text = keras_script(sample("mlp"), options);
  EXPECT_TRUE(has(text, "seed = arguments.seed\n"));
  EXPECT_TRUE(has(text, R"(
if arguments.save:
    model.save(arguments.save)
    with open(arguments.save.rsplit(".", 1)[0] + ".neutra.json", "w") as file:
        file.write(r"""{"a": "\"x\""}""")

print("accuracy:")"))
      << text;
}

TEST(KerasScript, OfKeras224) {
  Program program = sample("mlp");
  tests::at(program, "/fit/callbacks") =
      Json::parse(R"([{"class_name":"EarlyStopping","config":{"monitor":"val_accuracy"}}])");
  tests::at(program, "/compile/metrics") = {"accuracy"};
  EXPECT_TRUE(has(script(program, KerasDialect::kKeras224), "monitor=\"val_acc\""));
  EXPECT_TRUE(has(script(program, KerasDialect::kKeras23), "monitor=\"val_accuracy\""));
  EXPECT_TRUE(has(script(program, KerasDialect::kKeras224), "lr="));
  Program cosine = program;
  tests::at(cosine, "/compile/loss") = "cosine_similarity";
  EXPECT_TRUE(has(script(cosine, KerasDialect::kKeras224), "loss=\"cosine_proximity\""));
  Program huber = program;
  tests::at(huber, "/compile/loss") = "huber";
  EXPECT_TRUE(has(error_of([&] { script(huber, KerasDialect::kKeras224); }),
                  "losses that Keras 2.2.4 knows"));
  tests::at(program, "/compile/metrics") = {"AUC"};
  EXPECT_TRUE(has(error_of([&] { script(program, KerasDialect::kKeras224); }),
                  "metrics that Keras 2.2.4 knows"));
}

TEST(ToolScripts, HaveTheToolsCallbacks) {
  const Program program = sample("mlp");
  const std::string umlaut = find_tool_script("umlaut")->write(program, {});
  EXPECT_TRUE(has(umlaut,
                  "umlaut = UmlautCallback(model, session_name=\"neutra\", offline=True)\n"
                  "model.compile("));
  EXPECT_TRUE(has(umlaut, "validation_data=(x_test, y_test), callbacks=[umlaut])"));
  const std::string diagnosis = find_tool_script("deepdiagnosis")->write(program, {});
  EXPECT_TRUE(has(diagnosis,
                  "callbacks=[mapFaluireToFix(x_train, y_train, len(model.layers), 32, "
                  "time.clock(), 0.001, sys.stdout, 5)])"));
  const std::string localize = find_tool_script("deeplocalize")->write(program, {});
  EXPECT_TRUE(has(localize, "from keras.callbacks import DeepLocalize\n"));
  EXPECT_TRUE(has(localize,
                  "callbacks=[DeepLocalize(x_train, y_train, len(model.layers), 32, "
                  "time.clock())])"));
  const std::string lint = find_tool_script("neuralint")->write(program, {});
  EXPECT_TRUE(has(lint, "optimizer = Adam(lr=0.001)\nmodel.compile("));
  EXPECT_TRUE(has(lint, "optimizer=optimizer"));
  Program other = program;
  tests::at(other, "/compile/loss") = "poisson";
  EXPECT_TRUE(has(error_of([&] { find_tool_script("neuralint")->write(other, {}); }), "poisson"));
  EXPECT_EQ(find_tool_script("UMLAUT"), nullptr);
}

TEST(KerasScript, CallsTheLayersThatWrappersRun) {
  const std::string text = script(wrapped_program(), KerasDialect::kTfKeras);
  for (const char* part :
       {"Embedding(9, 2, mask_zero=True, input_shape=(4,))",
        "Bidirectional(LSTM(3, return_sequences=True), backward_layer=GRU(2, "
        "return_sequences=True, go_backwards=True))",
        "TimeDistributed(BatchNormalization())", "TimeDistributed(Bidirectional(SimpleRNN(2)))",
        "TimeDistributed(Dense(3))"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_TRUE(has(error_of([&] { script(wrapped_program(), KerasDialect::kKeras23); }),
                  "Bidirectional behind a mask"));
  // Steps that don't count would count in a function of the script's own.
  Program tags = wrapped_program();
  Json& layers = tests::at(tags, "/model/config/layers");
  layers = Json::array({layers[0], layers[2], layers[5]});
  tests::at(tags, "/compile/metrics") = Json::array({"mae"});
  EXPECT_TRUE(has(script(tags, KerasDialect::kTfKeras, true), "model.evaluate("));
  tests::at(tags, "/metric") = {{"name", "r2"}};
  EXPECT_TRUE(has(error_of([&] { script(tags, KerasDialect::kTfKeras, true); }), "/metric/name"));
}

}  // namespace
}  // namespace neutra::program
