#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fl_adapters/neuralint/programs.h"

namespace neutra::fl_adapters::neuralint::tests {
namespace {

TEST(Neuralint, FaultlessPrograms) {
  EXPECT_EQ(said(mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}))), Lines{});
  EXPECT_EQ(said(cnn(Json::array({conv(8, 3), pool()}))), Lines{});
  EXPECT_EQ(repaired(cnn(Json::array({conv(8, 3), pool()}))), Lines{});
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

}  // namespace
}  // namespace neutra::fl_adapters::neuralint::tests
