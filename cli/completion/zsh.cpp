#include "base/words.h"
#include "cli/completion/scripts.h"
#include "cli/completion/words.h"

namespace neutra::cli {
namespace {

/// For a description or message in a specification of _arguments.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// ":FILE.h5: _neutra_offer '' 'h5'". The space: nothing else is passed.
std::string zsh_action(const std::string& shown, const Candidates& c) {
  if (c.empty()) return ":" + zsh_text(shown) + ":";
  return ":" + zsh_text(shown) + ": _neutra_offer \"" + join(c.words, " ") + "\" \"" +
         join(c.files, " ") + "\"";
}

std::string zsh_arguments(const Place& place) {
  std::string text = "_arguments -S";
  const auto add = [&](const std::string& specification) {
    text += " \\\n          " + specification;
  };
  for (const Option& option : place.options) {
    const Strings names = spellings(option);
    const bool list = option.type == OptionType::kList;
    std::string rest = "[" + zsh_text(option.help) + "]";
    const bool valued = option.type != OptionType::kFlag;
    if (valued) rest += zsh_action(option.argument, value_of(*place.verb, option));
    // "=" and "+": the value is the next word, or the rest of this one.
    Strings forms{names[0] + (valued ? "=" : "")};
    if (names.size() > 1) forms.push_back(names[1] + (valued ? "+" : ""));
    if (forms.size() == 1) {
      add(in_quotes((list ? "*" : "") + forms[0] + rest));
    } else {
      add(in_quotes("(" + join(names, " ") + ")") + "{" + join(forms, ",") + "}" + in_quotes(rest));
    }
  }
  for (std::size_t i = 0; i < place.words.size(); ++i) {
    const Word& word = place.words[i];
    add(in_quotes((word.again ? "*" : std::to_string(i + 1)) +
                  zsh_action(word.shown, candidates(word.shown))));
  }
  if (place.acts()) add(in_quotes("1:action:(" + join(action_names(*place.verb), " ") + ")"));
  return text;
}

}  // namespace

std::string zsh_script() {
  std::string descriptions, cases;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    descriptions += "    " + in_quotes(verb.name + ":" + verb.summary) + "\n";
  }
  for (const Place& place : places()) {
    if (place.action != nullptr) {
      cases += "        " + in_quotes(join(place.path(), " ")) + ")\n          shift words\n" +
               "          (( CURRENT-- ))\n          " + zsh_arguments(place) + " ;;\n";
    } else {
      cases += "        " + in_quotes(place.verb->name) + ")\n          " + zsh_arguments(place) +
               " ;;\n";
    }
  }
  return filled(
      embedded::completion_zsh,
      {{"DESCRIPTIONS", descriptions}, {"ACTING", join(acting_verbs(), "|")}, {"CASES", cases}});
}

}  // namespace neutra::cli
