#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"

/// What the completion of the command offers, made of the verbs and the option table.
namespace neutra::cli {

/// Texts in an order.
using Strings = std::vector<std::string>;

/// What a word of the command line may be.
struct Candidates {
  Strings words;  ///< ids, choices
  Strings files;  ///< extensions ("h5"), "any" for every file, "folders"

  /// Is there nothing to offer?
  bool empty() const { return words.empty() && files.empty(); }
};

/// What a name such as "FAULT|FILE.json", which help shows, stands for: bundled faults, subjects,
/// plans, studies, operators, tools and types by their ids; files by extension. Of any other name
/// nothing.
Candidates candidates(const std::string& shown);
/// What follows an option of a verb.
Candidates value_of(const Verb& verb, const Option& option);

/// A word that a verb, or its action, takes: of "PLAN|BENCHMARK [ENTRY ...]".
struct Word {
  std::string shown;   ///< as help shows it: "BENCHMARK"
  bool again = false;  ///< and all that follow
};

/// A verb, or one of its actions.
struct Place {
  const Verb* verb = nullptr;          ///< never nullptr
  const VerbAction* action = nullptr;  ///< nullptr: the verb itself
  std::vector<Option> options;         ///< that it takes
  std::vector<Word> words;             ///< behind its name

  /// "bench", "list"
  Strings path() const;
  /// Is it a verb whose first word is an action?
  bool acts() const { return action == nullptr && !verb->options.actions.empty(); }
};
/// All that are not hidden, each verb before its actions.
std::vector<Place> places();

/// Verbs that are not hidden.
Strings verb_names();
/// Verbs with actions.
Strings acting_verbs();
/// Names of the actions of a verb.
Strings action_names(const Verb& verb);
/// "--replicas", "-n"
Strings spellings(const Option& option);
/// Spellings of all options without a value.
Strings flags();

/// In single quotes, for a shell; `quote` is what a quote in it becomes.
std::string in_quotes(const std::string& text, const std::string& quote = "'\\''");
/// Candidates as the two arguments of the scripts' function that offers them.
std::string offer(const Candidates& candidates, const std::string& quote = "'\\''");
/// A script with texts in the place of its @NAMES@.
std::string filled(std::string_view script, const std::map<std::string, std::string>& texts);

}  // namespace neutra::cli
