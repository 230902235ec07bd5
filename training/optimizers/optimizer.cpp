#include "training/optimizers/optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace neutra::training {
namespace {

void add_squares(double& sum, std::span<const float> values) {
  for (const float v : values) sum += static_cast<double>(v) * v;
}

}  // namespace

Optimizer::Optimizer(const Json& config, std::vector<Extent> variables)
    : rules_(config.value("rules", "") == "torch"    ? Rules::kTorch
             : config.value("rules", "") == "keras3" ? Rules::kKeras3
                                                     : Rules::kKeras),
      learning_rate_(number_or(config, "learning_rate", 0.001)),
      decay_(number_or(config, "decay", 0)),
      clip_value_(number_or(config, "clipvalue", 0)),
      clip_norm_(number_or(config, "clipnorm", 0)),
      global_clip_norm_(number_or(config, "global_clipnorm", 0)),
      weight_decay_(number_or(config, "weight_decay", 0)),
      decoupled_(rules_ != Rules::kTorch || flag_or(config, "decoupled_weight_decay", false)),
      variables_(std::move(variables)),
      decayed_(variables_) {
  if (const Json* schedule = member(config, "schedule")) {
    schedule_ = program::rate_schedule(*schedule);
  }
  if (rules_ == Rules::kKeras3) {  // the first of them alone counts
    if (clip_norm_ > 0) global_clip_norm_ = 0;
    if (clip_norm_ > 0 || global_clip_norm_ > 0) clip_value_ = 0;
  }
}

/// Calls it with the parts of an extent (a variable, or all) that steps look at, ascending.
template <typename Function>
void Optimizer::for_parts(const Extent& extent, Function function) const {
  const std::size_t end = extent.begin + extent.size;
  if (!lazy_ || lazy_->table.begin < extent.begin || lazy_->table.begin >= end) {
    function(extent);
    return;
  }
  const auto& [begin, size] = lazy_->table;
  if (begin > extent.begin) function(Extent{extent.begin, begin - extent.begin});
  for (const std::size_t row : lazy_->current) {
    function(Extent{begin + row * lazy_->row, lazy_->row});
  }
  if (end > begin + size) function(Extent{begin + size, end - begin - size});
}

/// Order and formulas of tf.keras 2.4: clipvalue; clipnorm: g c / max(|g|, c) for each variable;
/// global_clipnorm. Returns what becomes
/// of a gradient of 0 in a row of the table that a step doesn't look at: NaN where the norm is.
float Optimizer::clip(std::span<float> gradients) const {
  const Extent all{0, gradients.size()};
  float other = 0;
  if (clip_value_ > 0) {
    const auto limit = static_cast<float>(clip_value_);
    for_parts(all, [&](const Extent& part) {
      for (float& g : part.of(gradients)) g = g > limit ? limit : g < -limit ? -limit : g;
    });
  }
  if (clip_norm_ > 0) {
    for (const Extent& variable : variables_) {
      double squares = 0;
      for_parts(variable, [&](const Extent& part) { add_squares(squares, part.of(gradients)); });
      const auto norm = static_cast<float>(std::sqrt(squares));
      const auto limit = static_cast<float>(clip_norm_);
      const float divisor = norm < limit ? limit : norm;  // a NaN norm stays
      for_parts(variable, [&](const Extent& part) {
        for (float& g : part.of(gradients)) g = g * limit / divisor;
      });
      if (lazy_ && variable.begin == lazy_->table.begin) other = other * limit / divisor;
    }
  }
  if (global_clip_norm_ > 0) other *= clip_globally(gradients);
  return other;
}

/// The factor is c min(1 / |G|, 1 / c), NaN where |G| isn't finite (TensorFlow's
/// clip_by_global_norm); by PyTorch's rules min(1, c / (|G| + 1e-6)) (nn.utils.clip_grad_norm_).
float Optimizer::clip_globally(std::span<float> gradients) const {
  double squares = 0;
  for_parts({0, gradients.size()},
            [&](const Extent& part) { add_squares(squares, part.of(gradients)); });
  const double norm = std::sqrt(squares), limit = global_clip_norm_;
  double scale = std::isfinite(norm) ? limit * std::min(1 / norm, 1 / limit) : std::nan("");
  if (is_torch()) {
    const double ratio = limit / (norm + 1e-6);
    scale = ratio > 1 ? 1 : ratio;  // a NaN stays
  }
  const auto factor = static_cast<float>(scale);
  for (const Extent& variable : variables_) {
    for_parts(variable, [&](const Extent& part) {
      for (float& g : part.of(gradients)) g *= factor;
    });
  }
  return factor;
}

/// Keras shrinks weights before the update: w -= w d r. So does PyTorch's AdamW: w *= 1 - r d; its
/// other optimisers take g + d w for the gradient. Returns the gradients that the update sees.
std::span<const float> Optimizer::decay_weights(double rate, std::span<float> weights,
                                                std::span<const float> gradients) {
  const auto decay = static_cast<float>(weight_decay_), speed = static_cast<float>(rate);
  if (decoupled_) {
    const auto kept = static_cast<float>(1 - rate * weight_decay_);
    for (const Extent& variable : decayed_) {
      if (is_torch()) {
        for (float& w : variable.of(weights)) w *= kept;
      } else {
        for (float& w : variable.of(weights)) w -= w * decay * speed;
      }
    }
    return gradients;
  }
  penalised_.assign(gradients.begin(), gradients.end());
  for (const Extent& variable : decayed_) {
    const std::span<float> w = variable.of(weights), g = variable.of(std::span(penalised_));
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += decay * w[i];
  }
  return penalised_;
}

void Optimizer::make_accumulators(std::size_t size) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i]) count = i + 1;
  }
  bool made = iterations_ == 0;
  accumulators_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!starts_[i] || accumulators_[i].size() == size) continue;
    accumulators_[i] = Buffer(size);
    if (*starts_[i] != 0) {
      const std::span<float> values = accumulators_[i].floats();
      std::fill(values.begin(), values.end(), *starts_[i]);
    }
    made = true;
  }
  if (made && lazy_) std::fill(lazy_->fresh.begin(), lazy_->fresh.end(), 1);
}

Optimizer::Part Optimizer::part(const Extent& extent, std::span<float> weights,
                                const float* gradients) {
  Part part{extent.size, weights.data() + extent.begin, gradients, {}};
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    if (starts_[i]) part.accumulators[i] = accumulators_[i].data() + extent.begin;
  }
  return part;
}

void Optimizer::begin_epoch(std::int64_t epoch) {
  if (schedule_ && !schedule_->every_batch) scheduled_ = schedule_->factor(epoch);
}

void Optimizer::step(std::span<float> weights, std::span<float> gradients) {
  make_accumulators(weights.size());
  if (clip_value_ > 0 || clip_norm_ > 0 || global_clip_norm_ > 0) {
    const float other = clip(gradients);
    if (lazy_ && other != 0) give_other_rows(other, weights, gradients);
  }
  if (schedule_ && schedule_->every_batch) scheduled_ = schedule_->factor(iterations_);
  const double rate = learning_rate_ * rate_factor_ * scheduled_ * reduced_ /
                      (1 + decay_ * static_cast<double>(iterations_));
  ++iterations_;
  const StepCoefficients now = coefficients(static_cast<float>(rate), iterations_);
  std::span<const float> seen = gradients;
  if (weight_decay_ > 0) seen = decay_weights(rate, weights, gradients);
  if (!embeddings_.empty() && rules_ == Rules::kKeras &&
      rows_not_looked_up() != RowsNotLookedUp::kUpdate) {
    return update_around_embeddings(now, weights, seen);
  }
  for_parts({0, weights.size()}, [&](const Extent& extent) {
    update(now, part(extent, weights, seen.data() + extent.begin));
  });
  if (lazy_) note_step(now, weights);
}

void Optimizer::update_around_embeddings(const StepCoefficients& step, std::span<float> weights,
                                         std::span<const float> gradients) {
  const auto update_extent = [&](const Extent& extent) {
    if (extent.size > 0) update(step, part(extent, weights, gradients.data() + extent.begin));
  };
  std::size_t begin = 0;
  std::vector<float> kept;
  for (const auto& [extent, row_size, looked_up] : embeddings_) {
    update_extent({begin, extent.begin - begin});
    begin = extent.begin + extent.size;
    auto next = looked_up.begin();
    for (std::size_t row = 0; row < extent.size / row_size; ++row) {
      const Extent own{extent.begin + row * row_size, row_size};
      if (next != looked_up.end() && *next == row) {
        update_extent(own);
        ++next;
      } else if (rows_not_looked_up() == RowsNotLookedUp::kAccumulate) {
        const std::span<float> values = own.of(weights);
        kept.assign(values.begin(), values.end());
        update_extent(own);
        std::copy(kept.begin(), kept.end(), values.begin());
      }
    }
  }
  update_extent({begin, weights.size() - begin});
}

void Optimizer::add_embedding(const Extent& table, std::size_t row) {
  assert(embeddings_.empty() || embeddings_.back().extent.begin < table.begin);
  embeddings_.push_back({table, row, {}});
}

void Optimizer::look_up(std::size_t begin, std::vector<std::uint32_t> rows) {
  for (Embedding& table : embeddings_) {
    if (table.extent.begin == begin) table.rows = std::move(rows);
  }
}

Optimizer::State Optimizer::state() const {
  State state{iterations_, product_, {}};
  for (const Buffer& buffer : accumulators_) {
    state.accumulators.emplace_back(buffer.floats().begin(), buffer.floats().end());
  }
  return state;
}

void Optimizer::restore(const State& state) {
  assert(!lazy_ || lazy_->missed.empty());
  iterations_ = state.iterations;
  product_ = state.product;
  accumulators_.clear();
  for (const std::vector<float>& values : state.accumulators) {
    accumulators_.emplace_back(values.size());
    std::copy(values.begin(), values.end(), accumulators_.back().data());
  }
  if (lazy_) std::fill(lazy_->fresh.begin(), lazy_->fresh.end(), 0);
}

}  // namespace neutra::training
