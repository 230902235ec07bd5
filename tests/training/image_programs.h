#pragma once

#include <span>
#include <string>
#include <vector>

#include "programs.h"
#include "training/data/dataset.h"
#include "training/engine.h"

namespace neutra::training {

/// The layers of a program on images or rows of any shape, that nothing is asked of but to be
/// resolved.
inline program::ResolvedProgram resolved(Json layers, const program::Shape& input,
                                         const Json& optimizer_config, const std::string& loss,
                                         const program::Shape& target, std::int64_t rows,
                                         std::int64_t batch = 32) {
  program::Program p = program_of("moons", 2, std::move(layers), loss, "mae", optimizer_config);
  auto& shape = p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"];
  shape = Json::array({nullptr});
  for (const std::int64_t n : input) shape.push_back(n);
  p.document["fit"]["batch_size"] = batch;
  program::DataInfo data;
  data.x = input;
  data.y = target;
  data.training_rows = rows;
  data.y_max = 1;
  program::require_valid(p.document, "case", &data);
  return program::resolve(p, &data);
}

inline std::vector<std::int64_t> with_rows(std::int64_t rows, const program::Shape& shape) {
  std::vector<std::int64_t> extents{rows};
  extents.insert(extents.end(), shape.begin(), shape.end());
  return extents;
}

/// The values of variable k of a layer.
inline std::span<float> variable(Engine& engine, std::size_t layer, std::size_t k) {
  return engine.weights().of_layer(layer).at(k).extent.of(engine.weights().all());
}

}  // namespace neutra::training
