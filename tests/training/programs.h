#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "program/program.h"
#include "training/local_trainer.h"

namespace neutra::training {

inline Json layer(const std::string& class_name, Json config = Json::object()) {
  return {{"class_name", class_name}, {"config", std::move(config)}};
}

inline Json dense(int units, const std::string& activation, Json more = Json::object()) {
  Json config = {{"units", units}, {"activation", activation}};
  config.update(more);
  return layer("Dense", std::move(config));
}

/// A program on a generated data set; `input` = features of a row. Fields may be changed
/// afterwards.
inline program::Program program_of(const std::string& data_name, int input, Json layers,
                                   const std::string& loss, const std::string& metric,
                                   Json optimizer, int epochs = 3) {
  layers[0]["config"]["batch_input_shape"] = Json::array({nullptr, input});
  program::Program p;
  p.document = {
      {"format", "neutra-program"},
      {"version", 1},
      {"name", "test"},
      {"task", metric == "accuracy" ? "classification" : "regression"},
      {"model",
       {{"class_name", "Sequential"}, {"config", {{"name", "m"}, {"layers", std::move(layers)}}}}},
      {"compile", {{"optimizer", std::move(optimizer)}, {"loss", loss}, {"metrics", {metric}}}},
      {"fit", {{"batch_size", 32}, {"epochs", epochs}}},
      {"data",
       {{"source", "generator"},
        {"arguments", {{"name", data_name}, {"rows", 500}, {"seed", 1}}},
        {"split", {{"test_size", 0.2}, {"seed", 42}}}}},
      {"metric", {{"name", metric}, {"goal", metric == "accuracy" ? "maximize" : "minimize"}}}};
  return p;
}

inline Json optimizer(const std::string& name, double rate) {
  return {{"class_name", name}, {"config", {{"learning_rate", rate}}}};
}

/// Two classes in the plane, with dropout: uses every random stream.
inline program::Program moons(int epochs = 3) {
  return program_of("moons", 2,
                    Json::array({dense(16, "relu"), layer("Dropout", {{"rate", 0.25}}),
                                 dense(8, "tanh"), dense(1, "sigmoid")}),
                    "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), epochs);
}

/// A straight line that one unit learns.
inline program::Program line(int epochs = 3) {
  program::Program p = program_of("linear", 1, Json::array({dense(1, "linear")}),
                                  "mean_squared_error", "mae", optimizer("SGD", 0.1), epochs);
  p.document["data"]["arguments"]["slope"] = 5;
  return p;
}

inline TrainerOptions trained_by(Backend backend) {
  TrainerOptions options;
  options.backend = backend;
  return options;
}

/// Tests that run with each back end.
class EachBackend : public testing::TestWithParam<Backend> {
 public:
  static std::string name(const testing::TestParamInfo<Backend>& info) {
    return info.param == Backend::kEager ? "Eager" : "Fused";
  }

 protected:
  std::unique_ptr<LocalTrainer> trainer(TrainerOptions options = {}) const {
    options.backend = GetParam();
    return make_local_trainer(std::move(options));
  }
};
#define NEUTRA_EACH_BACKEND(Suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(With, Suite, testing::Values(Backend::kEager, Backend::kFused), \
                           EachBackend::name)

}  // namespace neutra::training
