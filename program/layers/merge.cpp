#include <algorithm>

#include "program/layers/fields.h"
#include "program/layers/merge.h"

/// Layers that make one value of several. Source: tf.keras 2.4 layers/merge.py.
namespace neutra::program {
namespace {

std::string shapes_text(const std::vector<Shape>& inputs) {
  std::string text;
  for (const Shape& input : inputs) text += (text.empty() ? "" : ", ") + to_string(input);
  return text;
}

/// Steps of the masked inputs are one after the other the same ones, or there is no mask.
std::optional<Refusal> refuse_steps(const std::vector<Shape>& inputs,
                                    const std::vector<bool>& masked) {
  std::optional<std::int64_t> steps;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!masked[i]) continue;
    if (steps && *steps != inputs[i].front()) {
      return Refusal{"", "masks over different numbers of steps: " + shapes_text(inputs),
                     "masked inputs of as many steps"};
    }
    steps = inputs[i].front();
  }
  return std::nullopt;
}

std::variant<Shape, Refusal> broadcast_inputs(const Json&, const std::vector<Shape>& inputs,
                                              const std::vector<bool>& masked) {
  Shape shape = inputs.front();
  for (const Shape& input : inputs) {
    const auto both = broadcast_shape(shape, input);
    if (!both) {
      return Refusal{"", "inputs of the shapes " + shapes_text(inputs),
                     "shapes whose extents, counted from the last, are equal or 1"};
    }
    shape = *both;
  }
  if (auto refusal = refuse_steps(inputs, masked)) return *refusal;
  return shape;
}

std::variant<Shape, Refusal> concatenated(const Json& config, const std::vector<Shape>& inputs,
                                          const std::vector<bool>& masked) {
  const std::size_t rank = inputs.front().size();
  const std::int64_t axis = config.at("axis");
  const auto extents = static_cast<std::int64_t>(rank);
  // Keras counts the batch as axis 0.
  if (axis == 0 || axis > extents || axis < -extents) {
    return Refusal{"axis", std::to_string(axis) + " of inputs " + to_string(inputs.front()),
                   "1 to " + std::to_string(extents) + ", or -1 to -" + std::to_string(extents) +
                       ", which count from the last axis"};
  }
  const std::size_t place = concatenation_axis(config, rank);
  Shape shape = inputs.front();
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    bool fits = inputs[k].size() == rank;
    for (std::size_t i = 0; fits && i < rank; ++i) {
      fits = i == place || inputs[k][i] == shape[i];
    }
    if (!fits) {
      return Refusal{"", "inputs of the shapes " + shapes_text(inputs),
                     "shapes that differ along axis " + std::to_string(axis) + " alone"};
    }
    shape[place] += inputs[k][place];
  }
  const auto count = std::count(masked.begin(), masked.end(), true);
  const bool all = count == static_cast<std::ptrdiff_t>(inputs.size());
  if (count > 0 && (rank != 2 || (place == 0 && !all))) {
    return Refusal{
        "",
        rank != 2 ? "masked inputs of the shapes " + shapes_text(inputs)
                  : "inputs of which some have a mask of steps, one after another",
        rank != 2 ? "(steps, features) where there is a mask" : "masks of all inputs, or of none"};
  }
  return shape;
}

Layer merge(const char* class_name, bool two_inputs) {
  return {.class_name = class_name,
          .kind = LayerKind::kMerge,
          .aliases = {},
          .fields = {},
          .merged_shape = broadcast_inputs,
          .two_inputs = two_inputs,
          .masks_output = keep_mask};
}

}  // namespace

std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  for (std::size_t i = 1; i <= shorter.size(); ++i) {
    std::int64_t& extent = shape[shape.size() - i];
    const std::int64_t other = shorter[shorter.size() - i];
    if (extent != other && extent != 1 && other != 1) return std::nullopt;
    if (extent == 1) extent = other;
  }
  return shape;
}

std::size_t concatenation_axis(const Json& config, std::size_t rank) {
  const std::int64_t axis = config.at("axis");
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis - 1);
}

namespace layer {

const Layer& add() {
  static const Layer layer = merge("Add", false);
  return layer;
}
const Layer& average() {
  static const Layer layer = merge("Average", false);
  return layer;
}
const Layer& concatenate() {
  static const Layer layer{
      .class_name = "Concatenate",
      .kind = LayerKind::kMerge,
      .aliases = {},
      .fields = {{.name = "axis", .type = FieldType::kInteger, .fallback = -1}},
      .merged_shape = concatenated,
      .masks_output = keep_mask};
  return layer;
}
const Layer& maximum() {
  static const Layer layer = merge("Maximum", false);
  return layer;
}
const Layer& minimum() {
  static const Layer layer = merge("Minimum", false);
  return layer;
}
const Layer& multiply() {
  static const Layer layer = merge("Multiply", false);
  return layer;
}
const Layer& subtract() {
  static const Layer layer = merge("Subtract", true);
  return layer;
}

}  // namespace layer
}  // namespace neutra::program
