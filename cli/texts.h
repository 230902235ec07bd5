#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluators/result_table.h"
#include "training/trainer.h"

namespace neutra::cli {

/// Columns that a result on standard output may take: COLUMNS where it is set, else those of the
/// terminal, 20 at least; nullopt: as many as it needs (a pipe, a file).
std::optional<std::size_t> output_columns();
/// The result goes to the file of --output: no terminal limits it.
void write_to_file();

/// A sentence in lines that fit output_columns(), each with its end; further ones are indented as
/// the first is.
std::string in_lines(const std::string& text);

/// A report in a form of output (Reporter::name); as text, to fit output_columns().
std::string written(const evaluators::Report& report, const std::string& format);

/// Left-aligned text columns, numbers (also "< 1e-16") to the right, to fit output_columns().
/// Cells are printable().
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  /// As many cells as the header has.
  void add(std::vector<std::string> row);
  /// The table in lines, the header first.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Four significant digits for people, "-" for a NaN; files get the shortest decimal that reads
/// back.
std::string rounded(double value);
/// The mean of trainings that ended by themselves; "3 of 10 diverged" where a metric isn't finite,
/// "-" of none.
std::string mean_text(std::span<const double> metrics);
/// "3 of 10 diverged, 1 of 10 timeout": of the trainings whose metric isn't finite; "" of none.
std::string not_finite_text(std::span<const training::ReplicaResult> results);
/// "2 invalid (Keras would refuse them), 1 failed (...)": programs that gave no result; "" of none.
std::string without_result_text(std::int64_t invalid, std::int64_t failed);
/// "1 h 03 min", "12.3 s"
std::string duration_text(double seconds);

}  // namespace neutra::cli
