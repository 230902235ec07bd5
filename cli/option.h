#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace neutra::cli {

/// What the value of an option is.
enum class OptionType {
  kFlag,      ///< given or not
  kInteger,   ///< a whole number
  kNumber,    ///< a finite number
  kText,      ///< any text but the empty one
  kList,      ///< texts: the option may be given several times
  kChoice,    ///< one of several words
  kDuration,  ///< as parse_duration() reads it
  kSize,      ///< as parse_size() reads it
};

/// From least to most, both included; both 0: any number.
struct NumberRange {
  double least = 0, most = 0;
};

/// One row of the option table. Help, configuration file, environment and command line all come
/// from it.
struct Option {
  std::string name;  ///< long name without dashes: "budget-evaluations"
  char letter = 0;   ///< short name, 0: none
  OptionType type = OptionType::kText;
  std::string argument = {};              ///< as shown in help: "N", "FILE"
  std::string fallback = {};              ///< default as text; "": none
  std::vector<std::string> choices = {};  ///< of kChoice, and of kList where not all are allowed
  NumberRange range = {};                 ///< of kInteger and kNumber
  std::string help = {};                  ///< one sentence
};

/// Every option of every verb, sorted by name.
const std::vector<Option>& option_table();
/// The row of that name; nullptr: there is none.
const Option* find_option(std::string_view name);

/// NEUTRA_BUDGET_EVALUATIONS for "budget-evaluations".
std::string environment_name(const Option& option);

/// "48h", "1h30m", "90s", "2.5" (seconds), "1d" in seconds; nullopt when it is none of these.
std::optional<double> parse_duration(std::string_view text);
/// "1.5G", "512M", "100k", "4096" in bytes, powers of 1024; nullopt when it is none of these.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// What values of the option may be, where `text` is none of them; "" where it is one.
std::string complaint(const Option& option, const std::string& text);

/// Can a configuration file and the environment not give it?
bool only_on_command_line(std::string_view name);

/// What a configuration file may say: JSON Schema of its form as a JSON object.
Json configuration_schema();

}  // namespace neutra::cli
