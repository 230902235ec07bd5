#pragma once

#include <cstddef>
#include <span>

#include "program/json.h"

namespace neutra {

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
bool flag_or(const Json& config, const char* key, bool fallback);

}  // namespace neutra
