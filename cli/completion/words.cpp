#include "cli/completion/words.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/words.h"
#include "experiments/benchmark/build.h"
#include "experiments/catalog.h"
#include "experiments/scores/pictures.h"
#include "experiments/study/file.h"
#include "fl_adapters/parsers/parser.h"
#include "fl_adapters/registry.h"
#include "mutators/registry.h"
#include "program/faults.h"

namespace neutra::cli {
namespace {

Strings split(const std::string& text, char at) {
  Strings parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

Strings both(Strings a, const Strings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Strings type_names() {
  Strings names;
  for (const auto& info : program::fault_types()) names.push_back(info.first);
  return names;
}

/// What stands in help for a word, and what the word may be.
const std::map<std::string, Candidates>& kinds() {
  static const std::map<std::string, Candidates> all{
      {"BENCHMARK", {{}, {"h5", "folders"}}},
      {"DIR", {{}, {"folders"}}},
      {"FAULT", {both(experiments::fault_ids(), experiments::subject_ids()), {"json"}}},
      {"FILE", {{}, {"any"}}},
      {"FOLDER", {{}, {"folders"}}},
      {"OPERATOR", {mutators::mutation_operator_ids(), {}}},
      {"PICTURE", {{}, experiments::picture_forms()}},
      {"PLAN", {experiments::benchmark_plans(), {"json"}}},
      {"SET", {{"train", "test", "weak"}, {}}},
      {"STORE", {{}, {"h5"}}},
      {"STUDY", {experiments::bundled_studies(), {}}},
      {"SUBJECT", {experiments::subject_ids(), {}}},
      {"TOOL", {fl_adapters::tool_names(), {}}},
      {"TYPE", {type_names(), {}}},
      {"VERB", {verb_names(), {}}},
  };
  return all;
}

std::vector<Word> words_of(const std::string& synopsis) {
  std::vector<Word> words;
  for (std::string word : split(synopsis, ' ')) {
    if (word.front() == '-') break;  // options
    std::erase_if(word, [](char c) { return c == '[' || c == ']'; });
    const bool again = word.ends_with("...");
    if (again) word.resize(word.size() - 3);
    if (!word.empty()) words.push_back({word});
    if (again && !words.empty()) words.back().again = true;
  }
  return words;
}

bool takes(const VerbAction& action, const std::string& option) {
  const auto among = [&](const Strings& list) {
    return std::find(list.begin(), list.end(), option) != list.end();
  };
  return !action.options || among(*action.options) || among(common_options());
}

}  // namespace

Strings Place::path() const {
  return action == nullptr ? Strings{verb->name} : Strings{verb->name, action->name};
}

Strings verb_names() {
  Strings names;
  for (const Verb& verb : verbs())
    if (!verb.hidden) names.push_back(verb.name);
  return names;
}

Strings acting_verbs() {
  Strings names;
  for (const Verb& verb : verbs())
    if (!verb.options.actions.empty()) names.push_back(verb.name);
  return names;
}

Candidates candidates(const std::string& shown) {
  Candidates result;
  for (std::string name : split(shown, '|')) {
    name.resize(std::min(name.size(), name.find('[')));  // "OPERATOR[@LAYER]"
    Candidates one;
    if (const auto kind = kinds().find(name); kind != kinds().end()) {
      one = kind->second;
    } else if (const auto dot = name.find('.'); dot != std::string::npos) {
      one.files = {name.substr(dot + 1)};
    } else if (std::islower(static_cast<unsigned char>(name.front()))) {
      one.words = {name};
    }
    const auto add = [](Strings& to, const Strings& from) {
      for (const std::string& item : from)
        if (std::find(to.begin(), to.end(), item) == to.end()) to.push_back(item);
    };
    add(result.words, one.words);
    add(result.files, one.files);
  }
  return result;
}

Candidates value_of(const Verb& verb, const Option& option) {
  if (!option.choices.empty()) return {option.choices, {}};
  if (verb.name == "parse" && option.name == "tool")
    return {fl_adapters::parsers::log_parser_names(), {}};
  return candidates(option.argument);
}

Strings action_names(const Verb& verb) {
  Strings names;
  for (const VerbAction& action : verb.options.actions) names.push_back(action.name);
  return names;
}

std::vector<Place> places() {
  std::vector<Place> all;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const std::vector<Option> options = options_of(verb.options);
    const bool acts = !verb.options.actions.empty();
    all.push_back({&verb, nullptr, options, {}});
    if (!acts) all.back().words = words_of(verb.options.positional_name);
    for (const VerbAction& action : verb.options.actions) {
      all.push_back({&verb, &action, {}, words_of(action.words)});
      for (const Option& option : options)
        if (takes(action, option.name)) all.back().options.push_back(option);
    }
  }
  return all;
}

Strings spellings(const Option& option) {
  Strings all{"--" + option.name};
  if (option.letter) all.push_back("-" + std::string(1, option.letter));
  return all;
}

Strings flags() {
  Strings all;
  for (const Option& option : option_table())
    if (option.type == OptionType::kFlag) all = both(all, spellings(option));
  return all;
}

std::string in_quotes(const std::string& text, const std::string& quote) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? quote : std::string(1, c);
  return result + "'";
}

std::string offer(const Candidates& c, const std::string& quote) {
  return in_quotes(join(c.words, " "), quote) + " " + in_quotes(join(c.files, " "), quote);
}

std::string filled(std::string_view script, const std::map<std::string, std::string>& texts) {
  std::string result;
  for (;;) {
    const std::size_t begin = script.find('@');
    const std::size_t end = begin == script.npos ? begin : script.find('@', begin + 1);
    const auto text = end == script.npos
                          ? texts.end()
                          : texts.find(std::string(script.substr(begin + 1, end - begin - 1)));
    if (text == texts.end()) {  // no more names, or an @ of the script's own
      if (begin == script.npos) return result.append(script);
      result.append(script.substr(0, begin + 1));
      script.remove_prefix(begin + 1);
      continue;
    }
    result.append(script.substr(0, begin)).append(text->second);
    script.remove_prefix(end + 1);
  }
}

}  // namespace neutra::cli
