#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// One fault as answers name it: a fault type (docs/reference/fault_types.md) and the layers it
/// touches. Fault files and the bundled faults (D1, ...) are read in experiments/catalog.h.
struct FaultEntry {
  std::string type;      ///< "ACH", "LCH", ...
  std::set<int> layers;  ///< 0-based over config.layers of the buggy program; empty: not tied to
                         ///< layers or unknown
  auto operator<=>(const FaultEntry&) const = default;
};

/// A set of faults, each a choice of alternatives: "ACH(0,1), LCH" has two items of one choice,
/// "LRM|LAD|ACH(0)" one of three.
struct FaultSet {
  bool applicable = true;                      ///< false: "N/A"
  std::vector<std::vector<FaultEntry>> items;  ///< sorted; empty: "-"
  bool operator==(const FaultSet&) const = default;
};

/// Known abbreviations with their meaning, from program/fault_types.json.
const std::vector<std::pair<std::string, std::string>>& fault_types();

std::set<std::string> types_of(const FaultSet& faults);  ///< of all choices

std::string to_string(const FaultSet& faults);  ///< the paper's notation: "ACH(0,1), LCH"
/// Reads the paper's notation: commas or semicolons between items, '|' or '/' between alternatives,
/// '-' for none, 'N/A'. Throws input_error with the column of the unknown word or the missing
/// bracket.
FaultSet parse_fault_set(std::string_view text, const std::string& where);

/// The faults that a repair of `buggy` to `fixed` removes; each type once with all its layers.
/// Layers are aligned by longest common subsequence of classes and configuration.
FaultSet diff(const Program& buggy, const Program& fixed);

}  // namespace neutra::program
