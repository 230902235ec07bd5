/// Speed of the back ends against the loop that LibTorch's examples teach (nn::Sequential,
/// DataLoader with RandomSampler and Stack, torch::optim), in the same run; of the fused one
/// against the bare products of its layers; and its scaling to two workers against that of bare
/// kernels. Every figure is the median of five alternating measurements; `ratio` is what the
/// targets are about.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "base/hdf5_file.h"
#include "tests/performance/workload.h"
#include "training/local_trainer.h"
#include "training/random.h"

extern "C" void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
                       const float*, const int*, const float*, const int*, const float*, float*,
                       const int*);

namespace neutra {
namespace {

namespace fs = std::filesystem;
constexpr int kRepeats = 5;

/// A training: as a program's layers, and as the module that LibTorch's examples would make of
/// them.
struct Workload {
  const char* name;
  program::Shape input;  ///< of one row
  std::int64_t outputs;  ///< 1: targets 0 and 1 under a sigmoid; else one-hot ones under a softmax
  std::int64_t batch, rows, epochs;
  const char* optimizer;
  Json layers;
  torch::nn::Sequential (*module)(const Workload&);

  std::int64_t features() const {
    return std::accumulate(input.begin(), input.end(), std::int64_t{1}, std::multiplies<>());
  }
  const char* loss() const {
    return outputs == 1 ? "binary_crossentropy" : "categorical_crossentropy";
  }
};

Workload perceptron(const char* name, const std::vector<std::int64_t>& widths, std::int64_t batch,
                    std::int64_t rows, std::int64_t epochs, const char* optimizer) {
  Json layers = Json::array();
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const bool last = i + 1 == widths.size();
    layers.push_back(dense(widths[i], !last ? "relu" : widths[i] == 1 ? "sigmoid" : "softmax"));
  }
  return {name,
          {widths.front()},
          widths.back(),
          batch,
          rows,
          epochs,
          optimizer,
          layers,
          [](const Workload& w) {
            torch::nn::Sequential net;
            std::int64_t inputs = w.features();
            for (const Json& l : w.layers) {
              const std::int64_t units = l["config"]["units"];
              if (!net->is_empty()) net->push_back(torch::nn::ReLU());
              net->push_back(torch::nn::Linear(inputs, units));
              inputs = units;
            }
            return net;
          }};
}

const Workload kTiny = perceptron("tiny", {2, 16, 1}, 32, 3200, 20, "Adam");
const Workload kD8 = perceptron("d8", {20, 20, 20, 20}, 50, 8000, 10, "SGD");
const Workload kMlp = perceptron("mlp", {784, 128, 10}, 128, 12800, 1, "Adam");

/// Images come as rows of pixels with channels last; LibTorch wants channels first.
torch::nn::Functional channels_first(const Workload& w) {
  const std::int64_t h = w.input[0], width = w.input[1], c = w.input[2];
  return torch::nn::Functional([=](const torch::Tensor& x) {
    return c == 1 ? x.view({-1, 1, h, width})
                  : x.view({-1, h, width, c}).permute({0, 3, 1, 2}).contiguous();
  });
}

/// Subjects M1 and C1.
const Workload kMnist{
    "mnist",
    {28, 28, 1},
    10,
    128,
    512,
    1,
    "Adam",
    Json::array({convolution(32), convolution(64), pooling(), layer("Dropout", {{"rate", 0.25}}),
                 layer("Flatten", Json::object()), dense(128, "relu"),
                 layer("Dropout", {{"rate", 0.5}}), dense(10, "softmax")}),
    [](const Workload& w) {
      using namespace torch::nn;
      return Sequential(channels_first(w), conv(1, 32), ReLU(), conv(32, 64), ReLU(), MaxPool2d(2),
                        Dropout(0.25), Flatten(), Linear(9216, 128), ReLU(), Dropout(0.5),
                        Linear(128, 10));
    }};
const Workload kCifar{"cifar",
                      {32, 32, 3},
                      10,
                      64,
                      512,
                      1,
                      "Adam",
                      Json::array({convolution(32), pooling(), convolution(64), pooling(),
                                   convolution(128), pooling(), layer("Flatten", Json::object()),
                                   dense(256, "relu"), dense(128, "relu"), dense(10, "softmax")}),
                      [](const Workload& w) {
                        using namespace torch::nn;
                        return Sequential(channels_first(w), conv(3, 32), ReLU(), MaxPool2d(2),
                                          conv(32, 64), ReLU(), MaxPool2d(2), conv(64, 128), ReLU(),
                                          MaxPool2d(2), Flatten(), Linear(512, 256), ReLU(),
                                          Linear(256, 128), ReLU(), Linear(128, 10));
                      }};

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Random features and one-hot (or 0/1) targets, the same for both sides.
struct Data {
  std::vector<float> x, y;
};
Data make_data(const Workload& w) {
  const std::int64_t in = w.features(), out = w.outputs;
  Data data{std::vector<float>(static_cast<std::size_t>(w.rows * in)),
            std::vector<float>(static_cast<std::size_t>(w.rows * out))};
  training::fill_uniform({{1, 2}, training::Stream::kNoise, 0, 0}, 0, 1, data.x);
  for (std::int64_t i = 0; i < w.rows; ++i) {
    const auto label =
        static_cast<std::int64_t>(data.x[static_cast<std::size_t>(i * in)] *
                                  static_cast<float>(std::max<std::int64_t>(out, 2)));
    if (out == 1) {
      data.y[static_cast<std::size_t>(i)] = static_cast<float>(label);
    } else {
      data.y[static_cast<std::size_t>(i * out + label)] = 1;
    }
  }
  return data;
}

/// The workload as a program, with its data in a file of its own.
class Trained {
 public:
  Trained(const Workload& w, training::Backend backend)
      : folder_(fs::temp_directory_path() /
                ("neutra_benchmark_" + std::to_string(::getpid()) + "_" + w.name)) {
    fs::create_directories(folder_);
    const Data data = make_data(w);
    const auto rows = static_cast<std::uint64_t>(w.rows);
    std::vector<std::uint64_t> x_extents{rows}, one_row{1};
    for (const std::int64_t n : w.input) {
      x_extents.push_back(static_cast<std::uint64_t>(n));
      one_row.push_back(static_cast<std::uint64_t>(n));
    }
    const auto out = static_cast<std::uint64_t>(w.outputs);
    Hdf5File file = Hdf5File::create(folder_ / "data.h5");
    file.write("/x_train", data.x, x_extents);
    file.write("/y_train", data.y, {rows, out});
    file.write("/x_test", std::vector<float>(data.x.begin(), data.x.begin() + w.features()),
               one_row);
    file.write("/y_test", std::vector<float>(data.y.begin(), data.y.begin() + w.outputs), {1, out});
    file.close();
    program_ = classifier(w.name, w.layers, w.input, w.optimizer, w.loss(), w.batch, w.epochs);
    trainer_ = training::make_local_trainer({{folder_}, true, backend});
    run(0);  // loads the data
  }
  ~Trained() { fs::remove_all(folder_); }

  void run(int replica) {
    training::TrainingJob job;
    job.program = &program_;
    job.replica = replica;
    const training::ReplicaResult result = trainer_->train(job);
    if (result.status != training::RunStatus::kOk) throw std::runtime_error(result.message);
  }

 private:
  fs::path folder_;
  program::Program program_;
  std::unique_ptr<training::LocalTrainer> trainer_;
};

/// The same training as LibTorch's examples write it.
void train_naively(const Workload& w, const torch::Tensor& x, const torch::Tensor& y) {
  at::set_num_threads(1);
  torch::nn::Sequential net = w.module(w);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (std::string(w.optimizer) == "Adam") {
    optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), 0.001);
  } else {
    optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), 0.001);
  }
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Pairs(x, y).map(torch::data::transforms::Stack<>()), static_cast<std::size_t>(w.batch));
  for (std::int64_t epoch = 0; epoch < w.epochs; ++epoch) {
    for (auto& batch : *loader) {
      optimizer->zero_grad();
      const torch::Tensor output = net->forward(batch.data);
      const torch::Tensor loss =
          w.outputs > 1 ? torch::nn::functional::cross_entropy(output, batch.target)
                        : torch::binary_cross_entropy(torch::sigmoid(output), batch.target);
      loss.backward();
      optimizer->step();
    }
  }
}

/// `wanted`: the ratio that must be reached.
void against_naive(benchmark::State& state, const Workload& w, training::Backend backend,
                   double wanted) {
  Trained ours(w, backend);
  Data data = make_data(w);
  const torch::Tensor x = torch::from_blob(data.x.data(), {w.rows, w.features()});
  const torch::Tensor y = torch::from_blob(data.y.data(), {w.rows, w.outputs});
  train_naively(w, x, y);
  std::vector<double> own, naive, ratios;
  for (auto _ : state) {
    naive.push_back(seconds_of([&] { train_naively(w, x, y); }));
    own.push_back(seconds_of([&] { ours.run(1); }));
    ratios.push_back(naive.back() / own.back());
    state.SetIterationTime(own.back());
  }
  const auto samples = static_cast<double>(w.rows * w.epochs);
  state.counters["samples_per_s"] = samples / median(own);
  state.counters["naive_per_s"] = samples / median(naive);
  state.counters["ratio"] = median(ratios);
  state.counters["wanted"] = wanted;
}

/// Seconds for the products of one pass over the training rows, forward and backward, by sgemm on
/// the same shapes: what stands between is the optimiser, the activations, the loss, gathering the
/// rows and the evaluation.
double seconds_of_products(const Workload& w) {
  std::int64_t inputs = w.features();
  double seconds = 0;
  bool first = true;
  for (const Json& l : w.layers) {
    const std::int64_t outputs = l["config"]["units"];
    std::vector<float> x(static_cast<std::size_t>(w.batch * inputs), 0.5f);
    std::vector<float> kernel(static_cast<std::size_t>(inputs * outputs), 0.25f);
    std::vector<float> y(static_cast<std::size_t>(w.batch * outputs), 0.125f);
    // Column major: the same memory as row-major y = x kernel, dkernel = x' dy, dx = dy kernel'.
    const auto product = [](char a, char b, std::int64_t m, std::int64_t n, std::int64_t k,
                            const std::vector<float>& left, std::int64_t lda,
                            const std::vector<float>& right, std::int64_t ldb,
                            std::vector<float>& result) {
      const int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k);
      const int ai = static_cast<int>(lda), bi = static_cast<int>(ldb);
      const float one = 1, zero = 0;
      sgemm_(&a, &b, &mi, &ni, &ki, &one, left.data(), &ai, right.data(), &bi, &zero, result.data(),
             &mi);
    };
    const std::int64_t batches = w.rows / w.batch;
    seconds += seconds_of([&] {
      for (std::int64_t i = 0; i < batches; ++i) {
        product('N', 'N', outputs, w.batch, inputs, kernel, outputs, x, inputs, y);
        product('N', 'T', outputs, inputs, w.batch, y, outputs, x, inputs, kernel);
        if (!first) product('T', 'N', inputs, w.batch, outputs, kernel, outputs, y, outputs, x);
      }
    });
    first = false;
    inputs = outputs;
  }
  return seconds;
}

void against_products(benchmark::State& state, const Workload& w, double wanted) {
  Trained ours(w, training::Backend::kFused);
  std::vector<double> own, products, ratios;
  for (auto _ : state) {
    products.push_back(seconds_of_products(w) * static_cast<double>(w.epochs));
    own.push_back(seconds_of([&] { ours.run(1); }));
    ratios.push_back(products.back() / own.back());
    state.SetIterationTime(own.back());
  }
  const auto samples = static_cast<double>(w.rows * w.epochs);
  state.counters["samples_per_s"] = samples / median(own);
  state.counters["ceiling_per_s"] = samples / median(products);
  state.counters["ratio"] = median(ratios);
  state.counters["wanted"] = wanted;
}

/// Seconds for `threads` threads that each run `work`.
double in_parallel(int threads, const std::function<void(int)>& work) {
  return seconds_of([&] {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(work, t);
    for (std::thread& worker : workers) worker.join();
  });
}

/// Products as in the MLP's first layer.
void multiply(int) {
  at::set_num_threads(1);
  const int m = 128, n = 128, k = 784;
  const float one = 1, zero = 0;
  std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n);
  for (int i = 0; i < 400; ++i) {
    sgemm_("N", "N", &m, &n, &k, &one, a.data(), &m, b.data(), &k, &zero, c.data(), &m);
  }
  benchmark::DoNotOptimize(c.data());
}

/// Arithmetic on an array that stays in the first cache, as in a tiny network's loops.
void iterate(int) {
  std::vector<float> values(1024, 0.5f);
  for (int i = 0; i < 200000; ++i) {
    for (float& v : values) v = v * 0.999f + 0.0001f;
    benchmark::DoNotOptimize(values.data());
  }
}

void two_workers(benchmark::State& state, const Workload& w, void (*kernel)(int)) {
  Trained ours(w, training::Backend::kFused);
  constexpr double kWanted = 0.85;
  const auto train = [&](int t) {
    for (int i = 0; i < 3; ++i) ours.run(10 * t + i);
  };
  std::vector<double> training, bare, ratios;
  for (auto _ : state) {
    const double one_kernel = in_parallel(1, kernel), two_kernels = in_parallel(2, kernel);
    const double one = in_parallel(1, train), two = in_parallel(2, train);
    bare.push_back(2 * one_kernel / two_kernels);
    training.push_back(2 * one / two);
    ratios.push_back(training.back() / bare.back());
    state.SetIterationTime(two);
  }
  state.counters["training"] = median(training);
  state.counters["kernel"] = median(bare);
  state.counters["ratio"] = median(ratios);
  state.counters["wanted"] = kWanted;
}

#define NEUTRA_REPEATED ->Iterations(kRepeats)->UseManualTime()->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(against_naive, fused_tiny, kTiny, training::Backend::kFused, 60) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, fused_d8, kD8, training::Backend::kFused, 20) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, fused_mlp, kMlp, training::Backend::kFused, 1.8) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, fused_mnist, kMnist, training::Backend::kAuto, 1.5)
NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, fused_cifar, kCifar, training::Backend::kAuto, 1.5)
NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_products, fused_mlp, kMlp, 0.5) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, eager_tiny, kTiny, training::Backend::kEager, 1.8) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, eager_d8, kD8, training::Backend::kEager, 1.5) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, eager_mlp, kMlp, training::Backend::kEager, 1.3) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, eager_mnist, kMnist, training::Backend::kEager, 1) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, eager_cifar, kCifar, training::Backend::kEager, 1) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(two_workers, tiny, kTiny, iterate) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(two_workers, mlp, kMlp, multiply) NEUTRA_REPEATED;

}  // namespace
}  // namespace neutra

BENCHMARK_MAIN();
