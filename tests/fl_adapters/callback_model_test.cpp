#include "fl_adapters/callback_model.h"

#include <gtest/gtest.h>

#include "tests/training/programs.h"

namespace neutra::fl_adapters {

using namespace training;
namespace {

CallbackModel model(Json layers, ToolVariant variant = ToolVariant::kAsPublished) {
  return callback_model(program_of("moons", 2, std::move(layers), "categorical_crossentropy",
                                   "accuracy", optimizer("Adam", 0.001)),
                        variant);
}

Json named(Json layer, const std::string& name) {
  layer["config"]["name"] = name;
  return layer;
}

TEST(CallbackModel, NamesTellTheKind) {
  const Json layers = Json::array({layer("InputLayer", Json::object()), dense(4, "relu"),
                                   named(dense(4, "linear"), "hidden"),
                                   named(layer("Dropout", {{"rate", 0.1}}), "after_dense"),
                                   layer("Flatten", Json::object()), dense(2, "softmax")});
  const CallbackModel published = model(layers);
  ASSERT_EQ(published.layers.size(), 5u);
  EXPECT_EQ(published.layers[0].index, 1);
  EXPECT_EQ(published.layers[0].name, "dense_1");
  EXPECT_EQ(published.layers[4].name, "dense_2");
  EXPECT_EQ(published.layers[4].activation, "softmax");
  std::vector<bool> dense_ones, flat_ones;
  for (const auto& l : published.layers) {
    dense_ones.push_back(l.dense);
    flat_ones.push_back(l.flatten);
  }
  EXPECT_EQ(dense_ones, (std::vector<bool>{true, false, true, false, true}));
  EXPECT_EQ(flat_ones, (std::vector<bool>{false, false, false, true, false}));
  const CallbackModel repaired = model(layers, ToolVariant::kRepaired);
  EXPECT_TRUE(repaired.layers[1].dense);
  EXPECT_FALSE(repaired.layers[2].dense);
}

TEST(CallbackModel, GradientsAreTakenFromTheEnd) {
  const Json layers =
      Json::array({dense(4, "relu"), named(dense(4, "relu"), "hidden"), dense(2, "softmax")});
  using Sources = std::vector<std::optional<std::size_t>>;
  const std::vector<bool> all{true, true, true};
  // "hidden" isn't counted: the first layer gets its gradient.
  EXPECT_EQ(model(layers).gradient_sources(all), (Sources{1, {}, 2}));
  EXPECT_EQ(model(layers, ToolVariant::kRepaired).gradient_sources(all), (Sources{0, 1, 2}));
  const Json plain =
      Json::array({dense(4, "relu"), layer("Dropout", {{"rate", 0.1}}), dense(2, "relu")});
  EXPECT_EQ(model(plain).gradient_sources({true, false, true}), (Sources{0, {}, 2}));
}

TEST(CallbackModel, LayersAreToldByNumberAndName) {
  const Json layers =
      Json::array({dense(4, "relu"), named(dense(4, "relu"), "hidden"), dense(2, "softmax")});
  EXPECT_EQ(model(layers).told(1), "1, hidden");
  EXPECT_EQ(model(layers).told(2), "2, dense_2");
  EXPECT_EQ(model(layers).told(3), "3, behind the last layer");
  Json with_input = layers;
  with_input.insert(with_input.begin(), layer("InputLayer", Json::object()));
  EXPECT_EQ(model(with_input).told(1), "2, hidden (the tool's layer 1)");
  EXPECT_EQ(model(with_input).told(3), "4, behind the last layer (the tool's layer 3)");
  static const MessageTable table(
      R"({"format":"neutra-messages","version":1,"tool":"t","source":"s","thresholds":{},"messages":
         [{"code":"c","severity":"E","text":"Batch {batch} layer {layer}: x","actionability":
         "location","faults":[],"source":"s"}]})",
      "t.json");
  const ToolMessage message = callback_message(table, "c", 3, 5, model(with_input), 1);
  EXPECT_EQ(message.text, "Batch 5 layer 2, hidden (the tool's layer 1): x");
  EXPECT_EQ(message.layers, std::set<int>{2});
}

TEST(CallbackModel, WhatZerosAre) {
  CallbackModel published, repaired;
  repaired.repaired = true;
  EXPECT_TRUE(published.is_zero({0, false}));
  EXPECT_FALSE(repaired.is_zero({0, false}));
  EXPECT_TRUE(repaired.is_zero({0, true}));
  EXPECT_FALSE(published.is_zero({1e-30f, false}));
}

TEST(CallbackModel, MeansOfASoftmaxDoNotMove) {
  const Json softmax = layer("Activation", {{"activation", "softmax"}});
  for (const Json& layers : {Json::array({dense(4, "relu"), dense(2, "linear"), softmax}),
                             Json::array({dense(4, "relu"), dense(2, "softmax")})}) {
    const CallbackModel published = model(layers);
    const CallbackModel repaired = model(layers, ToolVariant::kRepaired);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      EXPECT_TRUE(published.should_move(i));
      EXPECT_EQ(repaired.should_move(i), i == 0);
    }
  }
}

TEST(CallbackModel, WeightsOtherThanKernelAndBias) {
  EXPECT_EQ(unpacking_error(0), "");
  EXPECT_EQ(unpacking_error(2), "");
  EXPECT_NE(unpacking_error(1).find("not enough values"), std::string::npos);
  EXPECT_NE(unpacking_error(4).find("too many values"), std::string::npos);
}

}  // namespace
}  // namespace neutra::fl_adapters
