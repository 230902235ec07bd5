/// Speed of the fused back end on wide sparse inputs: a Reuters-like network (10,000 words, 80 a
/// row by Zipf's law, 512 units, 46 topics; Adam, batches of 32) against the loop that LibTorch's
/// examples teach, in the same run. Every figure is the median of five alternating measurements;
/// `ratio` is what the target is about. `ceiling`: the optimiser's arithmetic alone, on all
/// weights, a few at a time so that they stay in the first cache; nothing that updates every
/// weight at every step, bit for bit, is faster. Milliseconds are for one step.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/performance/workload.h"
#include "training/fused/engine.h"
#include "training/loop.h"
#include "training/optimizers/registry.h"

namespace neutra {
namespace {

constexpr std::int64_t kWords = 10000, kWordsOfRow = 80, kUnits = 512, kTopics = 46;
constexpr std::int64_t kRows = 1600, kBatch = 32, kEpochs = 4, kSteps = kRows / kBatch * kEpochs;
constexpr int kRepeats = 5;
constexpr double kWanted = 12;

/// Processor time of this thread: what else runs on the machine counts less.
double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_of(const std::function<void()>& work) {
  const double start = seconds();
  work();
  return seconds() - start;
}

/// Rows of `kWordsOfRow` different words, word k with a probability proportional to 1 / (k + 1);
/// the topic follows from the words.
training::Dataset make_text() {
  std::vector<double> sums(kWords);
  double sum = 0;
  for (std::int64_t k = 0; k < kWords; ++k) {
    sums[static_cast<std::size_t>(k)] = sum += 1 / static_cast<double>(k + 1);
  }
  std::vector<float> draws(static_cast<std::size_t>(kRows * kWordsOfRow * 8));
  training::fill_uniform({{1, 2}, training::Stream::kNoise, 0, 0}, 0, 1, draws);
  auto draw = draws.begin();
  training::Dataset data;
  data.x_train = {{kRows, kWords}, std::vector<float>(static_cast<std::size_t>(kRows * kWords))};
  data.y_train = {{kRows, kTopics}, std::vector<float>(static_cast<std::size_t>(kRows * kTopics))};
  for (std::int64_t i = 0; i < kRows; ++i) {
    float* row = data.x_train.values.data() + i * kWords;
    std::int64_t words = 0, topic = 0;
    while (words < kWordsOfRow) {
      const auto at = std::lower_bound(sums.begin(), sums.end(), static_cast<double>(*draw) * sum);
      if (++draw == draws.end()) throw std::runtime_error("too few random numbers");
      const std::int64_t word = std::min<std::int64_t>(at - sums.begin(), kWords - 1);
      if (row[word] != 0) continue;
      row[word] = 1;
      topic += word;
      ++words;
    }
    data.y_train.values[static_cast<std::size_t>(i * kTopics + topic % kTopics)] = 1;
  }
  data.x_test = {{1, kWords}, {data.x_train.values.begin(), data.x_train.values.begin() + kWords}};
  data.y_test = {{1, kTopics},
                 {data.y_train.values.begin(), data.y_train.values.begin() + kTopics}};
  data.x_holdout = data.x_test;
  data.y_holdout = data.y_test;
  return data;
}

/// The program's training.
class Fused {
 public:
  Fused(const training::Dataset& data, bool sparse) {
    if (sparse) sparse_ = training::SparseDataset(data);
    program_ =
        classifier("reuters", Json::array({dense(kUnits, "relu"), dense(kTopics, "softmax")}),
                   {kWords}, "Adam", "categorical_crossentropy", kBatch, kEpochs);
    const program::DataInfo info = data.info();
    resolved_ = program::resolve(program_, &info);
    rows_ = training::training_rows(resolved_, data, sparse_);
    if (const auto refusal = training::fused_refusal(resolved_, rows_.training)) {
      throw std::runtime_error(*refusal);
    }
  }
  void run() {
    const training::RandomKey key{3, 4};
    const std::unique_ptr<training::Engine> engine =
        training::make_fused_engine(resolved_, rows_.training, key);
    training::TrainingLoop loop(resolved_, rows_, key, *engine, {}, nullptr);
    training::TrainingJob job;
    training::ReplicaResult result;
    loop.run(job, std::chrono::steady_clock::now(), kEpochs, result);
    loop.measure(result);
    if (result.status != training::RunStatus::kOk || result.steps != kSteps) {
      throw std::runtime_error("no training");
    }
  }

 private:
  training::SparseDataset sparse_;
  program::Program program_;
  program::ResolvedProgram resolved_;
  training::TrainingRows rows_;
};

/// The same training as LibTorch's examples write it.
void train_naively(const torch::Tensor& x, const torch::Tensor& y) {
  torch::nn::Sequential net(torch::nn::Linear(kWords, kUnits), torch::nn::ReLU(),
                            torch::nn::Linear(kUnits, kTopics));
  torch::optim::Adam optimizer(net->parameters(), 0.001);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Pairs(x, y).map(torch::data::transforms::Stack<>()), static_cast<std::size_t>(kBatch));
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const torch::Tensor loss =
          torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
    }
  }
}

/// The optimiser's arithmetic for all weights of kSteps steps.
void update_in_cache() {
  const training::Extent row{0, static_cast<std::size_t>(3 * kUnits)};
  const auto optimizer = training::make_optimizer(
      {{"class_name", "Adam"}, {"config", {{"learning_rate", 0.001}}}}, {row});
  std::vector<float> w(row.size, 0.5f), g(row.size, 0.01f);
  // As many weights as in both kernels and biases.
  constexpr std::int64_t kUpdates = (kWords + kTopics + 2) * kSteps / 3;
  for (std::int64_t i = 0; i < kUpdates; ++i) optimizer->step(w, g);
  benchmark::DoNotOptimize(w.data());
}

void reuters(benchmark::State& state) {
  at::set_num_threads(1);
  at::globalContext().setFlushDenormal(true);
  training::Dataset data = make_text();
  const torch::Tensor x = torch::from_blob(data.x_train.values.data(), {kRows, kWords});
  const torch::Tensor y = torch::from_blob(data.y_train.values.data(), {kRows, kTopics});
  Fused sparse(data, true), dense(data, false);
  std::vector<double> naive, ours, whole, arithmetic, ratios;
  for (auto _ : state) {
    naive.push_back(seconds_of([&] { train_naively(x, y); }));
    ours.push_back(seconds_of([&] { sparse.run(); }));
    whole.push_back(seconds_of([&] { dense.run(); }));
    arithmetic.push_back(seconds_of(update_in_cache));
    ratios.push_back(naive.back() / ours.back());
    state.SetIterationTime(ours.back());
  }
  const auto step = [](const std::vector<double>& values) {
    return 1000 * median(values) / static_cast<double>(kSteps);
  };
  state.counters["fused_ms"] = step(ours);
  state.counters["naive_ms"] = step(naive);
  state.counters["dense_batches_ms"] = step(whole);
  state.counters["ceiling_ms"] = step(arithmetic);
  state.counters["ceiling_ratio"] = median(naive) / median(arithmetic);
  state.counters["ratio"] = median(ratios);
  state.counters["wanted"] = kWanted;
}
BENCHMARK(reuters)->Iterations(kRepeats)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace neutra

BENCHMARK_MAIN();
