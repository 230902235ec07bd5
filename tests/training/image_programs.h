#pragma once

#include <span>
#include <string>
#include <vector>

#include "programs.h"
#include "training/data/dataset.h"
#include "training/engine.h"

namespace neutra {

/// The layers of a program on images or rows of any shape, that nothing is asked of but to be
/// resolved.
inline ResolvedProgram resolved(Json layers, const Shape& input, const Json& optimizer_config,
                                const std::string& loss, const Shape& target, std::int64_t rows,
                                std::int64_t batch = 32) {
  Program p = program("moons", 2, std::move(layers), loss, "mae", optimizer_config);
  auto& shape = p.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"];
  shape = Json::array({nullptr});
  for (const std::int64_t n : input) shape.push_back(n);
  p.document["fit"]["batch_size"] = batch;
  DataInfo data;
  data.x = input;
  data.y = target;
  data.training_rows = rows;
  data.y_max = 1;
  require_valid(p.document, "case", &data);
  return resolve(p, &data);
}

inline std::vector<std::int64_t> with_rows(std::int64_t rows, const Shape& shape) {
  std::vector<std::int64_t> extents{rows};
  extents.insert(extents.end(), shape.begin(), shape.end());
  return extents;
}

/// The values of variable k of a layer.
inline std::span<float> variable(Engine& engine, std::size_t layer, std::size_t k) {
  return engine.weights().of_layer(layer).at(k).extent.of(engine.weights().all());
}

}  // namespace neutra
