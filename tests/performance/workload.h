#pragma once

/// What the benchmarks share: programs, and the pieces of LibTorch's examples that they are
/// compared with.

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"

namespace neutra {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline Json layer(const char* class_name, Json config) {
  return {{"class_name", class_name}, {"config", std::move(config)}};
}
inline Json dense(std::int64_t units, const char* activation) {
  return layer("Dense", {{"units", units}, {"activation", activation}});
}
inline Json convolution(std::int64_t filters) {
  return layer("Conv2D", {{"filters", filters}, {"kernel_size", 3}, {"activation", "relu"}});
}
inline Json pooling() { return layer("MaxPooling2D", Json::object()); }

/// A classifier of rows of shape `input` with rate 0.001, on data.h5.
inline program::Program classifier(const std::string& name, Json layers,
                                   const program::Shape& input, const std::string& optimizer,
                                   const std::string& loss, std::int64_t batch,
                                   std::int64_t epochs) {
  Json& shape = layers[0]["config"]["batch_input_shape"] = Json::array({nullptr});
  for (const std::int64_t n : input) shape.push_back(n);
  return {{{"format", "neutra-program"},
           {"version", 1},
           {"name", name},
           {"task", "classification"},
           {"model", {{"class_name", "Sequential"}, {"config", {{"layers", layers}}}}},
           {"compile",
            {{"optimizer", {{"class_name", optimizer}, {"config", {{"learning_rate", 0.001}}}}},
             {"loss", loss},
             {"metrics", {"accuracy"}}}},
           {"fit", {{"batch_size", batch}, {"epochs", epochs}}},
           {"data", {{"source", "hdf5"}, {"arguments", {{"file", "data.h5"}}}}},
           {"metric", {{"name", "accuracy"}, {"goal", "maximize"}}}}};
}

inline torch::nn::Conv2d conv(std::int64_t in, std::int64_t out) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3));
}

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

}  // namespace neutra
