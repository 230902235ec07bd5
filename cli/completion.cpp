#include "cli/completion.h"

#include <algorithm>
#include <cctype>
#include <map>
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

using Strings = std::vector<std::string>;

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

Strings verb_names() {
  Strings names;
  for (const Verb& verb : verbs())
    if (!verb.hidden) names.push_back(verb.name);
  return names;
}

/// Those with actions.
Strings acting_verbs() {
  Strings names;
  for (const Verb& verb : verbs())
    if (!verb.options.actions.empty()) names.push_back(verb.name);
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

/// What follows an option.
Candidates value_of(const Verb& verb, const Option& option) {
  if (!option.choices.empty()) return {option.choices, {}};
  if (verb.name == "parse" && option.name == "tool")
    return {fl_adapters::parsers::log_parser_names(), {}};
  return candidates(option.argument);
}

/// The words that a verb, or its action, takes: "PLAN|BENCHMARK [ENTRY ...]".
struct Word {
  std::string shown;
  bool again = false;  ///< and all that follow
};

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

/// A verb, or one of its actions.
struct Place {
  const Verb* verb = nullptr;
  const VerbAction* action = nullptr;
  std::vector<Option> options;
  std::vector<Word> words;  ///< behind its name

  Strings path() const {
    return action == nullptr ? Strings{verb->name} : Strings{verb->name, action->name};
  }
};

bool takes(const VerbAction& action, const std::string& option) {
  const auto among = [&](const Strings& list) {
    return std::find(list.begin(), list.end(), option) != list.end();
  };
  return !action.options || among(*action.options) || among(common_options());
}

Strings action_names(const Verb& verb) {
  Strings names;
  for (const VerbAction& action : verb.options.actions) names.push_back(action.name);
  return names;
}

/// All, each verb before its actions.
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

/// Spellings of all options without a value.
Strings flags() {
  Strings all;
  for (const Option& option : option_table())
    if (option.type == OptionType::kFlag) all = both(all, spellings(option));
  return all;
}

/// In single quotes, for a shell; `quote` is what a quote in it becomes.
std::string in_quotes(const std::string& text, const std::string& quote = "'\\''") {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? quote : std::string(1, c);
  return result + "'";
}

std::string offer(const Candidates& c, const std::string& quote = "'\\''") {
  return in_quotes(join(c.words, " "), quote) + " " + in_quotes(join(c.files, " "), quote);
}

// --- bash ---

std::string bash_script() {
  std::string values, options, words;
  for (const Place& place : places()) {
    const std::string path = join(place.path(), " ");
    Strings names;
    for (const Option& option : place.options) {
      names.push_back("--" + option.name);
      const Candidates c = value_of(*place.verb, option);
      if (place.action == nullptr && (!c.words.empty() || !c.files.empty())) {
        std::string pattern;
        for (const std::string& name : spellings(option))
          pattern += (pattern.empty() ? "" : "|") + in_quotes(place.verb->name + " " + name);
        values += "      " + pattern + ") _neutra_offer " + offer(c) + " ;;\n";
      }
    }
    options +=
        "      " + in_quotes(path) + ") _neutra_offer " + in_quotes(join(names, " ")) + " '' ;;\n";
    if (place.action == nullptr && !place.verb->options.actions.empty()) {
      words += "      " + in_quotes(path + " 1") + ") _neutra_offer " +
               in_quotes(join(action_names(*place.verb), " ")) + " '' ;;\n";
    }
    for (std::size_t i = 0; i < place.words.size(); ++i) {
      const std::string number = std::to_string(place.path().size() + i);
      words += "      " + in_quotes(path + " ") + (place.words[i].again ? "*" : number) +
               ") _neutra_offer " + offer(candidates(place.words[i].shown)) + " ;;\n";
    }
  }
  return R"(# Completion of neutra for bash; written by `neutra completion bash`.

# Offers words, and files by extension.
_neutra_offer() {
  local kind
  local -a kinds more
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
  read -ra kinds <<<"$2"
  for kind in "${kinds[@]}"; do
    compopt -o filenames 2>/dev/null
    case $kind in
      any) mapfile -t more < <(compgen -f -- "$cur") ;;
      folders) mapfile -t more < <(compgen -d -- "$cur") ;;
      *) mapfile -t more < <(compgen -f -X "!*.$kind" -- "$cur"; compgen -d -- "$cur") ;;
    esac
    COMPREPLY+=("${more[@]}")
  done
}

_neutra() {
  local cur=${COMP_WORDS[COMP_CWORD]} option='' path word
  local -a words=()
  local -i i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ -n $option ]]; then
      [[ $word == = ]] || option=''
      continue
    fi
    case $word in
      )" +
         join(flags(), " | ") +
         R"() ;;
      -*=*) ;;
      -*) option=$word ;;
      *) words+=("$word") ;;
    esac
  done
  [[ $cur == = ]] && cur=''
  if ((${#words[@]} == 0)); then
    _neutra_offer ')" +
         join(verb_names(), " ") + R"( help --help --version' ''
    return
  fi
  if [[ -n $option ]]; then
    case "${words[0]} $option" in
)" + values +
         R"(    esac
    return
  fi
  path=${words[0]}
  case $path in
    )" + join(acting_verbs(), " | ") +
         R"() path+=${words[1]:+ ${words[1]}} ;;
  esac
  if [[ $cur == -* ]]; then
    case $path in
)" + options +
         R"(    esac
  else
    case "$path ${#words[@]}" in
)" + words +
         R"(    esac
  fi
}

complete -F _neutra neutra
)";
}

// --- zsh ---

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
  if (c.words.empty() && c.files.empty()) return ":" + zsh_text(shown) + ":";
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
  if (place.action == nullptr && !place.verb->options.actions.empty())
    add(in_quotes("1:action:(" + join(action_names(*place.verb), " ") + ")"));
  return text;
}

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
  return R"sh(#compdef neutra
# Completion of neutra for zsh; written by `neutra completion zsh`.

# Offers words, and files by extension.
_neutra_offer() {
  local -a offered=(${=1}) extensions=(${${=2}:#(any|folders)})
  local -i ret=1
  (( $#offered )) && compadd -- $offered && ret=0
  if [[ $2 == any ]]; then
    _files && ret=0
  elif (( $#extensions )); then
    _files -g "*.(${(j:|:)extensions})(-.)" && ret=0
  elif [[ $2 == folders ]]; then
    _files -/ && ret=0
  fi
  return ret
}

_neutra() {
  local curcontext=$curcontext state line
  local -a verbs
  verbs=(
)sh" + descriptions +
         R"sh(  )
  _arguments -C '(- *)'{-h,--help}'[show help]' '(- *)--version[show versions]' \
    '1: :->verb' '*:: :->words' && return
  case $state in
    verb) _describe verb verbs ;;
    words)
      local place=$words[1]
      case $place in
        )sh" +
         join(acting_verbs(), "|") + R"sh()
          (( CURRENT > 2 )) && place+=" $words[2]" ;;
      esac
      case $place in
)sh" + cases +
         R"sh(      esac ;;
  esac
}

if [[ $funcstack[1] == _neutra ]]; then
  _neutra "$@"
else
  compdef _neutra neutra
fi
)sh";
}

// --- fish ---

std::string fish_script() {
  const std::string quote = "\\'";
  const auto text = [&](const std::string& plain) {
    std::string escaped;
    for (const char c : plain) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return in_quotes(escaped, quote);
  };
  const auto call = [&](const Candidates& c) {
    return "\"(__neutra_offer " + offer(c, quote) + ")\"";
  };
  std::string lines;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    lines += "complete -c neutra -n '__neutra_when 0 0' -a " + verb.name + " -d " +
             text(verb.summary) + "\n";
  }
  lines += "complete -c neutra -n '__neutra_when 0 0' -s h -l help -d 'show help'\n";
  lines += "complete -c neutra -n '__neutra_when 0 0' -l version -d 'show versions'\n";
  for (const Place& place : places()) {
    const Strings path = place.path();
    const auto when = [&](std::size_t least, std::size_t most) {
      return "complete -c neutra -n '__neutra_when " + std::to_string(least) + " " +
             std::to_string(most) + " " + join(path, " ") + "'";
    };
    constexpr std::size_t kAny = 99999;
    const bool acts = place.action == nullptr && !place.verb->options.actions.empty();
    if (acts) lines += when(1, 1) + " -a '" + join(action_names(*place.verb), " ") + "'\n";
    for (const Option& option : place.options) {
      lines += when(path.size(), acts ? 1 : kAny) + " -l " + option.name;
      if (option.letter) lines += " -s " + std::string(1, option.letter);
      if (option.type != OptionType::kFlag) {
        const Candidates c = value_of(*place.verb, option);
        lines += " -x";
        if (!c.words.empty() || !c.files.empty()) lines += " -a " + call(c);
      }
      lines += " -d " + text(option.help) + "\n";
    }
    for (std::size_t i = 0; i < place.words.size(); ++i) {
      const Candidates c = candidates(place.words[i].shown);
      if (c.words.empty() && c.files.empty()) continue;
      const std::size_t before = path.size() + i;
      lines += when(before, place.words[i].again ? kAny : before) + " -a " + call(c) + "\n";
    }
  }
  return R"(# Completion of neutra for fish; written by `neutra completion fish`.

# The words before the cursor that are neither options nor their values.
function __neutra_words
    set -l value 0
    for word in (commandline -opc)[2..]
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case )" +
         join(flags(), " ") + R"( '-*=*'
            case '-*'
                set value 1
            case '*'
                echo -- $word
        end
    end
end

# Are there so many words, at least and at most, and are these the first?
function __neutra_when
    set -l words (__neutra_words)
    set -l number (count $words)
    test $number -ge $argv[1] -a $number -le $argv[2]; or return 1
    set -l first $argv[3..]
    test (count $first) = 0; or test "$words[1..$(count $first)]" = "$first"
end

# Offers words, and files by extension.
function __neutra_offer -a offered files
    string split -n ' ' -- $offered
    set -l token (string replace -r '^-[^=]*=' '' -- (commandline -ct))
    for kind in (string split -n ' ' -- $files)
        switch $kind
            case any
                __fish_complete_path $token
            case folders
                __fish_complete_directories $token ''
            case '*'
                __fish_complete_path $token | string match -r '.*(?:/|\.'$kind')(?:\t.*)?$'
        end
    end
end

complete -c neutra -f
)" + lines;
}

}  // namespace

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

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells{"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return bash_script();
  return shell == "zsh" ? zsh_script() : fish_script();
}

}  // namespace neutra::cli
