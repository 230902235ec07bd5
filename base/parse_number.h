#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace neutra {

/// The number that a whole text is, as std::from_chars() reads it; nullopt where there is anything
/// else in it, or where T can't hold the number.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

}  // namespace neutra
