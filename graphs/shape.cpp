#include "graphs/shape.h"

#include "base/words.h"

namespace neutra::graphs {
namespace {

/// Beyond it numbers are no sizes: arithmetic gives up before it overflows.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 52;

bool fits(__int128 value) { return value <= kLargestSize && value >= -kLargestSize; }

}  // namespace

Dim Symbols::fresh(const std::string& name) {
  names_.push_back(name);
  return {0, 1, static_cast<std::uint32_t>(names_.size() - 1)};
}

std::string Symbols::text(const Dim& dim) const {
  if (dim.known()) return std::to_string(dim.constant);
  const std::string& name = names_[dim.symbol];
  if (name.empty()) return "?";
  std::string text = dim.factor == 1 ? name : std::to_string(dim.factor) + "*" + name;
  if (dim.constant > 0) text += " + " + std::to_string(dim.constant);
  if (dim.constant < 0) text += " - " + std::to_string(-dim.constant);
  return text;
}

std::string Symbols::text(const Shape& shape) const {
  if (!shape) return "of unknown rank";
  std::vector<std::string> sizes;
  for (const Dim& dim : *shape) sizes.push_back(text(dim));
  return "[" + join(sizes) + "]";
}

Dim Symbols::add(const Dim& a, const Dim& b) {
  if (a.factor != 0 && b.factor != 0 && a.symbol != b.symbol) return fresh();
  const __int128 constant = static_cast<__int128>(a.constant) + b.constant;
  const __int128 factor = static_cast<__int128>(a.factor) + b.factor;
  if (!fits(constant) || !fits(factor)) return fresh();
  return {static_cast<std::int64_t>(constant), static_cast<std::int64_t>(factor),
          factor == 0 ? 0 : (a.factor != 0 ? a.symbol : b.symbol)};
}

Dim Symbols::subtract(const Dim& a, const Dim& b) {
  return add(a, {-b.constant, -b.factor, b.symbol});
}

Dim Symbols::multiply(const Dim& a, const Dim& b) {
  if (a.factor != 0 && b.factor != 0) return fresh();
  const Dim& symbolic = a.factor != 0 ? a : b;
  const std::int64_t times = a.factor != 0 ? b.constant : a.constant;
  const __int128 constant = static_cast<__int128>(symbolic.constant) * times;
  const __int128 factor = static_cast<__int128>(symbolic.factor) * times;
  if (!fits(constant) || !fits(factor)) return fresh();
  return {static_cast<std::int64_t>(constant), static_cast<std::int64_t>(factor),
          factor == 0 ? 0 : symbolic.symbol};
}

Dim Symbols::divide(const Dim& a, const Dim& b, bool up) {
  if (!b.known() || b.constant <= 0) return a == b && !a.known() ? dim_of(1) : fresh();
  const std::int64_t by = b.constant;
  if (a.factor % by != 0) return fresh();
  const std::int64_t shifted = up ? a.constant + by - 1 : a.constant;
  const std::int64_t floor = shifted >= 0 ? shifted / by : -((-shifted + by - 1) / by);
  return {floor, a.factor / by, a.symbol};
}

std::optional<Dim> count_of(const Shape& shape) {
  if (!shape) return std::nullopt;
  Dim count = dim_of(1);
  for (const Dim& dim : *shape) {
    if (!dim.known() && !count.known()) return std::nullopt;
    const Dim& symbolic = dim.known() ? count : dim;
    const std::int64_t times = dim.known() ? dim.constant : count.constant;
    const __int128 constant = static_cast<__int128>(symbolic.constant) * times;
    const __int128 factor = static_cast<__int128>(symbolic.factor) * times;
    if (!fits(constant) || !fits(factor)) return std::nullopt;
    count = {static_cast<std::int64_t>(constant), static_cast<std::int64_t>(factor),
             factor == 0 ? 0 : symbolic.symbol};
  }
  return count;
}

}  // namespace neutra::graphs
