#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/json.h"

namespace neutra::training {

/// Where a variable lies in the network's flat buffers.
struct Extent {
  std::size_t begin = 0, size = 0;
  template <typename T>
  std::span<T> of(std::span<T> buffer) const {
    return buffer.subspan(begin, size);
  }
};

/// `config[key]` as a number; `fallback` where it is missing or null.
double number_or(const Json& config, const char* key, double fallback);
/// `config[key]`; `fallback` where it is missing or null.
bool flag_or(const Json& config, const char* key, bool fallback);

/// l1 sum |v| + l2 sum v^2 over a variable or a layer's outputs.
struct Regularizer {
  float l1 = 0, l2 = 0;
  /// Does it add anything to the loss?
  bool active() const { return l1 != 0 || l2 != 0; }
};
/// `config[field]`; inactive where it is missing or null.
Regularizer regularizer(const Json& config, const std::string& field);

}  // namespace neutra::training
