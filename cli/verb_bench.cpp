#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/words.h"
#include "cli/bench/actions.h"
#include "cli/verbs.h"
#include "experiments/benchmark/store.h"

namespace neutra::cli {
namespace {

/// What the verb can do.
struct Action {
  const char* name;
  const char* words;                   ///< behind the name
  std::size_t least = 0, most = 0;     ///< words behind the first one
  bool filters = false;                ///< does it take them in the place of entries?
  std::vector<std::string> options{};  ///< besides filters
  std::vector<std::string> formats{};
  Result (*run)(const BenchmarkPointer& benchmark, const Arguments& arguments) = nullptr;
  Result (*run_alone)(const Arguments& arguments) = nullptr;  ///< in the place of `run`: one that
                                                              ///< begins with no sound benchmark
};

const std::vector<Action>& actions() {
  constexpr std::size_t kAny = 1000000;
  const std::vector<std::string> plain{"text", "json"};
  static const std::vector<Action> kActions{
      {.name = "checkout",
       .words = "BENCHMARK ENTRYb|ENTRYf -w FOLDER",
       .least = 1,
       .most = 1,
       .options = {"data-dir", "work"},
       .formats = plain,
       .run = bench_checkout},
      {.name = "create",
       .words = "PLAN -o FILE.h5|FOLDER",
       .options = {"backend", "data-dir", "extend", "fresh", "memory", "network", "output", "store",
                   "workers"},
       .formats = plain,
       .run_alone = bench_create},
      {.name = "diff",
       .words = "BENCHMARK ENTRY",
       .least = 1,
       .most = 1,
       .formats = plain,
       .run = bench_diff},
      {.name = "export",
       .words = "BENCHMARK [ENTRY ...]",
       .most = kAny,
       .filters = true,
       .options = {"output"},
       .formats = {"text", "csv", "json", "fault"},
       .run = bench_export},
      {.name = "info",
       .words = "BENCHMARK [ENTRY ...]",
       .most = kAny,
       .filters = true,
       .options = {"network"},
       .formats = plain,
       .run = bench_info},
      {.name = "list",
       .words = "BENCHMARK [ENTRY ...]",
       .most = kAny,
       .filters = true,
       .formats = plain,
       .run = bench_list},
      {.name = "similar",
       .words = "BENCHMARK ENTRY",
       .least = 1,
       .most = 1,
       .formats = plain,
       .run = bench_similar},
      {.name = "test",
       .words = "BENCHMARK [ENTRY ...]",
       .most = kAny,
       .filters = true,
       .options = {"backend", "data-dir", "memory", "retries", "seed", "workers"},
       .formats = plain,
       .run = bench_test},
      {.name = "validate", .words = "BENCHMARK", .formats = plain, .run_alone = bench_validate}};
  return kActions;
}

/// `name`: of one.
const Action& find_action(const std::string& name) {
  return *std::find_if(actions().begin(), actions().end(),
                       [&](const Action& action) { return action.name == name; });
}

std::vector<VerbAction> verb_actions() {
  std::vector<VerbAction> result;
  for (const Action& action : actions()) {
    std::vector<std::string> options = action.options;
    options.emplace_back("format");
    if (action.filters)
      options.insert(options.end(), entry_filters().begin(), entry_filters().end());
    result.push_back({action.name, action.words, std::move(options)});
  }
  return result;
}

/// Throws usage_error for words and options that would have no effect.
void require_used(const Action& action, const Arguments& arguments) {
  const std::string name = action.name;
  const auto among = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  const std::size_t entries = arguments.positional.size() - 2;
  if (entries < action.least || entries > action.most)
    throw usage_error(name + ": found " + std::to_string(entries) + " words behind '" +
                      arguments.positional[1] + "'; allowed: " + name + " " + action.words);
  if (const std::string format = chosen_format(arguments); !among(action.formats, format))
    throw usage_error("--format: found " + format + "; allowed: " + join(action.formats) + " of " +
                      name);
  for (const std::string& option : arguments.given) {
    if (option == "format" || among(common_options(), option) || among(action.options, option))
      continue;
    if (!action.filters || !among(entry_filters(), option)) {
      std::vector<std::string> takers;
      for (const Action& other : actions())
        if (among(other.options, option) || (other.filters && among(entry_filters(), option)))
          takers.emplace_back(other.name);
      throw usage_error("--" + option + ": found with " + name + "; allowed: with " + join(takers));
    }
    if (entries > 0)
      throw usage_error("--" + option + ": found beside entries; allowed: one or the other");
  }
}

Result run(const Arguments& arguments) {
  const Action& action = find_action(arguments.positional[0]);
  require_used(action, arguments);
  if (action.run_alone != nullptr) return action.run_alone(arguments);
  return action.run(std::make_shared<const experiments::Benchmark>(
                        experiments::load_benchmark(arguments.positional[1])),
                    arguments);
}

}  // namespace

Verb bench_verb() {
  return {
      .name = "bench",
      .summary = "make and use benchmarks of faulty models",
      .synopsis =
          "bench create PLAN -o FILE.h5|FOLDER [options]\n"
          "       neutra bench list|info|test|export BENCHMARK [ENTRY ...] [options]\n"
          "       neutra bench diff|similar BENCHMARK ENTRY\n"
          "       neutra bench checkout BENCHMARK ENTRYb|ENTRYf -w FOLDER\n"
          "       neutra bench validate BENCHMARK",
      .options = {.names = {"backend", "category", "data-dir", "deprecated", "extend", "fault-type",
                            "fresh", "memory", "network", "operator", "output", "retries", "seed",
                            "store", "subject", "work", "workers"},
                  .least_positional = 2,
                  .most_positional = 100000,
                  .positional_name = "ACTION PLAN|BENCHMARK [ENTRY ...]",
                  .formats = {"text", "csv", "json", "fault"},
                  .actions = verb_actions()},
      .description =
          "create: mutates and trains the subjects of a plan (a file, or bundled: kinds, small, "
          "bundled, catalogue) and keeps the\n"
          "faults that the test rows kill; the same command goes on after an interruption. list, "
          "info: the entries and all that is\n"
          "known of them; --network takes stores of finished searches, which tell how many repairs "
          "there are. test: trains both\n"
          "versions anew; exit 1 unless every buggy one fails and every fixed one passes. diff: "
          "what the fault changed. similar:\n"
          "other entries of an operator or fault type in common. checkout: one version as a folder "
          "with data, seeds and a Keras\n"
          "script. export: --format csv, json, or fault: files for neutra search, localise and "
          "study. validate: every check but\n"
          "training; exit 1 when something is wrong. Entries are numbers, or what --category, "
          "--deprecated, --fault-type,\n"
          "--operator and --subject leave. An option that has no effect on an action is refused.",
      .example =
          "  neutra bench create small -o small.h5\n"
          "  neutra bench list small.h5 --subject iris\n"
          "  neutra bench test small.h5 3 17\n"
          "  neutra bench checkout small.h5 3b -w iris-3b\n"
          "  neutra bench export small.h5 --format fault -o faults",
      .run = run};
}

}  // namespace neutra::cli
