#include "base/words.h"
#include "cli/completion/scripts.h"
#include "cli/completion/words.h"

namespace neutra::cli {
namespace {

constexpr const char* kQuote = "\\'";

std::string fish_text(const std::string& plain) {
  std::string escaped;
  for (const char c : plain) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return in_quotes(escaped, kQuote);
}

std::string call(const Candidates& candidates) {
  return "\"(__neutra_offer " + offer(candidates, kQuote) + ")\"";
}

/// The lines for a verb, or for one of its actions.
std::string lines_of(const Place& place) {
  std::string lines;
  const Strings path = place.path();
  const auto when = [&](std::size_t least, std::size_t most) {
    return "complete -c neutra -n '__neutra_when " + std::to_string(least) + " " +
           std::to_string(most) + " " + join(path, " ") + "'";
  };
  constexpr std::size_t kAny = 99999;
  const bool acts = place.acts();
  if (acts) lines += when(1, 1) + " -a '" + join(action_names(*place.verb), " ") + "'\n";
  for (const Option& option : place.options) {
    lines += when(path.size(), acts ? 1 : kAny) + " -l " + option.name;
    if (option.letter) lines += " -s " + std::string(1, option.letter);
    if (option.type != OptionType::kFlag) {
      const Candidates c = value_of(*place.verb, option);
      lines += " -x";
      if (!c.empty()) lines += " -a " + call(c);
    }
    lines += " -d " + fish_text(option.help) + "\n";
  }
  for (std::size_t i = 0; i < place.words.size(); ++i) {
    const Candidates c = candidates(place.words[i].shown);
    if (c.empty()) continue;
    const std::size_t before = path.size() + i;
    lines += when(before, place.words[i].again ? kAny : before) + " -a " + call(c) + "\n";
  }
  return lines;
}

}  // namespace

std::string fish_script() {
  std::string lines;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    lines += "complete -c neutra -n '__neutra_when 0 0' -a " + verb.name + " -d " +
             fish_text(verb.summary) + "\n";
  }
  lines += "complete -c neutra -n '__neutra_when 0 0' -s h -l help -d 'show help'\n";
  lines += "complete -c neutra -n '__neutra_when 0 0' -l version -d 'show versions'\n";
  for (const Place& place : places()) lines += lines_of(place);
  return filled(embedded::completion_fish, {{"FLAGS", join(flags(), " ")}, {"LINES", lines}});
}

}  // namespace neutra::cli
