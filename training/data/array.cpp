#include "training/data/array.h"

namespace neutra::training {

std::int64_t row_size(const std::vector<std::int64_t>& extents) {
  std::int64_t product = 1;
  for (std::size_t i = 1; i < extents.size(); ++i) product *= extents[i];
  return product;
}

}  // namespace neutra::training
