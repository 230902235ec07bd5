#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/words.h"
#include "program/document.h"
#include "program/edit.h"
#include "program/key_access.h"
#include "program/optimizer_rules.h"
#include "program/parameters.h"

/// ProgramSpace: its keys, and programs by their values (program/parameters.h).
namespace neutra::program {
namespace {

/// The parameters by the space's own names. Records number `unitN` and `layerN` by no single rule:
/// where a space has one key of the kind, whatever number is given means that one.
Parameters by_own_names(Parameters parameters, const std::vector<Key>& keys) {
  for (const auto& [kind, word] : {std::pair(KeyKind::kUnits, std::string_view("unit")),
                                   std::pair(KeyKind::kRepeat, std::string_view("layer"))}) {
    const auto is_of_kind = [kind = kind](const Key& key) { return key.kind == kind; };
    const auto own = std::find_if(keys.begin(), keys.end(), is_of_kind);
    if (std::count_if(keys.begin(), keys.end(), is_of_kind) != 1 ||
        parameters.contains(own->name)) {
      continue;
    }
    const auto is_numbered = [word = word](const auto& entry) {
      const std::string& name = entry.first;
      return name.starts_with(word) && name.size() > word.size() &&
             name.find_first_not_of("0123456789", word.size()) == std::string::npos;
    };
    if (std::count_if(parameters.begin(), parameters.end(), is_numbered) != 1) continue;
    auto given =
        parameters.extract(std::find_if(parameters.begin(), parameters.end(), is_numbered));
    given.key() = own->name;
    parameters.insert(std::move(given));
  }
  return parameters;
}

}  // namespace

ProgramSpace::ProgramSpace(Program base, std::vector<Key> keys, const std::string& file)
    : base_(std::move(base)), keys_(std::move(keys)) {
  for (Key& key : keys_) {
    const auto fail = [&](const std::string& found, const std::string& allowed) {
      return input_error(describe(file, "key " + key.name, found, allowed));
    };
    const bool good_name = std::all_of(key.name.begin(), key.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    if (key.name.empty() || !good_name) {
      throw fail("the name " + shown(key.name), "letters, digits and '_'");
    }
    for (const auto& [spelling, json] : key.values) {
      if (spelling.empty() ||
          spelling.find_first_of(std::string_view(", \t\r\n\0", 6)) != std::string::npos) {
        throw fail("the spelling " + shown(spelling), "spellings without commas and blanks");
      }
      if (!normal_value_of(key.kind, json)) {
        throw fail("the spelling " + spelling + " of " + shown(json),
                   "values of the kind " + std::string(to_string(key.kind)));
      }
    }
    const std::string usual(usual_path(key.kind));
    if (key.paths.empty() && !usual.empty()) key.paths = {usual};
    if (key.paths.empty()) throw fail("no paths", "at least one path into the program");
    std::optional<Json> first;
    for (const std::string& path : key.paths) {
      if (!usual.empty() && path != usual) throw fail(path, usual);
      const auto raw = read_value(base_.document, key.kind, path);
      if (!raw) throw fail(path + ", which is not in the program", "paths into the program");
      const auto value = normal_value_of(key.kind, *raw);
      if (!value) {
        throw fail(shown(*raw) + " at " + path, allowed_values(key, ""));
      }
      if (first && *first != *value) {
        throw fail(shown(*raw) + " at " + path + ", unlike at its first path",
                   "paths that hold the same value");
      }
      if (first) continue;
      first = value;
      const auto text = spell(key, *raw, *value);
      if (!text) {
        throw fail(shown(*raw) + " at " + path + ", which has no spelling",
                   "a spelling for it in the key's values");
      }
      if (!base_parameters_.emplace(key.name, *text).second) {
        throw fail("a second time", "each key once");
      }
    }
  }
}

const Key* ProgramSpace::find(std::string_view name) const {
  const auto at =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == name; });
  return at == keys_.end() ? nullptr : &*at;
}

Parameters ProgramSpace::with_changes(const Parameters& changes, const std::string& where) const {
  Parameters result = base_parameters_;
  for (const auto& [name, value] : changes) {
    const Key* key = find(name);
    if (key == nullptr) {
      std::vector<std::string> names;
      for (const Key& each : keys_) names.push_back(each.name);
      throw input_error(
          describe(where, "", "the unknown key " + shown(name), allowed_words(name, names)));
    }
    if (!parse_value(*key, value)) {
      throw input_error(describe(where, name, shown(value), allowed_values(*key, value)));
    }
    result[name] = value;
  }
  return result;
}

Program ProgramSpace::instantiate(const Parameters& given, const std::string& where) const {
  const Parameters parameters = by_own_names(given, keys_);
  for (const Key& key : keys_) {
    if (!parameters.contains(key.name)) {
      throw input_error(describe(where, key.name, "no value", allowed_values(key, "")));
    }
  }
  with_changes(parameters, where);  // refuses unknown keys and impossible values

  Program program = base_;
  Json& document = program.document;
  std::optional<Json> optimizer, rate;
  std::vector<std::pair<std::size_t, std::int64_t>> repeats;
  for (const Key& key : keys_) {
    const Json value = *parse_value(key, parameters.at(key.name));
    // Values that mean what the base has leave the document as it is written.
    const Json before =
        *normal_value_of(key.kind, *read_value(base_.document, key.kind, key.paths.front()));
    const bool same = key.kind == KeyKind::kOptimizer ? before.at("class_name") == value
                      : key.kind == KeyKind::kLoss    ? loss_word(before) == loss_word(value)
                                                      : before == normal_value_of(key.kind, value);
    if (same) continue;
    switch (key.kind) {
      case KeyKind::kOptimizer:
        optimizer = value;
        break;
      case KeyKind::kLearningRate:
        rate = value;
        break;
      case KeyKind::kRepeat:
        for (const std::string& path : key.paths) {
          repeats.emplace_back(split_layer_path(document, path)->layer, value.get<std::int64_t>());
        }
        break;
      default:
        for (const std::string& path : key.paths) document[Json::json_pointer(path)] = value;
    }
  }
  if (optimizer || rate) {
    // Another optimiser keeps the learning rate and the rules only.
    if (!rate) rate = read_value(base_.document, KeyKind::kLearningRate, "");
    if (optimizer) replace_optimizer(optimizer_of(document), *optimizer);
    set_optimizer_field(document, "learning_rate", *rate);
  }
  // From the last layer to the first, so that the indices of those before stay true.
  std::sort(repeats.rbegin(), repeats.rend());
  for (const auto& [index, count] : repeats) repeat_layer(document, index, count);
  return program;
}

}  // namespace neutra::program
