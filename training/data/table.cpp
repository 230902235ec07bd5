#include "training/data/table.h"

#include "training/data/array.h"

namespace neutra::training {

std::int64_t Table::row_size() const { return training::row_size(extents); }

Table Table::select(const std::vector<std::int64_t>& order) const {
  Table result{extents, {}};
  result.extents.front() = static_cast<std::int64_t>(order.size());
  const std::int64_t width = row_size();
  result.values.reserve(order.size() * static_cast<std::size_t>(width));
  for (const std::int64_t row : order) {
    const auto begin = values.begin() + row * width;
    result.values.insert(result.values.end(), begin, begin + width);
  }
  return result;
}

Part Part::select(const std::vector<std::int64_t>& order) const {
  Part result{x.select(order), y.select(order)};
  if (!weights.extents.empty()) result.weights = weights.select(order);
  return result;
}

}  // namespace neutra::training
