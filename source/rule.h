#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "source/matcher.h"

namespace neutra::source {

enum class Severity : std::uint8_t { kHint, kWarning, kError };
std::string_view name_of(Severity severity);
/// Throws input_error with `where` for what is no severity.
Severity severity_of(std::string_view name, const std::string& where);

class Condition;

/// Where a rule begins to look, and what must be true there for a finding.
struct RuleCase {
  std::shared_ptr<const Matcher> start;
  std::vector<std::shared_ptr<const Condition>> when;  ///< all of them
  std::string shapes;  ///< instead of both: shapes that can't agree, of this kind
};

/// Replaces, or puts beside, the start of a finding (docs/formats/rule.md).
struct FixRule {
  enum class Kind : std::uint8_t {
    kInsertBefore,  ///< a statement in front of that of the start, as deep as it
    kInsertAfter,
    kReplace,      ///< the start itself, by `text`
    kAddArgument,  ///< `text` as the last argument of the start, or in the place of that of its
                   ///< name
    kUnwrap        ///< the start by its first argument, or by the object that it is a method of
  };
  Kind kind = Kind::kReplace;
  std::string text;  ///< with {receiver} and {argument}
  std::string of;    ///< "start", or "origin": what the last condition found
};

/// A text that shows when a rule fires.
struct RuleExample {
  std::string code;
  bool fires = true;
};

/// One silent bug, as data.
struct Rule {
  std::string id, message, category, root_cause, symptom, source;
  std::optional<int> pattern;  ///< 1 to 14 of the set pysiassist
  Severity severity = Severity::kWarning;
  std::vector<std::string> faults;  ///< types of docs/reference/fault_types.md
  std::vector<RuleCase> cases;
  std::optional<FixRule> fix;
  std::vector<RuleExample> examples;
  bool once = false;  ///< at most one finding in a file
};

/// A file of rules.
struct RuleSet {
  std::string name;
  std::vector<Rule> rules;
};

/// Reads a document of rules (docs/formats/rule.md). Throws input_error with `file`, the place,
/// what was found and what is allowed.
RuleSet parse_rules(const Json& document, const std::string& file, const Vocabulary& vocabulary);

/// The bundled sets, by name: "pysiassist", "pytorch", "keras", "shapes".
const std::vector<RuleSet>& bundled_rules();

}  // namespace neutra::source
