/// The fused back end on convolutional networks: a step beside the sum of its oneDNN primitives'
/// own times for the same shapes in the orders that oneDNN likes best, and beside LibTorch's loop.
/// One thread. Every figure is the median of five measurements of the thread's own time, which
/// leaves out what others take on a busy machine.

#include <benchmark/benchmark.h>
#include <omp.h>
#include <time.h>
#include <torch/torch.h>
#include <dnnl.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "program/layer.h"
#include "program/program.h"
#include "tests/performance/workload.h"
#include "training/eager.h"
#include "training/fused/engine.h"
#include "training/libraries.h"
#include "training/random.h"

namespace neutra {
namespace {

constexpr int kRepeats = 5;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double median_seconds(const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    const double start = thread_seconds();
    work();
    times.push_back(thread_seconds() - start);
  }
  return median(times);
}

/// One convolution with a valid 3 x 3 kernel, one pooling of 2 x 2, or one product.
struct Primitive {
  enum Kind { kConvolution, kPooling, kProduct } kind;
  std::int64_t inputs, outputs;  ///< channels, features
  std::int64_t size = 1;         ///< height and width of the input
  bool needs_gradient = true;
};

struct Workload {
  const char* name;
  program::Shape input;
  std::int64_t batch;
  std::vector<Primitive> primitives;
  Json layers;
  torch::nn::Sequential (*module)();
};

/// Subjects M1 and C1.
const Workload kMnist{
    "mnist",
    {28, 28, 1},
    128,
    {{Primitive::kConvolution, 1, 32, 28, false},
     {Primitive::kConvolution, 32, 64, 26},
     {Primitive::kPooling, 64, 64, 24},
     {Primitive::kProduct, 9216, 128},
     {Primitive::kProduct, 128, 10}},
    Json::array({convolution(32), convolution(64), pooling(), layer("Dropout", {{"rate", 0.25}}),
                 layer("Flatten", Json::object()), dense(128, "relu"),
                 layer("Dropout", {{"rate", 0.5}}), dense(10, "softmax")}),
    [] {
      using namespace torch::nn;
      return Sequential(conv(1, 32), ReLU(), conv(32, 64), ReLU(), MaxPool2d(2), Dropout(0.25),
                        Flatten(), Linear(9216, 128), ReLU(), Dropout(0.5), Linear(128, 10));
    }};
const Workload kCifar{"cifar",
                      {32, 32, 3},
                      64,
                      {{Primitive::kConvolution, 3, 32, 32, false},
                       {Primitive::kPooling, 32, 32, 30},
                       {Primitive::kConvolution, 32, 64, 15},
                       {Primitive::kPooling, 64, 64, 13},
                       {Primitive::kConvolution, 64, 128, 6},
                       {Primitive::kPooling, 128, 128, 4},
                       {Primitive::kProduct, 512, 256},
                       {Primitive::kProduct, 256, 128},
                       {Primitive::kProduct, 128, 10}},
                      Json::array({convolution(32), pooling(), convolution(64), pooling(),
                                   convolution(128), pooling(), layer("Flatten", Json::object()),
                                   dense(256, "relu"), dense(128, "relu"), dense(10, "softmax")}),
                      [] {
                        using namespace torch::nn;
                        return Sequential(conv(3, 32), ReLU(), MaxPool2d(2), conv(32, 64), ReLU(),
                                          MaxPool2d(2), conv(64, 128), ReLU(), MaxPool2d(2),
                                          Flatten(), Linear(512, 256), ReLU(), Linear(256, 128),
                                          ReLU(), Linear(128, 10));
                      }};

using dnnl::memory;
using Format = memory::format_tag;

const dnnl::engine& processor() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}
memory filled(const memory::desc& description) {
  memory made(description, processor());
  auto* values = static_cast<float*>(made.get_data_handle());
  training::fill_uniform({{5, 6}, training::Stream::kNoise, 0, 0}, -1, 1,
                         {values, description.get_size() / 4});
  return made;
}
memory::desc images(const Workload& w, std::int64_t channels, std::int64_t size, Format format) {
  return {{w.batch, channels, size, size}, memory::data_type::f32, format};
}
double time_of(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
  dnnl::stream stream(processor());
  return median_seconds([&] { primitive.execute(stream, arguments); });
}
bool is_reference(const char* implementation) {
  return std::string(implementation).find("ref") != std::string::npos;
}

struct Times {
  double forward = 1e9, weights = 1e9, data = 1e9;
  double sum() const { return forward + weights + data; }
};

/// The fastest of each direction over the orders of images; without what moves them between.
Times convolution_times(const Workload& w, const Primitive& p) {
  Times best;
  if (!p.needs_gradient) best.data = 0;
  const std::vector<std::pair<Format, Format>> orders{
      {Format::any, Format::any}, {Format::nhwc, Format::nhwc}, {Format::nchw, Format::any}};
  for (const auto& [from, to] : orders) {
    constexpr auto kAlgorithm = dnnl::algorithm::convolution_auto;
    const memory::dims one{1, 1}, none{0, 0};
    const memory::desc x = images(w, p.inputs, p.size, from),
                       y = images(w, p.outputs, p.size - 2, to),
                       kernel({p.outputs, p.inputs, 3, 3}, memory::data_type::f32, Format::any),
                       bias({p.outputs}, memory::data_type::f32, Format::x);
    try {
      const dnnl::convolution_forward::primitive_desc forward(
          {dnnl::prop_kind::forward_training, kAlgorithm, x, kernel, bias, y, one, none, none},
          processor());
      if (!is_reference(forward.impl_info_str())) {
        best.forward =
            std::min(best.forward, time_of(dnnl::convolution_forward(forward),
                                           {{DNNL_ARG_SRC, filled(forward.src_desc())},
                                            {DNNL_ARG_WEIGHTS, filled(forward.weights_desc())},
                                            {DNNL_ARG_BIAS, filled(bias)},
                                            {DNNL_ARG_DST, filled(forward.dst_desc())}}));
      }
      const dnnl::convolution_backward_weights::primitive_desc weights(
          {kAlgorithm, x, kernel, bias, y, one, none, none}, processor(), forward);
      if (!is_reference(weights.impl_info_str())) {
        best.weights = std::min(
            best.weights, time_of(dnnl::convolution_backward_weights(weights),
                                  {{DNNL_ARG_SRC, filled(weights.src_desc())},
                                   {DNNL_ARG_DIFF_WEIGHTS, filled(weights.diff_weights_desc())},
                                   {DNNL_ARG_DIFF_BIAS, filled(bias)},
                                   {DNNL_ARG_DIFF_DST, filled(weights.diff_dst_desc())}}));
      }
      if (!p.needs_gradient) continue;
      const dnnl::convolution_backward_data::primitive_desc data(
          {kAlgorithm, x, kernel, y, one, none, none}, processor(), forward);
      if (!is_reference(data.impl_info_str())) {
        best.data =
            std::min(best.data, time_of(dnnl::convolution_backward_data(data),
                                        {{DNNL_ARG_DIFF_SRC, filled(data.diff_src_desc())},
                                         {DNNL_ARG_WEIGHTS, filled(data.weights_desc())},
                                         {DNNL_ARG_DIFF_DST, filled(data.diff_dst_desc())}}));
      }
    } catch (const dnnl::error&) {  // not for this order
    }
  }
  return best;
}

Times pooling_times(const Workload& w, const Primitive& p) {
  Times best;
  best.weights = 0;
  for (const Format format : {Format::nChw8c, Format::nChw16c, Format::nhwc}) {
    const memory::desc x = images(w, p.inputs, p.size, format),
                       y = images(w, p.inputs, p.size / 2, format);
    const memory::dims two{2, 2}, none{0, 0};
    const dnnl::pooling_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, dnnl::algorithm::pooling_max, x, y, two, two, none,
         none},
        processor());
    const memory workspace(forward.workspace_desc(), processor());
    best.forward = std::min(
        best.forward, time_of(dnnl::pooling_forward(forward), {{DNNL_ARG_SRC, filled(x)},
                                                               {DNNL_ARG_DST, filled(y)},
                                                               {DNNL_ARG_WORKSPACE, workspace}}));
    const dnnl::pooling_backward::primitive_desc backward(
        {dnnl::algorithm::pooling_max, x, y, two, two, none, none}, processor(), forward);
    best.data = std::min(
        best.data, time_of(dnnl::pooling_backward(backward), {{DNNL_ARG_DIFF_SRC, filled(x)},
                                                              {DNNL_ARG_DIFF_DST, filled(y)},
                                                              {DNNL_ARG_WORKSPACE, workspace}}));
  }
  return best;
}

Times product_times(const Workload& w, const Primitive& p) {
  const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
  std::vector<float> x(size(w.batch, p.inputs), 0.5f), kernel(size(p.inputs, p.outputs), 0.25f),
      y(size(w.batch, p.outputs), 0.125f);
  Times times;
  times.forward = median_seconds([&] {
    dnnl_sgemm('N', 'N', w.batch, p.outputs, p.inputs, 1, x.data(), p.inputs, kernel.data(),
               p.outputs, 0, y.data(), p.outputs);
  });
  times.weights = median_seconds([&] {
    dnnl_sgemm('T', 'N', p.inputs, p.outputs, w.batch, 1, x.data(), p.inputs, y.data(), p.outputs,
               0, kernel.data(), p.outputs);
  });
  times.data = median_seconds([&] {
    dnnl_sgemm('N', 'T', w.batch, p.inputs, p.outputs, 1, y.data(), p.outputs, kernel.data(),
               p.outputs, 0, x.data(), p.inputs);
  });
  return times;
}

/// Random images and one-hot targets of one batch.
struct OneBatch {
  training::Array x, y;
  explicit OneBatch(const Workload& w) {
    const auto row = static_cast<std::size_t>(program::element_count(w.input));
    const auto rows = static_cast<std::size_t>(w.batch);
    x.extents = {w.batch};
    x.extents.insert(x.extents.end(), w.input.begin(), w.input.end());
    x.values.resize(rows * row);
    y.extents = {w.batch, 10};
    y.values.resize(rows * 10);
    training::fill_uniform({{1, 2}, training::Stream::kNoise, 0, 0}, 0, 1, x.values);
    for (std::size_t i = 0; i < rows; ++i) {
      y.values[i * 10 + static_cast<std::size_t>(x.values[i * row] * 10)] = 1;
    }
  }
  training::Rows rows() const { return {&x, &y, 0, x.rows()}; }
};

program::ResolvedProgram program_of(const Workload& w) {
  const program::Program program =
      classifier(w.name, w.layers, w.input, "Adam", "categorical_crossentropy", w.batch, 1);
  program::DataInfo info;
  info.x = w.input;
  info.y = {10};
  info.training_rows = w.batch;
  info.y_max = 1;
  return program::resolve(program, &info);
}

using MakeEngine = std::unique_ptr<training::Engine> (*)(const program::ResolvedProgram&,
                                                         const training::Rows&,
                                                         training::RandomKey);
double step_seconds(const Workload& w, MakeEngine make) {
  const program::ResolvedProgram program = program_of(w);
  const OneBatch batch(w);
  const std::unique_ptr<training::Engine> engine = make(program, batch.rows(), {3, 4});
  std::vector<std::int64_t> order(static_cast<std::size_t>(w.batch));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::uint32_t step = 0;
  return median_seconds([&] { engine->step(order, step++, {}); });
}

/// A step of LibTorch's loop, without its data loader.
double naive_seconds(const Workload& w) {
  const OneBatch batch(w);
  torch::Tensor x = torch::from_blob(const_cast<float*>(batch.x.values.data()), batch.x.extents);
  x = x.permute({0, 3, 1, 2}).contiguous();
  const torch::Tensor y =
      torch::from_blob(const_cast<float*>(batch.y.values.data()), batch.y.extents);
  torch::nn::Sequential net = w.module();
  torch::optim::Adam optimizer(net->parameters(), 0.001);
  return median_seconds([&] {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(x), y).backward();
    optimizer.step();
  });
}

void prepare() {
  training::prepare_libraries();
  at::set_num_threads(1);
  omp_set_num_threads(1);
}

/// `ceiling_share`: sum of the primitives' times over a step's.
void ceiling(benchmark::State& state, const Workload& w) {
  prepare();
  for (auto _ : state) {
    double sum = 0;
    for (std::size_t i = 0; i < w.primitives.size(); ++i) {
      const Primitive& p = w.primitives[i];
      const Times times = p.kind == Primitive::kConvolution ? convolution_times(w, p)
                          : p.kind == Primitive::kPooling   ? pooling_times(w, p)
                                                            : product_times(w, p);
      sum += times.sum();
      const std::string name = std::to_string(i) + (p.kind == Primitive::kConvolution ? "_conv"
                                                    : p.kind == Primitive::kPooling   ? "_pool"
                                                                                      : "_dense");
      state.counters[name + "_forward_ms"] = times.forward * 1e3;
      if (p.kind != Primitive::kPooling) state.counters[name + "_weights_ms"] = times.weights * 1e3;
      if (p.needs_gradient) state.counters[name + "_data_ms"] = times.data * 1e3;
    }
    const double fused = step_seconds(w, training::make_fused_engine),
                 eager = step_seconds(w, training::make_eager_engine);
    const double naive = naive_seconds(w);
    const auto rows = static_cast<double>(w.batch);
    state.counters["primitives_ms"] = sum * 1e3;
    state.counters["fused_ms"] = fused * 1e3;
    state.counters["primitives_per_s"] = rows / sum;
    state.counters["fused_per_s"] = rows / fused;
    state.counters["eager_per_s"] = rows / eager;
    state.counters["naive_per_s"] = rows / naive;
    state.counters["ceiling_share"] = sum / fused;
    state.counters["over_naive"] = naive / fused;
  }
}

BENCHMARK_CAPTURE(ceiling, mnist_ceiling, kMnist)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ceiling, cifar_ceiling, kCifar)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace neutra

BENCHMARK_MAIN();
