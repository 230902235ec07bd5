#include <climits>
#include <iostream>

#include "base/json.h"
#include "cli/python.h"
#include "cli/verbs.h"
#include "program/faults.h"

namespace neutra::cli {
namespace {

VerbOptions options() {
  return {.names = {"budget-evaluations", "budget-time", "leave-out", "max-data", "python", "seed",
                    "workers"},
          .least_positional = 1,
          .most_positional = INT_MAX,
          .positional_name = "SCRIPT.py [ARGUMENT ...]",
          .own = {{.name = "output",
                   .letter = 'o',
                   .type = OptionType::kText,
                   .argument = "FOLDER",
                   .help = "everything is written there; default: the script's name with -fix, "
                           "here"}},
          .behind_script = {"budget-evaluations", "budget-time", "json", "output", "python"}};
}

/// What the abbreviations in tools' answers mean, for the package, which has no such table.
std::string fault_types() {
  Json types = Json::object();
  for (const auto& [type, meaning] : program::fault_types()) types[type] = meaning;
  return types.dump();
}

Result run(const Arguments& arguments) {
  std::cerr << script_words_note(options(), arguments);
  const PythonModule fix(arguments, "neutra.fix");
  std::vector<std::string> words;
  for (const char* flag : {"json", "leave-out", "quiet"})
    if (arguments.flag(flag)) words.push_back(std::string("--") + flag);
  for (const char* name : {"budget-evaluations", "budget-time", "output", "seed", "workers"})
    if (arguments.has(name)) words.push_back("--" + std::string(name) + "=" + arguments.text(name));
  words.push_back("--fault-types=" + fault_types());
  words.push_back("--max-data=" + std::to_string(arguments.bytes("max-data")));
  words.emplace_back("--");
  words.insert(words.end(), arguments.positional.begin(), arguments.positional.end());
  return fix.run(words);
}

}  // namespace

Verb fix_verb() {
  return {
      .name = "fix",
      .summary = "find small changes of a training script that make its model learn better",
      .synopsis =
          "fix [options] SCRIPT [ARGUMENTS]   |   fix SCRIPT [ARGUMENTS] [--budget-time "
          "TIME|--budget-evaluations N]\n"
          "                    [--json] [-o FOLDER] [-- ARGUMENTS]",
      .options = options(),
      .description =
          "Runs the script up to its first training step, asks fault-localisation tools what is "
          "wrong with that training, and tries\n"
          "small changes of it for a minute (--budget-time). Prints at most five of the smallest "
          "ones that make the metric\n"
          "significantly better, each as a patch of the script: patch -p1 applies it. Before and "
          "after, what each tool said, and a\n"
          "page for the browser lie in a folder (-o; default: SCRIPT-fix). The script isn't "
          "changed. The same command goes on where\n"
          "an interrupted one stopped. Exit code 0 where there is a patch, 1 where none was "
          "found (docs/howto/fix_a_script.md).",
      .example =
          "  neutra fix train.py\n"
          "  neutra fix train.py --epochs 20 --budget-time 10m\n"
          "  neutra fix train.py --budget-evaluations 200 --json",
      .run = run};
}

}  // namespace neutra::cli
