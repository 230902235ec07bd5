#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option.h"

namespace neutra::cli {

/// The resolved options of one call: defaults < configuration file < environment < command line.
class Arguments {
 public:
  std::vector<std::string> words;       ///< as given, behind the verb
  std::vector<std::string> positional;  ///< that belong to no option; a script with its own words
  std::vector<std::string> given;       ///< names of the options on the command line

  bool has(std::string_view name) const;  ///< given or has a default
  /// Of a flag: is it given? The others below read the value of an option that it has(), each for
  /// the type of its row in the option table.
  bool flag(std::string_view name) const;
  bool is_on(std::string_view name) const;  ///< an on|off choice
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;  ///< as it was given, of any type
  /// All values, in their order; empty where there are none.
  const std::vector<std::string>& list(std::string_view name) const;
  /// Of an option that it has(): where its value comes from, "default" for the table's, else
  /// "--seed", "NEUTRA_SEED", "FILE: seed".
  const std::string& origin(std::string_view name) const;
  double seconds(std::string_view name) const;       ///< of a time
  std::uint64_t bytes(std::string_view name) const;  ///< of a size
  /// nullopt: it has no value.
  std::optional<double> optional_number(std::string_view name) const;
  std::optional<std::int64_t> optional_integer(std::string_view name) const;

  /// Checks and stores; `where` ("--seed", "NEUTRA_SEED", "FILE: seed") starts the message of a
  /// usage_error.
  void set(const Option& option, const std::vector<std::string>& values, const std::string& where);

 private:
  const std::string& value(std::string_view name) const;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> origins_;
};

/// The form of the result: --json or --format; "text" of a verb that takes no --format.
std::string chosen_format(const Arguments& arguments);

/// The first word of verbs that do several things: `neutra store check STORE`.
struct VerbAction {
  std::string name;                                      ///< "check"
  std::string words;                                     ///< behind it: "STORE..."
  std::optional<std::vector<std::string>> options = {};  ///< of the verb's; nullopt: all
};

/// What a verb takes on its command line. Words in capitals say what is meant and what a shell
/// completes (cli/completion.h).
struct VerbOptions {
  std::vector<std::string> names = {};  ///< of the option table, besides those every verb takes
  int least_positional = 0, most_positional = 0;  ///< how many words it takes besides options
  std::string positional_name = {};               ///< "FAULT"
  std::vector<std::string> formats = {};  ///< of --format, the default first; empty: it isn't taken
  std::vector<VerbAction> actions = {};   ///< the first word is one of them
  /// Options that mean something else here than in the table, which a configuration can't give.
  std::vector<Option> own = {};
  /// Not empty: the first word is a script, and those behind it are the script's own, up to the
  /// first of these options (split_script_words()).
  std::vector<std::string> behind_script = {};
};

/// A command line with a script in it.
struct ScriptWords {
  std::vector<std::string> own;     ///< options of the verb
  std::vector<std::string> script;  ///< the script and its own words
};

/// Options of the verb stand in front of the script; or behind it, from the first of
/// `behind_script` on that isn't in front, and then a "--" ends them and more of the script's own
/// follow. Everything else behind the script is the script's, also what looks like an option of the
/// verb. As python/neutra/capture/cli.py.
ScriptWords split_script_words(const VerbOptions& verb, const std::vector<std::string>& words);

/// A line for standard error where a word of the script, `words` behind its name, is spelt as an
/// option of the verb and no "--" says that it is the script's; "": there is none.
std::string script_words_note(const VerbOptions& verb, const Arguments& arguments);

/// Parses the words after the verb. Throws usage_error (command line, environment) or input_error
/// (configuration file).
Arguments parse_arguments(const VerbOptions& verb, const std::vector<std::string>& words);

/// The options without a command line; `config`: the configuration file, else that of
/// NEUTRA_CONFIG. Throws as parse_arguments() does.
Arguments configured_options(const VerbOptions& verb, const std::optional<std::string>& config);

/// The options that a verb takes, sorted by name, with its own formats.
std::vector<Option> options_of(const VerbOptions& verb);

/// The option part of `neutra VERB --help`.
std::string option_help(const VerbOptions& verb);

/// Options that every verb takes.
const std::vector<std::string>& common_options();

}  // namespace neutra::cli
