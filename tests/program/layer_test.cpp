#include "program/layer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace neutra::program {
namespace {

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
