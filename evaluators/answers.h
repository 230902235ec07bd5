#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluators/ranking.h"
#include "program/faults.h"

namespace neutra::evaluators {

/// Lines of a training script, from 1, the last one included.
struct CodeLines {
  std::string file;  ///< "": the script itself
  int first = 1, last = 1;
  auto operator<=>(const CodeLines&) const = default;
};
/// "train.py:23; train.py:30-31; 40"; "" for none.
std::string to_string(const std::vector<CodeLines>& lines);
/// Reads that form. Throws input_error with `where`.
std::vector<CodeLines> parse_code_lines(std::string_view text, const std::string& where);

/// What a fault-localisation tool said about a fault: a row of an answers file
/// (docs/formats/answers.md).
struct Answer {
  std::string fault;         ///< id, "D7"
  std::string tool;          ///< "deepfd"
  program::FaultSet faults;  ///< not applicable: "N/A"; no items: "-"
  std::string version;       ///< of the tool; "" where not said
  std::optional<int> runs;
  std::optional<double> seconds;  ///< of one localisation
  Ranking ranking;                ///< of a tool that ranks
  /// Share of the runs that gave this answer, in [0, 1].
  std::optional<double> stability;
  std::string status;  ///< how the runs ended: "ok", or "18 ok, 2 timeout"; "" where not said
  /// Where the tool says that the faults are in the script; none where it doesn't.
  std::vector<CodeLines> lines = {};
};

/// Reads the columns by name: fault, tool and answer must be there, version, runs, seconds,
/// ranking, stability, status and lines may; others are passed over. Throws input_error with file
/// and line for a missing column, an empty fault or tool, an unknown fault type, a number that is
/// none, and a second answer of a tool on a fault.
std::vector<Answer> parse_answers(std::string_view text, const std::string& file);
std::vector<Answer> read_answers(const std::filesystem::path& file);

/// The same form; columns that no answer fills are left out.
std::string to_csv(const std::vector<Answer>& answers);

}  // namespace neutra::evaluators
