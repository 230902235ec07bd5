#include <dnnl.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "training/fused/images.h"
#include "training/fused/layers/registry.h"
#include "training/fused/winograd.h"

namespace neutra::training::fused {
namespace {

using dnnl::memory;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;

const dnnl::engine& processor() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

/// A convolution as oneDNN sees it: images (rows, channels, height, width), kernel (groups, filters
/// of a group, channels of a group, height, width), without groups where there is one.
struct Geometry {
  std::int64_t channels, filters, groups;
  Windows windows;
  bool bias;

  explicit Geometry(const program::ResolvedLayer& layer)  // a Conv2D
      : channels(layer.input_shape[2]),
        filters(layer.output_shape[2]),
        groups(layer.config.at("groups")),
        windows(sliding_windows(layer, "kernel_size")),
        bias(layer.weights.size() > 1) {}

  memory::desc x(std::size_t rows) const {
    return {{static_cast<std::int64_t>(rows), channels, windows.height.input, windows.width.input},
            memory::data_type::f32,
            memory::format_tag::nhwc};
  }
  memory::desc y(std::size_t rows) const {
    return {{static_cast<std::int64_t>(rows), filters, windows.height.output, windows.width.output},
            memory::data_type::f32,
            memory::format_tag::nhwc};
  }
  /// In the order that oneDNN chooses, and in Keras's: (height, width, channels, filters), the
  /// groups side by side.
  memory::desc any_kernel() const {
    return {kernel_extents(), memory::data_type::f32, memory::format_tag::any};
  }
  memory::desc keras_kernel() const {
    const std::int64_t cell = channels / groups * filters;
    Dims strides{1, filters, windows.width.window * cell, cell};
    if (groups > 1) strides.insert(strides.begin(), filters / groups);
    return {kernel_extents(), memory::data_type::f32, strides};
  }
  memory::desc bias_vector() const {
    return {{filters}, memory::data_type::f32, memory::format_tag::x};
  }

  Dims strides() const { return {windows.height.stride, windows.width.stride}; }
  Dims dilation() const {  // oneDNN counts the cells left out
    return {windows.height.dilation - 1, windows.width.dilation - 1};
  }
  Dims before() const { return {windows.height.before, windows.width.before}; }
  Dims after() const { return {windows.height.after, windows.width.after}; }

 private:
  Dims kernel_extents() const {
    Dims extents{filters / groups, channels / groups, windows.height.window, windows.width.window};
    if (groups > 1) extents.insert(extents.begin(), groups);
    return extents;
  }
};

/// What oneDNN would run for batches of that many rows. Not compiled yet.
struct Descriptions {
  std::optional<dnnl::convolution_forward::primitive_desc> forward;
  std::optional<dnnl::convolution_backward_weights::primitive_desc> weights;
  std::optional<dnnl::convolution_backward_data::primitive_desc> data;

  Descriptions(const Geometry& g, std::size_t rows, bool for_weights, bool for_data) {
    constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
    const memory::desc x = g.x(rows), y = g.y(rows), kernel = g.any_kernel();
    const memory::desc bias = g.bias ? g.bias_vector() : memory::desc();
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    forward.emplace(
        dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, kAlgorithm, x, kernel,
                                        bias, y, g.strides(), g.dilation(), g.before(), g.after()),
        attributes, processor());
    if (for_weights) {
      weights.emplace(
          dnnl::convolution_backward_weights::desc(kAlgorithm, x, kernel, bias, y, g.strides(),
                                                   g.dilation(), g.before(), g.after()),
          attributes, processor(), *forward);
    }
    if (for_data) {
      data.emplace(dnnl::convolution_backward_data::desc(kAlgorithm, x, kernel, y, g.strides(),
                                                         g.dilation(), g.before(), g.after()),
                   attributes, processor(), *forward);
    }
  }

  /// Floats for the kernel in oneDNN's order, and for oneDNN's intermediate results.
  std::size_t kernel_size() const {
    std::size_t bytes = forward->weights_desc().get_size();
    if (weights) bytes = std::max(bytes, weights->diff_weights_desc().get_size());
    if (data) bytes = std::max(bytes, data->weights_desc().get_size());
    return whole_lines((bytes + sizeof(float) - 1) / sizeof(float));
  }
  std::size_t scratch_size() const {
    std::size_t bytes = forward->scratchpad_desc().get_size();
    if (weights) bytes = std::max(bytes, weights->scratchpad_desc().get_size());
    if (data) bytes = std::max(bytes, data->scratchpad_desc().get_size());
    return whole_lines((bytes + sizeof(float) - 1) / sizeof(float));
  }
  std::size_t memory_size() const { return kernel_size() + scratch_size(); }
};

memory at(const memory::desc& description, float* values) {
  return {description, processor(), values};
}

/// A compiled primitive with its memory.
struct Call {
  dnnl::primitive primitive;
  Arguments arguments;
  void operator()(dnnl::stream& stream) const { primitive.execute(stream, arguments); }
};

Call copy(const memory& from, const memory& to) {
  return {dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

/// A convolution by primitives of oneDNN.
class PrimitiveStep : public Step {
 public:
  PrimitiveStep(const Geometry& geometry, const Tensor& x, const Tensor& y, Parameter kernel,
                Parameter bias, bool trainable, std::shared_ptr<const Scratch> scratch)
      : geometry_(geometry),
        x_(x),
        y_(y),
        kernel_(kernel),
        bias_(bias),
        trainable_(trainable),
        scratch_(std::move(scratch)) {}

  void forward(const Pass& pass) override {
    for (const Call& call : calls_for(pass).forward) call(stream_);
  }
  void backward(const Pass& pass) override {
    for (const Call& call : calls_for(pass).backward) call(stream_);
  }

 protected:
  /// The primitives for batches of one size.
  struct Calls {
    std::vector<Call> forward, backward;
    Buffer own;  ///< in place of the shared memory where oneDNN wants more for this size
  };
  virtual Calls make(std::size_t rows, bool training) const = 0;

  /// Where oneDNN's kernel and its other memory lie.
  std::pair<float*, float*> memory_of(const Descriptions& d, Calls& calls) const {
    float* kernel = scratch_->data;
    if (d.memory_size() > scratch_->size) {
      calls.own = Buffer(d.memory_size());
      kernel = calls.own.data();
    }
    return {kernel, kernel + d.kernel_size()};
  }

  Geometry geometry_;
  Tensor x_, y_;
  Parameter kernel_, bias_;
  bool trainable_;

 private:
  /// Compiles them when a batch of that size comes for the first time: the training batch, a
  /// partial last one, the chunk that evaluations take and their last one.
  const Calls& calls_for(const Pass& pass) {
    const std::size_t rows = pass.lanes.rows;
    Calls& calls = calls_[rows];
    const bool has_backward = trainable_ || x_.needs_gradient;
    if (calls.forward.empty() || (pass.training && calls.backward.empty() && has_backward)) {
      calls = make(rows, pass.training);
    }
    return calls;
  }

  std::shared_ptr<const Scratch> scratch_;
  dnnl::stream stream_{processor()};
  std::map<std::size_t, Calls> calls_;
};

/// y = x * kernel + bias.
class Convolution final : public PrimitiveStep {
 public:
  using PrimitiveStep::PrimitiveStep;

 private:
  Calls make(std::size_t rows, bool training) const override {
    const Descriptions d(geometry_, rows, training && trainable_, training && x_.needs_gradient);
    Calls calls;
    const auto [kernel, scratch] = memory_of(d, calls);
    const memory keras = at(geometry_.keras_kernel(), kernel_.values);
    const memory x = at(geometry_.x(rows), x_.values);
    const memory y = at(geometry_.y(rows), y_.values);

    const memory forward_kernel = at(d.forward->weights_desc(), kernel);
    calls.forward.push_back(copy(keras, forward_kernel));
    Arguments arguments{{DNNL_ARG_SRC, x},
                        {DNNL_ARG_WEIGHTS, forward_kernel},
                        {DNNL_ARG_DST, y},
                        {DNNL_ARG_SCRATCHPAD, at(d.forward->scratchpad_desc(), scratch)}};
    if (geometry_.bias) arguments[DNNL_ARG_BIAS] = at(geometry_.bias_vector(), bias_.values);
    calls.forward.push_back({dnnl::convolution_forward(*d.forward), std::move(arguments)});
    if (!training) return calls;

    const memory dy = at(geometry_.y(rows), y_.gradient);
    if (d.weights) {
      const memory gradient = at(d.weights->diff_weights_desc(), kernel);
      arguments = {{DNNL_ARG_SRC, x},
                   {DNNL_ARG_DIFF_DST, dy},
                   {DNNL_ARG_DIFF_WEIGHTS, gradient},
                   {DNNL_ARG_SCRATCHPAD, at(d.weights->scratchpad_desc(), scratch)}};
      if (geometry_.bias) {
        arguments[DNNL_ARG_DIFF_BIAS] = at(geometry_.bias_vector(), bias_.gradient);
      }
      calls.backward.push_back(
          {dnnl::convolution_backward_weights(*d.weights), std::move(arguments)});
      calls.backward.push_back(copy(gradient, at(geometry_.keras_kernel(), kernel_.gradient)));
    }
    if (d.data) {
      const memory data_kernel = at(d.data->weights_desc(), kernel);
      calls.backward.push_back(copy(keras, data_kernel));
      arguments = {{DNNL_ARG_DIFF_SRC, at(geometry_.x(rows), x_.gradient)},
                   {DNNL_ARG_WEIGHTS, data_kernel},
                   {DNNL_ARG_DIFF_DST, dy},
                   {DNNL_ARG_SCRATCHPAD, at(d.data->scratchpad_desc(), scratch)}};
      calls.backward.push_back({dnnl::convolution_backward_data(*d.data), std::move(arguments)});
    }
    return calls;
  }
};

/// What a convolution over the output would give its input as gradient, and a bias: that one's
/// passes, the other way round.
class TransposedConvolution final : public PrimitiveStep {
 public:
  /// `turned`: of the convolution over the output.
  TransposedConvolution(const Geometry& turned, const Tensor& x, const Tensor& y, Parameter kernel,
                        Parameter bias, bool trainable, std::shared_ptr<const Scratch> scratch)
      : PrimitiveStep(turned, x, y, kernel, bias, trainable, std::move(scratch)),
        sums_(static_cast<std::size_t>(turned.channels)) {}

  void forward(const Pass& pass) override {
    PrimitiveStep::forward(pass);
    if (bias_.values == nullptr) return;
    for (float *y = y_.values, *end = y + pass.lanes.rows * y_.features; y < end;) {
      for (std::size_t c = 0; c < sums_.size(); ++c) *y++ += bias_.values[c];
    }
  }
  void backward(const Pass& pass) override {
    if (!y_.needs_gradient) return;
    PrimitiveStep::backward(pass);
    if (bias_.gradient == nullptr) return;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (const float *dy = y_.gradient, *end = dy + pass.lanes.rows * y_.features; dy < end;) {
      for (double& sum : sums_) sum += *dy++;
    }
    std::transform(sums_.begin(), sums_.end(), bias_.gradient,
                   [](double sum) { return static_cast<float>(sum); });
  }

 private:
  Calls make(std::size_t rows, bool training) const override {
    const Descriptions d(geometry_, rows, training && trainable_, true);
    Calls calls;
    const auto [kernel, scratch] = memory_of(d, calls);
    const memory keras = at(geometry_.keras_kernel(), kernel_.values);
    const memory x = at(geometry_.y(rows), x_.values);
    const memory data_kernel = at(d.data->weights_desc(), kernel);
    calls.forward.push_back(copy(keras, data_kernel));
    calls.forward.push_back({dnnl::convolution_backward_data(*d.data),
                             {{DNNL_ARG_DIFF_SRC, at(geometry_.x(rows), y_.values)},
                              {DNNL_ARG_WEIGHTS, data_kernel},
                              {DNNL_ARG_DIFF_DST, x},
                              {DNNL_ARG_SCRATCHPAD, at(d.data->scratchpad_desc(), scratch)}}});
    if (!training) return calls;

    const memory dy = at(geometry_.x(rows), y_.gradient);
    if (d.weights) {
      const memory gradient = at(d.weights->diff_weights_desc(), kernel);
      calls.backward.push_back(
          {dnnl::convolution_backward_weights(*d.weights),
           {{DNNL_ARG_SRC, dy},
            {DNNL_ARG_DIFF_DST, x},
            {DNNL_ARG_DIFF_WEIGHTS, gradient},
            {DNNL_ARG_SCRATCHPAD, at(d.weights->scratchpad_desc(), scratch)}}});
      calls.backward.push_back(copy(gradient, at(geometry_.keras_kernel(), kernel_.gradient)));
    }
    if (x_.needs_gradient) {
      const memory forward_kernel = at(d.forward->weights_desc(), kernel);
      calls.backward.push_back(copy(keras, forward_kernel));
      calls.backward.push_back(
          {dnnl::convolution_forward(*d.forward),
           {{DNNL_ARG_SRC, dy},
            {DNNL_ARG_WEIGHTS, forward_kernel},
            {DNNL_ARG_DST, at(geometry_.y(rows), x_.gradient)},
            {DNNL_ARG_SCRATCHPAD, at(d.forward->scratchpad_desc(), scratch)}}});
    }
    return calls;
  }

  std::vector<double> sums_;  ///< of the bias's gradient
};

/// y = x * kernel + bias by Winograd's algorithm, for kernels of 3 x 3 that move cell by cell. A
/// range of tiles at a time goes through all of it, so that it stays in the caches. So does a max
/// pooling behind it, some images at a time: what lies between the two never leaves them.
class WinogradConvolution final : public Step {
 public:
  WinogradConvolution(const Geometry& geometry, const Tensor& x, const Tensor& y, Parameter kernel,
                      Parameter bias, bool trainable, Builder& builder)
      : tiling_(geometry.windows),
        channels_(static_cast<std::size_t>(geometry.channels)),
        filters_(static_cast<std::size_t>(geometry.filters)),
        x_(x),
        y_(y),
        kernel_(kernel),
        bias_(bias),
        trainable_(trainable) {
    constexpr std::size_t kFloats = std::size_t{1} << 19;  // of transformed tiles: the cache's size
    constexpr std::size_t kLeast = 24;
    range_ = std::max(kLeast, kFloats / winograd::kPoints / (channels_ + filters_));
    range_ = std::min(range_, tiling_.tiles() * builder.capacity());
    const std::size_t kernels = winograd::kPoints * size();
    scratch_ =
        builder.scratch(3 * kernels + size() + 2 * whole_lines(filters_) + 2 * whole_lines(range_) +
                        winograd::kPoints * range_ * (channels_ + filters_));
  }

  /// Does it take at most half the multiplications? Vectors go over channels.
  static bool suits(const Geometry& g, bool for_data) {
    const WindowAxis &h = g.windows.height, &w = g.windows.width;
    const auto plain = [](const WindowAxis& axis) {
      return axis.window == 3 && axis.stride == 1 && axis.dilation == 1;
    };
    const auto lanes = static_cast<std::int64_t>(std::max<std::size_t>(8, kernels().width));
    if (!plain(h) || !plain(w) || g.groups != 1 || g.channels % 8 != 0 || g.filters % lanes != 0 ||
        (for_data && g.channels % lanes != 0)) {
      return false;
    }
    const auto tiles = static_cast<std::int64_t>(winograd::Tiling(g.windows).tiles());
    return 2 * static_cast<std::int64_t>(winograd::kPoints) * tiles <= 9 * h.output * w.output;
  }

  bool take_over(const MaxPooling& pooling) override {
    pooling_ = std::make_unique<MaxPooling>(pooling);
    return true;
  }

  void forward(const Pass& pass) override {
    const Memory m = memory();
    winograd::kernels(size(), kernel_.values, m.kernel);
    for_images(pass, [&](std::size_t first, std::size_t count) {
      const float* x = x_.values + first * x_.features;
      const std::size_t at = pass.keeps_values || !pooling_ ? first : 0;
      float* y = y_.values + at * y_.features;
      for_ranges(count, [&](winograd::Range range) {
        winograd::inputs(tiling_, range, channels_, x, m.inputs, m.occupied);
        for (std::size_t p = 0; p < winograd::kPoints; ++p) {
          table_.product(range.count, channels_, m.inputs + p * range.count * channels_, channels_,
                         1, nullptr, m.kernel + p * size(), m.outputs + p * range.count * filters_,
                         {filters_, filters_});
        }
        winograd::outputs(tiling_, range, filters_, m.outputs, bias_.values, m.occupied, y);
      });
      if (pooling_) pooling_->forward(first, at, count, pass.training);
    });
  }

  void backward(const Pass& pass) override {
    if (!trainable_ && !x_.needs_gradient) return;
    const Memory m = memory();
    std::fill_n(m.sums, filters_, 0.0);
    if (trainable_) std::fill_n(m.gradient, winograd::kPoints * size(), 0.0f);
    if (x_.needs_gradient) {
      winograd::kernels(size(), kernel_.values, m.gathered);
      transpose(m.gathered, m.kernel);
      std::fill_n(x_.gradient, pass.lanes.rows * x_.features, 0.0f);
    }
    for_images(pass, [&](std::size_t first, std::size_t count) {
      if (pooling_) pooling_->backward(first, 0, count);
      const float* dy = y_.gradient + (pooling_ ? 0 : first * y_.features);
      for_ranges(count, [&](winograd::Range range) {
        winograd::output_gradients(tiling_, range, filters_, dy, m.outputs, m.sums);
        if (trainable_) add_kernel_gradient(range, x_.values + first * x_.features, m);
        if (x_.needs_gradient) {
          for (std::size_t p = 0; p < winograd::kPoints; ++p) {
            table_.product(range.count, filters_, m.outputs + p * range.count * filters_, filters_,
                           1, nullptr, m.kernel + p * size(),
                           m.inputs + p * range.count * channels_, {channels_, channels_});
          }
          winograd::input_gradients(tiling_, range, channels_, m.inputs,
                                    x_.gradient + first * x_.features);
        }
      });
    });
    if (!trainable_) return;
    winograd::kernel_gradients(size(), m.gradient, kernel_.gradient);
    for (std::size_t f = 0; bias_.gradient && f < filters_; ++f) {
      bias_.gradient[f] = static_cast<float>(m.sums[f]);
    }
  }

 private:
  /// Parts of the shared memory.
  struct Memory {
    float *kernel, *gathered, *gradient, *product, *inputs, *outputs;
    double* sums;
    std::uint64_t* occupied;
  };
  Memory memory() const {
    const std::size_t kernels = winograd::kPoints * size();
    Memory m;
    m.sums = reinterpret_cast<double*>(scratch_->data);
    m.occupied = reinterpret_cast<std::uint64_t*>(m.sums + whole_lines(filters_));
    m.kernel = scratch_->data + 2 * whole_lines(filters_) + 2 * whole_lines(range_);
    m.gathered = m.kernel + kernels;
    m.gradient = m.gathered + kernels;
    m.product = m.gradient + kernels;
    m.inputs = m.product + size();
    m.outputs = m.inputs + winograd::kPoints * range_ * channels_;
    return m;
  }
  std::size_t size() const { return channels_ * filters_; }

  /// Calls visit(first, count) for the images that go through all of it together: with a pooling
  /// those of a range, else all.
  template <typename Visit>
  void for_images(const Pass& pass, Visit visit) const {
    const std::size_t rows = pass.lanes.rows;
    const std::size_t most = pooling_ ? std::max<std::size_t>(1, range_ / tiling_.tiles())
                                      : std::max<std::size_t>(1, rows);
    for (std::size_t first = 0; first < rows; first += most) {
      visit(first, std::min(most, rows - first));
    }
  }
  /// Calls visit(range) for the tiles of so many images.
  template <typename Visit>
  void for_ranges(std::size_t images, Visit visit) const {
    const std::size_t tiles = tiling_.tiles() * images;
    for (std::size_t first = 0; first < tiles; first += range_) {
      visit(winograd::Range{first, std::min(range_, tiles - first)});
    }
  }

  /// (points, channels, filters) to (points, filters, channels).
  void transpose(const float* from, float* to) const {
    for (std::size_t p = 0; p < winograd::kPoints; ++p, from += size(), to += size()) {
      for (std::size_t c = 0; c < channels_; ++c) {
        for (std::size_t f = 0; f < filters_; ++f) to[f * channels_ + c] = from[c * filters_ + f];
      }
    }
  }

  void add_kernel_gradient(winograd::Range range, const float* x, const Memory& m) const {
    winograd::inputs(tiling_, range, channels_, x, m.inputs, nullptr);
    for (std::size_t p = 0; p < winograd::kPoints; ++p) {
      table_.product(channels_, range.count, m.inputs + p * range.count * channels_, 1, channels_,
                     nullptr, m.outputs + p * range.count * filters_, m.product,
                     {filters_, filters_});
      float* to = m.gradient + p * size();
      for (std::size_t i = 0; i < size(); ++i) to[i] += m.product[i];
    }
  }

  winograd::Tiling tiling_;
  std::size_t channels_, filters_, range_ = 0;
  Tensor x_, y_;
  Parameter kernel_, bias_;
  bool trainable_;
  std::shared_ptr<const Scratch> scratch_;
  std::unique_ptr<const MaxPooling> pooling_;
  const KernelTable<float>& table_ = fused::kernels();
};

/// Every stride-th cell of each axis.
class Thinning final : public Step {
 public:
  Thinning(const Windows& windows, const Tensor& x, const Tensor& y)
      : windows_(windows), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    for_cells(pass, [this](std::size_t from, std::size_t to, std::size_t channels) {
      std::copy_n(x_.values + from, channels, y_.values + to);
    });
  }
  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    std::fill_n(x_.gradient, pass.lanes.rows * x_.features, 0.0f);
    for_cells(pass, [this](std::size_t from, std::size_t to, std::size_t channels) {
      std::copy_n(y_.gradient + to, channels, x_.gradient + from);
    });
  }

 private:
  template <typename Visit>
  void for_cells(const Pass& pass, Visit visit) const {
    const WindowAxis &height = windows_.height, &width = windows_.width;
    const auto channels = static_cast<std::size_t>(x_.shape[2]);
    std::size_t to = 0;
    for (std::size_t row = 0; row < pass.lanes.rows; ++row) {
      for (std::int64_t i = 0; i < height.output; ++i) {
        for (std::int64_t j = 0; j < width.output; ++j, to += channels) {
          const std::int64_t cell = i * height.stride * width.input + j * width.stride;
          visit(row * x_.features + static_cast<std::size_t>(cell) * channels, to, channels);
        }
      }
    }
  }

  Windows windows_;
  Tensor x_, y_;
};

/// oneDNN 2.6 writes past its memory where windows of one cell go through images of this order by
/// strides. So the cells between are taken out beforehand.
void thin(Builder& builder, Windows& windows) {
  WindowAxis &h = windows.height, &w = windows.width;
  if (h.window != 1 || w.window != 1 || (h.stride == 1 && w.stride == 1)) return;
  const Tensor x = builder.current();
  const Tensor y =
      builder.tensor({h.output, w.output, x.shape[2]}, Layout::kRows, x.needs_gradient);
  builder.add(std::make_unique<Thinning>(windows, x, y));
  builder.set_current(y);
  h = {h.output, h.output};
  w = {w.output, w.output};
}

Parameter bias_of(const Builder& builder, const program::ResolvedLayer& layer, std::size_t k) {
  return layer.weights.size() > k ? builder.parameter(k) : Parameter{};
}

}  // namespace

/// activation(x * kernel + bias). Source: tf.keras 2.4 layers/convolutional.py.
void add_convolution(Builder& builder, const program::ResolvedLayer& layer, Parameter kernel,
                     Parameter bias) {
  Geometry geometry(layer);
  to_images(builder);
  thin(builder, geometry.windows);
  const Tensor x = builder.current();
  const bool trainable = builder.has_trainable();
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient || trainable);
  if (WinogradConvolution::suits(geometry, x.needs_gradient)) {
    builder.add(
        std::make_unique<WinogradConvolution>(geometry, x, y, kernel, bias, trainable, builder));
  } else {
    try {
      const Descriptions training(geometry, builder.batch(), trainable, x.needs_gradient);
      const Descriptions evaluation(geometry, builder.capacity(), false, false);
      const auto scratch =
          builder.scratch(std::max(training.memory_size(), evaluation.memory_size()));
      builder.add(std::make_unique<Convolution>(geometry, x, y, kernel, bias, trainable, scratch));
    } catch (const dnnl::error& error) {
      throw NotCovered{std::string("a convolution that oneDNN refuses: ") + error.what()};
    }
  }
  builder.set_current(y);
  add_activation(builder, named_activation(layer.config.at("activation")), true);
}

void layers::conv_1d(Builder& builder, const program::ResolvedLayer& layer) {
  over_sequences(builder, layer, conv_2d);
}
void layers::conv_2d(Builder& builder, const program::ResolvedLayer& layer) {
  add_convolution(builder, layer, builder.parameter(0), bias_of(builder, layer, 1));
}
void layers::conv_2d_transpose(Builder& builder, const program::ResolvedLayer& layer) {
  program::ResolvedLayer turned = layer;  // the convolution over the output, without a bias
  std::swap(turned.input_shape, turned.output_shape);
  turned.weights.resize(1);
  const Geometry geometry(turned);
  const WindowAxis &h = geometry.windows.height, &w = geometry.windows.width;
  if (h.window == 1 && w.window == 1 && (h.stride > 1 || w.stride > 1)) {
    throw NotCovered{"a transposed convolution of single cells with strides"};  // see thin()
  }
  const Tensor x = to_images(builder);
  const bool trainable = builder.has_trainable();
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient || trainable);
  try {
    const Descriptions training(geometry, builder.batch(), trainable, true);
    const Descriptions evaluation(geometry, builder.capacity(), false, true);
    const auto scratch =
        builder.scratch(std::max(training.memory_size(), evaluation.memory_size()));
    builder.add(std::make_unique<TransposedConvolution>(
        geometry, x, y, builder.parameter(0), bias_of(builder, layer, 1), trainable, scratch));
  } catch (const dnnl::error& error) {
    throw NotCovered{std::string("a convolution that oneDNN refuses: ") + error.what()};
  }
  builder.set_current(y);
  add_activation(builder, named_activation(layer.config.at("activation")), true);
}
void layers::depthwise_conv_2d(Builder& builder, const program::ResolvedLayer& layer) {
  conv_2d(builder, as_grouped(layer));
}
void layers::separable_conv_2d(Builder& builder, const program::ResolvedLayer& layer) {
  const SeparableParts parts = separable_parts(layer);
  add_convolution(builder, parts.depthwise, builder.parameter(0), {});
  add_convolution(builder, parts.pointwise, builder.parameter(1), bias_of(builder, layer, 2));
}

}  // namespace neutra::training::fused
