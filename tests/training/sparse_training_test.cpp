// Trainings on sparse inputs.
#include <gtest/gtest.h>

#include <thread>

#include "base/hdf5_file.h"
#include "programs.h"
#include "tests/test_folder.h"
#include "tests/training/sparse.h"
#include "training/local_trainer.h"

namespace neutra::training::tests {
namespace {

/// A data set in a file, and programs on it.
class SparseTraining : public testing::Test {
 protected:
  SparseTraining() {
    Random random(4);
    constexpr std::uint64_t kRows = 230, kTest = 75, kWords = 1300, kClasses = 4;
    Hdf5File file = Hdf5File::create(folder_ / "data.h5");
    for (const auto& [part, count] : {std::pair{"train", kRows}, {"test", kTest}}) {
      const Array x = rows_of_words(static_cast<std::int64_t>(count), kWords, random, true);
      std::vector<float> y(count * kClasses);
      for (std::uint64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::uint64_t k = 0; k < kWords; ++k) {
          sum += static_cast<double>(x.values[i * kWords + k]) * static_cast<double>(k % kClasses);
        }
        y[i * kClasses + static_cast<std::uint64_t>(sum) % kClasses] = 1;
      }
      file.write(std::string("/x_") + part, x.values, {count, kWords});
      file.write(std::string("/y_") + part, y, {count, kClasses});
    }
    file.close();
  }

  program::Program words(int epochs, const Json& how = optimizer("Adam", 0.01)) const {
    program::Program p = program_of(
        "moons", 1300,
        Json::array({dense(32, "relu"), layer("Dropout", {{"rate", 0.5}}), dense(4, "softmax")}),
        "categorical_crossentropy", "accuracy", how, epochs);
    p.document["data"] = {{"source", "hdf5"}, {"arguments", {{"file", "data.h5"}}}};
    return p;
  }
  std::unique_ptr<LocalTrainer> trainer(Backend backend, bool reuse = false) const {
    TrainerOptions options;
    options.data_path = {folder_.path()};
    options.backend = backend;
    options.reuse_epochs = reuse;
    return make_local_trainer(std::move(options));
  }
  /// The weights at the end.
  static std::vector<float> train(LocalTrainer& trainer, const program::Program& p, int replica) {
    struct Last final : Observer {
      void epoch_end(const EpochEvent& event) override {
        weights.clear();
        for (const LayerView& view : event.layers) {
          for (const auto& w : view.weights) weights.insert(weights.end(), w.begin(), w.end());
        }
      }
      std::vector<float> weights;
    } last;
    TrainingJob job;
    job.program = &p;
    job.replica = replica;
    const ReplicaResult result = trainer.train(job, &last);
    EXPECT_EQ(result.status, RunStatus::kOk) << result.message;
    return last.weights;
  }

 private:
  const neutra::tests::TestFolder folder_;
};

TEST_F(SparseTraining, LearnsLikeTheEagerBackEnd) {
  const program::Program p = words(20);
  const ReplicaResult a = trainer(Backend::kFused)->train({&p}),
                      b = trainer(Backend::kEager)->train({&p});
  EXPECT_EQ(a.backend, "fused");
  EXPECT_EQ(a.status, RunStatus::kOk);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_NEAR(a.metric, b.metric, 0.1);
}

TEST_F(SparseTraining, ThreadsShareTheRows) {
  const program::Program p = words(4);
  const auto one = trainer(Backend::kFused), shared = trainer(Backend::kFused);
  std::vector<std::vector<float>> alone, together(4);
  for (int t = 0; t < 4; ++t) alone.push_back(train(*one, p, t));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { together[static_cast<std::size_t>(t)] = train(*shared, p, t); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
  EXPECT_NE(alone[0], alone[1]);
}

TEST_F(SparseTraining, ReusedEpochsChangeNothing) {
  const program::Program four = words(4), eight = words(8), six = words(6);
  const auto reusing = trainer(Backend::kFused, true), fresh = trainer(Backend::kFused);
  for (const program::Program* p : {&four, &eight, &six}) {
    const ReplicaResult a = reusing->train({p}), b = fresh->train({p});
    EXPECT_EQ(a.correct, b.correct);
    EXPECT_EQ(a.total, b.total);
    EXPECT_EQ(a.epochs_reused, p == &eight ? 4 : p == &six ? 4 : 0);
  }
}

// Dead and diverging programs end alike.
TEST_F(SparseTraining, DivergesLikeTheEagerBackEnd) {
  const auto fused = trainer(Backend::kFused), eager = trainer(Backend::kEager);
  for (const char* name : kOptimizers) {
    for (const double rate : {1e8, 1e30, 1e39}) {
      SCOPED_TRACE(name + std::to_string(rate));
      program::Program p = words(3, optimizer(name, rate));
      p.document["compile"]["loss"] = "mean_squared_error";
      p.document["model"]["config"]["layers"][2]["config"]["activation"] = "linear";
      const ReplicaResult a = fused->train({&p}), b = eager->train({&p});
      EXPECT_EQ(a.status, b.status);
      EXPECT_EQ(a.epochs_saved, b.epochs_saved);
      if (b.status == RunStatus::kDiverged) {
        EXPECT_EQ(a.correct, b.correct);
      }
    }
  }
}

}  // namespace
}  // namespace neutra::training::tests
