#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mutators/presets.h"
#include "program/parameters.h"

namespace neutra::mutators {

/// A neutrality operator: which kind of key it changes and to which values. Plain data; one file
/// for each operator in mutators/neutrality, whose name is its id. It reads and writes
/// values as spelled in parameter strings and never sees a program.
struct NeutralityOperator {
  std::string_view id;            ///< "change_activation_function"
  std::string_view abbreviation;  ///< fault types its changes belong to: "ACH", "LRM|LAD"
  std::string_view description;   ///< one sentence
  std::string_view source;        ///< where the rule is from
  program::KeyKind kind;          ///< keys it applies to
  /// Values to try for a key of `kind` whose value is `current`, in the order in which neighbours
  /// are numbered. The value itself may be among them (neighbours() skips it). Throws input_error
  /// when `current` is not of this kind.
  std::vector<std::string> (*values)(const std::string& current, Preset preset);
};

/// Source of the operators of the study.
inline constexpr std::string_view kTable2 =
    "Humbatova et al., An Empirical Study of Fault Localisation Techniques for Deep Learning, "
    "2025, Table 2";

/// The program that a value of a key makes of the base. Two spellings of a value mean the same when
/// their programs are the same, so every alias that programs accept counts.
nlohmann::json meaning(const program::ProgramSpace& space, const std::string& key,
                       const std::string& value);

/// The finite number that `text` spells, whole of it; input_error naming `kind` otherwise.
double parse_number(const std::string& text, program::KeyKind kind);

/// `value` rounded to twelve significant decimal digits, so that 0.1 * 3 / 3 and the like print as
/// a person would write them.
double decimal_clean(double value);

/// The preset's steps applied to a whole number >= 1: products, and quotients rounded down. Results
/// that are below 1, no change or beyond 2^31 - 1 are left out. Accepts "12" and "12.0".
std::vector<std::string> step_integer(const std::string& current, Preset preset,
                                      program::KeyKind kind);

}  // namespace neutra::mutators
