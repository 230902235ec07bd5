#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/script.h"

namespace neutra::report {

/// A repair as a patch of the files of the script that the fault was captured from.
struct RepairPatch {
  std::string node;                  ///< its name in the network: "12", "m1"
  std::vector<std::string> diff;     ///< lines of a unified diff
  std::vector<std::string> refused;  ///< differences that it lacks, with their lines and reasons
  std::vector<std::string> notes;    ///< what else there is to know
  /// Command line that the patched script has to run with; nullopt: as before.
  std::optional<std::vector<std::string>> arguments = {};
};

/// Patches for a report.
struct ReportPatches {
  std::vector<RepairPatch> repairs;
  std::string refusal;  ///< why there are none; "": they were made
};

/// `script` of a report: which files the program was captured from.
Json script_json(const experiments::Script& script);
/// `patches` of a report (docs/formats/report.md), its texts printable(); null: none are wanted.
Json patches_json(const std::optional<ReportPatches>& patches);

}  // namespace neutra::report
