#include "program/formats/old_layouts.h"

#include <algorithm>

#include "program/layer.h"

namespace neutra::program {

void transpose(StoredArray& array, const std::vector<std::size_t>& order) {
  const std::size_t rank = array.shape.size();
  Shape shape(rank);
  std::vector<std::size_t> stride(rank, 1), step(rank);
  for (std::size_t i = rank - 1; i-- > 0;) {
    stride[i] = stride[i + 1] * static_cast<std::size_t>(array.shape[i + 1]);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = array.shape[order[i]];
    step[i] = stride[order[i]];
  }
  std::vector<float> values;
  values.reserve(array.values.size());
  Shape index(rank, 0);
  for (std::size_t n = 0, from = 0; n < array.values.size(); ++n) {
    values.push_back(array.values[from]);
    for (std::size_t i = rank; i-- > 0;) {
      from += step[i];
      if (++index[i] < shape[i]) break;
      from -= step[i] * static_cast<std::size_t>(shape[i]);
      index[i] = 0;
    }
  }
  array.shape = std::move(shape);
  array.values = std::move(values);
}

void flip_kernel(StoredArray& kernel) {
  const auto filters = static_cast<std::size_t>(kernel.shape[kernel.shape.size() - 1] *
                                                kernel.shape[kernel.shape.size() - 2]);
  const std::size_t places = kernel.values.size() / filters;
  for (std::size_t i = 0; i < places / 2; ++i) {
    std::swap_ranges(
        kernel.values.begin() + static_cast<std::ptrdiff_t>(i * filters),
        kernel.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * filters),
        kernel.values.begin() + static_cast<std::ptrdiff_t>((places - 1 - i) * filters));
  }
}

StoredArray concatenated(const std::vector<StoredArray>& parts) {
  StoredArray whole{parts.front().path, parts.front().shape, {}};
  whole.shape.back() = 0;
  for (const StoredArray& part : parts) whole.shape.back() += part.shape.back();
  const std::int64_t rows = element_count({whole.shape.begin(), whole.shape.end() - 1});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const StoredArray& part : parts) {
      const auto begin = part.values.begin() + row * part.shape.back();
      whole.values.insert(whole.values.end(), begin, begin + part.shape.back());
    }
  }
  return whole;
}

std::vector<std::size_t> old_gates(const std::string& class_name) {
  if (class_name == "LSTM") return {0, 2, 1, 3};  // i, c, f, o -> i, f, c, o
  if (class_name == "GRU") return {0, 1, 2};
  return {};
}

}  // namespace neutra::program
