#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/words.h"
#include "cli/originals.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "evaluators/comparison.h"
#include "evaluators/statistics.h"
#include "experiments/catalog.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "training/data/data_places.h"

namespace neutra::cli {
namespace {

/// The trainings of one version.
struct Version {
  std::vector<training::ReplicaResult> results;

  std::vector<double> metrics() const {
    std::vector<double> values;
    for (const training::ReplicaResult& result : results) values.push_back(result.metric);
    return values;
  }
  std::size_t count(training::RunStatus status) const {
    return static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(),
        [&](const training::ReplicaResult& result) { return result.status == status; }));
  }
  /// Did all end by themselves? One that was cut off has no metric to compare.
  bool ended() const {
    return std::all_of(results.begin(), results.end(), [](const training::ReplicaResult& result) {
      return training::has_metric(result.status);
    });
  }
  /// "3 of 10 diverged", also of classifications, whose accuracies stay; "" of none.
  std::string diverged() const {
    const std::size_t number = count(training::RunStatus::kDiverged);
    return number > 0 ? evaluators::diverged_text(number, results.size()) : "";
  }
  /// The mean metric, or why there is none.
  std::string text() const {
    const std::string not_finite = not_finite_text(results);
    return not_finite.empty() ? rounded(evaluators::mean(metrics())) : not_finite;
  }
};

struct Check {
  Version buggy, fixed;
  bool maximize = true;
  evaluators::Comparison comparison;  ///< of the fix with the buggy program
  std::string unavailable;            ///< reason when the fault cannot be trained here
};

/// What the trainings say, in words: whether the fault shows, and how many of them diverged.
std::string verdict_of(const Check& check) {
  const auto& [buggy, fixed, maximize, comparison, unavailable] = check;
  if (!unavailable.empty()) return "not checked";
  if (!buggy.ended() || !fixed.ended()) {
    std::string reasons;
    for (const auto& [version, name] : {std::pair(&buggy, "buggy"), {&fixed, "fixed"}})
      if (!version->ended())
        reasons += std::string(reasons.empty() ? "" : "; ") + name + ": " + version->text();
    return "no verdict (" + reasons + ")";
  }
  const std::vector<double> before = buggy.metrics(), after = fixed.metrics();
  if (evaluators::count_not_finite(before) == before.size() &&
      evaluators::count_not_finite(after) == after.size())
    return "both diverged: no difference";
  std::string verdict = "no significant difference";
  if (comparison.significant) {
    verdict = "the fault shows and the fix repairs it";
  } else if (evaluators::compare(before, after, maximize).significant) {
    verdict = "the fix is worse than the fault";
  }
  std::vector<std::string> counts;
  if (!buggy.diverged().empty()) counts.push_back(buggy.diverged());
  if (!fixed.diverged().empty()) counts.push_back("with the fix " + fixed.diverged());
  return verdict + (counts.empty() ? "" : ": " + join(counts));
}

Check check(const experiments::Fault& fault, const Arguments& arguments) {
  Check result;
  const auto trainer = make_trainer(arguments, fault.file);
  const program::Program& fixed = fault.fixed.value();
  try {
    for (const program::Program* program : {&fault.buggy, &fixed})
      if (const auto reason = trainer->refusal(*program))
        throw Error(Exit::kFailed, fault.file.string() + ": " + *reason);
  } catch (const MissingData& error) {
    result.unavailable = error.what();
    return result;
  }
  warn_of(fault.id, fault.buggy);
  warn_of(fault.id, fixed);
  experiments::tell_scoring(fault, arguments.flag("quiet"));
  const experiments::MetricInfo metric = experiments::metric_of(fault.buggy, fault.file.string());
  const int replicas = static_cast<int>(arguments.integer("replicas"));
  std::vector<training::TrainingJob> jobs;
  for (const program::Program* program : {&fault.buggy, &fixed})
    for (int replica = 0; replica < replicas; ++replica) {
      training::TrainingJob job;
      job.program = program;
      job.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
      job.replica = replica;
      job.stream = training::StreamKey::kIndependent;  // the kill test assumes independent samples
      jobs.push_back(job);
    }
  ProgressLine progress(arguments.flag("quiet"), "check " + fault.id);
  const auto results = train_all(*trainer, jobs, worker_count(arguments), [&](const Tally& tally) {
    progress.update(progress_of(tally, "trainings"));
  });
  result.buggy.results.assign(results.begin(), results.begin() + replicas);
  result.fixed.results.assign(results.begin() + replicas, results.end());
  result.maximize = metric.goal == program::Goal::kMaximize;
  if (result.buggy.ended() && result.fixed.ended())
    result.comparison =
        evaluators::compare(result.fixed.metrics(), result.buggy.metrics(), result.maximize);
  return result;
}

// --- the list ---

struct FaultList {
  std::vector<experiments::Fault> faults;
};

Json json_of(const FaultList& all) {
  Json list = Json::array();
  for (const experiments::Fault& fault : all.faults)
    list.push_back(
        {{"id", fault.id},
         {"title", fault.title},
         {"subject", fault.subject},
         {"origin", fault.origin},
         {"source", fault.source},
         {"tags", fault.tags},
         {"declared", to_string(fault.declared)},
         {"actual", to_string(fault.actual)},
         {"buggy", program::to_string(fault.space.base_parameters())},
         {"fixed", fault.fixed_parameters ? Json(program::to_string(*fault.fixed_parameters))
                                          : Json(nullptr)}});
  return list;
}

std::string text_of(const FaultList& all) {
  TextTable table({"id", "origin", "source", "faults declared", "faults by diff", "title"});
  for (const experiments::Fault& fault : all.faults)
    table.add({fault.id, fault.origin, fault.source, to_string(fault.declared),
               to_string(fault.actual), fault.title});
  return table.text();
}

Result list_faults(const std::vector<std::string>& ids) {
  FaultList all;
  for (const std::string& id : ids) all.faults.push_back(experiments::load_fault(id));
  return result_of(std::move(all));
}

// --- the data files that they need ---

struct DataFile {
  training::DataPlace place;
  std::vector<std::string> faults;  ///< that need it
};

/// Data files of faults.
struct DataFiles {
  std::filesystem::path folder;  ///< that missing ones belong in
  std::map<std::string, DataFile> files;
  std::vector<std::pair<std::string, std::set<std::string>>> missing;  ///< of each fault

  std::size_t complete() const {
    return static_cast<std::size_t>(std::count_if(
        missing.begin(), missing.end(), [](const auto& fault) { return fault.second.empty(); }));
  }
};

Json json_of(const DataFiles& all) {
  Json faults = Json::array(), files = Json::array();
  for (const auto& [id, missing] : all.missing)
    faults.push_back({{"id", id}, {"missing", missing}});
  for (const auto& [name, file] : all.files) {
    const bool found = !file.place.found.empty();
    files.push_back({{"file", name},
                     {"faults", file.faults},
                     {"found", found ? Json(file.place.found.string()) : Json()},
                     {"put", found ? Json() : Json((all.folder / name).string())},
                     {"source", file.place.source.empty() ? Json() : Json(file.place.source)}});
  }
  return {{"faults", std::move(faults)}, {"files", std::move(files)}};
}

/// Files that are missing in one folder.
struct MissingGroup {
  std::set<std::string> files;
  std::vector<std::string> faults;
  std::string source;
};

/// A row for each folder with missing files, or for the one file that is missing in it; "": none
/// is.
std::string missing_text(const DataFiles& all) {
  std::map<std::string, MissingGroup> groups;  // by folder, or file
  for (const auto& [id, missing] : all.missing)
    for (const std::string& name : missing) {
      const std::filesystem::path parent = std::filesystem::path(name).parent_path();
      MissingGroup& group = groups[parent.empty() ? name : parent.string()];
      group.files.insert(name);
      group.source = all.files.at(name).place.source;
      if (group.faults.empty() || group.faults.back() != id) group.faults.push_back(id);
    }
  if (groups.empty()) return "";
  TextTable table({"missing", "faults", "put it there", "from"});
  for (const auto& [name, group] : groups) {
    const bool one = group.files.size() == 1;
    const std::string& first = *group.files.begin();
    table.add({one ? first : name + ": " + std::to_string(group.files.size()) + " files",
               join(group.faults), (all.folder / (one ? first : name)).string(),
               group.source.empty() ? "-" : group.source});
  }
  return table.text();
}

std::string complete_text(const DataFiles& all) {
  return std::to_string(all.complete()) + " of " + std::to_string(all.missing.size()) +
         " faults have all their data here\n";
}

std::string text_of(const DataFiles& all) {
  const std::string missing = missing_text(all);
  return missing.empty() ? complete_text(all) : missing;
}

/// Which faults lack which data files, where those belong and where they come from.
Result list_data(const std::vector<std::string>& ids, const Arguments& arguments) {
  DataFiles all;
  all.folder = std::filesystem::weakly_canonical(std::filesystem::absolute(data_folder(arguments)));
  for (const auto& id : ids) {
    const experiments::Fault fault = experiments::load_fault(id);
    std::set<std::string> absent;
    std::vector<const program::Program*> versions{&fault.buggy};
    if (fault.fixed) versions.push_back(&*fault.fixed);
    for (const program::Program* version : versions)
      for (training::DataPlace& place :
           training::data_places(version->document.at("data"), data_path(arguments, fault.file))) {
        DataFile& file = all.files[place.name];
        if (file.faults.empty() || file.faults.back() != fault.id) file.faults.push_back(fault.id);
        if (place.found.empty()) absent.insert(place.name);
        file.place = std::move(place);
      }
    all.missing.emplace_back(fault.id, std::move(absent));
  }
  const bool tell =
      all.complete() < ids.size() && !arguments.flag("json") && !arguments.flag("quiet");
  const std::string notes = tell ? complete_text(all) : "";
  Result result = result_of(std::move(all));
  result.notes = notes;
  return result;
}

// --- the check ---

struct Checked {
  std::string id;
  Check check;
};

struct Checks {
  std::vector<Checked> faults;
};

Json json_of(const Checks& all) {
  Json list = Json::array();
  for (const auto& [id, check] : all.faults) {
    Json entry{{"id", id}, {"verdict", verdict_of(check)}};
    if (!check.unavailable.empty()) {
      entry["reason"] = check.unavailable;
      list.push_back(std::move(entry));
      continue;
    }
    const auto values = [](const Version& version) {
      Json array = Json::array();
      for (double metric : version.metrics()) array.push_back(json_number(metric));
      return array;
    };
    entry["buggy"] = values(check.buggy);
    entry["fixed"] = values(check.fixed);
    entry["diverged"] = {{"buggy", check.buggy.count(training::RunStatus::kDiverged)},
                         {"fixed", check.fixed.count(training::RunStatus::kDiverged)},
                         {"of", check.buggy.results.size()}};
    entry["p"] = json_number(check.comparison.p);
    entry["d"] = json_number(check.comparison.d);
    entry["shows"] = check.comparison.significant;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string text_of(const Checks& all) {
  TextTable table({"id", "buggy", "fixed", "p", "d", "verdict"});
  for (const auto& [id, check] : all.faults) {
    const bool trained = check.unavailable.empty();
    const bool compared = trained && check.buggy.ended() && check.fixed.ended();
    table.add({id, trained ? check.buggy.text() : "-", trained ? check.fixed.text() : "-",
               compared ? evaluators::p_text(check.comparison.p) : "-",
               compared ? rounded(check.comparison.d) : "-", verdict_of(check)});
  }
  return table.text();
}

Result check_faults(const std::vector<std::string>& ids, const Arguments& arguments) {
  if (arguments.integer("replicas") < 2)
    throw usage_error("--replicas: found 1; allowed: at least 2, to tell a difference from noise");
  std::vector<experiments::Fault> faults;
  for (const auto& id : ids) {
    faults.push_back(
        experiments::scored_alike(with_fewer_rows(experiments::load_fault(id), arguments)));
    if (const experiments::Fault& fault = faults.back(); !fault.fixed)
      throw input_error(
          describe(fault.file.string(), "/fixed", "no known fix", "a fix to compare with"));
  }
  Checks all;
  std::string absent;
  bool failed = false, any = false;
  for (const experiments::Fault& fault : faults) {
    const Check& one = all.faults.emplace_back(Checked{fault.id, check(fault, arguments)}).check;
    if (!one.unavailable.empty()) {
      absent += "not checked: " + fault.id + ": " + one.unavailable + "\n";
      continue;
    }
    any = true;
    failed = failed || !one.comparison.significant;
  }
  Result result = result_of(std::move(all), failed || !any ? Exit::kFailed : Exit::kDone);
  result.notes = absent;
  return result;
}

Result run(const Arguments& arguments) {
  catch_signals();
  const std::vector<std::string> ids =
      arguments.positional.empty() ? experiments::fault_ids() : arguments.positional;
  if (arguments.flag("data")) {
    if (arguments.flag("check"))
      throw usage_error("--data: found --check, too; allowed: one of them");
    return list_data(ids, arguments);
  }
  return arguments.flag("check") ? check_faults(ids, arguments) : list_faults(ids);
}

}  // namespace

Verb faults_verb() {
  return {.name = "faults",
          .summary = "list the faulty programs, or check that each fault shows",
          .synopsis = "faults [FAULT ...] [--check|--data] [options]",
          .options = {.names = {"backend", "check", "data-dir", "replicas", "rows-train", "seed",
                                "skip-dead", "workers"},
                      .most_positional = 1000,
                      .positional_name = "FAULT ...",
                      .own = {{.name = "data",
                               .type = OptionType::kFlag,
                               .help = "list the data files that are not here: which faults lack "
                                       "them, where to put them, where they come from"}}},
          .description =
              "Without --check: id, origin, source, fault types as the study declares them and as "
              "the difference between\n"
              "buggy and fixed program gives them. With --check: trains both and compares their "
              "metrics (Gaussian GLM\n"
              "p < 0.05 and Cohen's d >= 0.5; a training that diverged is worse than any that did "
              "not, see docs/methods/statistics.md);\n"
              "exit 1 if a fault doesn't show, or if none could be checked. Faults whose data set "
              "is not here are named, and\n"
              "--data lists what they lack.",
          .example =
              "  neutra faults\n"
              "  neutra faults --data\n"
              "  neutra faults D1 D6 D7 D8 --check\n"
              "  neutra faults F1 F2 F3 --check --rows-train 500",
          .run = run};
}

}  // namespace neutra::cli
