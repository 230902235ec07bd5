#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fl_adapters/tools/neuralint/rules.h"
#include "tests/training/programs.h"

/// Programs for the rules, and what the tool says about them.
namespace neutra::fl_adapters::neuralint::tests {

using namespace training;

inline constexpr auto kPublished = ToolVariant::kAsPublished;
inline constexpr auto kRepaired = ToolVariant::kRepaired;
using Lines = std::vector<std::string>;

inline Json conv(int filters, int window, const std::string& activation = "relu",
                 Json more = Json::object()) {
  Json config = {{"filters", filters}, {"kernel_size", window}, {"activation", activation}};
  config.update(more);
  return layer("Conv2D", std::move(config));
}
inline Json pool(const std::string& kind = "Max") {
  return layer(kind + "Pooling2D", {{"pool_size", 2}});
}
inline Json flatten() { return layer("Flatten", Json::object()); }
inline Json dropout() { return layer("Dropout", {{"rate", 0.5}}); }
inline Json batchnorm() { return layer("BatchNormalization", Json::object()); }
inline Json activation(const std::string& name) {
  return layer("Activation", {{"activation", name}});
}
inline Json no_bias() { return {{"use_bias", false}}; }

/// A layer whose activation isn't written down.
inline Json open(Json one) {
  one["config"].erase("activation");
  return one;
}

inline program::Program model(Json layers, const std::string& loss, Json row) {
  program::Program p =
      program_of("moons", 2, std::move(layers), loss, "accuracy", optimizer("Adam", 0.001));
  Json shape = Json::array({nullptr});
  for (const Json& extent : row) shape.push_back(extent);
  p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = shape;
  return p;
}
/// A classifier of rows of two features.
inline program::Program mlp(Json layers, const std::string& loss = "categorical_crossentropy") {
  return model(std::move(layers), loss, {2});
}
/// A classifier of images: `layers` before a flatten and a softmax over ten classes.
inline program::Program cnn(Json layers, int side = 28) {
  layers.push_back(flatten());
  layers.push_back(dense(10, "softmax"));
  return model(std::move(layers), "categorical_crossentropy", {side, side, 1});
}

/// "code(layers) -> answer" of each message.
inline Lines said(const program::Program& program, ToolVariant variant = kPublished) {
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
inline Lines repaired(const program::Program& program) { return said(program, kRepaired); }

inline std::set<std::string> codes_of(const program::Program& program, ToolVariant variant) {
  std::set<std::string> codes;
  for (const ToolMessage& message : check_program(program, variant)) codes.insert(message.code);
  return codes;
}

/// A deep network: `blocks` times a convolution and a pooling.
inline Json deep(int blocks, const std::string& kind = "Max") {
  Json layers = Json::array();
  for (int i = 0; i < blocks; ++i) {
    layers.push_back(conv(8, 3, "relu", {{"padding", "same"}}));
    layers.push_back(pool(kind));
  }
  return layers;
}

/// One less than a deep network has: two convolutions before the first of four poolings.
inline Json nine(const std::string& kind = "Max") {
  Json layers = deep(4, kind);
  layers.insert(layers.begin(), conv(8, 3, "relu", {{"padding", "same"}}));
  return layers;
}

}  // namespace neutra::fl_adapters::neuralint::tests
