#include <climits>
#include <iostream>

#include "cli/python.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

VerbOptions options() {
  return {.names = {"leave-out", "max-data", "python", "run"},
          .least_positional = 1,
          .most_positional = INT_MAX,
          .positional_name = "SCRIPT.py [ARGUMENT ...]",
          .own = {{.name = "check",
                   .type = OptionType::kInteger,
                   .argument = "N",
                   .range = {2, 1000},
                   .help = "compare N trainings of neutra with N runs of the script: does neutra "
                           "train what the script trains?"},
                  {.name = "output",
                   .letter = 'o',
                   .type = OptionType::kText,
                   .argument = "FAULT.json",
                   .help = "the fault file; default: the script's name with .json, here"},
                  {.name = "weights",
                   .type = OptionType::kFlag,
                   .help = "keep the weights before the first training step, too"}},
          .behind_script = {"output"}};
}

Result run(const Arguments& arguments) {
  std::cerr << script_words_note(options(), arguments);
  const PythonModule capture(arguments, "neutra.capture");
  std::vector<std::string> words;
  for (const char* flag : {"run", "weights", "leave-out", "json"})
    if (arguments.flag(flag)) words.push_back(std::string("--") + flag);
  if (arguments.has("output")) words.push_back("--output=" + arguments.text("output"));
  if (arguments.has("check")) words.push_back("--check=" + arguments.text("check"));
  words.push_back("--max-data=" + std::to_string(arguments.bytes("max-data")));
  words.emplace_back("--");
  words.insert(words.end(), arguments.positional.begin(), arguments.positional.end());
  return capture.run(words);
}

}  // namespace

Verb capture_verb() {
  return {
      .name = "capture",
      .summary = "make a fault file of a training script of Keras or PyTorch: it is run as it is",
      .synopsis =
          "capture [options] SCRIPT [ARGUMENTS]   |   capture SCRIPT [ARGUMENTS] -o FAULT.json "
          "[options] [-- ARGUMENTS]",
      .options = options(),
      .description =
          "Runs the script in its own Python, with recorders on tf.keras 2, Keras 3 and PyTorch, "
          "and writes the first training\n"
          "that it begins as a fault file without a known fix: model, compile, fit, data, and "
          "where each value is written in the\n"
          "script (docs/howto/capture_a_script.md). The script isn't changed; it ends at its first "
          "training step, with --run at\n"
          "its own end. Options stand in front of the script, or behind it from -o on; all else "
          "behind the script is the\n"
          "script's, and what follows -- too. It needs nothing in the script's environment but the "
          "framework and NumPy. Exit code\n"
          "0 if a program was written, else 1; with --run the script's where that isn't 0.",
      .example =
          "  neutra capture train.py -o fault.json\n"
          "  neutra capture --python ~/keras/bin/python --run train.py --epochs 5\n"
          "  neutra capture train.py --epochs 5 -o fault.json --check 10",
      .run = run};
}

}  // namespace neutra::cli
