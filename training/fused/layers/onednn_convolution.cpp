// Convolutions by primitives of oneDNN.

#include <dnnl.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "training/fused/layers/convolution.h"

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
struct Geometry : ConvolutionGeometry {
  explicit Geometry(const ConvolutionGeometry& geometry) : ConvolutionGeometry(geometry) {}

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
  PrimitiveStep(const Geometry& geometry, const ConvolutionParts& parts,
                std::shared_ptr<const Scratch> scratch)
      : geometry_(geometry),
        x_(parts.x),
        y_(parts.y),
        kernel_(parts.kernel),
        bias_(parts.bias),
        trainable_(parts.trainable),
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
  TransposedConvolution(const Geometry& turned, const ConvolutionParts& parts,
                        std::shared_ptr<const Scratch> scratch)
      : PrimitiveStep(turned, parts, std::move(scratch)),
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

/// A step of that kind, with the scratch memory that training and evaluation need. `trains_data`,
/// `evaluates_data`: do training and evaluation use the primitive of the data's gradient?
template <typename Convolve>
std::unique_ptr<Step> make_step(Builder& builder, const ConvolutionGeometry& plain,
                                const ConvolutionParts& parts, bool trains_data,
                                bool evaluates_data) {
  const Geometry geometry(plain);
  try {
    const Descriptions training(geometry, builder.batch(), parts.trainable, trains_data);
    const Descriptions evaluation(geometry, builder.capacity(), false, evaluates_data);
    const auto scratch =
        builder.scratch(std::max(training.memory_size(), evaluation.memory_size()));
    return std::make_unique<Convolve>(geometry, parts, scratch);
  } catch (const dnnl::error& error) {
    throw NotCovered{std::string("a convolution that oneDNN refuses: ") + error.what()};
  }
}

}  // namespace

std::unique_ptr<Step> onednn_convolution(Builder& builder, const ConvolutionGeometry& geometry,
                                         const ConvolutionParts& parts) {
  return make_step<Convolution>(builder, geometry, parts, parts.x.needs_gradient, false);
}

std::unique_ptr<Step> onednn_transposed_convolution(Builder& builder,
                                                    const ConvolutionGeometry& turned,
                                                    const ConvolutionParts& parts) {
  return make_step<TransposedConvolution>(builder, turned, parts, true, true);
}

}  // namespace neutra::training::fused
