#include "keras_models.h"
#include "program/document.h"

namespace neutra::program {
namespace {

using tests::assumes;
using tests::error_of;
using tests::import_of;
using tests::kDense;
using tests::layer_of;
using tests::model_of;
using tests::sequential;

TEST(KerasImport, TakesOldNames) {
  const KerasImport import = import_of(sequential(
      R"({"class_name": "Dense", "config": {"name": "d", "output_dim": 4, "init": "he_normal",
        "activation": "relu", "W_regularizer": {"name": "WeightRegularizer", "l1": 0.0,
        "l2": 0.009999999776482582}, "b_regularizer": null, "activity_regularizer": null,
        "W_constraint": null, "b_constraint": null, "bias": true, "input_dim": 2}},
        {"class_name": "Dropout", "config": {"name": "p", "p": 0.25}},
        {"class_name": "BatchNormalization", "config": {"mode": 0, "axis": -1, "epsilon": 0.001,
        "momentum": 0.99, "beta_init": "zero", "gamma_init": "one", "gamma_regularizer": null}},)" +
          kDense,
      R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.10000000149011612,
        "momentum": 0.0, "decay": 0.0, "nesterov": false}}, "loss": "categorical_crossentropy",
        "metrics": ["acc"], "sample_weight_mode": "", "loss_weights": null})",
      ""));
  const Json& dense = layer_of(import, 1)["config"];
  EXPECT_EQ(dense["units"], 4);
  EXPECT_EQ(dense["kernel_initializer"], "he_normal");
  EXPECT_EQ(dense["kernel_regularizer"]["config"]["l2"].get<double>(), 0.01);
  EXPECT_TRUE(dense["use_bias"].get<bool>());
  EXPECT_FALSE(dense.contains("input_dim"));
  EXPECT_EQ(layer_of(import, 2)["config"]["rate"], 0.25);
  EXPECT_EQ(import.document["compile"]["optimizer"]["config"]["learning_rate"].get<double>(), 0.1);
  EXPECT_TRUE(assumes(import, "model", "Keras 1"));
  EXPECT_TRUE(validate(import.document).empty());
}

TEST(KerasImport, FollowsFunctionalModelsFromInputToOutput) {
  const std::string layers = R"(
    {"class_name": "Dense", "name": "b", "config": {"name": "b", "units": 1},
     "inbound_nodes": [[["a", 0, 0, {}]]]},
    {"class_name": "InputLayer", "name": "in", "config": {"batch_input_shape": [null, 2],
     "name": "in"}, "inbound_nodes": []},
    {"class_name": "Dense", "name": "a", "config": {"name": "a", "units": 5},
     "inbound_nodes": [SOURCE]})";
  const auto model = [&](const std::string& source, const std::string& more = "") {
    std::string text = layers;
    text.replace(text.find("SOURCE"), 6, source);
    return model_of(R"({"class_name": "Model", "config": {"name": "m", "layers": [)" + text + more +
                    R"(], "input_layers": [["in", 0, 0]], "output_layers": [["b", 0, 0]]}})");
  };
  const KerasImport import = import_of(model(R"([["in", 0, 0]])"));
  EXPECT_EQ(layer_of(import, 0)["class_name"], "InputLayer");
  EXPECT_EQ(layer_of(import, 1)["config"]["name"], "a");
  EXPECT_EQ(layer_of(import, 2)["config"]["name"], "b");
  EXPECT_EQ(layer_of(import_of(model(R"({"args": [{"class_name": "__keras_tensor__", "config":
      {"shape": [null, 2], "keras_history": ["in", 0, 0]}}], "kwargs": {"mask": null}})")),
                     1)["config"]["units"],
            5);
  const auto message = [&](const std::string& source, const std::string& more = "") {
    return error_of([&] { import_of(model(source, more)); });
  };
  const auto expect = [&](const std::string& found, const std::string& part) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  expect(message(R"([["b", 0, 0]])"), "layer 'in' (InputLayer): found an output that goes nowhere");
  expect(message(R"([["in", 0, 0], ["b", 0, 0]])"), "a loop of layers");
  expect(message(R"([["in", 0, 0], ["in", 0, 0]])"), "layer 'a' (Dense): inputs: found 2 inputs");
  expect(message(R"([["in", 0, 0]], [["in", 0, 0]])"),
         "layer 'a' (Dense): found an output that goes nowhere");
  expect(message(R"([["x", 0, 0]])"), "an input 'x', which is no layer");
  expect(message(R"([["in", 0, 0, {"initial_state": 1}]])"), "called with initial_state = 1");
  expect(message(R"([["in", 0, 0]])", R"(, {"class_name": "Dense", "config": {"name": "c",
      "units": 1}, "inbound_nodes": [[["in", 0, 0, {}]]]})"),
         "layer 'c' (Dense): found an output that goes nowhere");
  expect(message(R"([["in", 0, 1]])"), "allowed: outputs of layers, each of one output");
  expect(message("5"), "allowed: outputs of layers, each of one output");
}

/// A model in the model and a layer, each called twice, operations of tf.keras, and what becomes of
/// them.
TEST(KerasImport, TakesGraphs) {
  const auto layer = [](const std::string& class_name, const std::string& name,
                        const std::string& config, const std::string& nodes) {
    return R"({"class_name": ")" + class_name + R"(", "config": {"name": ")" + name + "\"" +
           config + R"(}, "name": ")" + name + R"(", "inbound_nodes": )" + nodes + "}";
  };
  const std::string inner =
      R"({"class_name": "Functional", "name": "block", "config": {"name": "block", "layers": [)" +
      layer("InputLayer", "rows", R"(, "batch_input_shape": [null, 4])", "[]") + ", " +
      layer("Dense", "d", R"(, "units": 4)", R"([[["rows", 0, 0, {}]]])") + ", " +
      layer("Add", "sum", "", R"([[["rows", 0, 0, {}], ["d", 0, 0, {}]]])") +
      R"(], "input_layers": [["rows", 0, 0]], "output_layers": [["sum", 0, 0]]},
         "inbound_nodes": [[["in", 0, 0, {}]], [["block", 0, 0, {}]]]})";
  const KerasImport import = import_of(model_of(
      R"({"class_name": "Functional", "config": {"name": "m", "layers": [)" +
      layer("InputLayer", "in", R"(, "batch_input_shape": [null, 4])", "[]") + ", " + inner + ", " +
      layer("TFOpLambda", "tf.math.subtract", R"(, "function": "math.subtract")",
            R"([["block", 1, 0, {"y": ["in", 0, 0], "name": null}]])") +
      ", " +
      layer("TFOpLambda", "tf.concat", R"(, "function": "concat")",
            R"([[["tf.math.subtract", 0, 0, {"axis": 1}], ["in", 0, 0, {"axis": 1}]]])") +
      ", " + layer("Dense", "out", R"(, "units": 2)", R"([[["tf.concat", 0, 0, {}]]])") +
      R"(], "input_layers": [["in", 0, 0]], "output_layers": [["out", 0, 0]]}})"));
  EXPECT_EQ(import.document["model"]["class_name"], "Functional");
  std::string text;
  for (const Json& one : import.document["model"]["config"]["layers"]) {
    text += one["class_name"].get<std::string>() + " " + one["config"]["name"].get<std::string>();
    if (one.contains("inputs")) text += " " + one["inputs"].dump();
    if (one.contains("weights_of")) text += " = " + one["weights_of"].get<std::string>();
    text += "\n";
  }
  EXPECT_EQ(text,
            "InputLayer in\n"
            "Dense block/d\n"
            "Add block/sum [\"in\",\"block/d\"]\n"
            "Dense block/d_again = block/d\n"
            "Add block/sum_again [\"block/sum\",\"block/d_again\"] = block/sum\n"
            "Subtract tf.math.subtract [\"block/sum_again\",\"in\"]\n"
            "Concatenate tf.concat [\"tf.math.subtract\",\"in\"]\n"
            "Dense out\n");
  EXPECT_EQ(layer_of(import, 6)["config"]["axis"], 1);
  EXPECT_TRUE(validate(import.document).empty());
}

/// A functional model: an input of two, the layer and a Dense.
KerasModel called(const std::string& layer, const std::string& arguments,
                  const std::string& version) {
  std::string node = R"([[["in", 0, 0, )" + arguments + "]]]";
  if (version.starts_with('3')) {
    node = R"([{"args": [{"class_name": "__keras_tensor__", "config": {"shape": [null, 2],
               "keras_history": ["in", 0, 0]}}], "kwargs": )" +
           arguments + "}]";
  }
  return model_of(
      R"({"class_name": "Functional", "config": {"name": "m", "layers": [
          {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"},
           "inbound_nodes": []}, )" +
          layer + R"(, "inbound_nodes": )" + node + R"(}, {"class_name": "Dense",
           "config": {"name": "d", "units": 1}, "inbound_nodes": [[["x", 0, 0, {}]]]}],
          "input_layers": [["in", 0, 0]], "output_layers": [["d", 0, 0]]}})",
      "null", version);
}

/// Operations with a number are a Rescaling.
TEST(KerasImport, TakesOperationsWithConstants) {
  const auto made = [](const KerasModel& model) {
    const Json config = layer_of(import_of(model), 1).at("config");
    return std::pair(config.at("scale").get<double>(), config.at("offset").get<double>());
  };
  const auto of_2 = [](const std::string& function, const std::string& arguments) {
    return called(
        R"({"class_name": "TFOpLambda", "config": {"name": "x", "function": ")" + function + "\"}",
        arguments, "2.15.0");
  };
  EXPECT_EQ(made(of_2("__operators__.add", R"({"y": 1.5, "name": null})")), std::pair(1.0, 1.5));
  EXPECT_EQ(made(of_2("math.subtract", R"({"y": 2, "name": null})")), std::pair(1.0, -2.0));
  EXPECT_EQ(made(of_2("math.multiply", R"({"y": 3, "name": null})")), std::pair(3.0, 0.0));
  EXPECT_EQ(made(of_2("math.truediv", R"({"y": 4, "name": null})")), std::pair(0.25, 0.0));
  EXPECT_EQ(made(of_2("math.negative", R"({"name": null})")), std::pair(-1.0, 0.0));
  KerasModel first = of_2("math.subtract", "{}");
  first.model["config"]["layers"][1]["inbound_nodes"] =
      Json::parse(R"([["_CONSTANT_VALUE", -1, 1, {"y": ["in", 0, 0], "name": null}]])");
  EXPECT_EQ(made(first), std::pair(-1.0, 1.0));
  for (const char* arguments : {R"({"y": 0})", R"({"y": [1, 2]})"}) {
    EXPECT_NE(error_of([&] { import_of(of_2("math.truediv", arguments)); }), "") << arguments;
  }
  EXPECT_NE(error_of([&] { import_of(of_2("math.maximum", R"({"y": 0})")); }), "");

  const auto of_3 = [](const std::string& class_name, const Json& args) {
    KerasModel model = called(R"({"module": "keras.src.ops.numpy", "class_name": ")" + class_name +
                                  R"(", "config": {"name": "x"})",
                              "{}", "3.15.0");
    Json& given = model.model["config"]["layers"][1]["inbound_nodes"][0]["args"];
    const Json tensor = given.front();
    given = args;
    for (Json& each : given) {
      if (each.is_null()) each = tensor;
    }
    return model;
  };
  EXPECT_EQ(made(of_3("Add", {nullptr, 1.5})), std::pair(1.0, 1.5));
  EXPECT_EQ(made(of_3("Subtract", {1, nullptr})), std::pair(-1.0, 1.0));
  EXPECT_EQ(made(of_3("TrueDivide", {nullptr, 2})), std::pair(0.5, 0.0));
  EXPECT_EQ(made(of_3("Negative", Json::array({nullptr}))), std::pair(-1.0, 0.0));
  EXPECT_NE(error_of([&] { import_of(of_3("Add", {1, 2})); }), "");
}

TEST(KerasImport, TrainingOfACallHoldsInKeras2Alone) {
  const std::string dropout = R"({"class_name": "Dropout", "config": {"name": "x", "rate": 0.4})";
  for (const char* training : {"false", "true"}) {  // Keras 3 runs each layer as the model
    const KerasImport import =
        import_of(called(dropout, std::string(R"({"training": )") + training + "}", "3.15.1"));
    EXPECT_EQ(layer_of(import, 1)["config"]["rate"], 0.4);
  }
  EXPECT_EQ(
      layer_of(import_of(called(dropout, R"({"training": null})", "2.15.0")), 1)["config"]["rate"],
      0.4);
  const KerasImport off = import_of(called(dropout, R"({"training": false})", "2.15.0"));
  EXPECT_EQ(layer_of(off, 1)["config"]["rate"], 0);
  EXPECT_TRUE(assumes(off, "model", "layer 'x' (Dropout): rate = 0 instead of 0.4"));
  const auto refusal = [&](const std::string& layer, const std::string& arguments) {
    return error_of([&] { import_of(called(layer, arguments, "2.15.0")); });
  };
  EXPECT_NE(refusal(dropout, R"({"training": true})").find("so that predictions are random"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"class_name": "Dense", "config": {"name": "x", "units": 3})",
                    R"({"training": true})"),
            "");
  const std::string norm = R"({"class_name": "BatchNormalization", "config": {"name": "x")";
  EXPECT_NE(refusal(norm + "}", R"({"training": false})").find("its gamma and beta are trained"),
            std::string::npos);
  EXPECT_NE(refusal(norm + "}", R"({"training": true})").find("depends on its batch"),
            std::string::npos);
  EXPECT_EQ(refusal(norm + R"(, "trainable": false})", R"({"training": false})"), "");
}

TEST(KerasImport, TrainingOfAModelsCallHoldsForItsLayers) {
  const KerasImport import = import_of(called(
      R"({"class_name": "Sequential", "config": {"name": "x", "layers": [
         {"class_name": "Dropout", "config": {"name": "p", "rate": 0.5}},
         {"class_name": "GaussianNoise", "config": {"name": "n", "stddev": 0.5}}]})",
      R"({"training": false})", "2.15.0"));
  EXPECT_EQ(layer_of(import, 1)["config"]["rate"], 0);
  EXPECT_EQ(layer_of(import, 2)["config"]["stddev"], 0);
}

TEST(KerasImport, MasksThatKeras3WritesDownAreItsLayers) {
  const auto tensor = [](const std::string& from) {
    return R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")" + from +
           R"(", 0, 0]}})";
  };
  const auto layer = [&](const std::string& class_name, const std::string& config,
                         const std::string& source, const std::string& kwargs,
                         const std::string& other = "") {
    return R"({"class_name": ")" + class_name + R"(", "name": ")" + class_name +
           R"(", "config": {"name": ")" + class_name + "\"" + config +
           R"(}, "inbound_nodes": [{"args": [)" + tensor(source) + other + R"(], "kwargs": )" +
           kwargs + "}]}";
  };
  const auto model = [&](const std::string& shape, const std::string& middle,
                         const std::string& source, const std::string& mask) {
    return import_of(model_of(
        R"({"class_name": "Functional", "config": {"name": "m", "layers": [
            {"class_name": "InputLayer", "config": {"batch_shape": )" +
            shape + R"(, "name": "in"}, "inbound_nodes": []}, )" + middle + "," +
            layer("LSTM", R"(, "units": 3)", source,
                  R"({"training": false, "mask": )" + tensor(mask) + "}") +
            R"(], "input_layers": ["in", 0, 0], "output_layers": ["LSTM", 0, 0]}})",
        "null", "3.15.1"));
  };
  const auto embedding = [&](const std::string& zero, const std::string& other) {
    return model("[null, 5]",
                 layer("Embedding", R"(, "input_dim": 9, "output_dim": 4, "mask_zero": )" + zero,
                       "in", "{}") +
                     "," + layer("NotEqual", "", "in", "{}", other),
                 "Embedding", "NotEqual");
  };
  const auto masking = [&](const std::string& value, const std::string& other,
                           const std::string& axis, const std::string& mask) {
    return model("[null, 5, 3]",
                 layer("Masking", R"(, "mask_value": )" + value, "in", "{}") + "," +
                     layer("NotEqual", "", "in", "{}", other) + "," +
                     layer("Any", R"(, "axis": )" + axis, "NotEqual", "{}"),
                 "Masking", mask);
  };
  EXPECT_EQ(layer_of(embedding("true", ", 0"), 1)["config"]["mask_zero"], true);
  EXPECT_EQ(layer_of(masking("-1", ", -1.0", "-1", "Any"), 1)["config"]["mask_value"], -1);
  const auto refusal = [](auto&& import) {
    const std::string message = error_of(import);
    return message.substr(std::min(message.find("layer 'LSTM'"), message.size()));
  };
  EXPECT_EQ(
      refusal([&] { embedding("false", ", 0"); }),
      "layer 'LSTM' (LSTM): found a mask of its own; allowed: masks that Masking or Embedding "
      "makes");
  // Made by hand, of another value.
  EXPECT_EQ(
      refusal([&] { embedding("true", ", 7"); }),
      "layer 'LSTM' (LSTM): found a mask of its own: NotEqual 7; allowed: the mask that layer "
      "'Embedding' (Embedding) makes, where its input is not 0: call the layer without mask");
  EXPECT_EQ(
      refusal([&] { masking("-1.5", ", 2.5", "-1", "Any"); }),
      "layer 'LSTM' (LSTM): found a mask of its own: Any NotEqual 2.5; allowed: the mask that "
      "layer 'Masking' (Masking) makes, where its input is not -1.5: call the layer without "
      "mask");
  for (const auto& [message, found] : std::vector<std::pair<std::string, std::string>>{
           {refusal([&] { embedding("true", ""); }), "NotEqual null"},
           {refusal([&] { masking("0", ", 0", "-1", "NotEqual"); }), "NotEqual 0"},
           {refusal([&] { masking("0", ", 0", "1", "Any"); }), "Any of axis 1 NotEqual 0"}}) {
    EXPECT_NE(message.find("found a mask of its own: " + found + ";"), std::string::npos)
        << message;
  }
}

TEST(KerasImport, ActivationsThatAreLayersBecomeLayers) {
  const KerasImport import = import_of(sequential(R"(
      {"class_name": "Dense", "config": {"name": "a", "units": 2, "activation":
        {"class_name": "ReLU", "config": {"name": "r", "trainable": true, "dtype": "float32",
         "max_value": 6.0, "negative_slope": 0.0, "threshold": 0.5}}}},
      {"class_name": "Dense", "config": {"name": "b", "units": 2, "activation":
        {"module": "keras.layers", "class_name": "LeakyReLU", "config": {"negative_slope": 0.2},
         "registered_name": null}}},
      {"class_name": "Activation", "config": {"name": "c", "activation": "relu6"}},
      {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "leaky_relu"}},
      {"class_name": "ThresholdedReLU", "config": {"name": "e", "theta": 0.7}})",
                                                  "null", "3.15.1"));
  const Json& layers = import.document["model"]["config"]["layers"];
  Json classes = Json::array();
  for (const Json& layer : layers) classes.push_back(layer["class_name"]);
  EXPECT_EQ(classes, (Json{"InputLayer", "Dense", "ReLU", "Dense", "LeakyReLU", "ReLU", "Dense",
                           "LeakyReLU", "ReLU"}));
  EXPECT_FALSE(layers[1]["config"].contains("activation"));
  EXPECT_EQ(layers[2]["config"]["max_value"], 6);
  EXPECT_EQ(layers[2]["config"]["threshold"], 0.5);
  EXPECT_EQ(layers[4]["config"]["alpha"], 0.2);
  EXPECT_EQ(layers[5]["config"]["max_value"], 6);
  EXPECT_EQ(layers[7]["config"]["alpha"], 0.2);
  EXPECT_EQ(layers[8]["config"]["threshold"], 0.7);
  EXPECT_TRUE(assumes(import, "model", "ReLU behind layer 'a' (Dense)"));
  const auto refusal = [&](const std::string& layer) {
    return error_of([&] { import_of(sequential(layer)); });
  };
  EXPECT_NE(refusal(R"({"class_name": "Dense", "config": {"name": "f", "units": 2,
      "activity_regularizer": {"class_name": "L1", "config": {"l1": 0.1}},
      "activation": {"class_name": "ReLU", "config": {}}}})")
                .find("activity_regularizer in front of ReLU"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
      {"class_name": "LSTM", "config": {"name": "g", "units": 2, "activation": "relu6"}})")
                .find("layer 'g' (LSTM): found ReLU as an activation"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"class_name": "Dense", "config": {"name": "h", "units": 2,
      "activation": {"class_name": "ReLU", "config": {"surprise": 1}}}})")
                .find("layer 'h' (Dense): activation: found ReLU"),
            std::string::npos);
}

TEST(KerasImport, PoolingsThatKeepExtentsAreReshaped) {
  const KerasImport import = import_of(sequential(
      R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
         {"class_name": "GlobalMaxPooling1D", "config": {"name": "g", "keepdims": true}},)" +
      kDense));
  EXPECT_EQ(layer_of(import, 3)["config"]["target_shape"], (Json{1, -1}));
}

TEST(KerasImport, SettingsThatAreOffAreNamed) {
  const auto normalised = [](const char* rms) {
    return sequential(
        std::string(R"({"class_name": "LayerNormalization", "config": {"name": "n", "axis": [-1],
                        "rms_scaling": )") +
            rms + "}}",
        "null", "3.15.1");
  };
  EXPECT_FALSE(layer_of(import_of(normalised("false")), 1)["config"].contains("rms_scaling"));
  EXPECT_NE(error_of([&] {
              import_of(normalised("true"));
            }).find("found rms_scaling = true; allowed: rms_scaling = false"),
            std::string::npos);
}

TEST(KerasImport, NamesAllThatItCantRepresent) {
  const std::string message = error_of([&] {
    import_of(sequential(R"({"class_name": "Lambda", "config": {"name": "l", "function": "code"}},
      {"class_name": "ConvLSTM2D", "config": {"name": "r"}},
      {"class_name": "Dense", "registered_name": "My>Dense", "config": {"name": "mine", "units": 1}},
      {"class_name": "Dense", "config": {"name": "q", "units": 3, "surprise": 4}})",
                         R"({"loss": "mse", "optimizer_config": {"class_name": "Adam", "config":
      {"lr": {"class_name": "PiecewiseConstantDecay", "config": {}}}}, "loss_weights": [2.0]})"));
  });
  for (const char* part :
       {"model.h5: layer 'l' (Lambda): found Python code", "layer 'r' (ConvLSTM2D)",
        "layer 'mine' (Dense): found \"My>Dense\"", "layer 'q' (Dense): found surprise = 4",
        "optimizer: learning_rate: PiecewiseConstantDecay: values: found null",
        "training_config: loss_weights: found [2.0]"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
  EXPECT_NE(error_of([&] {
              import_of(sequential(
                  R"({"class_name": "Dense", "config": {"units": 1, "activation": "mish"}},
                     {"class_name": "AlphaDropout", "config": {"name": "a", "rate": 0.1}})"));
            }).find("found \"mish\"; allowed: elu, exponential, gelu"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              import_of(sequential(R"({"class_name": "AlphaDropout", "config": {}})"));
            }).find("allowed: those of docs/formats/program.md (did you mean Dropout?)"),
            std::string::npos);
  // What the program's own check refuses has the layer's name, too.
  EXPECT_NE(error_of([&] {
              import_of(sequential(R"({"class_name": "Dense", "config": {"name": "d", "units": 1,
                  "kernel_constraint": {"class_name": "Strange", "config": {}}}})"));
            }).find("layer 'd' (Dense): kernel_constraint/class_name: found"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] {
        import_of(sequential(
            R"({"class_name": "Dense", "config": {"units": 1, "activation": "hard_sigmoid"}})",
            "null", "3.1.0"));
      }).find("hard_sigmoid of Keras 3"),
      std::string::npos);
  EXPECT_NE(error_of([&] {
              import_of(model_of(R"({"class_name": "MyModel", "config": {"name": "m"}})"));
            }).find("a class of your own is Python code"),
            std::string::npos);
}

TEST(KerasImport, WrappersComeAsKerasStoresThem) {
  // As Keras 3 writes them: both layers, of which one is the other turned.
  const std::string lstm = R"({"module": "keras.layers", "class_name": "LSTM", "config": {
      "name": "NAME", "units": 3, "return_sequences": true, "go_backwards": TURNED,
      "zero_output_for_mask": true, "kernel_initializer": {"module": "keras.initializers",
      "class_name": "GlorotUniform", "config": {"seed": null}, "registered_name": null}},
      "registered_name": null})";
  const auto layer = [&](const char* name, const char* turned) {
    std::string text = lstm;
    text.replace(text.find("NAME"), 4, name);
    return text.replace(text.find("TURNED"), 6, turned);
  };
  const auto both = [&](const std::string& backward) {
    return import_of(sequential(
        R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
           {"class_name": "Bidirectional", "config": {"name": "b", "merge_mode": "concat",
            "layer": )" +
            layer("forward_lstm", "false") + R"(, "backward_layer": )" + backward + R"(}},
           {"class_name": "TimeDistributed", "config": {"layer": {"class_name": "Dense",
            "config": {"units": 2, "activation": "softmax"}}}})",
        "null", "3.15.1"));
  };
  const KerasImport import = both(layer("backward_lstm", "true"));
  const Json config = layer_of(import, 2)["config"];
  EXPECT_FALSE(config.contains("backward_layer"));
  EXPECT_EQ(config["layer"]["config"]["units"], 3);
  EXPECT_EQ(config["layer"]["config"]["kernel_initializer"]["class_name"], "GlorotUniform");
  EXPECT_FALSE(config["layer"]["config"].contains("zero_output_for_mask"));
  EXPECT_EQ(import.document["compile"]["loss"], "categorical_crossentropy");
  std::string wider = layer("backward_lstm", "true");
  wider.replace(wider.find("3"), 1, "4");
  EXPECT_EQ(layer_of(both(wider), 2)["config"]["backward_layer"]["config"]["units"], 4);

  const auto refusal = [&](const std::string& layers) {
    return error_of([&] { import_of(sequential(layers)); });
  };
  // A model on each step is each of its layers on each step.
  const KerasImport steps = import_of(sequential(
      R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
         {"class_name": "TimeDistributed", "config": {"name": "t", "trainable": false, "layer":
          {"class_name": "Sequential", "config": {"name": "s", "layers": [
           {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 1]}},
           {"class_name": "Dense", "config": {"name": "d", "units": 3}},
           {"class_name": "Activation", "config": {"name": "a", "activation": "relu"}}]}}}},
         {"class_name": "Flatten", "config": {}}, {"class_name": "Dense", "config": {"units": 1}})"));
  EXPECT_EQ(layer_of(steps, 2)["class_name"], "TimeDistributed");
  EXPECT_EQ(layer_of(steps, 2)["config"]["layer"]["config"]["units"], 3);
  EXPECT_EQ(layer_of(steps, 2)["config"]["trainable"], false);
  EXPECT_EQ(layer_of(steps, 3)["config"]["layer"]["class_name"], "Activation");
  EXPECT_EQ(layer_of(steps, 4)["class_name"], "Flatten");
  EXPECT_NE(refusal(R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
      {"class_name": "Bidirectional", "config": {"name": "b", "merge_mode": null,
       "layer": {"class_name": "GRU", "config": {"units": 2}}}})")
                .find("layer 'b' (Bidirectional): merge_mode: found null; allowed: concat, sum, "
                      "mul, ave"),
            std::string::npos);
}

}  // namespace
}  // namespace neutra::program
