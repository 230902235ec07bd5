#pragma once

#include <string>
#include <vector>

#include "cli/verbs.h"

namespace neutra::cli {

/// What a word of the command line may be.
struct Candidates {
  std::vector<std::string> words;
  /// Extensions ("h5"), "any" for every file, "folders".
  std::vector<std::string> files;
};

/// What a name such as "FAULT|FILE.json", which help shows, stands for: bundled faults, subjects,
/// plans, studies, operators, tools and types by their ids; files by extension. Of any other name
/// nothing.
Candidates candidates(const std::string& shown);

/// A script that completes the command in a shell: verbs, actions, options and their values, words
/// of a verb, all from the option table. `shell`: "bash", "zsh" or "fish".
std::string completion_script(const std::string& shell);
const std::vector<std::string>& completion_shells();

}  // namespace neutra::cli
