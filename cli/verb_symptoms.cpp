#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/words.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "evaluators/symptoms.h"

namespace neutra::cli {
namespace {

using Found = std::vector<std::vector<evaluators::Symptom>>;  ///< of each training

/// The likeliest fault of the data, by its id; "none" where clean data are likelier.
std::string likeliest(const std::vector<evaluators::DataFaultScore>& scores) {
  return !scores.empty() && scores.front().log_odds > 0 ? scores.front().fault->id : "none";
}

Json json_of(const std::vector<evaluators::SymptomValue>& values) {
  Json list = Json::array();
  for (const evaluators::SymptomValue& value : values) {
    Json entry{{"of", value.condition->of}, {"value", exact_number(value.value)}};
    if (!std::isnan(value.clean)) entry["clean"] = exact_number(value.clean);
    entry["bound"] = value.condition->bound_text();
    list.push_back(std::move(entry));
  }
  return list;
}

Json json_of(const evaluators::Symptom& symptom) {
  Json layers = Json::array();
  for (const evaluators::SymptomLayer& layer : symptom.layers)
    layers.push_back({{"layer", layer.index},
                      {"class_name", layer.class_name},
                      {"name", layer.name.empty() ? Json() : Json(layer.name)},
                      {"values", json_of(layer.values)}});
  return {{"id", symptom.rule->id},
          {"number", symptom.rule->number},
          {"name", symptom.rule->name},
          {"meaning", symptom.rule->meaning},
          {"layers", std::move(layers)},
          {"layers_looked_at", symptom.looked_at},
          {"values", json_of(symptom.values)},
          {"bounds_from", symptom.shown->source},
          {"explanation", symptom.explanation()}};
}

Json json_of(const std::vector<evaluators::DataFaultScore>& scores) {
  Json list = Json::array();
  for (const evaluators::DataFaultScore& score : scores)
    list.push_back({{"id", score.fault->id},
                    {"name", score.fault->name},
                    {"log_odds", score.log_odds},
                    {"probability", score.probability}});
  return list;
}

Json json_of(const evaluators::SymptomCount& count, std::size_t runs, bool paired) {
  Json entry{{"id", count.rule->id}, {"runs", runs}, {"faulty", count.faulty}};
  if (!paired) return entry;
  const evaluators::McNemarTest test = evaluators::mcnemar(count.pairs);
  const evaluators::PairedOddsRatio odds = evaluators::paired_odds_ratio(count.pairs);
  entry["clean"] = count.clean;
  entry["pairs"] = {{"both", count.pairs.both},
                    {"faulty_only", count.pairs.first_only},
                    {"clean_only", count.pairs.second_only},
                    {"neither", count.pairs.neither}};
  entry["mcnemar"] = {
      {"exact_p", test.exact_p}, {"statistic", test.statistic}, {"corrected_p", test.corrected_p}};
  entry["odds_ratio"] = {{"estimate", exact_number(odds.estimate)},
                         {"haldane", odds.haldane},
                         {"low", odds.low},
                         {"high", exact_number(odds.high)}};
  return entry;
}

std::string interval_text(const evaluators::PairedOddsRatio& odds) {
  return rounded(odds.estimate) + " (" + rounded(odds.low) + " to " + rounded(odds.high) + ")";
}

/// Trainings are paired by their place: those of a pair have the same seed and replica.
void require_pairs(const evaluators::MonitorFile& file, const std::string& name,
                   const evaluators::MonitorFile& clean, const std::string& clean_name) {
  if (clean.runs.size() != file.runs.size())
    throw input_error(describe(clean_name, "/replicas",
                               std::to_string(clean.runs.size()) + " replicas",
                               "as many as in " + name + ": " + std::to_string(file.runs.size())));
  if (clean.seed != file.seed)
    throw input_error(describe(clean_name, "seed", std::to_string(clean.seed),
                               std::to_string(file.seed) + ", that of " + name));
  for (std::size_t i = 0; i < file.runs.size(); ++i)
    if (clean.runs[i].replica != file.runs[i].replica)
      throw input_error(describe(clean_name, "/replicas/replica/" + std::to_string(i),
                                 std::to_string(clean.runs[i].replica),
                                 std::to_string(file.runs[i].replica) + ", as in " + name));
  if (clean.hash == file.hash)
    throw input_error(describe(clean_name, "hash", "the program of " + name + " itself",
                               "trainings of its correct version"));
  for (const evaluators::MonitoredRun& run : clean.runs)
    if (run.status != "ok")
      throw input_error(describe(clean_name,
                                 "/replicas/status of replica " + std::to_string(run.replica),
                                 run.status, "ok: what is faulty itself is no measure"));
  if (clean.program != file.program)
    std::cerr << "neutra: " << clean_name << " are trainings of " << clean.program << ", " << name
              << " of " << file.program << '\n';
}

/// Symptoms of the trainings of a file, beside those of clean trainings if there are any.
struct Findings {
  evaluators::SymptomRules rules;  ///< that `found` points into
  evaluators::MonitorFile file;
  std::optional<evaluators::MonitorFile> clean;
  bool relative = false;  ///< to the clean trainings, not to numbers
  Found found;            ///< of the file's trainings
  Found expected;         ///< of the clean ones; empty: they aren't compared
  std::vector<evaluators::SymptomCount> counts;
};

Json json_of(const Findings& all) {
  Json trainings = Json::array();
  for (std::size_t i = 0; i < all.file.runs.size(); ++i) {
    const evaluators::MonitoredRun& run = all.file.runs[i];
    Json symptoms = Json::array();
    for (const evaluators::Symptom& symptom : all.found[i]) symptoms.push_back(json_of(symptom));
    trainings.push_back(
        {{"replica", run.replica},
         {"status", run.status},
         {"epochs", run.epochs.size()},
         {"symptoms", std::move(symptoms)},
         {"data_faults", json_of(evaluators::rank_data_faults(all.found[i], all.rules))}});
  }
  Json prevalence = Json::array();
  for (const evaluators::SymptomCount& count : all.counts)
    prevalence.push_back(json_of(count, all.file.runs.size(), !all.expected.empty()));
  Json result{{"format", "neutra-symptoms-found"},
              {"version", 1},
              {"program", all.file.program},
              {"program_version", all.file.variant},
              {"mode", all.relative ? "relative" : "absolute"}};
  if (all.clean)
    result["clean"] = {{"program", all.clean->program}, {"program_version", all.clean->variant}};
  result["replicas"] = std::move(trainings);
  result["prevalence"] = std::move(prevalence);
  return result;
}

/// The first training that shows a symptom, with its layers, values and bounds; "": none does.
std::string first_text(const Findings& all, const evaluators::SymptomCount& count) {
  for (std::size_t i = 0; i < all.file.runs.size(); ++i) {
    // Of two of one rule in a training, the last.
    const evaluators::Symptom* shown = nullptr;
    for (const evaluators::Symptom& symptom : all.found[i])
      if (symptom.rule == count.rule) shown = &symptom;
    if (shown != nullptr)
      return "\n" + count.rule->name + ": " + count.rule->meaning + "\n  replica " +
             std::to_string(all.file.runs[i].replica) + ", " + shown->explanation() + "\n";
  }
  return "";
}

/// A row for each symptom that was found anywhere, and behind the table where it was first.
std::string counts_text(const Findings& all) {
  const bool paired = !all.expected.empty();
  TextTable table(paired ? std::vector<std::string>{"symptom", "trainings", "clean ones",
                                                    "McNemar's p", "odds ratio (95 %)"}
                         : std::vector<std::string>{"symptom", "trainings"});
  std::string details;
  bool any = false;
  for (const evaluators::SymptomCount& count : all.counts) {
    if (count.faulty + count.clean == 0) continue;
    any = true;
    std::vector<std::string> row{count.rule->name, std::to_string(count.faulty)};
    if (paired) {
      row.push_back(std::to_string(count.clean));
      row.push_back(rounded(evaluators::mcnemar(count.pairs).exact_p));
      row.push_back(interval_text(evaluators::paired_odds_ratio(count.pairs)));
    }
    table.add(std::move(row));
    details += first_text(all, count);
  }
  return any ? table.text() + details : "no symptoms\n";
}

std::string text_of(const Findings& all) {
  const std::size_t runs = all.file.runs.size();
  std::map<std::string, int> faults;
  for (const std::vector<evaluators::Symptom>& symptoms : all.found)
    ++faults[likeliest(evaluators::rank_data_faults(symptoms, all.rules))];
  std::vector<std::string> texts;
  for (const auto& [fault, count] : faults)
    texts.push_back(fault + " (" + std::to_string(count) + ")");
  return all.file.program + " (" + all.file.variant + "), " + std::to_string(runs) +
         (runs == 1 ? " training" : " trainings") +
         (all.relative
              ? ", against clean ones of " + all.clean->program + " (" + all.clean->variant + ")"
              : ", against numbers, which hold for networks like those of the thesis "
                "(docs/methods/monitors.md)") +
         "\n\n" + counts_text(all) +
         "\nlikeliest fault of the data, in so many trainings: " + join(texts) + "\n";
}

Result run(const Arguments& arguments) {
  // Findings are not copied: symptoms point to the rules.
  const auto all = std::make_shared<Findings>(
      Findings{arguments.has("rules") ? evaluators::SymptomRules::read(arguments.text("rules"))
                                      : evaluators::SymptomRules::bundled(),
               {},
               {},
               false,
               {},
               {},
               {}});
  const std::string& name = arguments.positional.front();
  all->file = evaluators::read_monitor_file(name);
  if (arguments.has("clean")) {
    all->clean = evaluators::read_monitor_file(arguments.text("clean"));
    require_pairs(all->file, name, *all->clean, arguments.text("clean"));
  }
  all->relative = all->clean && !arguments.flag("absolute");
  const std::vector<evaluators::MonitoredRun> measure =
      all->relative ? all->clean->runs : std::vector<evaluators::MonitoredRun>{};
  all->found = evaluators::find_all_symptoms(all->file.runs, measure, all->rules);
  // A clean training can't be its own measure.
  if (all->clean && (!all->relative || all->clean->runs.size() > 1))
    all->expected = evaluators::find_all_symptoms(all->clean->runs, measure, all->rules);
  all->counts = evaluators::count_symptoms(all->found, all->expected, all->rules);
  return {[all](const std::string& form) {
    return form == "json" ? to_text(json_of(*all)) : text_of(*all);
  }};
}

}  // namespace

Verb symptoms_verb() {
  return {
      .name = "symptoms",
      .summary = "find symptoms of faulty data in monitored trainings",
      .synopsis = "symptoms FILE.h5 [--clean FILE.h5 [--absolute]] [--rules FILE.json] [options]",
      .options = {.names = {"absolute", "clean", "rules"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "FILE.h5"},
      .description =
          "Reads what neutra train --monitor recorded and says which of 16 symptoms each training "
          "shows (Shah, 2024), in which\n"
          "layers, with which values and bounds, and which fault of the data is the likeliest "
          "cause. With --clean, training i\n"
          "is compared with all clean ones but the i-th, and so is the i-th clean one; McNemar's "
          "exact p and the odds ratio compare\n"
          "them (docs/methods/monitors.md). Without --clean, or with --absolute, bounds are "
          "numbers, which depend on the network.",
      .example =
          "  neutra train D6 --monitor buggy.h5\n"
          "  neutra train D6 --version fixed --monitor clean.h5\n"
          "  neutra symptoms buggy.h5 --clean clean.h5",
      .run = run};
}

}  // namespace neutra::cli
