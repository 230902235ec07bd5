#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/result.h"

namespace neutra::cli {

/// A verb of the command: one file each (verb_NAME.cpp), and one row in verbs.cpp.
struct Verb {
  std::string name = {};         ///< "deepfd-train"
  std::string summary = {};      ///< one line
  std::string synopsis = {};     ///< "search FAULT [options]"
  VerbOptions options = {};      ///< and words that it takes
  std::string description = {};  ///< for --help, before the options
  std::string example = {};      ///< for --help, after the options
  /// Does the work; what it has found out is written by who calls it. Throws Error.
  Result (*run)(const Arguments& arguments) = nullptr;
  bool hidden = false;  ///< internal: not in the list of verbs
};

/// All, sorted by name.
const std::vector<Verb>& verbs();
/// The verb of that name; nullptr: there is none.
const Verb* find_verb(const std::string& name);

/// What `neutra VERB --help` prints.
std::string verb_help(const Verb& verb);
/// What `neutra --help` prints.
std::string general_help();
/// docs/reference/commands.md: the help of every verb as one page (scripts/update_docs writes it, a
/// test compares it).
std::string markdown_help();

}  // namespace neutra::cli
