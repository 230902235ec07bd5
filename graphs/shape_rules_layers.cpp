#include <algorithm>

#include "graphs/shape_context.h"

namespace neutra::graphs {
namespace {

std::vector<Dim> fresh_dims(ShapeContext& c, std::size_t rank) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(c.symbols().fresh());
  return dims;
}

void matmul(ShapeContext& c) {
  const bool turned_a = c.node().integer("transpose_a", 0) != 0;
  const bool turned_b = c.node().integer("transpose_b", 0) != 0;
  if (!c.has_rank(0, 2) || !c.has_rank(1, 2)) return c.out(fresh_dims(c, 2));
  std::vector<Dim> dims = fresh_dims(c, 2);
  if (c.in(0)) dims[0] = (*c.in(0))[turned_a ? 1 : 0];
  if (c.in(1)) dims[1] = (*c.in(1))[turned_b ? 0 : 1];
  if (c.in(0) && c.in(1))
    c.same(0, turned_a ? 0 : 1, 1, turned_b ? 1 : 0,
           "columns of the first matrix as many as rows of the second");
  c.out(dims);
}

void batch_matmul(ShapeContext& c) {
  const bool turned_a = c.node().integer("adj_x", 0) != 0;
  const bool turned_b = c.node().integer("adj_y", 0) != 0;
  if (!c.in(0) || !c.in(1)) return c.out(std::nullopt);
  const std::vector<Dim>&a = *c.in(0), &b = *c.in(1);
  if (a.size() < 2 || b.size() < 2) {
    c.fail("2 dimensions or more", {c.end(0), c.end(1)});
    return c.out(std::nullopt);
  }
  c.same(0, a.size() - (turned_a ? 2 : 1), 1, b.size() - (turned_b ? 1 : 2),
         "columns of the first matrices as many as rows of the second");
  Shape rows = c.broadcast(std::vector<Dim>(a.begin(), a.end() - 2), 0,
                           std::vector<Dim>(b.begin(), b.end() - 2), 1);
  rows->push_back(a[a.size() - (turned_a ? 1 : 2)]);
  rows->push_back(b[b.size() - (turned_b ? 2 : 1)]);
  c.out(rows);
}

/// What a window that moves over a dimension leaves of it.
Dim window(ShapeContext& c, const Dim& size, const Dim& kernel, std::int64_t stride,
           std::int64_t dilation) {
  if (stride <= 0) return c.symbols().fresh();
  if (c.node().text("padding", "VALID") == "SAME")
    return c.symbols().divide(size, dim_of(stride), true);
  if (c.node().text("padding", "VALID") != "VALID" || !kernel.known()) return c.symbols().fresh();
  const std::int64_t extent = (kernel.constant - 1) * dilation;
  return c.symbols().divide(c.symbols().subtract(size, dim_of(extent)), dim_of(stride), true);
}

struct ImageLayout {
  bool channels_first = false;
  std::size_t channel() const { return channels_first ? 1 : 3; }
  std::size_t row() const { return channels_first ? 2 : 1; }
};

ImageLayout layout_of(const ShapeContext& c) {
  return {c.node().text("data_format", "NHWC") == "NCHW"};
}

std::int64_t element_of(const std::vector<std::int64_t>& list, std::size_t place) {
  return place < list.size() ? list[place] : 1;
}

void convolution(ShapeContext& c) {
  const bool depthwise = c.node().op == "DepthwiseConv2dNative";
  if (!c.has_rank(0, 4) || !c.has_rank(1, 4) || !c.in(0) || !c.in(1))
    return c.out(fresh_dims(c, 4));
  const ImageLayout layout = layout_of(c);
  const std::vector<Dim>&x = *c.in(0), &kernel = *c.in(1);
  std::vector<Dim> dims(4);
  dims[0] = x[0];
  const Dim channels = x[layout.channel()];
  if (channels.known() && kernel[2].known() &&
      (depthwise ? !(channels == kernel[2])
                 : kernel[2].constant == 0 || channels.constant % kernel[2].constant != 0))
    c.fail("as many channels as the filter has",
           {c.end(0, layout.channel()), c.end(1, std::size_t{2})},
           {channels.constant, kernel[2].constant});
  dims[layout.channel()] = depthwise ? c.symbols().multiply(kernel[2], kernel[3]) : kernel[3];
  const auto strides = c.node().integers("strides"), dilations = c.node().integers("dilations");
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t axis = layout.row() + i;
    dims[axis] =
        window(c, x[axis], kernel[i], element_of(strides, axis), element_of(dilations, axis));
    if (dims[axis].known() && dims[axis].constant <= 0)
      c.fail("an image that is as large as the filter", {c.end(0, axis), c.end(1, i)},
             {x[axis].constant, kernel[i].constant});
  }
  c.out(dims);
}

void pool(ShapeContext& c) {
  if (!c.has_rank(0, 4) || !c.in(0)) return c.out(fresh_dims(c, 4));
  const auto sizes = c.node().integers("ksize"), strides = c.node().integers("strides");
  std::vector<Dim> dims = *c.in(0);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::int64_t size = element_of(sizes, axis), stride = element_of(strides, axis);
    if (size == 1 && stride == 1) continue;
    dims[axis] = window(c, dims[axis], dim_of(size), stride, 1);
    if (dims[axis].known() && dims[axis].constant <= 0)
      c.fail("an image that is as large as the window", {c.end(0, axis)},
             {(*c.in(0))[axis].constant, size});
  }
  c.out(dims);
}

void bias(ShapeContext& c) {
  if (!c.has_rank(1, 1) || !c.in(0)) return c.out(c.in(0));
  if (c.in(0)->empty()) {
    c.fail("2 dimensions or more", {c.end(0)});
    return c.out(c.in(0));
  }
  std::vector<Dim> dims = *c.in(0);
  const std::size_t axis =
      layout_of(c).channels_first ? std::min<std::size_t>(1, dims.size() - 1) : dims.size() - 1;
  if (c.in(1)) dims[axis] = c.same(0, axis, 1, 0, "a bias for each channel");
  c.out(dims);
}

void bias_gradient(ShapeContext& c) {
  if (!c.in(0) || c.in(0)->empty()) return c.out(std::vector<Dim>{c.symbols().fresh()});
  const std::size_t axis = layout_of(c).channels_first
                               ? std::min<std::size_t>(1, c.in(0)->size() - 1)
                               : c.in(0)->size() - 1;
  c.out(std::vector<Dim>{(*c.in(0))[axis]});
}

/// The gradient by a convolution's input or filter, whose sizes are an input.
void convolution_gradient(ShapeContext& c) {
  const auto& sizes = c.value(c.node().op.ends_with("Filter") ? 1 : 0);
  c.out(sizes ? Shape(*sizes) : Shape(fresh_dims(c, 4)));
}

void cross_entropy(ShapeContext& c) {
  const bool sparse = c.node().op.starts_with("Sparse");
  Shape logits = c.in(0);
  if (sparse) {
    if (logits && logits->size() == 2 && c.in(1) && c.in(1)->size() == 1)
      (*logits)[0] = c.same(0, 0, 1, 0, "a label for each row");
    if (c.in(1) && c.in(1)->size() != 1) c.has_rank(1, 1);
  } else {
    logits = c.broadcast(c.in(0), 0, c.in(1), 1);
  }
  if (logits && logits->size() != 2 && c.in(0) && c.in(0)->size() != 2) c.has_rank(0, 2);
  c.out(logits && !logits->empty() ? Shape(std::vector<Dim>{logits->front()})
                                   : Shape(fresh_dims(c, 1)));
  c.out(logits);
}

void batch_normalisation(ShapeContext& c) {
  c.out(c.in(0));
  Dim channels = c.symbols().fresh();
  if (c.in(0) && c.in(0)->size() == 4) channels = (*c.in(0))[layout_of(c).channel()];
  if (c.in(0) && c.in(0)->size() == 4 && c.in(1) && c.in(1)->size() == 1)
    channels = c.same(0, layout_of(c).channel(), 1, 0, "a scale for each channel");
  for (int i = 0; i < 4; ++i) c.out(std::vector<Dim>{channels});
}

}  // namespace

void add_layer_rules(ShapeRules& rules) {
  rules["MatMul"] = matmul;
  for (const char* op : {"BatchMatMul", "BatchMatMulV2"}) rules[op] = batch_matmul;
  for (const char* op : {"Conv2D", "DepthwiseConv2dNative"}) rules[op] = convolution;
  for (const char* op : {"MaxPool", "AvgPool"}) rules[op] = pool;
  for (const char* op : {"BiasAdd", "BiasAddV1"}) rules[op] = bias;
  rules["BiasAddGrad"] = bias_gradient;
  for (const char* op :
       {"Conv2DBackpropInput", "Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter", "AvgPoolGrad"})
    rules[op] = convolution_gradient;
  rules["MaxPoolGrad"] = [](ShapeContext& c) { c.out(c.in(0)); };
  for (const char* op : {"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
    rules[op] = cross_entropy;
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    rules[op] = batch_normalisation;
  rules["InTopK"] = [](ShapeContext& c) { c.out(c.in(1)); };
  rules["InTopKV2"] = [](ShapeContext& c) { c.out(c.in(1)); };
}

}  // namespace neutra::graphs
