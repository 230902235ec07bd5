#include <cstdio>
#include <fstream>

#include "base/hdf5_file.h"
#include "format_cases.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_file.h"
#include "program/formats/keras_graph.h"
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
using tests::has;
using tests::sample;
using tests::with_sample_weights;
using tests::wrapped_program;

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
  EXPECT_TRUE(has(error_of([&] { tool_config(with_sample_weights(), "x"); }), "/data/arguments"));
  Program smoothed = sample("mlp");
  tests::at(smoothed, "/compile")["loss"] = {{"class_name", "CategoricalCrossentropy"},
                                             {"config", {{"label_smoothing", 0.1}}}};
  EXPECT_TRUE(has(error_of([&] { tool_config(smoothed, "x"); }), "/compile/loss"));
}

}  // namespace
}  // namespace neutra::program
