#include "fl_adapters/neuralint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "fl_adapters/registry.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::neuralint {

using namespace training;
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;
using Lines = std::vector<std::string>;

Json conv(int filters, int window, const std::string& activation = "relu",
          Json more = Json::object()) {
  Json config = {{"filters", filters}, {"kernel_size", window}, {"activation", activation}};
  config.update(more);
  return layer("Conv2D", std::move(config));
}
Json pool(const std::string& kind = "Max") { return layer(kind + "Pooling2D", {{"pool_size", 2}}); }
Json flatten() { return layer("Flatten", Json::object()); }
Json dropout() { return layer("Dropout", {{"rate", 0.5}}); }
Json batchnorm() { return layer("BatchNormalization", Json::object()); }
Json activation(const std::string& name) { return layer("Activation", {{"activation", name}}); }
Json no_bias() { return {{"use_bias", false}}; }

program::Program model(Json layers, const std::string& loss, Json row) {
  program::Program p =
      program_of("moons", 2, std::move(layers), loss, "accuracy", optimizer("Adam", 0.001));
  Json shape = Json::array({nullptr});
  for (const Json& extent : row) shape.push_back(extent);
  p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = shape;
  return p;
}
/// A classifier of rows of two features.
program::Program mlp(Json layers, const std::string& loss = "categorical_crossentropy") {
  return model(std::move(layers), loss, {2});
}
/// A classifier of images: `layers` before a flatten and a softmax over ten classes.
program::Program cnn(Json layers, int side = 28) {
  layers.push_back(flatten());
  layers.push_back(dense(10, "softmax"));
  return model(std::move(layers), "categorical_crossentropy", {side, side, 1});
}

/// "code(layers) -> answer" of each message.
Lines said(const program::Program& program, ToolVariant variant = kPublished) {
  EXPECT_EQ(unreadable(program, variant), std::nullopt);
  Lines lines;
  for (const ToolMessage& message : check_program(program, variant)) {
    std::string layers;
    for (const int index : message.layers) {
      layers += (layers.empty() ? "" : ",") + std::to_string(index);
    }
    lines.push_back(message.code + "(" + layers + ") -> " + to_string(answer_of({message})));
  }
  return lines;
}
Lines repaired(const program::Program& program) { return said(program, kRepaired); }

std::set<std::string> codes_of(const program::Program& program, ToolVariant variant) {
  std::set<std::string> codes;
  for (const ToolMessage& message : check_program(program, variant)) codes.insert(message.code);
  return codes;
}

TEST(Neuralint, FaultlessPrograms) {
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}))), Lines{});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), pool()}))), Lines{});
  EXPECT_EQ(repaired(cnn(Json::array({conv(8, 3), pool()}))), Lines{});
}

TEST(Neuralint, CountsActivationsAsLayers) {
  const program::Program p =
      mlp(Json::array({layer("InputLayer", Json::object()), dense(4, "relu"), dense(4, "linear"),
                       activation("tanh"), dense(2, "softmax")}));
  EXPECT_EQ(layer_numbers(p, kPublished), (std::vector<int>{1, 1, 2, 3, 4, 4}));
  const program::Program faulty =
      mlp(Json::array({dense(4, "relu"), dense(4, "relu", {{"kernel_initializer", "zeros"}}),
                       dense(2, "softmax")}));
  ASSERT_EQ(check_program(faulty, kPublished).size(), 1u);
  EXPECT_EQ(check_program(faulty, kPublished)[0].layers, std::set<int>{1});
  EXPECT_EQ(check_program(faulty, kPublished)[0].detail, "Layer 3 of the tool");
}

TEST(Neuralint, F001MissingReshape) {
  // A dense layer on images; the published tool takes its output for a row.
  const program::Program p = cnn(Json::array({dense(16, "relu")}));
  EXPECT_EQ(said(p), Lines{});
  EXPECT_EQ(repaired(cnn(Json::array({dropout(), dense(16, "relu")}))), Lines{"f001(0) -> -"});
  EXPECT_EQ(repaired(cnn(Json::array({dropout(), flatten(), dense(16, "relu")}))), Lines{});
}

TEST(Neuralint, F002LackOfPooling) {
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), pool(), conv(8, 3)}))), Lines{"f002() -> LRM"});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), conv(8, 3), pool("Average")}))), Lines{});
}

TEST(Neuralint, F003RedundantActivations) {
  EXPECT_EQ(said(mlp(Json::array(
                {dense(4, "relu"), dropout(), activation("tanh"), dense(2, "softmax")}))),
            Lines{"f003(0) -> LAD(0)"});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(4, "tanh"), dense(2, "softmax")}))),
            Lines{});
  // linear counts as an activation unless repaired.
  const program::Program linear =
      mlp(Json::array({dense(4, "relu"), activation("linear"), dense(2, "softmax")}));
  EXPECT_EQ(said(linear), Lines{"f003(0) -> LAD(0)"});
  EXPECT_EQ(repaired(linear), Lines{});
}

TEST(Neuralint, F004ConstantWeights) {
  for (const char* name : {"zeros", "ones", "constant"}) {
    EXPECT_EQ(said(mlp(Json::array(
                  {dense(4, "relu"), dense(2, "softmax", {{"kernel_initializer", name}})}))),
              Lines{"f004(1) -> WCI(1)"});
  }
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu", {{"kernel_initializer", "random_uniform"}}),
                                  dense(2, "softmax")}))),
            Lines{});
}

TEST(Neuralint, F005BiasBeforeBatchNormalisation) {
  // Three layers on: the activation, the dropout, the batch normalisation.
  EXPECT_EQ(said(mlp(Json::array(
                {dense(4, "relu"), activation("relu"), batchnorm(), dense(2, "softmax")}))),
            (Lines{"f003(0) -> LAD(0)", "f005(0) -> WAB(0)"}));
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), batchnorm(), dense(2, "softmax")}))),
            Lines{"f005(0) -> WAB(0)"});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu", no_bias()), batchnorm(), dense(2, "softmax")}))),
            Lines{});
  // Four layers on.
  EXPECT_EQ(said(mlp(Json::array(
                {dense(4, "relu"), dropout(), dropout(), batchnorm(), dense(2, "softmax")}))),
            Lines{"f006(2) -> -"});
}

TEST(Neuralint, F006DropoutBeforeBatchNormalisation) {
  const Json first = dense(4, "linear", no_bias());
  EXPECT_EQ(said(mlp(Json::array(
                {first, dropout(), activation("relu"), batchnorm(), dense(2, "softmax")}))),
            Lines{"f006(1) -> -"});
  EXPECT_EQ(said(mlp(Json::array(
                {first, batchnorm(), activation("relu"), dropout(), dense(2, "softmax")}))),
            Lines{});
}

TEST(Neuralint, F008MissingSoftmax) {
  const program::Program p =
      mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")}), "sparse_categorical_crossentropy");
  EXPECT_EQ(said(p), Lines{});
  EXPECT_EQ(repaired(p), Lines{"f008(1) -> ACH(1)"});
  EXPECT_EQ(repaired(mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}),
                         "sparse_categorical_crossentropy")),
            Lines{});
}

TEST(Neuralint, F009NoActivation) {
  // Up to three layers on.
  EXPECT_EQ(said(mlp(Json::array({dense(4, "linear"), dropout(), dropout(), activation("relu"),
                                  dense(2, "softmax")}))),
            Lines{});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "linear"), dropout(), dropout(), dropout(),
                                  activation("relu"), dense(2, "softmax")}))),
            Lines{"f009(0) -> ACH(0)"});
  // Not at the output.
  Json open = dense(1, "linear");
  open["config"].erase("activation");
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), open}), "mean_squared_error")), Lines{});
  const program::Program spelled = mlp(Json::array(
      {dense(4, "linear"), activation("linear"), dropout(), dropout(), dense(2, "softmax")}));
  EXPECT_EQ(said(spelled), Lines{});
  EXPECT_EQ(repaired(spelled), Lines{"f009(0) -> ACH(0)"});
}

TEST(Neuralint, F011MissingFlatten) {
  const auto head = [](Json between) {
    Json layers = Json::array({conv(8, 3, "relu"), pool()});
    for (Json& one : between) layers.push_back(std::move(one));
    layers.push_back(dense(10, "softmax"));
    return model(std::move(layers), "categorical_crossentropy", {28, 28, 1});
  };
  EXPECT_EQ(said(head(Json::array())), (Lines{"f011(0) -> LRM(0)", "f011(1) -> LRM(1)"}));
  EXPECT_EQ(said(head(Json::array({flatten()}))), Lines{});
  // Two layers between are still near enough, three are too many.
  EXPECT_EQ(said(head(Json::array({dropout(), dropout()}))), Lines{"f011(1) -> LRM(1)"});
  EXPECT_EQ(said(head(Json::array({dropout(), dropout(), dropout()}))), Lines{});
  const program::Program global = head(Json::array({layer("GlobalMaxPooling2D", Json::object())}));
  EXPECT_EQ(said(global), (Lines{"f011(0) -> LRM(0)", "f011(1) -> LRM(1)"}));
  EXPECT_EQ(repaired(global), Lines{});
}

TEST(Neuralint, F012MissingSigmoid) {
  const std::string loss = "binary_crossentropy";
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")}), loss)), Lines{});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(1, "tanh")}), loss)),
            (Lines{"f012(1) -> ACH(1)", "f020() -> LCH"}));
  Json open = dense(1, "linear");
  open["config"].erase("activation");
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), open}), loss)), Lines{"f012(1) -> ACH(1)"});
}

TEST(Neuralint, F013WindowTooLarge) {
  // Keras refuses these; the tool reads the script before Keras does.
  EXPECT_EQ(said(cnn(Json::array({conv(8, 1), pool()}), 1)), Lines{"f013(1) -> -"});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 1), pool()}), 2)), Lines{});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 5), pool()}), 4)),
            (Lines{"f013(0) -> -", "f013(1) -> -"}));
  EXPECT_EQ(said(cnn(Json::array({conv(8, 5), pool()}), 5)), Lines{"f013(1) -> -"});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 5), pool()}), 6)), Lines{});
  // Only a max-pooling can be exhausted, and only by a convolution right before it.
  EXPECT_EQ(said(cnn(Json::array({conv(8, 5), pool("Average")}), 4)), Lines{});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 5), conv(8, 5), pool()}), 4)),
            (Lines{"f013(1) -> -", "f013(2) -> -"}));
}

TEST(Neuralint, F013BehindLayersThatArePassedOver) {
  // Keras takes both: the tool doesn't see that the shape has changed.
  const Json reshape = layer("Reshape", {{"target_shape", {2, 2, 1}}});
  const Json padding = layer("ZeroPadding2D", {{"padding", 1}});
  for (const program::Program& p : {cnn(Json::array({conv(4, 2), reshape, pool()}), 2),
                                    cnn(Json::array({conv(4, 2), padding, pool()}), 2)}) {
    EXPECT_EQ(program::validate(p.document).size(), 0u);
    EXPECT_EQ(said(p), Lines{"f013(2) -> -"});
    EXPECT_EQ(repaired(p), Lines{});
  }
}

TEST(Neuralint, F015ActivationUnderARegressionLoss) {
  for (const char* loss : {"hinge", "huber_loss", "mean_squared_error", "mean_absolute_error"}) {
    EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}), loss)),
              Lines{"f015() -> LCH"});
    // `linear` spelled out is an activation to the published tool; a model file always spells it.
    const program::Program spelled = mlp(Json::array({dense(4, "relu"), dense(2, "linear")}), loss);
    EXPECT_EQ(said(spelled), Lines{"f015() -> LCH"});
    EXPECT_EQ(repaired(spelled), Lines{});
    EXPECT_EQ(
        said(mlp(Json::array({dense(4, "relu"), dense(2, "linear", {{"trainable", true}})}), loss)),
        Lines{});
    Json open = dense(2, "linear");
    open["config"].erase("activation");
    EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), open}), loss)), Lines{});
    // With a layer of its own it is the same.
    const program::Program own =
        mlp(Json::array({dense(4, "relu"), open, activation("linear")}), loss);
    EXPECT_EQ(said(own), Lines{"f015() -> LCH"});
    EXPECT_EQ(repaired(own), Lines{});
  }
}

TEST(Neuralint, ARegressionKeepsItsLossWhenRepaired) {
  const auto regression = [](const char* output) {
    program::Program p =
        mlp(Json::array({dense(4, "relu"), dense(1, output)}), "mean_squared_error");
    p.document["task"] = "regression";
    return p;
  };
  program::DataInfo small;
  small.y = {1};
  small.y_min = 0.1;
  small.y_max = 0.9;
  program::DataInfo large = small;
  large.y_max = 9;
  const auto answer = [&](const char* output, std::optional<program::DataInfo> data) {
    return to_string(answer_of(check_program(regression(output), kRepaired, std::move(data))));
  };
  EXPECT_EQ(answer("sigmoid", large), "ACH(1)");
  EXPECT_EQ(answer("sigmoid", std::nullopt), "ACH(1)");
  EXPECT_EQ(answer("sigmoid", small), "-");
  EXPECT_EQ(answer("relu", large), "-");
  EXPECT_EQ(answer("softmax", small), "ACH(1)");
  EXPECT_EQ(answer("linear", large), "-");
  EXPECT_EQ(to_string(answer_of(check_program(regression("sigmoid"), kPublished, large))), "LCH");
}

TEST(Neuralint, TheSizeOfALabelIsThatOfTheTargets) {
  // A column of class numbers is a label of size 1 to the tool, however many classes there are.
  const program::Program sparse =
      mlp(Json::array({dense(4, "relu"), dense(3, "softmax")}), "sparse_categorical_crossentropy");
  EXPECT_EQ(said(sparse), Lines{"f017(1) -> -"});
  EXPECT_EQ(repaired(sparse), Lines{});
  // Two outputs for one column of zeros and ones.
  program::DataInfo column;
  column.y_is_integer = true;
  column.y_max = 1;
  const program::Program two =
      mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}), "binary_crossentropy");
  const auto codes = [&](std::optional<program::DataInfo> data) {
    std::set<std::string> codes;
    for (const ToolMessage& message : check_program(two, kPublished, std::move(data))) {
      codes.insert(message.code);
    }
    return codes;
  };
  EXPECT_EQ(codes(std::nullopt), (std::set<std::string>{"f020"}));
  EXPECT_EQ(codes(column), (std::set<std::string>{"f012", "f017", "f020"}));
}

TEST(Neuralint, F016ShrinkingWindows) {
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), conv(8, 2), pool()}))), Lines{"f016(0) -> LCF(0)"});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), conv(8, 3), pool()}))), Lines{});
  const Json flat = conv(8, 3, "relu", {{"kernel_size", {3, 2}}});  // in one direction
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), flat, pool()}))), Lines{"f016(0) -> LCF(0)"});
}

TEST(Neuralint, F017SoftmaxOverOneLabel) {
  const program::Program p =
      mlp(Json::array({dense(4, "relu"), dense(1, "softmax")}), "mean_squared_error");
  EXPECT_EQ(said(p), (Lines{"f015() -> LCH", "f017(1) -> -"}));
  EXPECT_EQ(repaired(p), (Lines{"f015() -> LCH", "f017(1) -> ACH(1)"}));
  EXPECT_EQ(repaired(mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}))), Lines{});
}

TEST(Neuralint, F018DropoutBeforePooling) {
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), dropout(), pool()}))), Lines{"f018(1) -> -"});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), pool(), dropout()}))), Lines{});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), dropout(), pool("Average")}))), Lines{});
}

TEST(Neuralint, F019WideningDenseLayers) {
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(5, "relu"), dense(3, "softmax")}))),
            Lines{"f019(0) -> LCN(0)"});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(4, "relu"), dense(4, "softmax")}))),
            Lines{});
}

TEST(Neuralint, F020LossAndActivation) {
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")}))),
            Lines{"f020() -> LCH"});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")}), "binary_crossentropy")),
            Lines{"f020() -> LCH"});
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(1, "softmax")}))),
            (Lines{"f017(1) -> -", "f020() -> LCH"}));
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")}),
                     "sparse_categorical_crossentropy")),
            Lines{});
  // A Softmax layer isn't the activation softmax to the published tool.
  const program::Program own =
      mlp(Json::array({dense(4, "relu"), dense(2, "linear"), layer("Softmax", Json::object())}));
  EXPECT_EQ(said(own), Lines{"f020() -> LCH"});
  EXPECT_EQ(repaired(own), Lines{});
  // linear spelled out at the output is an activation, nothing there is none.
  Json open = dense(2, "linear");
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), open}))), Lines{"f020() -> LCH"});
  open["config"].erase("activation");
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), open}))), Lines{});
  EXPECT_EQ(repaired(mlp(Json::array({dense(4, "relu"), open}))), Lines{"f008(1) -> ACH(1)"});
}

TEST(Neuralint, F021Reshape) {
  const auto reshaped = [](Json target) {
    return model(Json::array({dense(6, "relu"), layer("Reshape", {{"target_shape", target}}),
                              dense(2, "softmax")}),
                 "categorical_crossentropy", {6});
  };
  EXPECT_EQ(repaired(reshaped({5})), Lines{"f021(1) -> -"});
  EXPECT_EQ(repaired(reshaped({6})), Lines{});
  // The published tool passes over Reshape layers.
  EXPECT_EQ(said(reshaped({5})), Lines{});
}

TEST(Neuralint, F023FewerFilters) {
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), conv(7, 3), pool()}))), Lines{"f023(0) -> LCN(0)"});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), conv(8, 3), pool()}))), Lines{});
}

TEST(Neuralint, F024Biases) {
  const Json random = {{"bias_initializer", "random_normal"}};
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu", random), dense(2, "softmax")}))),
            Lines{"f024(0) -> BCI(0)"});
  Json without = random;
  without["use_bias"] = false;
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu", without), dense(2, "softmax")}))), Lines{});
}

/// A deep network: `blocks` times a convolution and a pooling.
Json deep(int blocks, const std::string& kind = "Max") {
  Json layers = Json::array();
  for (int i = 0; i < blocks; ++i) {
    layers.push_back(conv(8, 3, "relu", {{"padding", "same"}}));
    layers.push_back(pool(kind));
  }
  return layers;
}

/// One less than a deep network has: two convolutions before the first of four poolings.
Json nine(const std::string& kind = "Max") {
  Json layers = deep(4, kind);
  layers.insert(layers.begin(), conv(8, 3, "relu", {{"padding", "same"}}));
  return layers;
}

TEST(Neuralint, F025PoolingAfterEachConvolution) {
  // The last block's pooling comes before the flatten. Ten convolutions and poolings are deep.
  EXPECT_EQ(said(cnn(deep(5), 64)), (Lines{"f025(0) -> LAD(0)", "f025(2) -> LAD(2)",
                                           "f025(4) -> LAD(4)", "f025(6) -> LAD(6)"}));
  EXPECT_EQ(said(cnn(nine(), 64)), Lines{});
  Json paired = deep(4);
  paired.insert(paired.begin(), conv(8, 3, "relu", {{"padding", "same"}}));
  paired.insert(paired.begin(), conv(8, 3, "relu", {{"padding", "same"}}));
  // The first three convolutions stand together.
  EXPECT_EQ(said(cnn(paired, 64)), (Lines{"f025(4) -> LAD(4)", "f025(6) -> LAD(6)"}));
}

TEST(Neuralint, F026UnlikeConvolutionsInABlock) {
  Json layers = deep(4);
  layers.insert(layers.begin(), conv(8, 3, "relu", {{"padding", "same"}}));
  layers.insert(layers.begin(), conv(4, 3, "relu", {{"padding", "same"}}));
  const Lines unlike = repaired(cnn(layers, 64));
  EXPECT_EQ(std::count(unlike.begin(), unlike.end(), "f026(0) -> LCF(0)"), 1);
  const Lines published = said(cnn(layers, 64));
  EXPECT_EQ(std::count(published.begin(), published.end(), "f026(0) -> LCF(0)"), 0);
  layers[0] = layers[1];
  for (const std::string& line : repaired(cnn(layers, 64))) EXPECT_NE(line.substr(0, 4), "f026");
  Json shallow = nine();
  shallow[0]["config"]["filters"] = 4;
  EXPECT_EQ(repaired(cnn(shallow, 64)), Lines{});
}

TEST(Neuralint, F027IneffectivePooling) {
  EXPECT_EQ(said(cnn(deep(5, "Average"), 64)), Lines{"f027() -> -"});
  EXPECT_EQ(said(cnn(nine("Average"), 64)), Lines{});
  // Without any pooling behind it is another rule's.
  Json bare = deep(5, "Average");
  bare.push_back(conv(8, 3, "relu", {{"padding", "same"}}));
  EXPECT_EQ(said(cnn(bare, 64)), Lines{"f002() -> LRM"});
}

/// "Learner f012; Layer 1 f016" as the tool reported it (outputs recorded with deepmufl's
/// programs).
std::string report(const program::Program& program) {
  std::string text;
  for (const ToolMessage& message : check_program(program, kPublished)) {
    const std::string about = message.severity == "Layer"
                                  ? message.detail.substr(0, message.detail.find(" of"))
                                  : message.severity;
    text += (text.empty() ? "" : "; ") + about + " " + message.code;
  }
  return text;
}
Json open(Json one) {
  one["config"].erase("activation");
  return one;
}

TEST(Neuralint, RecordedReports) {
  // 64387251: linear is spelled out.
  EXPECT_EQ(report(model(Json::array({dense(13000, "relu"), dense(1, "linear")}),
                         "binary_crossentropy", {784})),
            "Learner f012; Learner f020");
  // 34311586
  EXPECT_EQ(report(mlp(Json::array({dense(2, "sigmoid"), dense(3, "sigmoid"), dense(1, "softmax")}),
                       "mean_squared_error")),
            "Learner f015; Learner f017; Layer 1 f019");
  // 48221692
  EXPECT_EQ(report(model(Json::array({dense(5, "sigmoid"), dense(1, "sigmoid")}),
                         "mean_squared_error", {1})),
            "Learner f015");
  // 53749895
  EXPECT_EQ(report(mlp(Json::array({open(dense(32, "")), activation("relu"), dense(3, "softmax")}),
                       "mean_squared_error")),
            "Learner f015");
  // 54282951
  EXPECT_EQ(report(model(Json::array({open(conv(32, 1)), flatten(), open(dense(64, "")), dropout(),
                                      open(dense(1, ""))}),
                         "binary_crossentropy", {230, 230, 3})),
            "Learner f012; Architecture f002; Layer 1 f009; Layer 3 f009");
  // 62055783
  EXPECT_EQ(
      report(model(Json::array({conv(64, 3), conv(128, 3, "relu", {{"padding", "same"}}), pool(),
                                dropout(), conv(64, 3), pool(), dropout(), conv(64, 3), flatten(),
                                dense(64, "relu"), open(dense(7, ""))}),
                   "categorical_crossentropy", {48, 48, 1})),
      "Architecture f002; Layer 3 f023");
  // 47704695
  const auto same = [](int filters, int window) {
    return conv(filters, window, "relu", {{"padding", "same"}});
  };
  EXPECT_EQ(
      report(model(
          Json::array(
              {same(16, 5),  pool(),    dropout(),    same(32, 3),        pool(), dropout(),
               same(32, 3),  dropout(), same(64, 3),  same(64, 3),        pool(), same(128, 3),
               same(128, 3), pool(),    same(256, 3), same(256, 3),       pool(), same(512, 3),
               pool(),       flatten(), dropout(),    dense(1, "softmax")}),
          "binary_crossentropy", {128, 128, 3})),
      "Learner f012; Learner f017; Learner f020; Layer 1 f016; Layer 1 f025; Layer 5 f025");
}

/// A rule, a program that breaks it and one that just doesn't.
struct Rule {
  std::string code, said;  ///< "what it is about: message"
  std::set<int> layers;
  program::Program broken, kept;
  ToolVariant variant = kPublished;
};
std::vector<Rule> rules() {
  const Json softmax = dense(2, "softmax"), random = {{"bias_initializer", "random_normal"}};
  const Json bare = dense(4, "linear", no_bias());
  const auto classifier = [&](std::vector<Json> layers) {
    layers.push_back(softmax);
    return mlp(layers);
  };
  const auto reshaped = [&](int size) {
    return classifier({dense(6, "relu"), layer("Reshape", {{"target_shape", {size}}})});
  };
  const auto images = [](std::vector<Json> layers, int side = 28) { return cnn(layers, side); };
  const auto on_maps = [](int dropouts) {
    Json layers = Json::array({conv(8, 3), pool()});
    for (int i = 0; i < dropouts; ++i) layers.push_back(dropout());
    layers.push_back(dense(10, "softmax"));
    return model(std::move(layers), "categorical_crossentropy", {28, 28, 1});
  };
  Json uneven = deep(4), even = deep(4);
  for (Json* layers : {&uneven, &even}) {
    for (int i = 0; i < 2; ++i) {
      layers->insert(layers->begin(), conv(8, 3, "relu", {{"padding", "same"}}));
    }
  }
  uneven[0]["config"]["filters"] = 7;
  const std::string shape_needed =
      "A processing layer that operates on a N-dimensional tensors, should receive a valid input "
      "tensor with exactly N-dimensional shape";
  const std::string probabilities =
      "A last layer activation is required to transform the logits into probabilities for "
      "classification problem";
  const std::string loss =
      "The loss should be correctly defined and connected to the layer in accordance with its "
      "input conditions (i.e.shape and type)";
  const std::string pooling = "Max-pooling is the preferred down-sampling strategy";
  return {
      {"f001",
       "Layer: " + shape_needed + "(Missing reshape).",
       {0},
       images({dropout(), dense(16, "relu")}),
       images({dropout(), flatten(), dense(16, "relu")}),
       kRepaired},
      {"f002",
       "Architecture: " + pooling + "(lack of pooling).",
       {},
       images({conv(8, 3), pool(), conv(8, 3)}),
       images({conv(8, 3), conv(8, 3), pool()})},
      {"f003",
       "Layer: Multiple and redundant connected activations are not allowed.",
       {0},
       classifier({dense(4, "relu"), activation("tanh")}),
       classifier({dense(4, "relu"), dense(4, "tanh")})},
      {"f004",
       "Layer: The initialization of weights should not be constant to break the symmetry between "
       "neurons.",
       {1},
       classifier({dense(4, "relu"), dense(4, "relu", {{"kernel_initializer", "ones"}})}),
       classifier({dense(4, "relu"), dense(4, "relu", {{"kernel_initializer", "identity"}})})},
      {"f005",
       "Layer: A learning layer should no longer include a bias when it is followed by batchnorm.",
       {0},
       classifier({dense(4, "relu"), dropout(), batchnorm()}),
       classifier({dense(4, "relu"), dropout(), dropout(), batchnorm()})},
      {"f006",
       "Layer: Batchnorm layer should be before the dropout.",
       {1},
       classifier({bare, dropout(), activation("relu"), batchnorm()}),
       classifier({bare, dropout(), activation("relu"), activation("relu"), batchnorm()})},
      {"f008",
       "Learner: " + probabilities + "(missing softmax).",
       {1},
       mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")})),
       mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")})),
       kRepaired},
      {"f009",
       "Layer: Activations for learning layers (i.e., convolution and fully-connected layer) "
       "should be a non-linear function.",
       {0},
       classifier({dense(4, "linear"), dropout(), dropout(), dropout(), activation("relu")}),
       classifier({dense(4, "linear"), dropout(), dropout(), activation("relu")})},
      {"f011", "Layer: " + shape_needed + "(missing flatten ).", {1}, on_maps(2), on_maps(3)},
      {"f012",
       "Learner: " + probabilities + "(bin missing sigmoid).",
       {1},
       mlp(Json::array({dense(4, "relu"), dense(1, "hard_sigmoid")}), "binary_crossentropy"),
       mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")}), "binary_crossentropy")},
      {"f013",
       "Layer: A processing layer should receive sufficient-sized feature space to perform its "
       "spatial filtering or pooling.",
       {1},
       images({conv(8, 3), pool()}, 3),
       images({conv(8, 3), pool()}, 4)},
      {"f015",
       "Learner: " + loss + "-pre-activation",
       {},
       mlp(Json::array({dense(4, "relu"), dense(1, "relu")}), "mean_squared_error"),
       mlp(Json::array({dense(4, "relu"), layer("Dense", {{"units", 1}})}), "mean_squared_error")},
      {"f016",
       "Layer: The local window size for spatial filtering should generally increase or stay the "
       "same throughout the convolutional layers.",
       {0},
       images({conv(8, 3), conv(8, 2), pool()}),
       images({conv(8, 3), conv(8, 3), pool()})},
      {"f017",
       "Learner: " + probabilities + "(bin wrong last layer activation).",
       {1},
       mlp(Json::array({dense(4, "relu"), dense(1, "softmax")})),
       mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}))},
      {"f018",
       "Layer: Dropout layer must be placed after the pooling layer to be more effective.",
       {1},
       images({conv(8, 3, "linear"), dropout(), activation("relu"), pool()}),
       images({conv(8, 3, "linear"), dropout(), activation("relu"), activation("relu"), pool()})},
      {"f019",
       "Layer: The area of feature maps and the width of fully-connected units should be "
       "progressively decreasing over the layers.",
       {0},
       classifier({dense(4, "relu"), dense(5, "relu")}),
       classifier({dense(4, "relu"), dense(4, "relu")})},
      {"f020",
       "Learner: " + loss + "-post_activation",
       {},
       mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")}), "binary_crossentropy"),
       mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")}), "binary_crossentropy")},
      {"f021",
       "Layer: A reshape layer should preserve the total data elements/ A reshape layer should "
       "never falsify the size of elements (i.e. first dimension).",
       {1},
       reshaped(5),
       reshaped(6),
       kRepaired},
      {"f023",
       "Layer: The number of feature maps should be gradually expanded while the feature map area "
       "is retracted.",
       {0},
       images({conv(8, 3), conv(7, 3), pool()}),
       images({conv(8, 3), conv(8, 3), pool()})},
      {"f024",
       "Layer: The initialization of biases is preferred to be zeros.",
       {0},
       classifier({dense(4, "relu", random)}),
       classifier({dense(4, "relu", {{"bias_initializer", "zeros"}})})},
      {"f025",
       "Layer: Deep CNN should not apply pooling after every convolution.",
       {0, 2, 4, 6},
       cnn(deep(5), 64),
       cnn(nine(), 64)},
      {"f026",
       "Layer: Deep CNN should favor blocks of2,3or even 4 homogeneous convolutional layers with "
       "similar characteristics.",
       {0},
       cnn(uneven, 64),
       cnn(even, 64),
       kRepaired},
      {"f027",
       "Architecture: " + pooling + "(ineffective pooling)",
       {},
       cnn(deep(5, "Average"), 64),
       cnn(nine("Average"), 64)}};
}

/// Those that no Keras program breaks, in either variant.
const std::map<std::string, std::string> kNever{
    {"f007",
     "Learner: The learnable parameters should be totally initialized once at the beginning of the "
     "training(multiple inits)"},
    {"f010",
     "Learner: The learnable parameters should be totally initialized once at the beginning of the "
     "training(missing init)"},
    {"f014",
     "Layer: mismatch shape : A reshape layer should never falsify the size of elements (i.e. "
     "first "
     "dimension)"},
    {"f022",
     "Learner: The loss minimization problem should be solved iteratively with continuous update "
     "of parameters"}};

TEST(Neuralint, EachRule) {
  std::set<std::string> tested;
  for (const Rule& rule : rules()) {
    tested.insert(rule.code);
    std::set<int> layers;
    for (const ToolMessage& message : check_program(rule.broken, rule.variant)) {
      if (message.code != rule.code) continue;
      EXPECT_EQ(message.severity + ": " + message.text, rule.said);
      layers.merge(std::set<int>(message.layers));
    }
    EXPECT_EQ(layers, rule.layers) << rule.code;
    EXPECT_EQ(codes_of(rule.broken, rule.variant).count(rule.code), 1u) << rule.code;
    EXPECT_EQ(codes_of(rule.kept, rule.variant).count(rule.code), 0u) << rule.code;
  }
  for (const auto& [code, text] : kNever) {
    tested.insert(code);
    const MessageKind& kind = message_table().kind(code);
    EXPECT_EQ(kind.severity + ": " + kind.text, text);
  }
  const std::vector<std::string>& codes = message_table().codes();
  EXPECT_EQ(tested, std::set<std::string>(codes.begin(), codes.end()));
}

/// Programs of layers drawn from a list, most of which make no sense; every other one for images.
std::vector<program::Program> drawn_programs(int count) {
  const Json same = {{"padding", "same"}};
  const std::vector<Json> layers{conv(8, 3, "relu", same),
                                 conv(8, 3, "relu", same),
                                 conv(4, 1, "linear", {{"bias_initializer", "ones"}}),
                                 conv(4, 5),
                                 pool(),
                                 pool(),
                                 pool("Average"),
                                 layer("GlobalAveragePooling2D", Json::object()),
                                 layer("ZeroPadding2D", Json::object()),
                                 layer("Reshape", {{"target_shape", {2, 2, 1}}}),
                                 flatten(),
                                 dropout(),
                                 batchnorm(),
                                 activation("relu"),
                                 activation("linear"),
                                 layer("Softmax", Json::object()),
                                 dense(4, "relu", {{"kernel_initializer", "zeros"}}),
                                 dense(8, "linear"),
                                 dense(2, "softmax"),
                                 dense(1, "softmax"),
                                 dense(1, "sigmoid"),
                                 open(dense(1, ""))};
  const std::vector<std::string> losses{
      "hinge",
      "huber_loss",
      "mean_squared_error",
      "mean_absolute_error",
      "binary_crossentropy",
      "categorical_crossentropy",
      "sparse_categorical_crossentropy",
  };
  std::mt19937 numbers(1);
  const auto any = [&](const auto& list) { return list[numbers() % list.size()]; };
  std::vector<program::Program> programs;
  for (int i = 0; i < count; ++i) {
    Json drawn = Json::array();
    for (auto size = 2 + numbers() % 14; size > 0; --size) drawn.push_back(any(layers));
    programs.push_back(
        model(std::move(drawn), any(losses), i % 2 == 0 ? Json{16, 16, 1} : Json{2}));
  }
  for (const Rule& rule : rules()) programs.push_back(rule.broken);
  return programs;
}

TEST(Neuralint, RulesThatNoProgramBreaks) {
  std::set<std::string> published, mended;
  for (const program::Program& p : drawn_programs(500)) {
    if (unreadable(p, kRepaired)) continue;
    mended.merge(codes_of(p, kRepaired));
    if (unreadable(p, kPublished)) continue;
    std::set<std::string> said = codes_of(p, kPublished);
    if (said.contains("f013")) {
      // Keras refuses the program, or the tool has passed over a layer.
      const std::string text = p.document.dump();
      EXPECT_TRUE(!program::validate(p.document).empty() ||
                  text.find("Reshape") != std::string::npos ||
                  text.find("ZeroPadding2D") != std::string::npos)
          << text;
    }
    published.merge(said);
  }
  std::set<std::string> expected;
  for (const std::string& code : message_table().codes()) {
    if (!kNever.contains(code)) expected.insert(code);
  }
  EXPECT_EQ(mended, expected);
  for (const char* code : {"f001", "f008", "f021", "f026"}) expected.erase(code);
  EXPECT_EQ(published, expected);
}

TEST(Neuralint, WhatTheToolCannotRead) {
  const program::Program single = mlp(Json::array({dense(2, "softmax")}));
  EXPECT_EQ(unreadable(single, kPublished), "the tool reads no model of a single layer");
  EXPECT_EQ(
      unreadable(mlp(Json::array({layer("InputLayer", Json::object()),
                                  layer("Reshape", {{"target_shape", {2}}}), dense(2, "softmax")})),
                 kPublished),
      "the tool reads no model of a single layer, and of these 3 layers it knows one, layer "
      "2");
  EXPECT_EQ(unreadable(single, kRepaired), std::nullopt);
  const program::Program alias = mlp(Json::array({dense(4, "relu"), dense(1, "linear")}), "mse");
  EXPECT_EQ(unreadable(alias, kPublished)->substr(0, 8), "loss mse");
  EXPECT_EQ(unreadable(alias, kRepaired), std::nullopt);
  const program::Program poisson =
      mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}), "poisson");
  EXPECT_NE(unreadable(poisson, kPublished), std::nullopt);
  EXPECT_EQ(repaired(poisson), Lines{});
  program::Program broken = single;
  broken.document["model"]["config"]["layers"][0]["class_name"] = "LSTMish";
  EXPECT_NE(unreadable(broken, kRepaired), std::nullopt);
}

TEST(Neuralint, AnswersWithoutATrainer) {
  const Tool* tool = find_tool("neuralint");
  ASSERT_NE(tool, nullptr);
  EXPECT_EQ(tool->needs, std::set<ToolNeed>{ToolNeed::kProgram});
  const Localisation ok = tool->localise(
      {"x", mlp(Json::array({dense(2, "relu"), dense(4, "softmax")}))}, LocaliseContext{});
  EXPECT_EQ(to_string(ok.faults), "LCN(0)");
  const Localisation none = tool->localise({"x", line()}, LocaliseContext{});
  EXPECT_EQ(none.status, LocalisationStatus::kNotApplicable);
  EXPECT_EQ(to_string(none.faults), "N/A");
}

}  // namespace
}  // namespace neutra::fl_adapters::neuralint
