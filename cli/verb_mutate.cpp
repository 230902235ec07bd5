#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/checked_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "cli/mutant_analysis.h"
#include "cli/originals.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "experiments/scoring_metric.h"
#include "mutators/mutants.h"
#include "mutators/registry.h"
#include "program/patch.h"
#include "training/data/dataset.h"
#include "training/data/mutations.h"

namespace neutra::cli {
namespace {

Json describe_parameter(const mutators::MutationOperator& op) {
  const mutators::OperatorParameter& parameter = op.parameter;
  Json entry = {{"name", parameter.name},
                {"type", to_string(parameter.type)},
                {"search", to_string(parameter.search)},
                {"values", parameter.values}};
  if (parameter.least != 0 || parameter.most != 0) {
    entry["minimum"] = parameter.least;
    entry["maximum"] = parameter.most;
  }
  return entry;
}

int list_operators(const std::string& format) {
  Json list = Json::array();
  TextTable table({"operator", "abbreviation", "group", "site", "parameter", "search", "tried"});
  for (const mutators::MutationOperator* op : mutators::mutation_operators()) {
    Json parameters = Json::array();
    if (!op->parameter.name.empty()) parameters.push_back(describe_parameter(*op));
    list.push_back({{"id", op->id},
                    {"abbreviation", op->abbreviation},
                    {"group", to_string(op->group)},
                    {"site", op->by_layer ? "layer" : "program"},
                    {"fault_type", op->fault_type},
                    {"description", op->description},
                    {"parameters", std::move(parameters)},
                    {"random", op->random},
                    {"source", op->source}});
    table.add({std::string(op->id), std::string(op->abbreviation),
               std::string(to_string(op->group)), op->by_layer ? "layer" : "program",
               std::string(op->parameter.name), std::string(to_string(op->parameter.search)),
               std::string(op->parameter.values)});
  }
  std::cout << (format == "json" ? to_text(list) : table.text());
  return 0;
}

/// Its rows; null where the data set is not here, which is said.
std::shared_ptr<const training::Dataset> rows_of(const Original& original,
                                                 const Arguments& arguments) {
  try {
    return training::load_dataset(original.program.document.at("data"),
                                  data_path(arguments, original.file));
  } catch (const MissingData&) {
    std::cerr << "neutra: " << original.id
              << ": its data are not here; operators that need them don't apply\n";
    return nullptr;
  }
}

/// The original as operators look at it, with all that is known of its rows.
mutators::Target target_of(const Original& original, const Arguments& arguments) {
  program::require_valid(original.program.document, original.file.string());
  const std::shared_ptr<const training::Dataset> rows = rows_of(original, arguments);
  const auto info = rows ? std::optional(rows->info()) : std::nullopt;
  const program::DataInfo* data = info ? &*info : nullptr;
  program::require_valid(original.program.document, original.file.string(), data);
  mutators::Target target = mutators::make_target(
      original.program, data, arguments.has("bounds") ? arguments.text("bounds") : "");
  target.even_classes =
      rows && !training::has_small_class(rows->y_train, target.resolved.task == "regression");
  return target;
}

std::vector<const mutators::MutationOperator*> chosen_operators(const Arguments& arguments) {
  if (!arguments.has("operator")) return mutators::mutation_operators();
  std::vector<const mutators::MutationOperator*> chosen;
  for (const std::string& name : arguments.list("operator")) {
    const mutators::MutationOperator* op = &mutators::find_mutation_operator(name);
    if (std::find(chosen.begin(), chosen.end(), op) == chosen.end()) chosen.push_back(op);
  }
  return chosen;
}

/// --range FROM:TO of the operator's values.
mutators::ValueRange given_range(const mutators::MutationOperator& op,
                                 const mutators::Target& target, mutators::Site site,
                                 const std::string& text) {
  if (op.parameter.search != mutators::ValueSearch::kBinary)
    throw usage_error("--range: found one for " + std::string(op.id) +
                      "; allowed: operators that search a range");
  if (const auto refusal = mutators::site_refusal(op, target, site))
    throw input_error(describe("", std::string(op.id), refusal->found, refusal->allowed));
  const auto number = [&](std::string_view part) {
    if (const auto value = parse_number<double>(part)) return *value;
    throw usage_error("--range: found " + text + "; allowed: FROM:TO, two numbers");
  };
  const auto colon = text.find(':');
  const std::string_view view = text;
  if (colon == std::string::npos)
    throw usage_error("--range: found " + text + "; allowed: FROM:TO, two numbers");
  return mutators::with_ends(op, mutators::search_range(op, target), number(view.substr(0, colon)),
                             number(view.substr(colon + 1)));
}

/// First-order mutants as --operator, --layer, --value and --range choose them. A value that can't
/// be is an error.
mutators::MutantList chosen_mutants(const mutators::Target& target, const Arguments& arguments) {
  const auto seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  const auto operators = chosen_operators(arguments);
  std::vector<mutators::Site> layers;
  if (arguments.has("layer")) layers = {static_cast<mutators::Site>(arguments.integer("layer"))};
  if (!arguments.has("value") && !arguments.has("range"))
    return mutators::first_order_mutants(target, operators, seed, layers);
  if (operators.size() != 1)
    throw usage_error("--value and --range: found " + std::to_string(operators.size()) +
                      " operators; allowed: one, named with --operator");
  const mutators::MutationOperator& op = *operators.front();
  std::vector<mutators::Site> sites =
      layers.empty() ? mutators::find_sites(op, target).sites : layers;
  if (sites.empty()) sites = {op.by_layer ? 0 : mutators::kWholeProgram};  // the error says why
  mutators::MutantList list;
  for (const mutators::Site site : sites) {
    mutators::Application application{std::string(op.id), site, Json(), op.random ? seed : 0};
    if (arguments.has("value")) {
      std::string text = std::string(op.id) + "=" + arguments.text("value");
      application.value = mutators::parse_application(text, 0).value;
      list.mutants.push_back(mutators::apply_all(target, {application}));
      continue;
    }
    const mutators::ValueRange range = given_range(op, target, site, arguments.text("range"));
    for (const double end : {range.from, range.to}) {
      application.value = end;
      const auto mutant = mutators::apply(op, target, site, end, seed);
      const auto* refusal = std::get_if<mutators::Inapplicable>(&mutant);
      if (refusal == nullptr || !refusal->unchanged)
        list.mutants.push_back(mutators::apply_all(target, {application}));
    }
  }
  return list;
}

Json entry_of(const mutators::Mutant& mutant, const std::string& file) {
  Json operators = Json::array();
  for (const mutators::Application& application : mutant.applications)
    operators.push_back(to_json(application));
  Json entry = {{"name", mutant.name()}};
  if (!file.empty()) entry["file"] = file;
  entry.update({{"order", mutant.applications.size()},
                {"operators", std::move(operators)},
                {"faults", to_string(mutant.faults)},
                {"hash", to_string(program::program_hash(mutant.program))}});
  return entry;
}

/// A mutant's program by its own name, or with --as fault a fault whose known fix is the original.
Json document_of(const mutators::Mutant& mutant, const Original& original, bool as_fault) {
  Json program = mutant.program.document;
  program["name"] = mutant.name();
  if (!as_fault) return program;
  return {{"format", "neutra-fault"},
          {"version", 1},
          {"id", mutant.name()},
          {"title", "Mutant of " + original.id + ": " + to_string(mutant.faults)},
          {"origin", "artificial"},
          {"source", "neutra mutate"},
          {"declared", to_string(mutant.faults)},
          {"program", original.program.document},
          {"buggy", {{"program", std::move(program)}}},
          {"fixed", Json::object()}};
}

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

int run(const Arguments& arguments) {
  const bool kill = arguments.flag("kill");
  const std::string format = chosen_format(arguments);
  if (format == "csv" && !kill)
    throw usage_error("--format: found csv without --kill; allowed: text, json");
  if (arguments.flag("list")) return list_operators(format);
  if (arguments.positional.empty()) throw usage_error("found no FAULT; allowed: one, or --list");
  const int ways = arguments.has("apply") + arguments.has("order") +
                   (arguments.flag("all") || arguments.has("operator"));
  if (ways == 0)
    throw usage_error("found nothing to do; allowed: --all, --operator, --apply, --order");
  // Nothing that is asked for is passed over. A file or the environment may be for other verbs.
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
  const std::filesystem::path output = arguments.has("output") ? arguments.text("output") : "";
  const bool one_file = kill || output.extension() == ".json";
  if (one_file) {
    require_output(arguments);
  } else if (!output.empty()) {
    require_writable_folder(output, "--output");
  }
  if (arguments.has("report")) require_text_output(arguments.text("report"), "--report");
  require_own_files(arguments, one_file);

  Original original = load_original(arguments);
  // Mutants with another loss are compared by the original's.
  if (kill) original.program = experiments::scored_by_name(std::move(original.program));
  const mutators::Target target = target_of(original, arguments);
  if (kill)
    return analyse(arguments, original.id, original.file, target, chosen_operators(arguments));
  const auto seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  mutators::MutantList list;
  if (arguments.has("apply")) {
    std::vector<mutators::Application> applications;
    for (const std::string& text : arguments.list("apply"))
      applications.push_back(mutators::parse_application(text, seed));
    list.mutants.push_back(mutators::apply_all(target, applications));
  } else if (arguments.has("order")) {
    list.mutants = mutators::random_mutants(target, chosen_operators(arguments),
                                            static_cast<int>(arguments.integer("order")),
                                            static_cast<int>(arguments.integer("count")), seed);
  } else {
    list = chosen_mutants(target, arguments);
  }
  if (list.mutants.empty()) {
    std::string reasons;
    for (const auto& [what, reason] : list.skipped) reasons += "\n  " + what + ": " + reason;
    throw input_error(original.id + ": no operator applies" + reasons);
  }

  if (one_file && list.mutants.size() != 1)
    throw usage_error("--output: found the file " + output.string() + " for " +
                      std::to_string(list.mutants.size()) + " mutants; allowed: a folder");
  if (!output.empty() && !one_file) std::filesystem::create_directories(output);
  Json mutants = Json::array();
  TextTable table({"mutant", "faults"});
  std::string shown;
  for (const mutators::Mutant& mutant : list.mutants) {
    std::filesystem::path file = output;
    if (!output.empty() && !one_file) file /= mutant.name() + ".json";
    if (!file.empty())
      write_file_atomically(
          file, to_text(document_of(mutant, original, arguments.text("as") == "fault")));
    mutants.push_back(entry_of(mutant, file.filename().string()));
    table.add({mutant.name(), to_string(mutant.faults)});
    const Json& from = original.program.document;
    shown += mutant.name() + "\n" +
             program::patch_text(from, program::json_patch(from, mutant.program.document), "  ");
  }
  Json skipped = Json::array();
  for (const auto& [what, reason] : list.skipped)
    skipped.push_back({{"what", what}, {"reason", reason}});
  const Json manifest = {{"format", "neutra-mutants"},
                         {"version", 1},
                         {"original", original.id},
                         {"hash", to_string(program::program_hash(original.program))},
                         {"seed", seed},
                         {"mutants", std::move(mutants)},
                         {"skipped", std::move(skipped)}};
  if (!output.empty() && !one_file)
    write_file_atomically(output / "manifest.json", to_text(with_digest(manifest)));
  if (format == "json") {
    std::cout << to_text(manifest);
  } else {
    std::cout << (arguments.flag("show") ? shown : table.text());
    for (const auto& [what, reason] : list.skipped)
      std::cerr << "no mutant: " << what << ": " << reason << '\n';
  }
  return 0;
}

}  // namespace

Verb mutate_verb() {
  return {
      "mutate",
      "make faulty programs with mutation operators",
      "mutate FAULT|SUBJECT|FILE --all|--operator ID|--apply ID@LAYER=VALUE|--order N [options] "
      "| mutate --list",
      {{"all",      "apply",        "as",       "backend", "bounds",  "count",
        "data-dir", "early",        "fresh",    "kill",    "layer",   "list",
        "memory",   "memory-limit", "operator", "order",   "output",  "range",
        "report",   "rows-train",   "runs",     "seed",    "show",    "store",
        "test-set", "time-limit",   "value",    "variant", "version", "workers"},
       0,
       1,
       "FAULT|SUBJECT|FILE",
       {"text", "csv", "json"}},
      "--all and --operator make first-order mutants: one for each layer where an operator applies "
      "and each value to try;\n"
      "of a range, its most severe end. --apply, given up to five times, makes one mutant of all "
      "in their order; layers\n"
      "count as those before left them. --order makes --count random mutants of N operators. With "
      "-o FOLDER each mutant\n"
      "becomes a program (or with --as fault a fault) of its own, listed in manifest.json; -o "
      "FILE.json writes a single one.\n"
      "With --kill the original and its mutants are trained --runs times each, to see which "
      "mutants the test sets kill and\n"
      "what their mutation scores are (docs/methods/killing.md). The same command goes on from an "
      "unfinished --store; -o\n"
      "FILE takes the scores.",
      "  neutra mutate --list\n  neutra mutate F1 --version fixed --operator change_label "
      "--value 25 --show\n  neutra mutate mnist_cnn --all -o mutants\n  neutra mutate "
      "d7 --order 3 --count 10 --seed 1 --as fault -o faults\n  neutra mutate d8 --all --kill "
      "--runs 20 "
      "--store d8.runs --report d8-report.json",
      run};
}

}  // namespace neutra::cli
