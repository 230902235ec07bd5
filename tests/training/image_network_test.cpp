// Trainings and predictions of a network on images, with both back ends.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>

#include "base/hdf5_file.h"
#include "image_programs.h"
#include "tests/test_folder.h"
#include "training/local_trainer.h"

namespace neutra::training::tests {
namespace {

/// A network with every layer on images, on random images of 8 by 7 with two channels.
class ImageNetwork : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    constexpr std::uint64_t kRows = 90, kRow = 8 * 7 * 2;
    std::vector<float> x(kRows * kRow), y(kRows);
    fill_uniform({{3, 4}, Stream::kNoise, 0, 0}, -1, 1, x);
    for (std::size_t i = 0; i < kRows; ++i) y[i] = x[i * kRow] > 0 ? 1.0f : 0.0f;
    Hdf5File file = Hdf5File::create(folder_ / "images.h5");
    file.write("/x", x, {kRows, 8, 7, 2});
    file.write("/y", y, {kRows});
    file.close();
    program_ = program_of(
        "moons", 2,
        Json::array(
            {layer("Conv2D", {{"filters", 8},
                              {"kernel_size", 3},
                              {"padding", "same"},
                              {"strides", 2},
                              {"activation", "relu"},
                              {"kernel_initializer", "he_normal"}}),
             layer("BatchNormalization", Json::object()), layer("ZeroPadding2D", {{"padding", 1}}),
             layer("Conv2D", {{"filters", 4}, {"kernel_size", {3, 2}}}),
             layer("MaxPooling2D", {{"padding", "same"}}), layer("Dropout", {{"rate", 0.25}}),
             layer("AveragePooling2D", {{"pool_size", 2}, {"strides", 1}}),
             layer("Flatten", Json::object()), dense(1, "sigmoid")}),
        "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), 8);
    program_.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"] = {nullptr, 8,
                                                                                        7, 2};
    program_.document["data"]["source"] = "hdf5";
    program_.document["data"]["arguments"] = {{"file", "images.h5"}};
    if (GetParam() == Backend::kEager) {  // which alone knows them
      program_.document["model"]["config"]["layers"][3]["config"]["activity_regularizer"] = {
          {"class_name", "L2"}, {"config", {{"l2", 0.01}}}};
    }
    TrainerOptions options = trained_by(GetParam());
    options.data_path = {folder_.path()};
    trainer_ = make_local_trainer(options);
  }

  struct Recorder final : Observer {
    BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
      return BatchDetail::kActivations;
    }
    void batch_end(const BatchEvent& event) override {
      last.clear();
      losses.push_back(event.loss);
      for (const LayerView& view : event.layers) {
        activations.push_back(view.activations.size() / static_cast<std::size_t>(event.rows));
        for (const auto& w : view.weights) last.insert(last.end(), w.begin(), w.end());
      }
      if (event.step == 0) {
        first.assign(event.layers[0].weights[0].begin(), event.layers[0].weights[0].end());
      }
    }
    std::vector<double> losses;
    std::vector<std::size_t> activations;
    std::vector<float> last, first;
  };
  std::vector<float> trained(int replica) {
    Recorder seen;
    TrainingJob job;
    job.program = &program_;
    job.replica = replica;
    const ReplicaResult result = trainer_->train(job, &seen);
    EXPECT_EQ(result.status, RunStatus::kOk) << result.message;
    return seen.last;
  }

  const neutra::tests::TestFolder folder_;
  program::Program program_;
  std::unique_ptr<LocalTrainer> trainer_;
};

TEST_P(ImageNetwork, PredictsFromALayerOnWithThatLayersInputs) {
  const auto whole = trainer_->predictor(program_, DataPart::kTest, {});
  Weights& weights = whole->weights();
  fill_uniform({{5, 6}, Stream::kNoise, 0, 0}, 0.1f, 0.4f, weights.all());
  const std::int64_t count = whole->rows();
  ASSERT_LE(count, whole->max_rows());
  const auto copy = [](std::span<const float> values) {
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> outputs = copy(whole->outputs(0, count));
  std::vector<std::vector<float>> activations;
  for (const auto values : whole->activations()) activations.push_back(copy(values));
  const program::ResolvedProgram resolved = trainer_->resolved(program_);
  for (std::size_t first = 1; first < resolved.layers.size(); ++first) {
    Array inputs{resolved.layers[first].input_shape, activations[first - 1]};
    inputs.extents.insert(inputs.extents.begin(), count);
    const auto rest = trainer_->predictor(program_, first, inputs);
    Weights& own = rest->weights();
    for (std::size_t i = first; i < resolved.layers.size(); ++i) {
      for (std::size_t k = 0; k < weights.of_layer(i).size(); ++k) {
        const std::span<const float> from = weights.of_layer(i)[k].extent.of(weights.all());
        std::copy(from.begin(), from.end(),
                  own.of_layer(i - first)[k].extent.of(own.all()).begin());
      }
    }
    const std::vector<float> again = copy(rest->outputs(0, count));
    ASSERT_EQ(again.size(), outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_NEAR(again[i], outputs[i], 1e-5);
  }
}

TEST_P(ImageNetwork, LearnsAndIsObserved) {
  Recorder seen;
  TrainingJob job;
  job.program = &program_;
  const ReplicaResult result = trainer_->train(job, &seen);
  EXPECT_EQ(result.status, RunStatus::kOk) << result.message;
  EXPECT_LT(seen.losses.back(), seen.losses.front());
  const std::vector<std::size_t> sizes{4 * 4 * 8, 4 * 4 * 8, 6 * 6 * 8, 4 * 5 * 4, 2 * 3 * 4,
                                       2 * 3 * 4, 1 * 2 * 4, 8,         1};
  ASSERT_GE(seen.activations.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(seen.activations[i], sizes[i]) << i;
  // he_normal: fan in is the receptive field times the input channels; one step moves each weight
  // by at most the rate.
  const Statistics s = statistics(seen.first);
  EXPECT_EQ(s.count, 3u * 3 * 2 * 8);
  EXPECT_NEAR(s.stddev, std::sqrt(2.0 / (3 * 3 * 2)), 0.06);
}

TEST_P(ImageNetwork, BitwiseEqualWithOneAndTwoWorkers) {
  const std::vector<float> first = trained(0), second = trained(1);
  ASSERT_FALSE(first.empty());
  EXPECT_NE(first, second);
  std::vector<std::vector<float>> together(4);
  std::vector<std::thread> workers;
  for (int t = 0; t < 2; ++t) {
    workers.emplace_back([&, t] {
      together[static_cast<std::size_t>(t)] = trained(t);
      together[static_cast<std::size_t>(t + 2)] = trained(1 - t);
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(together[0], first);
  EXPECT_EQ(together[1], second);
  EXPECT_EQ(together[2], second);
  EXPECT_EQ(together[3], first);
}

TEST_P(ImageNetwork, MemoryIsKnownBeforeTheStart) {
  program_.document["model"]["config"]["layers"][3]["config"]["filters"] = 4096;
  TrainingJob job;
  job.program = &program_;
  job.memory_limit = 8 << 20;
  const ReplicaResult result = trainer_->train(job);
  EXPECT_EQ(result.status, RunStatus::kOutOfMemory);
  EXPECT_EQ(result.steps, 0);
}

INSTANTIATE_TEST_SUITE_P(BackEnds, ImageNetwork,
                         ::testing::Values(Backend::kEager, Backend::kFused),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace neutra::training::tests
