#include "cli/verbs.h"

#include <algorithm>

namespace neutra::cli {

// The verbs, sorted by name: a row for each. ROW(NAME) is NAME_verb() of cli/verb_NAME.cpp; the
// build finds that file by itself.
#define NEUTRA_VERBS(ROW) \
  ROW(bench)              \
  ROW(capture)            \
  ROW(check)              \
  ROW(check_graph)        \
  ROW(collect)            \
  ROW(completion)         \
  ROW(config)             \
  ROW(deepfd_train)       \
  ROW(doctor)             \
  ROW(evaluate)           \
  ROW(export)             \
  ROW(faults)             \
  ROW(fix)                \
  ROW(import)             \
  ROW(localise)           \
  ROW(man)                \
  ROW(mutate)             \
  ROW(network)            \
  ROW(parse)              \
  ROW(patch)              \
  ROW(report)             \
  ROW(score)              \
  ROW(search)             \
  ROW(serve)              \
  ROW(show)               \
  ROW(simulate)           \
  ROW(status)             \
  ROW(store)              \
  ROW(study)              \
  ROW(subjects)           \
  ROW(submit)             \
  ROW(symptoms)           \
  ROW(train)              \
  ROW(train_isolated)     \
  ROW(verify)

#define NEUTRA_DECLARE_VERB(name) Verb name##_verb();
NEUTRA_VERBS(NEUTRA_DECLARE_VERB)

const std::vector<Verb>& verbs() {
#define NEUTRA_MAKE_VERB(name) name##_verb(),
  static const std::vector<Verb> list = {NEUTRA_VERBS(NEUTRA_MAKE_VERB)};
  return list;
}

const Verb* find_verb(const std::string& name) {
  for (const auto& verb : verbs())
    if (verb.name == name) return &verb;
  return nullptr;
}

std::string verb_help(const Verb& verb) {
  return "neutra " + verb.name + ": " + verb.summary + "\n\nusage: neutra " + verb.synopsis +
         "\n\n" + verb.description +
         "\n\noptions (configuration file and environment: name = value, NEUTRA_NAME=value):\n" +
         option_help(verb.options) + "\nexample:\n" + verb.example + "\n";
}

std::string general_help() {
  std::string text =
      "neutra: faulty deep-learning programs and all the small patches that repair them\n\n"
      "usage: neutra VERB [arguments]   |   neutra --version [--json]   |   neutra VERB "
      "--help\n\nverbs:\n";
  std::size_t width = 0;
  for (const auto& verb : verbs())
    if (!verb.hidden) width = std::max(width, verb.name.size());
  for (const auto& verb : verbs())
    if (!verb.hidden)
      text +=
          "  " + verb.name + std::string(width - verb.name.size() + 2, ' ') + verb.summary + "\n";
  text +=
      "\nResults go to standard output, everything else to standard error.\n"
      "Exit codes: 0 done, 1 failed or a threshold not met, 2 usage, 3 bad input, 75 interrupted "
      "(the same command\n"
      "continues).\n\nexample:\n  neutra search D7 --store D7.h5 --budget-evaluations 150\n";
  return text;
}

std::string markdown_help() {
  std::string text =
      "# Commands\n\nThis page is written by `scripts/update_docs` from the option table "
      "(cli/option_table.cpp); a test keeps it "
      "true.\nOptions come from defaults, then a configuration file (`--config FILE` or "
      "`NEUTRA_CONFIG`, one `name = value` a "
      "line),\nthen the environment (`NEUTRA_NAME`), then the command line; the later "
      "wins.\n\n```\n" +
      general_help() + "```\n";
  for (const auto& verb : verbs())
    if (!verb.hidden) text += "\n## " + verb.name + "\n\n```\n" + verb_help(verb) + "```\n";
  return text;
}

}  // namespace neutra::cli
