#include "training/batch.h"

#include <limits>

namespace neutra::training {

std::size_t argmax(std::span<const float> values) {
  float best = std::numeric_limits<float>::lowest();
  std::size_t index = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > best) {
      best = values[i];
      index = i;
    }
  }
  return index;
}

}  // namespace neutra::training
