#include "base/numbers.h"

#include <array>
#include <charconv>
#include <cmath>

namespace neutra {

std::string python_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific);
  std::string text(buffer.data(), end.ptr);  // "-1.25e-05", the shortest digits that read back
  const auto e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  // Python's float_repr_style: scientific below 1e-4 and from 1e16 on.
  if (exponent < -4 || exponent >= 16) return text;
  const auto fixed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  text.assign(buffer.data(), fixed.ptr);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string shortest(double value) {
  std::string text = python_repr(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

double python_round(double value, int decimals) {
  if (!std::isfinite(value)) return value;
  std::array<char, 512> text;  // the largest double has 309 digits
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::fixed, decimals);
  double rounded = value;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

}  // namespace neutra
