#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "source/analysis.h"
#include "source/condition.h"

namespace neutra::source {

using Holds = std::function<bool(const Analysis&, Situation&)>;
using Parts = std::vector<std::shared_ptr<const Condition>>;

/// What reads a condition: its JSON, and where messages say that it stands.
struct Reader {
  const Json& json;
  const Vocabulary& vocabulary;
  const std::string& where;

  std::shared_ptr<const Matcher> matcher(const char* key) const {
    return std::make_shared<const Matcher>(json.at(key), vocabulary, where + "." + key);
  }
  bool flag(const char* key) const {
    const Json& value = json.at(key);
    if (!value.is_boolean()) throw input_error(where + "." + key + ": allowed: true, false");
    return value.get<bool>();
  }
  std::vector<std::string> texts(const char* key) const {
    const Json& value = json.at(key);
    if (value.is_string()) return {value.get<std::string>()};
    if (!value.is_array() ||
        !std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); }))
      throw input_error(where + "." + key + ": allowed: a text, or a list of texts");
    return value.get<std::vector<std::string>>();
  }
  std::string word(const char* key, const std::vector<std::string>& allowed) const {
    const Json* value = member(json, key);
    if (value == nullptr) return allowed.front();
    if (!value->is_string() ||
        std::find(allowed.begin(), allowed.end(), value->get<std::string>()) == allowed.end())
      throw input_error(where + "." + key + ": found " + value->dump() +
                        "; allowed: " + join(allowed));
    return value->get<std::string>();
  }
  Parts parts(const char* key) const {
    const Json& list = json.at(key);
    if (!list.is_array()) throw input_error(where + "." + key + ": allowed: a list of conditions");
    Parts result;
    for (std::size_t i = 0; i < list.size(); ++i)
      result.push_back(
          parse_condition(list[i], vocabulary, where + "." + key + "[" + std::to_string(i) + "]"));
    return result;
  }
  void only(const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : json.items())
      if (key != "comment" && std::find(keys.begin(), keys.end(), key) == keys.end())
        throw input_error(where + ": found '" + key + "'; allowed: " + allowed_words(key, keys));
  }
};

/// Does a text match one of these in lower case?
bool any_glob(std::string_view text, const std::vector<std::string>& globs);

/// Conditions about the place of the start, and about the whole text; nullopt: it is none of them.
std::optional<Holds> place_condition(const Reader& reader);
std::optional<Holds> file_condition(const Reader& reader);

}  // namespace neutra::source
