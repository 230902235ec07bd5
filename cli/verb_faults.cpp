#include <algorithm>
#include <cmath>
#include <iostream>
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

Json summary(const experiments::Fault& fault) {
  return {{"id", fault.id},
          {"title", fault.title},
          {"subject", fault.subject},
          {"origin", fault.origin},
          {"source", fault.source},
          {"tags", fault.tags},
          {"declared", to_string(fault.declared)},
          {"actual", to_string(fault.actual)},
          {"buggy", program::to_string(fault.space.base_parameters())},
          {"fixed", fault.fixed_parameters ? Json(program::to_string(*fault.fixed_parameters))
                                           : Json(nullptr)}};
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

/// A data file, or a folder of them, that is not here.
struct Missing {
  std::set<std::string> files;
  std::vector<std::string> faults;
  std::string source;
};

/// Which faults lack which data files, where those belong and where they come from.
int list_data(const std::vector<std::string>& ids, const Arguments& arguments) {
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(data_folder(arguments)));
  std::map<std::string, std::vector<std::string>> faults_of;  // by file
  std::map<std::string, training::DataPlace> places;
  std::map<std::string, Missing> missing;  // by folder, or file
  Json faults = Json::array();
  std::size_t complete = 0;
  for (const auto& id : ids) {
    const experiments::Fault fault = experiments::load_fault(id);
    std::set<std::string> absent;
    std::vector<const program::Program*> versions{&fault.buggy};
    if (fault.fixed) versions.push_back(&*fault.fixed);
    for (const program::Program* version : versions)
      for (training::DataPlace& place :
           training::data_places(version->document.at("data"), data_path(arguments, fault.file))) {
        std::vector<std::string>& users = faults_of[place.name];
        if (users.empty() || users.back() != fault.id) users.push_back(fault.id);
        if (place.found.empty()) {
          absent.insert(place.name);
          const std::filesystem::path parent = std::filesystem::path(place.name).parent_path();
          Missing& group = missing[parent.empty() ? place.name : parent.string()];
          group.files.insert(place.name);
          group.source = place.source;
          if (group.faults.empty() || group.faults.back() != fault.id)
            group.faults.push_back(fault.id);
        }
        places.insert_or_assign(place.name, std::move(place));
      }
    complete += absent.empty();
    faults.push_back({{"id", fault.id}, {"missing", absent}});
  }
  if (arguments.flag("json")) {
    Json files = Json::array();
    for (const auto& [name, place] : places)
      files.push_back({{"file", name},
                       {"faults", faults_of[name]},
                       {"found", place.found.empty() ? Json() : Json(place.found.string())},
                       {"put", place.found.empty() ? Json((folder / name).string()) : Json()},
                       {"source", place.source.empty() ? Json() : Json(place.source)}});
    std::cout << to_text(Json{{"faults", faults}, {"files", files}});
    return 0;
  }
  TextTable table({"missing", "faults", "put it there", "from"});
  for (const auto& [name, group] : missing) {
    const std::string& first = *group.files.begin();
    const std::string file = group.files.size() == 1
                                 ? first
                                 : name + ": " + std::to_string(group.files.size()) + " files";
    table.add({file, join(group.faults),
               (group.files.size() == 1 ? folder / first : folder / name).string(),
               group.source.empty() ? "-" : group.source});
  }
  if (!missing.empty()) std::cout << table.text();
  if (missing.empty() || !arguments.flag("quiet"))
    (missing.empty() ? std::cout : std::cerr)
        << complete << " of " << ids.size() << " faults have all their data here\n";
  return 0;
}

int run(const Arguments& arguments) {
  catch_signals();
  std::vector<std::string> ids =
      arguments.positional.empty() ? experiments::fault_ids() : arguments.positional;
  const bool json = arguments.flag("json");
  if (arguments.flag("data")) {
    if (arguments.flag("check"))
      throw usage_error("--data: found --check, too; allowed: one of them");
    return list_data(ids, arguments);
  }
  if (!arguments.flag("check")) {
    Json list = Json::array();
    TextTable table({"id", "origin", "source", "faults declared", "faults by diff", "title"});
    for (const auto& id : ids) {
      const experiments::Fault fault = experiments::load_fault(id);
      if (json)
        list.push_back(summary(fault));
      else
        table.add({fault.id, fault.origin, fault.source, to_string(fault.declared),
                   to_string(fault.actual), fault.title});
    }
    std::cout << (json ? to_text(list) : table.text());
    return 0;
  }

  Json list = Json::array();
  TextTable table({"id", "buggy", "fixed", "p", "d", "verdict"});
  bool failed = false;
  std::vector<std::string> absent;
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
  for (const experiments::Fault& fault : faults) {
    const Check result = check(fault, arguments);
    const std::string verdict = verdict_of(result);
    if (!result.unavailable.empty()) {
      absent.push_back(fault.id + ": " + result.unavailable);
    } else if (!result.comparison.significant) {
      failed = true;
    }
    if (json) {
      Json entry{{"id", fault.id}, {"verdict", verdict}};
      if (result.unavailable.empty()) {
        const auto values = [](const Version& version) {
          Json array = Json::array();
          for (double metric : version.metrics()) array.push_back(json_number(metric));
          return array;
        };
        entry["buggy"] = values(result.buggy);
        entry["fixed"] = values(result.fixed);
        entry["diverged"] = {{"buggy", result.buggy.count(training::RunStatus::kDiverged)},
                             {"fixed", result.fixed.count(training::RunStatus::kDiverged)},
                             {"of", result.buggy.results.size()}};
        entry["p"] = json_number(result.comparison.p);
        entry["d"] = json_number(result.comparison.d);
        entry["shows"] = result.comparison.significant;
      } else {
        entry["reason"] = result.unavailable;
      }
      list.push_back(std::move(entry));
    } else if (result.unavailable.empty()) {
      const bool compared = result.buggy.ended() && result.fixed.ended();
      table.add({fault.id, result.buggy.text(), result.fixed.text(),
                 compared ? evaluators::p_text(result.comparison.p) : "-",
                 compared ? rounded(result.comparison.d) : "-", verdict});
    } else {
      table.add({fault.id, "-", "-", "-", "-", verdict});
    }
  }
  std::cout << (json ? to_text(list) : table.text());
  for (const auto& line : absent) std::cerr << "not checked: " << line << '\n';
  return static_cast<int>(failed || absent.size() == ids.size() ? Exit::kFailed : Exit::kDone);
}

}  // namespace

Verb faults_verb() {
  return {
      "faults",
      "list the faulty programs, or check that each fault shows",
      "faults [FAULT ...] [--check|--data] [options]",
      {{"backend", "check", "data-dir", "replicas", "rows-train", "seed", "skip-dead", "workers"},
       0,
       1000,
       "FAULT ...",
       {},
       {},
       {{.name = "data",
         .type = OptionType::kFlag,
         .help = "list the data files that are not here: which faults lack them, where to put "
                 "them, where they come from"}}},
      "Without --check: id, origin, source, fault types as the study declares them and as the "
      "difference between\n"
      "buggy and fixed program gives them. With --check: trains both and compares their "
      "metrics (Gaussian GLM\n"
      "p < 0.05 and Cohen's d >= 0.5; a training that diverged is worse than any that did not, see "
      "docs/methods/statistics.md);\nexit 1 if a fault doesn't show, or if none could be "
      "checked. Faults whose data set is not here are named, and\n"
      "--data lists what they lack.",
      "  neutra faults\n  neutra faults --data\n  neutra faults D1 D6 D7 D8 --check\n  neutra "
      "faults F1 F2 F3 --check "
      "--rows-train 500",
      run};
}

}  // namespace neutra::cli
