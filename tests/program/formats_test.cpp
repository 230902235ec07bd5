#include <cstdio>
#include <fstream>

#include "base/hdf5_file.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_file.h"
#include "program/formats/keras_h5.h"
#include "program/formats/keras_import.h"
#include "program/formats/keras_model.h"
#include "program/formats/keras_script.h"
#include "program/formats/libtorch_program.h"
#include "program/formats/pickle.h"
#include "program/formats/pytorch_script.h"
#include "program/formats/tool_configs.h"
#include "program/formats/tool_scripts.h"
#include "program/formats/torch_program.h"
#include "program/layer.h"
#include "support.h"

namespace neutra::program {
namespace {

using namespace std::string_literals;
using tests::error_of;
using tests::sample;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Weights 0, 1, 2, ... in order.
ModelWeights counted(const ResolvedProgram& program) {
  ModelWeights weights;
  float next = 0;
  for (const ResolvedLayer& layer : program.layers) {
    auto& values = weights.emplace_back();
    for (const Weight& weight : layer.weights) {
      auto& variable = values.emplace_back(element_count(weight.shape));
      for (float& value : variable) value = next++;
    }
  }
  return weights;
}

TEST(KerasConfig, NamesLayersAsKerasDoes) {
  EXPECT_EQ(
      keras_layer_names({"Dense", "Conv2D", "Dense", "LeakyReLU", "ReLU", "ELU", "MaxPooling2D",
                         "BatchNormalization", "GlobalAveragePooling2D", "InputLayer", "LSTM",
                         "Dense"}),
      (std::vector<std::string>{"dense", "conv2d", "dense_1", "leaky_re_lu", "re_lu", "elu",
                                "max_pooling2d", "batch_normalization", "global_average_pooling2d",
                                "input_layer", "lstm", "dense_2"}));
}

TEST(KerasConfig, SpellsAModelOldAndNew) {
  Program program = sample("mlp");
  Json& first = tests::at(program, "/model/config/layers/0/config");
  first["kernel_regularizer"] = {{"class_name", "L2"}, {"config", {{"l2", 0.5}}}};
  const Json old = keras_model_config(program, {20}, KerasSpelling::kLegacy);
  EXPECT_EQ(old["config"]["layers"][0].dump(),
            R"({"class_name":"Dense","config":{"name":"dense","batch_input_shape":[null,20],)"
            R"("units":16,"activation":"relu","kernel_regularizer":{"class_name":"L1L2",)"
            R"("config":{"l2":0.5}}}})");
  const Json modern = keras_model_config(program, {20}, KerasSpelling::kModern);
  EXPECT_EQ(modern["config"]["build_input_shape"].dump(), "[null,20]");
  EXPECT_EQ(modern["config"]["layers"][0]["config"]["kernel_regularizer"]["module"],
            "keras.regularizers");
  EXPECT_FALSE(modern["config"]["layers"][0]["config"].contains("batch_input_shape"));
  // What a file says is the same program.
  for (const Json& model : {old, modern}) {
    Program read = program;
    read.document["model"] = model;
    EXPECT_EQ(program_hash(read), program_hash(program));
  }
}

TEST(KerasConfig, ModernOptimisersHaveNoDecay) {
  Program program = sample("mlp");
  tests::at(program, "/compile/optimizer") = {{"class_name", "SGD"},
                                              {"config", {{"learning_rate", 1}, {"decay", 0.1}}}};
  EXPECT_EQ(
      keras_compile_config(program, KerasSpelling::kLegacy)["optimizer_config"]["config"].dump(),
      R"({"name":"SGD","learning_rate":1.0,"decay":0.1})");
  const Json optimizer = keras_compile_config(program, KerasSpelling::kModern)["optimizer"];
  EXPECT_EQ(optimizer["config"]["learning_rate"]["class_name"], "InverseTimeDecay");
  EXPECT_EQ(optimizer["config"]["learning_rate"]["config"]["decay_rate"], 0.1);
  EXPECT_FALSE(optimizer["config"].contains("decay"));
}

TEST(KerasH5, HasModelTrainingAndWeights) {
  const tests::TestFolder folder;
  const Program program = sample("mlp");
  const ResolvedProgram resolved = resolve(program);
  const ModelWeights weights = counted(resolved);
  std::ofstream(folder / "m.h5", std::ios::binary) << keras_h5(program, resolved, weights);
  const Hdf5File file = Hdf5File::open(folder / "m.h5");
  EXPECT_EQ(file.read_string_attribute("/", "backend"), "tensorflow");
  const Json model = parse_json(file.read_string_attribute("/", "model_config"), "model_config");
  Program read = program;
  read.document["model"] = model;
  EXPECT_EQ(program_hash(read), program_hash(program));
  const Json training =
      parse_json(file.read_string_attribute("/", "training_config"), "training_config");
  EXPECT_EQ(training["loss"], "categorical_crossentropy");
  EXPECT_EQ(training["optimizer_config"]["class_name"], "Adam");
  EXPECT_EQ(file.list("/model_weights"), (std::vector<std::string>{"dense", "dropout", "dense_1"}));
  EXPECT_TRUE(file.has_attribute("/model_weights/dropout", "weight_names"));
  EXPECT_EQ(file.extents("/model_weights/dense_1/dense_1/kernel:0"),
            (std::vector<std::uint64_t>{16, 10}));
  EXPECT_EQ(file.read_floats("/model_weights/dense/dense/bias:0"), weights[0][1]);
}

TEST(KerasFile, IsAnArchiveThatDependsOnItsContentAlone) {
  const Program program = sample("mlp");
  const ResolvedProgram resolved = resolve(program);
  ModelWeights weights = counted(resolved);
  const std::string bytes = keras_file(program, resolved, weights);
  EXPECT_EQ(bytes.substr(0, 4), std::string("PK\x03\x04"));
  for (const char* part : {"metadata.json", "config.json", "model.weights.h5", "\x89HDF",
                           "\"build_input_shape\":[null,20]"}) {
    EXPECT_TRUE(has(bytes, part)) << part;
  }
  EXPECT_EQ(bytes, keras_file(program, resolved, weights));
  weights[0][0][0] = -1;
  EXPECT_NE(bytes, keras_file(program, resolved, weights));
}

/// Rows of 4 steps of 3 words, with every wrapper.
Program wrapped_program() {
  Program program = sample("sequence");
  const auto layer = [](const char* name, Json config) {
    return Json{{"class_name", name}, {"config", std::move(config)}};
  };
  const Json gru = layer("GRU", {{"units", 2}, {"return_sequences", true}, {"go_backwards", true}});
  const Json lstm = layer("LSTM", {{"units", 3}, {"return_sequences", true}});
  tests::at(program, "/model/config/layers") = Json::array(
      {layer("Embedding", {{"input_dim", 9},
                           {"output_dim", 2},
                           {"mask_zero", true},
                           {"batch_input_shape", {nullptr, 4}}}),
       layer("Bidirectional", {{"layer", lstm}, {"backward_layer", gru}}),
       layer("TimeDistributed", {{"layer", layer("BatchNormalization", Json::object())}}),
       layer("TimeDistributed",
             {{"layer", layer("Bidirectional", {{"layer", layer("SimpleRNN", {{"units", 2}})}})}}),
       layer("TimeDistributed", {{"layer", layer("Dense", {{"units", 3}})}})});
  Json& layers = tests::at(program, "/model/config/layers");
  layers.insert(layers.begin() + 3, layer("Reshape", {{"target_shape", {4, 5, 1}}}));
  tests::at(program, "/compile/loss") = "mse";
  tests::at(program, "/compile/metrics") = Json::array();
  return program;
}

TEST(KerasModels, HoldTheLayersThatWrappersRun) {
  const tests::TestFolder folder;
  const Program program = wrapped_program();
  const ResolvedProgram resolved = resolve(program);
  const ModelWeights weights = counted(resolved);
  std::ofstream(folder / "m.h5", std::ios::binary) << keras_h5(program, resolved, weights);
  std::ofstream(folder / "m.keras", std::ios::binary) << keras_file(program, resolved, weights);
  for (const char* name : {"m.h5", "m.keras"}) {
    const KerasModelFile file(folder / name);
    EXPECT_EQ(file.weights(resolved), weights) << name;
    const KerasImport import = import_keras(file.model(), {});
    Program read = program;
    Json& layers = tests::at(read, "/model/config/layers");
    layers = import.document.at("model").at("config").at("layers");
    if (layers.front().at("class_name") == "InputLayer") layers.erase(0);
    EXPECT_EQ(canonical(read).at("model"), canonical(program).at("model")) << name;
  }
  const Hdf5File stored = Hdf5File::open(folder / "m.h5");
  EXPECT_TRUE(stored.has("/model_weights/bidirectional/bidirectional/backward_bias:0"));
}

TEST(TorchProgram, RunsWrappedLayersOnAllSteps) {
  Program program = sample("sequence");
  tests::at(program, "/model/config/layers") = Json::parse(R"([
      {"class_name": "TimeDistributed", "config": {"batch_input_shape": [null, 4, 3], "layer":
        {"class_name": "Dense", "config": {"units": 2, "activation": "tanh",
         "kernel_regularizer": "l2"}}}},
      {"class_name": "SpatialDropout1D", "config": {"rate": 0.25}},
      {"class_name": "Permute", "config": {"dims": [2, 1]}},
      {"class_name": "GaussianDropout", "config": {"rate": 0.25}},
      {"class_name": "Flatten", "config": {}},
      {"class_name": "RepeatVector", "config": {"n": 2}},
      {"class_name": "Flatten", "config": {}},
      {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}])");
  const ResolvedProgram resolved = resolve(program);
  std::string calls;
  const TorchProgram torch = torch_program(resolved);
  for (const TorchCall& call : torch.forward) calls += call.function + " ";
  EXPECT_EQ(calls,
            "regrouped dense tanh regrouped spatial_dropout permute gaussian_dropout reshape "
            "repeat_vector reshape dense ");
  EXPECT_EQ(torch.variables.front().name, "time_distributed_kernel");
  EXPECT_EQ(torch.variables.front().l2, 0.01);
  for (const char* part :
       {"regrouped", "spatial_dropout", "permute", "gaussian_dropout", "repeat_vector"}) {
    EXPECT_TRUE(has(pytorch_script(resolved, {}), std::string("def ") + part + "(")) << part;
    EXPECT_TRUE(has(libtorch_program(resolved, {}), std::string(" ") + part + "(")) << part;
  }
  EXPECT_TRUE(has(error_of([&] { torch_program(resolve(wrapped_program())); }), "Embedding"));
}

TEST(Pickle, WritesWhatPythonReads) {
  // pickletools.dis of Python 3.11 shows these operations.
  EXPECT_EQ(pickle(Json{{"a", 1}, {"b", Json::array({true, nullptr, "x"})}}),
            "\x80\x04}(X\x01\0\0\0a\x8a\x08\x01\0\0\0\0\0\0\0X\x01\0\0\0b](\x88NX\x01\0\0\0xeu."s);
  EXPECT_EQ(pickle(Json(0.5)), "\x80\x04G\x3f\xe0\0\0\0\0\0\0."s);
  const std::vector<float> values{1, 2};
  const std::string array = pickle({{"x", PickledArray{{2, 1}, values}}});
  EXPECT_TRUE(has(array, "cnumpy.core.multiarray\n_reconstruct\n"));
  EXPECT_TRUE(has(array, "\x8e\x08\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40"s));
}

TEST(ToolConfig, SaysHowToTrain) {
  Program program = sample("mlp");
  const std::string config = tool_config(program, "customized");
  for (const char* part : {"optimizer", "Adam", "opt_kwargs", "lr", "batchsize", "epoch",
                           "categorical_crossentropy", "customized"}) {
    EXPECT_TRUE(has(config, part)) << part;
  }
  EXPECT_FALSE(has(config, "learning_rate"));
  tests::at(program, "/fit")["schedule"] = {{"decay_rate", 0.5}};
  EXPECT_TRUE(has(error_of([&] { tool_config(program, "x"); }), "/fit/schedule"));
  Program weighted = sample("mlp");
  tests::at(weighted, "/fit")["class_weight"] = {{"0", 2.0}};
  EXPECT_TRUE(has(error_of([&] { tool_config(weighted, "x"); }), "/fit/class_weight"));
  Program smoothed = sample("mlp");
  tests::at(smoothed, "/compile")["loss"] = {{"class_name", "CategoricalCrossentropy"},
                                             {"config", {{"label_smoothing", 0.1}}}};
  EXPECT_TRUE(has(error_of([&] { tool_config(smoothed, "x"); }), "/compile/loss"));
}

std::string script(const Program& program, KerasDialect dialect, bool standalone = false) {
  KerasScriptOptions options;
  options.standalone = standalone;
  options.dialect = dialect;
  return keras_script(program, options);
}

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

/// The program "mlp" with what isn't Keras's default of losses, weights and classes.
Program with_options() {
  Program program = sample("mlp");
  tests::at(program, "/compile/loss") = {
      {"class_name", "CategoricalCrossentropy"},
      {"config", {{"from_logits", true}, {"label_smoothing", 0.1}}}};
  tests::at(program, "/fit")["class_weight"] = {{"0", 1}, {"1", 2.5}};
  Json& layers = tests::at(program, "/model/config/layers");
  layers[0]["config"]["kernel_constraint"] = {{"class_name", "MaxNorm"},
                                              {"config", {{"max_value", 3}}}};
  layers[2]["config"]["bias_constraint"] = "non_neg";
  layers[2]["config"]["activation"] = "linear";
  return program;
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

TEST(TorchProgram, HasConstraintsAndOptionsOfLosses) {
  const TorchProgram torch = torch_program(resolve(with_options()));
  EXPECT_EQ(torch.loss, "categorical_crossentropy_of_logits");
  EXPECT_FALSE(torch.loss_of_logits);  // the outputs are the logits
  ASSERT_TRUE(torch.smoothed);
  EXPECT_EQ(torch.variables.front().constraint->function, "bounded_norm");
  EXPECT_EQ(torch.variables.back().constraint->function, "non_neg");
  const std::string text = pytorch_script(resolve(with_options()), {});
  EXPECT_TRUE(has(text, "class_weights(y_train[batch], torch.tensor([1.0, 2.5]).float())")) << text;
  EXPECT_TRUE(has(text, "bounded_norm(model.dense_kernel, 0.0, 3.0, 1.0, [0])")) << text;
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

TEST(TorchProgram, TakesTheLossFromTheInputOfTheFittingActivation) {
  Program program = sample("mlp");
  TorchProgram torch = torch_program(resolve(program));
  EXPECT_EQ(torch.loss, "categorical_crossentropy_of_logits");
  ASSERT_TRUE(torch.output);
  EXPECT_EQ(torch.output->function, "softmax");
  EXPECT_EQ(torch.forward.size(), 4u);  // dense, relu, dropout, dense
  EXPECT_EQ(torch.variables.back().name, "dense_1_bias");
  tests::at(program, "/model/config/layers/2/config/activation") = "sigmoid";
  torch = torch_program(resolve(program));
  EXPECT_EQ(torch.loss, "categorical_crossentropy");
}

/// Every optimiser, loss, activation, initialiser and loop has its parts in both languages.
TEST(TorchProgram, HasPartsForEveryWord) {
  const auto expect_parts = [](const Program& program) {
    const ResolvedProgram resolved = resolve(program);
    for (const std::string& text :
         {pytorch_script(resolved, {true, 3}), libtorch_program(resolved, {true, 3})}) {
      const TorchProgram torch = torch_program(resolved);
      const bool cpp = has(text, "#include");
      for (const std::string& name :
           {torch.optimizer.function, torch.loss, torch.variables.front().initializer.function,
            torch.forward[1].function}) {
        const bool defined =
            has(text, cpp ? " " + name + "(" : "def " + name + "(") || has(text, "class " + name);
        EXPECT_TRUE(defined) << name << "\n" << text;
      }
    }
  };
  for (const Entry& entry : entries(Vocabulary::kOptimizer)) {
    Program program = sample("mlp");
    tests::at(program, "/compile/optimizer") = entry.name;
    expect_parts(program);
  }
  for (const Entry& entry : entries(Vocabulary::kLoss)) {
    Program program = sample("mlp");
    tests::at(program, "/compile/loss") = entry.name;
    expect_parts(program);
  }
  for (const Entry& entry : entries(Vocabulary::kActivation)) {
    if (entry.name == "linear") continue;
    Program program = sample("mlp");
    tests::at(program, "/model/config/layers/0/config/activation") = entry.name;
    expect_parts(program);
  }
  for (const Entry& entry : entries(Vocabulary::kInitializer)) {
    Program program = sample("mlp");
    tests::at(program, "/model/config/layers/0/config")["kernel_initializer"] = entry.word;
    expect_parts(program);
  }
}

TEST(TorchProgram, WritesTheLoopsThatKerasHasNot) {
  Program program = sample("mlp");
  const auto script = [&] { return pytorch_script(resolve(program), {}); };
  const std::string usual = script();
  EXPECT_TRUE(has(usual, "        model.zero_grad(set_to_none=True)\n        z = model("));
  EXPECT_TRUE(has(usual, "        optimizer.step()\n"));
  EXPECT_TRUE(has(usual, "    model.eval()\n"));
  Json& fit = tests::at(program, "/fit");
  fit["loop"] = {{"zero_grad", "never"}, {"step", false}, {"eval_mode", false},
                 {"reduction", "sum"},   {"detached", 1}, {"left_out", {0}}};
  const std::string other = script();
  EXPECT_FALSE(has(other, "zero_grad"));
  EXPECT_FALSE(has(other, "optimizer.step()"));
  EXPECT_FALSE(has(other, "model.eval()"));
  EXPECT_TRUE(has(other, ".mean() * len(y)\n"));
  EXPECT_TRUE(has(other, "        x = detach(x)\n"));
  EXPECT_TRUE(has(other, "Adam([model.dense_1_kernel, model.dense_1_bias], "));
}

TEST(TorchProgram, RefusesByName) {
  Program program = sample("mlp");
  tests::at(program, "/model/config/layers/2/config")["activity_regularizer"] = "l2";
  EXPECT_TRUE(has(error_of([&] { torch_program(resolve(program)); }),
                  "/model/config/layers/2: found Dense"));
}

/// Every metric is a function that the scripts bring along, or one of their libraries.
TEST(Scripts, TakeEveryMetric) {
  for (const Entry& entry : entries(Vocabulary::kMetric)) {
    if (entry.name == "loss") continue;
    Program program = sample("mlp");
    tests::at(program, "/compile/metrics") =
        Json::array({entry.aliases.empty() ? entry.name : entry.aliases[0]});
    tests::at(program, "/metric") = {{"name", entry.name}};
    if (entry.facts.contains("k")) tests::at(program, "/metric/k") = 3;
    const std::string call = "metric_" + entry.name + "(";
    const std::string torch = pytorch_script(resolve(program), {});
    KerasScriptOptions options;
    options.standalone = true;
    const std::string keras = keras_script(program, options);
    const bool streamed = entry.name == "accuracy" || entry.name == "mae" || entry.name == "mse";
    for (const std::string& script : {torch, keras}) {
      EXPECT_EQ(has(script, "def " + call), !streamed) << entry.name;
      EXPECT_EQ(has(script, ", 3)"), entry.facts.contains("k")) << entry.name;
      EXPECT_TRUE(has(script, "print(\"" + resolve(program).metric + ":\", ")) << entry.name;
    }
    if (!streamed) {
      EXPECT_TRUE(has(keras, call + "y_test, model.predict(x_test, verbose=0)")) << entry.name;
      EXPECT_TRUE(has(error_of([&] { libtorch_program(resolve(program), {}); }), "/metric/name"));
    }
    // Keras hears of what it knows only.
    EXPECT_EQ(has(keras, ", metrics=["), entry.facts.value("keras", Json("")) != nullptr)
        << entry.name;
    for (const Json& own : entry.facts.value("own", Json::array())) {
      EXPECT_FALSE(has(keras, "metrics=[" + own.dump())) << entry.name;
    }
  }
  Program program = sample("mlp");
  tests::at(program, "/compile/metrics") = {"r2"};
  tests::at(program, "/fit/callbacks") = {
      {{"class_name", "EarlyStopping"}, {"config", {{"monitor", "val_r2"}}}}};
  EXPECT_TRUE(has(error_of([&] { keras_script(program, {}); }), "monitor val_r2"));
  EXPECT_TRUE(has(pytorch_script(resolve(program), {}), "\"r2\": lambda y, o: metric_r2(y, o)"));
  tests::at(program, "/fit/callbacks") = Json::array();
  tests::at(program, "/metric") = {{"name", "mae"}, {"scale", "original"}};
  EXPECT_TRUE(
      has(pytorch_script(resolve(program), {}), "print(\"mae (on the scale of y_test.npy):\""));
}

TEST(Parts, BringWhatTheyNeed) {
  const std::string_view parts =
      "head\n# part: a\ndef a(): return b()\n\n# part: b\ndef b(): return x.c()\n\n# part: c\ndef "
      "c(): return torch.a\n";
  EXPECT_EQ(parts_for(parts, "a()"), "def a(): return b()\n\ndef b(): return x.c()\n");
  EXPECT_EQ(parts_for(parts, "c"), "def c(): return torch.a\n");
  EXPECT_EQ(parts_for(parts, "ab torch.a o.b"), "");
}

}  // namespace
}  // namespace neutra::program
