#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "cli/mutate/actions.h"
#include "cli/outputs.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

/// No output may be another one, the store, or the program that is read.
void require_own_files(const Arguments& arguments, bool one_file) {
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  if (!arguments.positional.empty() && std::filesystem::exists(arguments.positional.front()))
    files.emplace_back("the program", arguments.positional.front());
  for (const char* name : {"store", "report", "output"}) {
    if (arguments.has(name) && (one_file || std::string_view(name) != "output"))
      files.emplace_back("--" + std::string(name), arguments.text(name));
  }
  require_apart(files);
}

/// Nothing that is asked for on the command line is passed over: options that have no effect are
/// refused. A configuration file or the environment may be for other verbs. Throws usage_error.
void require_used(const Arguments& arguments) {
  const bool kill = arguments.flag("kill");
  const int ways = arguments.has("apply") + arguments.has("order") +
                   (arguments.flag("all") || arguments.has("operator"));
  if (ways == 0)
    throw usage_error("found nothing to do; allowed: --all, --operator, --apply, --order");
  const auto given = [&](std::string_view option) {
    return std::find(arguments.given.begin(), arguments.given.end(), option) !=
           arguments.given.end();
  };
  for (const char* option : {"backend", "early", "fresh", "memory", "memory-limit", "report",
                             "runs", "store", "test-set", "time-limit", "variant", "workers"}) {
    if (!kill && given(option))
      throw usage_error("--" + std::string(option) + ": found it without --kill; allowed: with it");
  }
  for (const char* option : {"apply", "order"}) {
    if (kill && given(option))
      throw usage_error("--" + std::string(option) +
                        ": found it beside --kill, which searches the values of single operators; "
                        "allowed: --all or --operator (--as fault makes a fault of any mutant, and "
                        "neutra faults FILE --check tells whether it shows)");
  }
  for (const char* option : {"as", "count", "range", "show", "value"}) {
    if (kill && given(option))
      throw usage_error("--" + std::string(option) +
                        ": found it beside --kill; allowed: --all or " +
                        "--operator, and --layer: values are searched");
  }
  if (given("fresh") && !arguments.has("store"))
    throw usage_error("--fresh: found it without --store; allowed: with it");
  if (given("count") && !arguments.has("order"))
    throw usage_error("--count: found it without --order; allowed: with it");
  if (arguments.has("apply") && ways > 1)
    throw usage_error("--apply: found other operators beside it; allowed: all of them in --apply");
  if (arguments.flag("all") && arguments.has("operator"))
    throw usage_error("--all: found --operator beside it; allowed: one of them");
  for (const char* option : {"bounds", "layer", "value", "range"}) {
    if (arguments.has(option) && (arguments.has("apply") || arguments.has("order")))
      throw usage_error("--" + std::string(option) + ": found --apply or --order beside it; " +
                        "allowed: with --operator (--apply ID@LAYER=VALUE says layer and value)");
  }
}

/// Can what the options name be written? Throws input_error and usage_error.
void require_outputs(const Arguments& arguments) {
  const std::filesystem::path output = arguments.has("output") ? arguments.text("output") : "";
  const bool one_file = arguments.flag("kill") || output.extension() == ".json";
  if (one_file) {
    require_output(arguments);
  } else if (!output.empty()) {
    require_writable_folder(output, "--output");
  }
  if (arguments.has("report")) require_text_output(arguments.text("report"), "--report");
  require_own_files(arguments, one_file);
}

Result run(const Arguments& arguments) {
  const bool kill = arguments.flag("kill");
  if (chosen_format(arguments) == "csv" && !kill)
    throw usage_error("--format: found csv without --kill; allowed: text, json");
  if (arguments.flag("list")) return list_operators();
  if (arguments.positional.empty()) throw usage_error("found no FAULT; allowed: one, or --list");
  require_used(arguments);
  require_outputs(arguments);
  return kill ? kill_mutants(arguments) : make_mutants(arguments);
}

}  // namespace

Verb mutate_verb() {
  return {.name = "mutate",
          .summary = "make faulty programs with mutation operators",
          .synopsis =
              "mutate FAULT|SUBJECT|FILE --all|--operator ID|--apply ID@LAYER=VALUE|--order N "
              "[options] | mutate --list",
          .options = {.names = {"all",        "apply",    "as",      "backend",      "bounds",
                                "count",      "data-dir", "early",   "fresh",        "kill",
                                "layer",      "list",     "memory",  "memory-limit", "operator",
                                "order",      "output",   "range",   "report",       "rows-train",
                                "runs",       "seed",     "show",    "store",        "test-set",
                                "time-limit", "value",    "variant", "version",      "workers"},
                      .most_positional = 1,
                      .positional_name = "FAULT|SUBJECT|FILE",
                      .formats = {"text", "csv", "json"}},
          .description =
              "--all and --operator make first-order mutants: one for each layer where an operator "
              "applies and each value to try; of\n"
              "a range, its most severe end. --apply, given up to five times, makes one mutant of "
              "all in their order; layers count in\n"
              "the program as the mutations before left it. --order makes --count random mutants "
              "of N operators. With -o FOLDER each\n"
              "mutant becomes a program (or with --as fault a fault) of its own, listed in "
              "manifest.json; -o FILE.json writes a\n"
              "single one.\n"
              "With --kill the original and its mutants are trained --runs times each, to see "
              "which mutants the test sets kill and\n"
              "what their mutation scores are (docs/methods/killing.md). The same command goes on "
              "from an unfinished --store; -o FILE\n"
              "takes the scores.",
          .example =
              "  neutra mutate --list\n"
              "  neutra mutate F1 --version fixed --operator change_label --value 25 --show\n"
              "  neutra mutate mnist_cnn --all -o mutants\n"
              "  neutra mutate d7 --order 3 --count 10 --seed 1 --as fault -o faults\n"
              "  neutra mutate d8 --all --kill --runs 20 --store d8.runs --report d8-report.json",
          .run = run};
}

}  // namespace neutra::cli
