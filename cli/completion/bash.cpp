#include "base/words.h"
#include "cli/completion/scripts.h"
#include "cli/completion/words.h"

namespace neutra::cli {

std::string bash_script() {
  std::string values, options, words;
  for (const Place& place : places()) {
    const std::string path = join(place.path(), " ");
    Strings names;
    for (const Option& option : place.options) {
      names.push_back("--" + option.name);
      const Candidates c = value_of(*place.verb, option);
      if (place.action == nullptr && !c.empty()) {
        std::string pattern;
        for (const std::string& name : spellings(option))
          pattern += (pattern.empty() ? "" : "|") + in_quotes(place.verb->name + " " + name);
        values += "      " + pattern + ") _neutra_offer " + offer(c) + " ;;\n";
      }
    }
    options +=
        "      " + in_quotes(path) + ") _neutra_offer " + in_quotes(join(names, " ")) + " '' ;;\n";
    if (place.acts()) {
      words += "      " + in_quotes(path + " 1") + ") _neutra_offer " +
               in_quotes(join(action_names(*place.verb), " ")) + " '' ;;\n";
    }
    for (std::size_t i = 0; i < place.words.size(); ++i) {
      const std::string number = std::to_string(place.path().size() + i);
      words += "      " + in_quotes(path + " ") + (place.words[i].again ? "*" : number) +
               ") _neutra_offer " + offer(candidates(place.words[i].shown)) + " ;;\n";
    }
  }
  return filled(embedded::completion_bash, {{"FLAGS", join(flags(), " | ")},
                                            {"VERBS", join(verb_names(), " ")},
                                            {"VALUES", values},
                                            {"ACTING", join(acting_verbs(), " | ")},
                                            {"OPTIONS", options},
                                            {"WORDS", words}});
}

}  // namespace neutra::cli
