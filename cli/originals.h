#pragma once

#include <filesystem>
#include <string>

#include "cli/arguments.h"
#include "experiments/catalog.h"

namespace neutra::cli {

/// With --rows-train: the fault on the first N training rows, by a preprocessing step before the
/// others; else the fault as it is.
experiments::Fault with_fewer_rows(experiments::Fault fault, const Arguments& arguments);

/// The program that --version names. Throws input_error when the fault has no known fix.
const program::Program& chosen_version(const experiments::Fault& fault, const Arguments& arguments);

/// The same for a fault-localisation tool: the buggy version is the program that the study's tools
/// ran on, which may be another one.
const program::Program& tool_version(const experiments::Fault& fault, const Arguments& arguments);

/// What tools ran on instead of the buggy program: {difference, reason, hash}; null: on that
/// itself.
Json tools_json(const experiments::Fault& fault);

/// A program that a verb starts from: a bundled subject, or a version of a fault.
struct Original {
  std::string id;               ///< of the fault or the subject
  program::Program program;     ///< the version that was chosen
  program::ProgramSpace space;  ///< with its keys; its base need not be the program
  std::filesystem::path file;   ///< in whose folder its data are looked up first
};
/// The one that the first word names, in the version of --version. `for_tool`: see tool_version().
Original load_original(const Arguments& arguments, bool for_tool = false);

}  // namespace neutra::cli
