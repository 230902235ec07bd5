/// Speed of the eager back end against the loop that LibTorch's examples teach (nn::Sequential,
/// DataLoader with RandomSampler and Stack, torch::optim), in the same run, and its scaling to two
/// workers against that of bare kernels. Every figure is the median of five alternating
/// measurements; `ratio` is what the targets are about.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "program/hdf5_file.h"
#include "training/eager.h"
#include "training/random.h"

extern "C" void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
                       const float*, const int*, const float*, const int*, const float*, float*,
                       const int*);

namespace neutra {
namespace {

namespace fs = std::filesystem;
constexpr int kRepeats = 5;

struct Workload {
  const char* name;
  std::vector<std::int64_t> widths;
  std::int64_t batch, rows, epochs;
  const char* output;  ///< activation; hidden layers are relu
  const char* loss;
  const char* optimizer;
  double wanted;  ///< ratio
};

const Workload kTiny{"tiny", {2, 16, 1}, 32, 3200, 3, "sigmoid", "binary_crossentropy",
                     "Adam", 1.8};
const Workload kD8{"d8",      {20, 20, 20, 20},           50,    8000, 2,
                   "softmax", "categorical_crossentropy", "SGD", 1.5};
const Workload kMlp{
    "mlp", {784, 128, 10}, 128, 12800, 1, "softmax", "categorical_crossentropy", "Adam", 1.3};

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Random features and one-hot (or 0/1) targets, the same for both sides.
struct Data {
  std::vector<float> x, y;
};
Data make_data(const Workload& w) {
  const std::int64_t in = w.widths.front(), out = w.widths.back();
  Data data{std::vector<float>(static_cast<std::size_t>(w.rows * in)),
            std::vector<float>(static_cast<std::size_t>(w.rows * out))};
  fill_uniform({{1, 2}, Stream::kNoise, 0, 0}, 0, 1, data.x);
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
class Eager {
 public:
  explicit Eager(const Workload& w)
      : folder_(fs::temp_directory_path() /
                ("neutra_benchmark_" + std::to_string(::getpid()) + "_" + w.name)) {
    fs::create_directories(folder_);
    const Data data = make_data(w);
    const auto rows = static_cast<std::uint64_t>(w.rows);
    const auto in = static_cast<std::uint64_t>(w.widths.front()),
               out = static_cast<std::uint64_t>(w.widths.back());
    Hdf5File file = Hdf5File::create(folder_ / "data.h5");
    file.write("/x_train", data.x, {rows, in});
    file.write("/y_train", data.y, {rows, out});
    file.write("/x_test", std::vector<float>(data.x.begin(), data.x.begin() + w.widths.front()),
               {1, in});
    file.write("/y_test", std::vector<float>(data.y.begin(), data.y.begin() + w.widths.back()),
               {1, out});
    file.close();
    Json layers = Json::array();
    for (std::size_t i = 1; i < w.widths.size(); ++i) {
      layers.push_back({{"class_name", "Dense"},
                        {"config",
                         {{"units", w.widths[i]},
                          {"activation", i + 1 == w.widths.size() ? w.output : "relu"}}}});
    }
    layers[0]["config"]["batch_input_shape"] = Json::array({nullptr, w.widths.front()});
    program_.document = {
        {"format", "neutra-program"},
        {"version", 1},
        {"name", w.name},
        {"task", "classification"},
        {"model", {{"class_name", "Sequential"}, {"config", {{"layers", layers}}}}},
        {"compile",
         {{"optimizer", {{"class_name", w.optimizer}, {"config", {{"learning_rate", 0.001}}}}},
          {"loss", w.loss},
          {"metrics", {"accuracy"}}}},
        {"fit", {{"batch_size", w.batch}, {"epochs", w.epochs}}},
        {"data", {{"source", "hdf5"}, {"arguments", {{"file", "data.h5"}}}}},
        {"metric", {{"name", "accuracy"}, {"goal", "maximize"}}}};
    trainer_ = make_eager_trainer({{folder_}, true});
    run(0);  // loads the data
  }
  ~Eager() { fs::remove_all(folder_); }

  void run(int replica) {
    TrainingJob job;
    job.program = &program_;
    job.replica = replica;
    const ReplicaResult result = trainer_->train(job);
    if (result.status != RunStatus::kOk) throw std::runtime_error(result.message);
  }

 private:
  fs::path folder_;
  Program program_;
  std::unique_ptr<EagerTrainer> trainer_;
};

/// The data set class of LibTorch's examples: one tensor for each row.
class Pairs : public torch::data::datasets::Dataset<Pairs> {
 public:
  Pairs(torch::Tensor x, torch::Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
  torch::data::Example<> get(std::size_t row) override {
    const auto i = static_cast<std::int64_t>(row);
    return {x_[i], y_[i]};
  }
  torch::optional<std::size_t> size() const override {
    return static_cast<std::size_t>(x_.size(0));
  }

 private:
  torch::Tensor x_, y_;
};

/// The same training as LibTorch's examples write it.
void train_naively(const Workload& w, const torch::Tensor& x, const torch::Tensor& y) {
  at::set_num_threads(1);
  torch::nn::Sequential net;
  for (std::size_t i = 1; i < w.widths.size(); ++i) {
    net->push_back(torch::nn::Linear(w.widths[i - 1], w.widths[i]));
    if (i + 1 < w.widths.size()) net->push_back(torch::nn::ReLU());
  }
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
          std::string(w.output) == "softmax"
              ? torch::nn::functional::cross_entropy(output, batch.target)
              : torch::binary_cross_entropy(torch::sigmoid(output), batch.target);
      loss.backward();
      optimizer->step();
    }
  }
}

void against_naive(benchmark::State& state, const Workload& w) {
  Eager eager(w);
  Data data = make_data(w);
  const torch::Tensor x = torch::from_blob(data.x.data(), {w.rows, w.widths.front()});
  const torch::Tensor y = torch::from_blob(data.y.data(), {w.rows, w.widths.back()});
  train_naively(w, x, y);
  std::vector<double> ours, theirs, ratios;
  for (auto _ : state) {
    theirs.push_back(seconds_of([&] { train_naively(w, x, y); }));
    ours.push_back(seconds_of([&] { eager.run(1); }));
    ratios.push_back(theirs.back() / ours.back());
    state.SetIterationTime(ours.back());
  }
  const auto samples = static_cast<double>(w.rows * w.epochs);
  state.counters["eager_per_s"] = samples / median(ours);
  state.counters["naive_per_s"] = samples / median(theirs);
  state.counters["ratio"] = median(ratios);
  state.counters["wanted"] = w.wanted;
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
  Eager eager(w);
  constexpr double kWanted = 0.85;
  const auto train = [&](int t) {
    for (int i = 0; i < 3; ++i) eager.run(10 * t + i);
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
BENCHMARK_CAPTURE(against_naive, tiny, kTiny) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, d8, kD8) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(against_naive, mlp, kMlp) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(two_workers, tiny, kTiny, iterate) NEUTRA_REPEATED;
BENCHMARK_CAPTURE(two_workers, mlp, kMlp, multiply) NEUTRA_REPEATED;

}  // namespace
}  // namespace neutra

BENCHMARK_MAIN();
