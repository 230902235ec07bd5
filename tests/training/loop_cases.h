#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "programs.h"
#include "training/eager.h"
#include "training/fused/engine.h"

/// What tests of loops written by hand share.
namespace neutra::training::tests {

inline Json loop_field(const char* field, Json value) { return {{field, std::move(value)}}; }

/// A program on rows of its own, and its engine.
struct Tiny {
  Tiny(Backend backend_, Json layers, const std::vector<float>& xs, const std::vector<float>& ys,
       Json loop = Json::object(), const Json& how = optimizer("SGD", 0.1), Json schedule = Json(),
       int batch = 32)
      : backend(backend_) {
    const auto rows = static_cast<std::int64_t>(ys.size());
    const auto width = static_cast<std::int64_t>(xs.size()) / rows;
    x = {{rows, width}, xs};
    y = {{rows, 1}, ys};
    program::Program p = program_of("moons", static_cast<int>(width), std::move(layers),
                                    "mean_squared_error", "mae", how);
    p.document["fit"]["loop"] = std::move(loop);
    p.document["fit"]["schedule"] = std::move(schedule);
    p.document["fit"]["batch_size"] = batch;
    const program::DataInfo info{{width}, {1}, rows, false, -10, 10};
    program = program::resolve(p, &info);
    engine = make();
  }
  std::unique_ptr<Engine> make() const {
    return backend == Backend::kFused ? make_fused_engine(program, rows(), {1, 2})
                                      : make_eager_engine(program, rows(), {1, 2});
  }
  Rows rows() const { return {&x, &y, 0, x.rows()}; }
  double step(std::vector<std::int64_t> chosen) {
    return engine->step(chosen, steps++, {true, true, false});
  }
  /// Value or gradient `at` of a variable of a layer.
  float weight(std::size_t layer, std::size_t variable = 0, std::size_t at = 0) {
    Weights& weights = engine->weights();
    return weights.of_layer(layer)[variable].extent.of(weights.all())[at];
  }
  float gradient(std::size_t layer, std::size_t variable = 0, std::size_t at = 0) {
    Weights& weights = engine->weights();
    return weights.of_layer(layer)[variable].extent.of(weights.gradients())[at];
  }

  Backend backend;
  Array x, y;
  program::ResolvedProgram program;
  std::unique_ptr<Engine> engine;
  std::uint32_t steps = 0;
};

/// One weight of 1: the loss of a row is (w x - y)^2, its gradient 2 (w x - y) x.
inline Json one_weight(Json more = Json::object()) {
  Json config = {{"use_bias", false}, {"kernel_initializer", "ones"}};
  config.update(more);
  return Json::array({dense(1, "linear", std::move(config))});
}

class Loops : public EachBackend {
 protected:
  Tiny tiny(Json loop, const Json& how = optimizer("SGD", 0.1), Json schedule = Json()) const {
    return {GetParam(),      one_weight(), {1, 2, -1},         {3, 1, 2},
            std::move(loop), how,          std::move(schedule)};
  }
};

}  // namespace neutra::training::tests
