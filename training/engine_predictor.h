#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "training/engine.h"
#include "training/predictor.h"

namespace neutra::training {

/// An engine of the fused or the eager back end. Precondition: a fused one knows the program.
std::unique_ptr<Engine> make_engine(const program::ResolvedProgram& program, const Rows& training,
                                    RandomKey key, bool fused);

/// A predictor by an engine that never trains. It sees its rows as training rows.
class EnginePredictor final : public Predictor {
 public:
  /// `targets`: rows that the engine needs beside inputs that aren't a part of a data set.
  /// `key`: of the training whose evaluation this is. `owner`: of the data set.
  EnginePredictor(program::ResolvedProgram program, Rows rows, Array targets, RandomKey key,
                  bool fused, std::shared_ptr<const void> owner);

  Weights& weights() override { return engine_->weights(); }
  std::int64_t rows() const override { return rows_.count(); }
  std::int64_t max_rows() const override;
  std::span<const float> outputs(std::int64_t begin, std::int64_t count) override;
  std::vector<std::span<const float>> activations() override { return engine_->activations(); }

 private:
  std::shared_ptr<const void> owner_;
  program::ResolvedProgram program_;
  Array targets_;
  Rows rows_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::int64_t> indices_;
};

}  // namespace neutra::training
