#include "mutators/neutrality_operator.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "base/parse_number.h"

namespace neutra::mutators {

nlohmann::json meaning(const program::ProgramSpace& space, const std::string& key,
                       const std::string& value) {
  return program::canonical(space.instantiate(space.with_changes({{key, value}})));
}

double parse_number(const std::string& text, program::KeyKind kind) {
  const std::optional<double> value = neutra::parse_number<double>(text);
  if (!value || !std::isfinite(*value)) {
    throw input_error(describe("", to_string(kind), "'" + text + "'", "a finite number"));
  }
  return *value;
}

double decimal_clean(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return std::strtod(text, nullptr);
}

std::vector<std::string> step_integer(const std::string& current, Preset preset,
                                      program::KeyKind kind) {
  const double value = parse_number(current, kind);
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  if (value != std::floor(value) || value < 1 || value > kMost) {
    throw input_error(describe("", to_string(kind), current, "a whole number of 1 to 2147483647"));
  }
  std::vector<std::string> values;
  for (const Step& step : preset_steps(preset, kind)) {
    const double next = std::floor(step.divide ? value / step.factor : value * step.factor);
    if (next >= 1 && next <= kMost && next != value) {
      values.push_back(std::to_string(static_cast<std::int64_t>(next)));
    }
  }
  return values;
}

}  // namespace neutra::mutators
