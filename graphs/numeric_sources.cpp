#include <algorithm>
#include <cmath>

#include "graphs/numeric_context.h"

namespace neutra::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// TensorFlow draws normal numbers by Box and Muller's rule from uniform ones of 1e-7 at least, so
/// none is beyond sqrt(-2 * log(1e-7)) = 5.68.
constexpr double kLargestNormal = 6;

Interval bounds_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  Interval bounds{kInfinity, -kInfinity};
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isnan(values[i])) continue;
    bounds = {std::min(bounds.lo, values[i]), std::max(bounds.hi, values[i])};
  }
  return bounds.lo <= bounds.hi ? bounds : Interval{};
}

void constant(NumericContext& c) {
  const Attribute* value = c.node().find("value");
  if (!value || !value->tensor || value->tensor->values.empty())
    return c.out(
        tensor_within({}, value && value->tensor ? value->tensor->type : ElementType::kUnknown));
  const Tensor& tensor = *value->tensor;
  AbstractTensor result =
      tensor_within(bounds_of(tensor.values, 0, tensor.values.size()), tensor.type);
  // A short vector: a block for each run of equal numbers.
  if (c.partitions() && tensor.shape.size() == 1 && tensor.values.size() > 1 &&
      tensor.values.size() <= kMostBlocks) {
    result.blocks.clear();
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (i > 0 && tensor.values[i] == tensor.values[i - 1]) continue;
      if (i > 0) result.cuts.push_back(static_cast<std::int64_t>(i));
      result.blocks.push_back(bounds_of(tensor.values, i, i + 1));
    }
  }
  c.out(result);
}

/// What an element of the type can be where nothing else is said.
Interval any_of(ElementType type) {
  if (type == ElementType::kBool) return {0, 1};
  return {};
}

void placeholder(NumericContext& c) {
  const ElementType type = c.node().type("dtype");
  Interval bounds = any_of(type);
  const auto given = c.ranges().nodes.find(c.node().name);
  if (given != c.ranges().nodes.end()) {
    bounds = given->second;
  } else if (c.ranges().placeholders == Ranges::Default::kBounded) {
    bounds = meet(bounds, {-1, 1});
  }
  c.out(tensor_within(bounds, type));
}

void variable(NumericContext& c) {
  const ElementType type = c.node().type("dtype");
  Interval bounds = any_of(type);
  const auto given = c.ranges().nodes.find(c.node().name);
  const auto first = c.initial(c.number());
  if (given != c.ranges().nodes.end()) {
    bounds = given->second;
  } else if (c.ranges().variables == Ranges::Default::kBounded) {
    bounds = first ? hull(*first, {-1, 1}) : Interval{-1, 1};
  } else if (c.ranges().variables == Ranges::Default::kInitial && first) {
    bounds = *first;
  }
  c.out(tensor_within(bounds, type));
}

/// Uniform numbers have 24 bits and are below 1.
void uniform(NumericContext& c) { c.out(tensor_within({0, 1 - 0x1p-24}, c.node().type("dtype"))); }
void truncated(NumericContext& c) { c.out(tensor_within({-2, 2}, c.node().type("dtype"))); }
void normal(NumericContext& c) {
  c.out(tensor_within({-kLargestNormal, kLargestNormal}, c.node().type("dtype")));
}

void uniform_whole(NumericContext& c) {
  c.out(tensor_within(hull(c.in(1).whole(), c.in(2).whole()), ElementType::kInteger));
}

void fill(NumericContext& c) { c.out(joined(c.in(1))); }

void range(NumericContext& c) {
  c.out(tensor_within(hull(c.in(0).whole(), c.in(1).whole()), c.in(0).type));
}

NumericRule always(Interval interval, ElementType type) {
  return [=](NumericContext& c) { c.out(tensor_within(interval, type)); };
}

}  // namespace

void add_numeric_sources(NumericRules& rules) {
  rules["Const"] = constant;
  rules["Placeholder"] = placeholder;
  rules["PlaceholderV2"] = placeholder;
  rules["PlaceholderWithDefault"] = placeholder;
  for (const char* op : {"VariableV2", "Variable", "VarHandleOp"}) rules[op] = variable;
  // A handle has the bounds of its variable.
  rules["ReadVariableOp"] = [](NumericContext& c) {
    c.out(tensor_within(c.in(0).whole(), c.node().type("dtype")));
  };
  rules["RandomUniform"] = uniform;
  rules["StatelessRandomUniform"] = uniform;
  rules["TruncatedNormal"] = truncated;
  rules["StatelessTruncatedNormal"] = truncated;
  rules["RandomStandardNormal"] = normal;
  rules["StatelessRandomNormal"] = normal;
  rules["RandomUniformInt"] = uniform_whole;
  rules["Fill"] = fill;
  rules["Range"] = range;
  for (const char* op : {"Shape", "Size", "Rank", "ArgMax", "ArgMin", "BroadcastGradientArgs"})
    rules[op] = always({0, kInfinity}, ElementType::kInteger);
  for (const char* op : {"IsNan", "IsInf", "IsFinite", "InTopK", "InTopKV2", "All", "Any"})
    rules[op] = always({0, 1}, ElementType::kBool);
  rules["ShapeN"] = [](NumericContext& c) {
    for (std::size_t i = 0; i < c.inputs(); ++i)
      c.out(tensor_within({0, kInfinity}, ElementType::kInteger));
  };
  rules["ZerosLike"] = [](NumericContext& c) { c.out(tensor_within({0, 0}, c.in(0).type)); };
  rules["OnesLike"] = [](NumericContext& c) { c.out(tensor_within({1, 1}, c.in(0).type)); };
}

}  // namespace neutra::graphs
