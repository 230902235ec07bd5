#include "training/engine_predictor.h"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "training/eager.h"
#include "training/flush_denormals.h"
#include "training/fused/engine.h"
#include "training/libraries.h"
#include "training/loop.h"

namespace neutra::training {
namespace {

constexpr std::int64_t kFloats = 1 << 23;  ///< in a batch of all layers' outputs, ...
constexpr std::int64_t kRows = 1024;       ///< ... but no more rows than this

}  // namespace

std::unique_ptr<Engine> make_engine(const program::ResolvedProgram& program, const Rows& training,
                                    RandomKey key, bool fused) {
  return fused ? make_fused_engine(program, training, key)
               : make_eager_engine(program, training, key);
}

EnginePredictor::EnginePredictor(program::ResolvedProgram program, Rows rows, Array targets,
                                 RandomKey key, bool fused, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)),
      program_(without_initial_values(std::move(program))),
      targets_(std::move(targets)),
      rows_(rows) {
  omp_set_num_threads(1);
  if (rows_.y == nullptr) rows_.y = &targets_;
  program::LoopStyle loop;
  loop.eval_mode = program_.loop.eval_mode;  // the rest is about layers and updates
  program_.loop = loop;
  if (program_.loop.eval_mode) {
    program_.batch_size = std::clamp<std::int64_t>(kFloats / row_elements(program_), 1, kRows);
  }
  engine_ =
      make_engine(program_, rows_, evaluation_key(key), fused && !fused_refusal(program_, rows_));
}

std::int64_t EnginePredictor::max_rows() const { return std::min(program_.batch_size, rows()); }

std::span<const float> EnginePredictor::outputs(std::int64_t begin, std::int64_t count) {
  const FlushDenormals guard;
  indices_.resize(static_cast<std::size_t>(count));
  std::iota(indices_.begin(), indices_.end(), begin);
  if (program_.loop.eval_mode) {
    engine_->look(indices_);
  } else {
    engine_->gradients(indices_, static_cast<std::uint32_t>(begin / program_.batch_size),
                       {false, true, true});
  }
  return engine_->output().values;
}

Array predict(const program::ResolvedProgram& program, const program::ModelWeights& weights,
              const Array& inputs, Backend backend) {
  prepare_libraries();
  program::ResolvedProgram model = program;
  model.loss = "mean_squared_error";  // any that takes targets of the output's shape
  model.loop.eval_mode = true;
  Array targets;
  targets.extents = model.layers.back().output_shape;
  targets.extents.insert(targets.extents.begin(), inputs.rows());
  Array outputs{targets.extents, {}};
  outputs.extents.front() = 0;
  targets.values.resize(static_cast<std::size_t>(inputs.rows() * targets.row_size()));
  EnginePredictor predictor(std::move(model), Rows{&inputs, nullptr, 0, inputs.rows()},
                            std::move(targets), RandomKey{}, backend != Backend::kEager, nullptr);
  predictor.weights().assign(weights);
  for (std::int64_t begin = 0; begin < inputs.rows();) {
    const std::int64_t count = std::min(predictor.max_rows(), inputs.rows() - begin);
    const std::span<const float> values = predictor.outputs(begin, count);
    outputs.values.insert(outputs.values.end(), values.begin(), values.end());
    begin += count;
  }
  outputs.extents.front() = inputs.rows();
  return outputs;
}

}  // namespace neutra::training
