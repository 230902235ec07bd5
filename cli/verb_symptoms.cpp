#include <iostream>
#include <map>

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

int run(const Arguments& arguments) {
  const evaluators::SymptomRules own = arguments.has("rules")
                                           ? evaluators::SymptomRules::read(arguments.text("rules"))
                                           : evaluators::SymptomRules::bundled();
  const std::string& name = arguments.positional.front();
  const evaluators::MonitorFile file = evaluators::read_monitor_file(name);
  std::optional<evaluators::MonitorFile> clean;
  if (arguments.has("clean")) {
    clean = evaluators::read_monitor_file(arguments.text("clean"));
    require_pairs(file, name, *clean, arguments.text("clean"));
  }
  const bool relative = clean && !arguments.flag("absolute");
  const std::vector<evaluators::MonitoredRun> measure =
      relative ? clean->runs : std::vector<evaluators::MonitoredRun>{};
  const Found found = evaluators::find_all_symptoms(file.runs, measure, own);
  // A clean training can't be its own measure.
  Found expected;
  if (clean && (!relative || clean->runs.size() > 1)) {
    expected = evaluators::find_all_symptoms(clean->runs, measure, own);
  }
  const std::vector<evaluators::SymptomCount> counts =
      evaluators::count_symptoms(found, expected, own);
  const std::size_t runs = file.runs.size();

  if (arguments.flag("json")) {
    Json trainings = Json::array();
    for (std::size_t i = 0; i < runs; ++i) {
      Json symptoms = Json::array();
      for (const evaluators::Symptom& symptom : found[i]) symptoms.push_back(json_of(symptom));
      trainings.push_back({{"replica", file.runs[i].replica},
                           {"status", file.runs[i].status},
                           {"epochs", file.runs[i].epochs.size()},
                           {"symptoms", std::move(symptoms)},
                           {"data_faults", json_of(evaluators::rank_data_faults(found[i], own))}});
    }
    Json prevalence = Json::array();
    for (const evaluators::SymptomCount& count : counts)
      prevalence.push_back(json_of(count, runs, !expected.empty()));
    Json result{{"format", "neutra-symptoms-found"},
                {"version", 1},
                {"program", file.program},
                {"program_version", file.variant},
                {"mode", relative ? "relative" : "absolute"}};
    if (clean) result["clean"] = {{"program", clean->program}, {"program_version", clean->variant}};
    result["replicas"] = std::move(trainings);
    result["prevalence"] = std::move(prevalence);
    std::cout << to_text(result);
    return 0;
  }

  std::cout << file.program << " (" << file.variant << "), " << runs
            << (runs == 1 ? " training" : " trainings")
            << (relative ? ", against clean ones of " + clean->program + " (" + clean->variant + ")"
                         : ", against numbers, which hold for networks like those of the thesis "
                           "(docs/methods/monitors.md)")
            << "\n\n";
  TextTable table(expected.empty() ? std::vector<std::string>{"symptom", "trainings"}
                                   : std::vector<std::string>{"symptom", "trainings", "clean ones",
                                                              "McNemar's p", "odds ratio (95 %)"});
  std::string details;
  for (const evaluators::SymptomCount& count : counts) {
    if (count.faulty + count.clean == 0) continue;
    std::vector<std::string> row{count.rule->name, std::to_string(count.faulty)};
    if (!expected.empty()) {
      row.push_back(std::to_string(count.clean));
      row.push_back(rounded(evaluators::mcnemar(count.pairs).exact_p));
      row.push_back(interval_text(evaluators::paired_odds_ratio(count.pairs)));
    }
    table.add(std::move(row));
    const evaluators::Symptom* first = nullptr;
    std::size_t replica = 0;
    for (; replica < runs && first == nullptr; ++replica)
      for (const evaluators::Symptom& symptom : found[replica])
        if (symptom.rule == count.rule) first = &symptom;
    if (first != nullptr)
      details += "\n" + count.rule->name + ": " + count.rule->meaning + "\n  replica " +
                 std::to_string(file.runs[replica - 1].replica) + ", " + first->explanation() +
                 "\n";
  }
  if (std::all_of(counts.begin(), counts.end(), [](const evaluators::SymptomCount& count) {
        return count.faulty + count.clean == 0;
      })) {
    std::cout << "no symptoms\n";
  } else {
    std::cout << table.text() << details;
  }
  std::map<std::string, int> faults;
  for (const std::vector<evaluators::Symptom>& symptoms : found)
    ++faults[likeliest(evaluators::rank_data_faults(symptoms, own))];
  std::vector<std::string> texts;
  for (const auto& [fault, count] : faults)
    texts.push_back(fault + " (" + std::to_string(count) + ")");
  std::cout << "\nlikeliest fault of the data, in so many trainings: " << join(texts) << "\n";
  return 0;
}

}  // namespace

Verb symptoms_verb() {
  return {
      "symptoms",
      "find symptoms of faulty data in monitored trainings",
      "symptoms FILE.h5 [--clean FILE.h5 [--absolute]] [--rules FILE.json] [options]",
      {{"absolute", "clean", "rules"}, 1, 1, "FILE.h5"},
      "Reads what neutra train --monitor recorded and says which of 16 symptoms each training "
      "shows (Shah, 2024), in which\n"
      "layers, with which values and bounds, and which fault of the data is the likeliest cause. "
      "With --clean, training i\n"
      "is compared with all clean ones but the i-th, and so is the i-th clean one; McNemar's exact "
      "p and the odds ratio compare\n"
      "them (docs/methods/monitors.md). Without --clean, or with --absolute, bounds are numbers, "
      "which depend on the network.",
      "  neutra train D6 --monitor buggy.h5\n  neutra train D6 --version fixed --monitor clean.h5\n"
      "  neutra symptoms buggy.h5 --clean clean.h5",
      run};
}

}  // namespace neutra::cli
