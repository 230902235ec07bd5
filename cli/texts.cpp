#include "cli/texts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "evaluators/statistics.h"
#include "program/printable.h"
#include "program/words.h"

namespace neutra::cli {

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
void TextTable::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  const auto is_number = [](const std::string& cell) {
    const char* number = cell.c_str() + (cell.starts_with("< ") ? 2 : 0);
    if (*number == '\0') return false;
    char* end = nullptr;
    std::strtod(number, &end);
    return *end == '\0';
  };
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (is_number(row[i]) ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string rounded(double value) {
  if (std::isnan(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string mean_text(std::span<const double> metrics) {
  const std::size_t diverged = count_not_finite(metrics);
  return diverged > 0 ? diverged_text(diverged, metrics.size()) : rounded(mean(metrics));
}

std::string not_finite_text(std::span<const ReplicaResult> results) {
  std::map<RunStatus, std::size_t> counts;
  for (const ReplicaResult& result : results)
    if (!std::isfinite(result.metric)) ++counts[result.status];
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts)
    parts.push_back(std::to_string(count) + " of " + std::to_string(results.size()) + " " +
                    std::string(to_string(status)));
  return join(parts);
}

std::string without_result_text(std::int64_t invalid, std::int64_t failed) {
  std::vector<std::string> parts;
  if (invalid > 0) parts.push_back(std::to_string(invalid) + " invalid (Keras would refuse them)");
  if (failed > 0)
    parts.push_back(std::to_string(failed) +
                    " failed (their process died, or they ran out of time or memory)");
  return join(parts);
}

std::string duration_text(double seconds) {
  char text[64];
  if (seconds < 60) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (seconds < 3600) {
    std::snprintf(text, sizeof text, "%d min %02d s", static_cast<int>(seconds) / 60,
                  static_cast<int>(seconds) % 60);
  } else {
    const auto minutes = static_cast<long>(seconds / 60);
    std::snprintf(text, sizeof text, "%ld h %02ld min", minutes / 60, minutes % 60);
  }
  return text;
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace neutra::cli
