#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "image_programs.h"
#include "tests/training/draws.h"

/// Images in the fused back end, against the eager one.
namespace neutra::training::tests {

/// A network on images or sequences in training, with made-up rows.
struct ImageCase {
  Json layers;
  program::Shape input;
  std::int64_t batch = 8, rows = 13;  ///< a last batch of 5
};

inline Json conv(int filters, Json kernel, Json more = Json::object()) {
  Json config = {{"filters", filters}, {"kernel_size", kernel}};
  config.update(more);
  return layer("Conv2D", std::move(config));
}

/// Does the fused engine do in one epoch what the eager one does?
void expect_agreement(const ImageCase& one);

/// A NaN equals a NaN, and 0 equals -0.
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  }
  return a.size() == b.size();
}

}  // namespace neutra::training::tests
