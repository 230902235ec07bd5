#include <algorithm>
#include <cmath>

#include "graphs/numeric_context.h"

namespace neutra::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How many elements are reduced to one: the same twice where it is known. Sizes that are unknown
/// are 1 at least.
Interval terms_of(const Shape& shape, const std::optional<std::set<std::size_t>>& axes) {
  if (!shape || !axes) return {1, kInfinity};
  Interval terms{1, 1};
  for (const std::size_t axis : *axes) {
    const Dim& dim = (*shape)[axis];
    const auto size = static_cast<double>(dim.constant);
    terms = multiply(terms, dim.known() ? Interval{size, size} : Interval{1, kInfinity});
  }
  return terms;
}

bool keeps(const NumericContext& c) {
  return c.node().integer("keep_dims", c.node().integer("keepdims", 0)) != 0;
}

/// What a reduction knows of its operand.
struct Reduction {
  std::optional<std::set<std::size_t>> axes;
  Interval terms;
  bool over_blocks = false;  ///< the dimension that is cut is reduced
};

Reduction reduction_of(const NumericContext& c) {
  Reduction result;
  const Shape& shape = c.shape(0);
  if (shape) result.axes = c.axes(1, shape->size());
  result.terms = terms_of(shape, result.axes);
  if (shape && result.axes && c.in(0).parted() && c.in(0).back < shape->size())
    result.over_blocks = result.axes->contains(shape->size() - 1 - c.in(0).back);
  return result;
}

/// Sizes of the operand's blocks; empty where the last one is unknown.
std::vector<double> block_sizes(const NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  const Dim& all = (*c.shape(0))[c.shape(0)->size() - 1 - x.back];
  if (!all.known()) return {};
  std::vector<double> sizes;
  for (std::size_t i = 0; i < x.blocks.size(); ++i) {
    const std::int64_t begin = i == 0 ? 0 : x.cuts[i - 1];
    const std::int64_t end = i < x.cuts.size() ? x.cuts[i] : all.constant;
    sizes.push_back(static_cast<double>(std::max<std::int64_t>(0, end - begin)));
  }
  return sizes;
}

/// Tells the relations that the operand is at most the result, or the other way round.
void relate(NumericContext& c, const Reduction& reduction, AbstractTensor& result, bool above) {
  Relations* relations = c.relations();
  const Shape& shape = c.shape(0);
  if (!relations || !shape || !reduction.axes || !c.out_shape()) return;
  result.symbol = relations->fresh(result.whole());
  std::vector<Dim> kept = *shape;
  for (const std::size_t axis : *reduction.axes) kept[axis] = dim_of(1);
  std::vector<std::uint32_t> views;
  const bool all = reduction.axes->size() == shape->size();
  const bool leading =
      reduction.axes->empty() || *reduction.axes->rbegin() == reduction.axes->size() - 1;
  if (keeps(c)) {
    views.push_back(relations->broadcast(result.symbol, Shape(kept), shape));
  } else {
    // As NumPy broadcasts it, and with the dimensions of size 1 put back.
    if (all || leading) views.push_back(relations->broadcast(result.symbol, c.out_shape(), shape));
    views.push_back(relations->broadcast(
        relations->view(result.symbol, "reshape " + key_of(Shape(kept))), Shape(kept), shape));
  }
  const bool attained = c.node().op == "Max" || c.node().op == "Min";
  for (const std::uint32_t view : views) {
    const std::set<std::size_t> axes = attained ? *reduction.axes : std::set<std::size_t>{};
    if (above) {
      relations->set_at_most(c.in(0).symbol, view, axes);
    } else {
      relations->set_at_most(view, c.in(0).symbol, axes);
    }
  }
}

void sum(NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  const Reduction reduction = reduction_of(c);
  Interval total = sum_of(x.whole(), reduction.terms.lo, reduction.terms.hi, x.type);
  if (reduction.over_blocks) {
    const std::vector<double> sizes = block_sizes(c);
    double all = 0;
    for (const double size : sizes) all += size;
    if (all > 0 && !std::isinf(reduction.terms.hi)) {
      Interval blocks{0, 0};
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double terms = reduction.terms.hi / all * sizes[i];
        blocks = add(blocks, sum_of(x.blocks[i], terms, terms, x.type));
      }
      // A rounding for each block, of the largest value on the way.
      const double error =
          magnitude(blocks) * precision_of(x.type).epsilon * 4 * static_cast<double>(sizes.size());
      if (std::isfinite(error)) total = meet(total, rounded(add(blocks, {-error, error}), x.type));
    }
  }
  const bool positive = x.whole().lo >= 0;
  if (x.attained && reduction.axes && positive &&
      std::includes(reduction.axes->begin(), reduction.axes->end(), x.attained->axes.begin(),
                    x.attained->axes.end()))
    total = meet(total, {std::max(total.lo, x.attained->within.lo), total.hi});
  AbstractTensor result = tensor_within(total, x.type);
  if (positive) relate(c, reduction, result, true);
  c.out(std::move(result));
}

void mean(NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  const Interval terms = reduction_of(c).terms;
  const Precision precision = precision_of(x.type);
  const double units = std::isinf(terms.hi) ? 1e-3 / precision.epsilon
                                            : std::min(0.1 / precision.epsilon, terms.hi + 1);
  // The sum on the way may be too large for the type where the mean is not.
  const Interval total = sum_of(x.whole(), terms.lo, terms.hi, x.type);
  Interval result = loosened(x.whole(), x.type, units);
  if (total.hi > precision.largest && std::isinf(total.hi) && is_floating(x.type))
    result.hi = kInfinity;
  if (total.lo < -precision.largest && std::isinf(total.lo) && is_floating(x.type))
    result.lo = -kInfinity;
  c.out(tensor_within(result, x.type));
}

void extreme(NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  const bool most = c.node().op == "Max";
  const Reduction reduction = reduction_of(c);
  Interval bounds = x.whole();
  if (reduction.over_blocks && block_sizes(c).size() == x.blocks.size()) {
    bounds = x.blocks.front();
    for (const Interval& block : x.blocks)
      bounds = most ? maximum(bounds, block) : minimum(bounds, block);
  }
  AbstractTensor result = tensor_within(bounds, x.type);
  relate(c, reduction, result, most);
  c.out(std::move(result));
}

void product(NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  c.out(tensor_within(x.whole().lo >= 1   ? Interval{1, kInfinity}
                      : x.whole().lo >= 0 ? Interval{0, kInfinity}
                                          : Interval{},
                      x.type));
}

void half_of_squares(NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  std::set<std::size_t> all;
  if (c.shape(0))
    for (std::size_t i = 0; i < c.shape(0)->size(); ++i) all.insert(i);
  const Interval terms = terms_of(c.shape(0), c.shape(0) ? std::optional(all) : std::nullopt);
  const Interval squares = sum_of(square(x.whole()), terms.lo, terms.hi, x.type);
  Interval half = loosened(multiply(squares, {0.5, 0.5}), x.type, 2);
  half.lo = std::max(0.0, half.lo);
  c.out(tensor_within(half, x.type));
}

/// Sums of as many products as a dimension of the first input has elements.
void products(NumericContext& c) {
  const Shape& shape = c.shape(0);
  Interval terms{1, kInfinity};
  const bool turned = c.node().integer("transpose_a", c.node().integer("adj_x", 0)) != 0;
  if (shape && shape->size() >= 2) {
    const Dim& dim = (*shape)[shape->size() - (turned ? 2 : 1)];
    const auto size = static_cast<double>(dim.constant);
    if (dim.known()) terms = {size, size};
  }
  const ElementType type = c.in(0).type;
  const Interval one = loosened(multiply(c.in(0).whole(), c.in(1).whole()), type, 2);
  c.out(tensor_within(sum_of(one, terms.lo, terms.hi, type), type));
}

void convolution(NumericContext& c) {
  const Shape& kernel = c.shape(1);
  double terms = kInfinity;
  if (kernel && kernel->size() == 4 && (*kernel)[0].known() && (*kernel)[1].known() &&
      (*kernel)[2].known())
    terms = static_cast<double>((*kernel)[0].constant) *
            static_cast<double>((*kernel)[1].constant) * static_cast<double>((*kernel)[2].constant);
  const ElementType type = c.in(0).type;
  // Padding puts zeros in.
  const Interval one = hull({0, 0}, loosened(multiply(c.in(0).whole(), c.in(1).whole()), type, 2));
  c.out(tensor_within(sum_of(one, 0, terms, type), type));
}

void pool(NumericContext& c) { c.out(joined(c.in(0))); }

void average_pool(NumericContext& c) {
  c.out(tensor_within(loosened(c.in(0).whole(), c.in(0).type, 1024), c.in(0).type));
}

void bias(NumericContext& c) {
  const ElementType type = c.in(0).type;
  c.out(zipped(c.in(0), joined(c.in(1)),
               [&](const Interval& a, const Interval& b) { return rounded(add(a, b), type); }));
}

double classes_of(const Shape& shape) {
  if (!shape || shape->empty() || !shape->back().known()) return kInfinity;
  return static_cast<double>(shape->back().constant);
}

void softmax(NumericContext& c) {
  const Interval logits = c.in(0).whole();
  const double others = classes_of(c.shape(0)) - 1;
  Interval result{0, 1};
  const double spread = logits.hi - logits.lo;
  if (std::isfinite(spread) && std::isfinite(others) && others >= 0) {
    const Interval exact{1 / (1 + others * std::exp(spread)), 1 / (1 + others * std::exp(-spread))};
    result = meet(result, loosened(exact, c.in(0).type, 64));
  }
  AbstractTensor tensor = tensor_within(result, c.in(0).type);
  c.out(std::move(tensor));
}

void log_softmax(NumericContext& c) {
  const Interval logits = c.in(0).whole();
  const double others = classes_of(c.shape(0)) - 1;
  const double spread = logits.hi - logits.lo;
  Interval result{-kInfinity, 0};
  if (std::isfinite(spread) && std::isfinite(others) && others >= 0)
    result.lo = loosened({-spread - std::log1p(others) - 1e-3, 0}, c.in(0).type, 64).lo;
  c.out(tensor_within(result, c.in(0).type));
}

void cross_entropy(NumericContext& c) {
  const bool sparse = c.node().op.starts_with("Sparse");
  // Labels that are not negative make a loss that is not.
  const bool positive = sparse || c.in(1).whole().lo >= 0;
  c.out(tensor_within(positive ? Interval{0, kInfinity} : Interval{}, c.in(0).type));
  const Interval labels = sparse ? Interval{0, 1} : c.in(1).whole();
  c.out(tensor_within(rounded(subtract({0, 1}, labels), c.in(0).type), c.in(0).type));
}

void batch_normalisation(NumericContext& c) {
  const ElementType type = c.in(0).type;
  c.out(tensor_within({}, type));
  c.out(tensor_within({}, ElementType::kFloat));
  c.out(tensor_within({0, kInfinity}, ElementType::kFloat));
  for (int i = 0; i < 3; ++i) c.out(tensor_within({}, ElementType::kFloat));
}

}  // namespace

void add_numeric_reductions(NumericRules& rules) {
  rules["Sum"] = sum;
  rules["Mean"] = mean;
  rules["Max"] = extreme;
  rules["Min"] = extreme;
  rules["Prod"] = product;
  rules["L2Loss"] = half_of_squares;
  rules["EuclideanNorm"] = [](NumericContext& c) {
    c.out(tensor_within({0, kInfinity}, c.in(0).type));
  };
  for (const char* op : {"MatMul", "BatchMatMul", "BatchMatMulV2"}) rules[op] = products;
  for (const char* op : {"Conv2D", "DepthwiseConv2dNative"}) rules[op] = convolution;
  rules["MaxPool"] = pool;
  rules["AvgPool"] = average_pool;
  for (const char* op : {"BiasAdd", "BiasAddV1"}) rules[op] = bias;
  rules["Softmax"] = softmax;
  rules["LogSoftmax"] = log_softmax;
  rules["SoftmaxCrossEntropyWithLogits"] = cross_entropy;
  rules["SparseSoftmaxCrossEntropyWithLogits"] = cross_entropy;
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    rules[op] = batch_normalisation;
}

}  // namespace neutra::graphs
