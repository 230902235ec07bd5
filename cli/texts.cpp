#include "cli/texts.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/parse_number.h"
#include "base/printable.h"
#include "base/text_layout.h"
#include "base/words.h"
#include "evaluators/statistics.h"

namespace neutra::cli {
namespace {

bool g_to_file = false;

}  // namespace

std::optional<std::size_t> output_columns() {
  constexpr std::size_t kLeast = 20, kMost = 10000;
  if (g_to_file) return std::nullopt;
  std::size_t columns = 0;
  if (const char* named = std::getenv("COLUMNS"); named != nullptr)
    columns = parse_number<std::size_t>(named).value_or(0);
  winsize size{};
  if (columns == 0 && isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    columns = size.ws_col;
  if (columns == 0) return std::nullopt;
  return std::clamp(columns, kLeast, kMost);
}

void write_to_file() { g_to_file = true; }

std::string in_lines(const std::string& text) {
  const std::optional<std::size_t> columns = output_columns();
  const std::string indent(std::min<std::size_t>(text.find_first_not_of(' '), 8), ' ');
  if (!columns || text_columns(text) <= *columns) return text + "\n";
  std::string lines;
  for (const std::string& line : wrapped(text, *columns - indent.size()))
    lines += indent + line + "\n";
  return lines;
}

std::string written(const evaluators::Report& report, const std::string& format) {
  return format == "text" ? evaluators::write_text(report, output_columns())
                          : evaluators::find_reporter(format)->write(report);
}

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
void TextTable::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  return table_text(rows_, output_columns(), [](const std::string& cell) {
    const char* number = cell.c_str() + (cell.starts_with("< ") ? 2 : 0);
    if (*number == '\0') return false;
    char* end = nullptr;
    std::strtod(number, &end);
    return *end == '\0';
  });
}

std::string rounded(double value) {
  if (std::isnan(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string mean_text(std::span<const double> metrics) {
  const std::size_t diverged = evaluators::count_not_finite(metrics);
  return diverged > 0 ? evaluators::diverged_text(diverged, metrics.size())
                      : rounded(evaluators::mean(metrics));
}

std::string not_finite_text(std::span<const training::ReplicaResult> results) {
  std::map<training::RunStatus, std::size_t> counts;
  for (const training::ReplicaResult& result : results)
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

}  // namespace neutra::cli
