#include <algorithm>
#include <filesystem>

#include "base/checked_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "cli/mutate/actions.h"
#include "cli/texts.h"
#include "mutators/mutants.h"
#include "program/patch.h"

namespace neutra::cli {
namespace {

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
  const std::vector<mutators::Site> layers = chosen_layers(arguments);
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

/// The mutants that the options ask for. Throws input_error where there is none.
mutators::MutantList asked_mutants(const mutators::Target& target, const std::string& original,
                                   const Arguments& arguments) {
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
  if (!list.mutants.empty()) return list;
  std::string reasons;
  for (const auto& [what, reason] : list.skipped) reasons += "\n  " + what + ": " + reason;
  throw input_error(original + ": no operator applies" + reasons);
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

/// Mutants of a program, and where they were written.
struct Mutants {
  Original original;
  mutators::MutantList list;
  std::int64_t seed = 0;
  std::filesystem::path output;  ///< a folder, or the file of the one mutant; "": none
  bool one_file = false;
  bool show = false;  ///< --show: for people, what each mutant changes

  std::filesystem::path file_of(const mutators::Mutant& mutant) const {
    return output.empty() || one_file ? output : output / (mutant.name() + ".json");
  }
};

Json json_of(const Mutants& made) {
  Json mutants = Json::array(), skipped = Json::array();
  for (const mutators::Mutant& mutant : made.list.mutants)
    mutants.push_back(entry_of(mutant, made.file_of(mutant).filename().string()));
  for (const auto& [what, reason] : made.list.skipped)
    skipped.push_back({{"what", what}, {"reason", reason}});
  return {{"format", "neutra-mutants"},
          {"version", 1},
          {"original", made.original.id},
          {"hash", to_string(program::program_hash(made.original.program))},
          {"seed", made.seed},
          {"mutants", std::move(mutants)},
          {"skipped", std::move(skipped)}};
}

std::string text_of(const Mutants& made) {
  const Json& from = made.original.program.document;
  TextTable table({"mutant", "faults"});
  std::string shown;
  for (const mutators::Mutant& mutant : made.list.mutants) {
    table.add({mutant.name(), to_string(mutant.faults)});
    if (made.show)
      shown += mutant.name() + "\n" +
               program::patch_text(from, program::json_patch(from, mutant.program.document), "  ");
  }
  return made.show ? shown : table.text();
}

void write(const Mutants& made, bool as_faults) {
  if (made.output.empty()) return;
  if (!made.one_file) std::filesystem::create_directories(made.output);
  for (const mutators::Mutant& mutant : made.list.mutants)
    write_file_atomically(made.file_of(mutant),
                          to_text(document_of(mutant, made.original, as_faults)));
  if (!made.one_file)
    write_file_atomically(made.output / "manifest.json", to_text(with_digest(json_of(made))));
}

}  // namespace

Result make_mutants(const Arguments& arguments) {
  Mutants made{load_original(arguments), {}, 0, {}, false, false};
  made.list = asked_mutants(target_of(made.original, arguments), made.original.id, arguments);
  made.seed = arguments.integer("seed");
  made.show = arguments.flag("show");
  if (arguments.has("output")) made.output = arguments.text("output");
  made.one_file = made.output.extension() == ".json";
  if (made.one_file && made.list.mutants.size() != 1)
    throw usage_error("--output: found the file " + made.output.string() + " for " +
                      std::to_string(made.list.mutants.size()) + " mutants; allowed: a folder");
  write(made, arguments.text("as") == "fault");
  std::string notes;
  if (chosen_format(arguments) != "json")
    for (const auto& [what, reason] : made.list.skipped)
      notes += "no mutant: " + what + ": " + reason + "\n";
  Result result = result_of(std::move(made));
  result.notes = std::move(notes);
  return result;
}

}  // namespace neutra::cli
