/// What watching costs: trainings with DeepLocalize's observer, which asks for everything after
/// each batch and so has the eager back end run, against the same without, on the fused one, in
/// processor time. `ratio` is the median over pairs of adjacent trainings.

#include <benchmark/benchmark.h>

#include <ctime>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/hdf5_file.h"
#include "fl_adapters/tools/deeplocalize.h"
#include "tests/performance/workload.h"
#include "training/local_trainer.h"
#include "training/random.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

struct Workload {
  const char* name;
  program::Shape input;
  Json layers;
  std::int64_t batch, rows, epochs;
};
const Workload kMlp{"mlp", {784}, Json::array({dense(128, "relu"), dense(10, "softmax")}),
                    128,   12800, 2};
/// Subject M1 on a few batches.
const Workload kMnist{
    "mnist",
    {28, 28, 1},
    Json::array({convolution(32), convolution(64), pooling(), layer("Dropout", {{"rate", 0.25}}),
                 layer("Flatten", Json::object()), dense(128, "relu"),
                 layer("Dropout", {{"rate", 0.5}}), dense(10, "softmax")}),
    128,
    1024,
    1};

/// The workload as a program, with random data in a file of its own.
class Subject {
 public:
  explicit Subject(const Workload& w)
      : folder_(fs::temp_directory_path() /
                ("neutra_observers_" + std::to_string(::getpid()) + "_" + w.name)) {
    fs::create_directories(folder_);
    constexpr std::int64_t kClasses = 10;
    const std::int64_t width =
        std::accumulate(w.input.begin(), w.input.end(), std::int64_t{1}, std::multiplies<>());
    std::vector<float> x(static_cast<std::size_t>(w.rows * width));
    std::vector<float> y(static_cast<std::size_t>(w.rows * kClasses));
    training::fill_uniform({{1, 2}, training::Stream::kNoise, 0, 0}, 0, 1, x);
    for (std::int64_t row = 0; row < w.rows; ++row) {
      y[static_cast<std::size_t>(row * kClasses + row % kClasses)] = 1;
    }
    std::vector<std::uint64_t> extents{static_cast<std::uint64_t>(w.rows)};
    for (const std::int64_t n : w.input) extents.push_back(static_cast<std::uint64_t>(n));
    std::vector<std::uint64_t> one = extents;
    one.front() = 1;
    Hdf5File file = Hdf5File::create(folder_ / "data.h5");
    file.write("/x_train", x, extents);
    file.write("/y_train", y, {extents.front(), kClasses});
    file.write("/x_test", std::vector<float>(x.begin(), x.begin() + width), one);
    file.write("/y_test", std::vector<float>(y.begin(), y.begin() + kClasses), {1, kClasses});
    file.close();
    program_ = classifier(w.name, w.layers, w.input, "Adam", "categorical_crossentropy", w.batch,
                          w.epochs);
    trainer_ = training::make_local_trainer({{folder_}, true, training::Backend::kFused});
    seconds(nullptr);  // loads the data
  }
  ~Subject() { fs::remove_all(folder_); }

  double seconds(training::Observer* observer) {
    training::TrainingJob job;
    job.program = &program_;
    const std::clock_t start = std::clock();  // one thread trains; others may share the processor
    const training::ReplicaResult result = trainer_->train(job, observer);
    const auto time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (result.status != training::RunStatus::kOk) throw std::runtime_error(result.message);
    return time;
  }

  /// All rules on all batches; a hit doesn't end the training.
  double watched_seconds() {
    const fl_adapters::CallbackModel model =
        fl_adapters::callback_model(program_, fl_adapters::ToolVariant::kAsPublished);
    fl_adapters::deeplocalize::Checker checker(model);
    const auto watcher = fl_adapters::deeplocalize::make_watcher(
        model, [&](const fl_adapters::deeplocalize::BatchTrace& batch) -> fl_adapters::Finding {
          benchmark::DoNotOptimize(checker.check(batch));
          return {};
        });
    return seconds(watcher.get());
  }

 private:
  fs::path folder_;
  program::Program program_;
  std::unique_ptr<training::LocalTrainer> trainer_;
};

void watched(benchmark::State& state, const Workload& w) {
  Subject subject(w);
  std::vector<double> plain, own, ratios;
  for (auto _ : state) {
    plain.push_back(subject.seconds(nullptr));
    own.push_back(subject.watched_seconds());
    ratios.push_back(own.back() / plain.back());
    state.SetIterationTime(own.back());
  }
  const auto batches = static_cast<double>((w.rows + w.batch - 1) / w.batch * w.epochs);
  state.counters["us_per_batch"] = 1e6 * median(plain) / batches;
  state.counters["watched_us"] = 1e6 * median(own) / batches;
  state.counters["ratio"] = median(ratios);
}

BENCHMARK_CAPTURE(watched, mlp, kMlp)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(watched, mnist, kMnist)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace neutra

BENCHMARK_MAIN();
