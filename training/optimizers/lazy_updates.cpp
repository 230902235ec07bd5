// Lazy updates of rows without a gradient.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "training/clones.h"
#include "training/optimizers/optimizer.h"

namespace neutra::training {
namespace {

/// The largest |w|, as its bits: those of NaN are larger than all others.
NEUTRA_CLONES std::uint32_t largest(std::size_t n, const float* w) {
  std::uint32_t top = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, w + i, sizeof bits);
    bits &= 0x7FFFFFFF;
    top = bits > top ? bits : top;
  }
  return top;
}

/// Loads rows into the caches while others are worked on.
void prefetch(const float* row, std::size_t size) {
#if defined(__GNUC__)
  for (std::size_t i = 0; i < size; i += kLineFloats) __builtin_prefetch(row + i, 1);
#endif
}

/// Rows catch up after so many missed steps at the latest.
constexpr std::size_t kMostMissed = 1024;

}  // namespace

/// A gradient for the rows that the step doesn't look at after all: from now on it looks at all.
void Optimizer::give_other_rows(float gradient, std::span<float> weights,
                                std::span<float> gradients) {
  catch_up_all(weights);
  const std::vector<std::uint32_t> looked_at = std::move(lazy_->current);
  std::span<float> table = lazy_->table.of(gradients);
  auto next = looked_at.begin();
  for (std::size_t row = 0; row < lazy_->done.size(); ++row) {
    if (next != looked_at.end() && *next == row) {
      ++next;
    } else {
      const std::span<float> values = table.subspan(row * lazy_->row, lazy_->row);
      std::fill(values.begin(), values.end(), gradient);
    }
  }
  lazy_->current.resize(lazy_->done.size());
  std::iota(lazy_->current.begin(), lazy_->current.end(), 0u);
}

/// The rows that the step looked at have had it; the others have missed it.
void Optimizer::note_step(const StepCoefficients& step, std::span<float> weights) {
  LazyTable& d = *lazy_;
  const Probe probe = this->probe(step);
  if (!probe.finite) d.bounded = false;  // epsilon 0: 0 / 0
  d.missed.push_back({step, probe.rests});
  for (const std::uint32_t row : d.current) {
    assert(d.done[row] + 1 == d.missed.size());
    ++d.done[row];
    d.fresh[row] = 0;
    const Extent extent{d.table.begin + row * d.row, d.row};
    if (!bounded(extent.of(weights))) d.bounded = false;
  }
  if (d.missed.size() == kMostMissed) catch_up_all(weights);
}

void Optimizer::begin_lazy(const Extent& table, std::size_t row) {
  assert(row > 0 && table.size % row == 0);
  const std::size_t rows = table.size / row;
  lazy_ = LazyTable{table, row, {}, {}, {}, {}, std::vector<float>(row), true};
  lazy_->done.resize(rows);
  lazy_->fresh.resize(rows);
}

void Optimizer::catch_up(std::span<float> weights, std::span<const std::uint32_t> rows) {
  if (!lazy_) return;
  lazy_->current.assign(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size()) prefetch_row(rows[i + 1], weights);
    replay(rows[i], weights);
  }
}

void Optimizer::catch_up_all(std::span<float> weights) {
  if (!lazy_ || lazy_->missed.empty()) return;
  for (std::size_t row = 0; row < lazy_->done.size(); ++row) replay(row, weights);
  lazy_->missed.clear();
  std::fill(lazy_->done.begin(), lazy_->done.end(), 0u);
}

void Optimizer::end_lazy(std::span<float> weights) {
  catch_up_all(weights);
  lazy_.reset();
}

void Optimizer::prefetch_row(std::size_t row, std::span<float> weights) {
  const Part part =
      this->part({lazy_->table.begin + row * lazy_->row, lazy_->row}, weights, nullptr);
  prefetch(part.w, part.size);
  for (const float* accumulator : part.accumulators) {
    if (accumulator) prefetch(accumulator, part.size);
  }
}

void Optimizer::replay(std::size_t row, std::span<float> weights) {
  LazyTable& d = *lazy_;
  const Part part = this->part({d.table.begin + row * d.row, d.row}, weights, d.zeros.data());
  for (std::size_t k = d.done[row]; k < d.missed.size(); ++k) {
    if (d.missed[k].rests && (d.fresh[row] != 0 || idles())) continue;
    update(d.missed[k].step, part);
    d.fresh[row] = 0;
  }
  d.done[row] = static_cast<std::uint32_t>(d.missed.size());
}

/// All optimisers but Ftrl add something to a weight that doesn't depend on it, and Ftrl makes it
/// anew; so three weights tell for all: 1, 0 and, for the sign, -0.
Optimizer::Probe Optimizer::probe(const StepCoefficients& step) const {
  constexpr std::array<float, 3> kWeights{1, 0, -0.0f}, kGradients{};
  std::array<float, 3> w = kWeights;
  std::array<std::array<float, 3>, 3> states{}, before{};
  Part part{w.size(), w.data(), kGradients.data(), {}};
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (!starts_[i]) continue;
    before[i].fill(*starts_[i]);
    states[i] = before[i];
    part.accumulators[i] = states[i].data();
  }
  update(step, part);
  return {std::memcmp(&w, &kWeights, sizeof w) == 0 &&
              std::memcmp(&states, &before, sizeof states) == 0,
          std::all_of(w.begin(), w.end(), [](float v) { return std::isfinite(v); })};
}

/// The largest weight is far from infinity: no row gets there in kMostMissed steps with gradients
/// of 0, in which a weight moves at most about 1 / (1 - momentum) times as far as in its last step
/// (with Adam, beta_1 / sqrt(beta_2) in place of the momentum).
bool Optimizer::bounded(std::span<const float> weights) {
  return largest(weights.size(), weights.data()) <= std::bit_cast<std::uint32_t>(1e30f);
}

}  // namespace neutra::training
