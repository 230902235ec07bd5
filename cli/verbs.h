#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace neutra::cli {

/// A verb of the command: one file each (verb_NAME.cpp), listed in verbs.cpp.
struct Verb {
  std::string name;
  std::string summary;   ///< one line
  std::string synopsis;  ///< "search FAULT [options]"
  VerbOptions options;
  std::string description;                           ///< for --help, before the options
  std::string example;                               ///< for --help, after the options
  int (*run)(const Arguments& arguments) = nullptr;  ///< returns the exit code
  bool hidden = false;                               ///< internal: not in the list of verbs
};

/// Sorted by name.
const std::vector<Verb>& verbs();
const Verb* find_verb(const std::string& name);

std::string verb_help(const Verb& verb);
std::string general_help();
/// docs/reference/commands.md: the help of every verb as one page (scripts/update_docs writes it, a
/// test compares it).
std::string markdown_help();

Verb bench_verb();
Verb collect_verb();
Verb completion_verb();
Verb config_verb();
Verb deepfd_train_verb();
Verb evaluate_verb();
Verb export_verb();
Verb faults_verb();
Verb import_verb();
Verb localise_verb();
Verb man_verb();
Verb mutate_verb();
Verb network_verb();
Verb parse_verb();
Verb report_verb();
Verb score_verb();
Verb search_verb();
Verb serve_verb();
Verb show_verb();
Verb simulate_verb();
Verb status_verb();
Verb store_verb();
Verb study_verb();
Verb submit_verb();
Verb subjects_verb();
Verb symptoms_verb();
Verb train_verb();
Verb train_isolated_verb();
Verb verify_verb();

}  // namespace neutra::cli
