#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"

namespace neutra::source {

/// `*` stands for any characters, also none.
bool matches_glob(std::string_view text, std::string_view glob);

/// Kinds of objects, a bit each: what `<model>` in a rule is.
using Kinds = std::uint32_t;

/// One kind of object, and what tells that an expression is of it.
struct KindRule {
  std::string name;
  std::vector<std::string> classes;  ///< globs of paths: an instance of one, or of a class below it
  std::vector<std::string> except;   ///< of those, not these
  std::vector<std::string> methods;  ///< who has one of these called is of the kind
  std::vector<std::string> names;    ///< globs: of the names of what nothing else is known of
};

/// What is known of libraries: names.json. Paths are those of their documentation,
/// "torch.nn.Linear".
class Vocabulary {
 public:
  explicit Vocabulary(const Json& document);
  /// The bundled one.
  static const Vocabulary& standard();

  /// A path as the documentation has it: "tensorflow.keras.layers.Dense" is "keras.layers.Dense".
  std::string canonical(std::string path) const;
  /// What a name that is bound nowhere in the text stands for by custom; "": nothing.
  const std::string& customary(std::string_view name) const;

  const std::vector<KindRule>& kinds() const { return kinds_; }
  /// The bit of a kind; 0: there is none of that name.
  Kinds kind(std::string_view name) const;
  std::vector<std::string> kind_names() const;

  /// Methods and functions (their first argument) whose value is the same numbers as what they are
  /// applied to, in another form or place.
  bool keeps_value(std::string_view method) const {
    return keeping_methods_.contains(std::string(method));
  }
  bool keeps_first_argument(std::string_view path) const {
    return keeping_functions_.contains(std::string(path));
  }
  /// Methods that return the object itself.
  bool returns_self(std::string_view method) const {
    return self_methods_.contains(std::string(method));
  }

  /// Named sets of patterns, "softmax", as JSON.
  const Json* set(std::string_view name) const { return member(sets_, name); }

 private:
  std::vector<std::pair<std::string, std::string>>
      same_;  ///< beginnings of paths, the longest first
  std::unordered_map<std::string, std::string> customary_;
  std::vector<KindRule> kinds_;
  std::unordered_set<std::string> keeping_methods_, keeping_functions_, self_methods_;
  Json sets_;
};

}  // namespace neutra::source
