#include "program/layer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "program/document.h"
#include "program/shapes.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::at;
using tests::sample;

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

TEST(Shapes, TwoBiasesAreRowsOfOne) {
  Json config{{"units", 3}, {"two_biases", true}};
  EXPECT_EQ(inferred("SimpleRNN", config, {4, 2}).weights,
            (std::vector<Shape>{{2, 3}, {3, 3}, {2, 3}}));
  EXPECT_THROW(inferred("LSTM", config, {4, 2}), Error);  // unit_forget_bias is true by default
  config["unit_forget_bias"] = false;
  EXPECT_EQ(inferred("LSTM", config, {4, 2}).weights,
            (std::vector<Shape>{{2, 12}, {3, 12}, {2, 12}}));
}

/// Two Dense layers on rows of 9; the second has the initialiser for its bias.
Program two_dense(int units, const Json& initializer) {
  Program program = sample("mlp");
  at(program, "/model/config/layers") = Json::array(
      {{{"class_name", "Dense"},
        {"config", {{"units", units}, {"batch_input_shape", {nullptr, 9}}}}},
       {{"class_name", "Dense"}, {"config", {{"units", 10}, {"bias_initializer", initializer}}}}});
  return program;
}

TEST(Shapes, FanInUniformFollowsTheKernel) {
  for (const int units : {4, 16}) {
    const ResolvedLayer layer = resolve(two_dense(units, "fan_in_uniform")).layers[1];
    const Json drawn = drawn_initializer(layer, layer.weights[1]);
    EXPECT_EQ(drawn.at("class_name"), "RandomUniform");
    EXPECT_DOUBLE_EQ(drawn.at("config").at("maxval").get<double>(), units == 4 ? 0.5 : 0.25);
    EXPECT_EQ(drawn_initializer(layer, layer.weights[0]).at("class_name"), "GlorotUniform");
  }
  const Json other{{"class_name", "FanInUniform"}, {"config", {{"of", "recurrent_kernel"}}}};
  EXPECT_THROW(resolve(two_dense(4, other)), Error);
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

ResolvedLayer layer(const std::string& class_name, Json config = Json::object()) {
  return {class_name, 0, std::move(config), {}, {}, {}};
}

TEST(Layers, AreSortedByNameAndSayWhatTheyDo) {
  EXPECT_TRUE(std::is_sorted(layers().begin(), layers().end(), [](const Layer* a, const Layer* b) {
    return std::lexicographical_compare(
        a->class_name.begin(), a->class_name.end(), b->class_name.begin(), b->class_name.end(),
        [](unsigned char x, unsigned char y) { return std::tolower(x) < std::tolower(y); });
  }));
  // The first kind is what a layer would be that says none.
  for (const Layer* type : layers()) {
    EXPECT_EQ(type->kind == LayerKind::kInput, type->class_name == "InputLayer")
        << type->class_name;
    EXPECT_EQ(find_layer(type->class_name), type);
  }
}

TEST(Layers, KindsGoWithWhatTheirConfigsHold) {
  for (const Layer* type : layers()) {
    const auto has = [&](const char* field) { return find_field(type->fields, field) != nullptr; };
    EXPECT_EQ(type->kind == LayerKind::kDropout, has("rate")) << type->class_name;
    EXPECT_EQ(type->kind == LayerKind::kConvolution, has("kernel_size")) << type->class_name;
    EXPECT_EQ(type->kind == LayerKind::kRecurrent, has("return_sequences")) << type->class_name;
    EXPECT_EQ(type->kind == LayerKind::kWrapper, has("layer")) << type->class_name;
    EXPECT_EQ(type->kind == LayerKind::kEmbedding, has("input_dim")) << type->class_name;
  }
}

TEST(Layers, OnlyLinearActivationsAndInputsAreIdentities) {
  EXPECT_TRUE(is_identity(layer("InputLayer")));
  EXPECT_TRUE(is_identity(layer("Activation", {{"activation", "linear"}})));
  EXPECT_FALSE(is_identity(layer("Activation", {{"activation", "relu"}})));
  EXPECT_FALSE(is_identity(layer("Dense", {{"activation", "linear"}})));
  EXPECT_FALSE(is_identity(layer("Softmax")));
}

TEST(Layers, LastActivationIsThatOfTheConfigOrTheLayer) {
  EXPECT_EQ(last_activation(layer("Dense", {{"activation", "tanh"}})), "tanh");
  EXPECT_EQ(last_activation(layer("Softmax")), "softmax");
  EXPECT_EQ(last_activation(layer("ReLU")), "");  // it has settings: not the function alone
  EXPECT_EQ(last_activation(layer("Flatten")), "");
}

}  // namespace
}  // namespace neutra::program
