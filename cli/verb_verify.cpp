#include <cmath>
#include <iostream>
#include <set>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "base/parse_number.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "evaluators/permutation_test.h"
#include "evaluators/statistics.h"
#include "experiments/catalog.h"
#include "experiments/network_file.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "search/network.h"

namespace neutra::cli {
namespace {

constexpr double kPassP = 0.001;       ///< a row passes from this p on
constexpr double kRecordGrain = 0.01;  ///< records have two decimals: means this near are equal

/// With fewer metrics a side no split of them is rare enough for a p below kPassP: 2 / C(14, 7) =
/// 0.0006.
constexpr std::size_t kFewestMetrics = 7;

/// Of an error that diverged: it counts as huge.
constexpr double kHuge = 1e9;

/// As Keras and the records' writer print it: the float32 metric, two decimals.
double recorded_form(double metric) {
  if (!std::isfinite(metric)) return kHuge;
  const double value = static_cast<double>(static_cast<float>(metric));
  return std::fabs(value) < 1e12 ? std::nearbyint(value * 100) / 100 : value;
}

/// Zero-based positions in a list of `total` programs.
std::vector<std::size_t> positions(const Arguments& arguments, std::size_t total) {
  std::vector<std::size_t> result;
  if (!arguments.has("rows")) {
    for (std::size_t i = 0; i < total; ++i) result.push_back(i);
    return result;
  }
  const std::string& text = arguments.text("rows");
  const bool is_list = text.find(',') != std::string::npos;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = std::string_view(text).substr(start, end - start);
    const std::size_t number = parse_number<std::size_t>(part).value_or(0);
    if (number < 1)
      throw usage_error("--rows: found '" + text +
                        "'; allowed: a count N or positions such as 1,7,13 (from 1)");
    if (!is_list) {
      for (std::size_t i = 0; i < std::min(number, total); ++i) result.push_back(i);
    } else if (number <= total) {
      result.push_back(number - 1);
    } else {
      throw usage_error("--rows: found position " + std::to_string(number) + "; the file holds " +
                        std::to_string(total) + " programs");
    }
    start = end + 1;
  }
  return result;
}

int run(const Arguments& arguments) {
  catch_signals();
  const std::filesystem::path file = arguments.positional.front();
  if (!arguments.has("fault"))
    throw usage_error("--fault is missing: which fault do the records belong to?");
  const experiments::Fault fault =
      experiments::scored_alike(experiments::load_fault(arguments.text("fault")));
  const search::Network recorded = search::read_network_tsv(file);
  experiments::require_root(recorded, fault, file.string());
  const experiments::MetricInfo metric = experiments::metric_of(fault.buggy, fault.file.string());

  std::vector<const search::Node*> all;
  std::set<program::Parameters> seen;
  for (const auto& node : recorded.nodes)
    if (!node.metrics.empty() && seen.insert(node.parameters).second) all.push_back(&node);
  if (all.empty())
    throw input_error(describe(file.string(), "", "no program with metrics", "a recorded network"));
  std::vector<const search::Node*> chosen;
  for (std::size_t i : positions(arguments, all.size())) chosen.push_back(all[i]);

  const auto trainer = make_trainer(arguments, fault.file);
  warn_of(fault.id, fault.buggy);
  std::vector<program::Program> programs;
  std::vector<std::string> refusals;
  programs.reserve(chosen.size());
  for (const search::Node* node : chosen) {
    programs.push_back(fault.space.instantiate(node->parameters, file.string()));
    refusals.push_back(trainer->refusal(programs.back()).value_or(""));
  }
  std::vector<training::TrainingJob> jobs;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!refusals[i].empty()) continue;
    for (std::size_t replica = 0; replica < chosen[i]->metrics.size(); ++replica) {
      training::TrainingJob job;
      job.program = &programs[i];
      job.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
      job.replica = static_cast<int>(replica);
      jobs.push_back(job);
    }
  }
  std::vector<training::ReplicaResult> results;
  {
    ProgressLine progress(arguments.flag("quiet"), "verify " + fault.id);
    results = train_all(*trainer, jobs, worker_count(arguments), [&](const Tally& tally) {
      progress.update(progress_of(tally, "trainings"));
    });
  }

  Json rows = Json::array();
  std::int64_t passed = 0, low = 0;
  std::size_t next = 0;
  TextTable table({"node", "recorded", "ours", "p", "pass", "reason"});
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::vector<double> ours;
    std::string our_mean = "-";
    Json shown = Json::array();
    std::string reason = refusals[i];
    std::optional<double> p;  // none for a program that is refused
    bool pass = false;
    if (reason.empty()) {
      for (std::size_t replica = 0; replica < chosen[i]->metrics.size(); ++replica) {
        const training::ReplicaResult& result = results[next++];
        if (result.status != training::RunStatus::kOk && reason.empty())
          reason = std::string(to_string(result.status)) +
                   (result.message.empty() ? "" : ": " + result.message);
        ours.push_back(recorded_form(result.metric));
        shown.push_back(json_number(result.metric));
      }
      const auto own = std::span(results).subspan(next - ours.size(), ours.size());
      our_mean = not_finite_text(own);
      if (our_mean.empty()) our_mean = rounded(evaluators::mean(ours));
      std::vector<double> theirs;
      for (double value : chosen[i]->metrics)
        theirs.push_back(std::isfinite(value) ? value : kHuge);
      const double difference = std::fabs(evaluators::mean(ours) - evaluators::mean(theirs));
      // Differences within the records' rounding say nothing: no evidence against equality.
      const bool near = difference <= kRecordGrain + 1e-12;
      p = near ? 1 : evaluators::permutation_p(ours, theirs);
      const bool can_fail = ours.size() >= kFewestMetrics;
      pass = near || (can_fail && *p >= kPassP);
      if (!pass && !can_fail && reason.empty()) {
        reason = std::to_string(ours.size()) + " recorded metrics can't tell: at least " +
                 std::to_string(kFewestMetrics) + " are needed";
      }
      if (!pass && reason.empty()) reason = "means differ by " + rounded(difference);
    }
    passed += pass;
    low += p && *p < 0.05;
    rows.push_back({{"id", chosen[i]->id},
                    {"program", program::to_string(chosen[i]->parameters)},
                    {"recorded", chosen[i]->metrics},
                    {"ours", shown},
                    {"p", p ? Json(*p) : Json(nullptr)},
                    {"pass", pass},
                    {"reason", reason}});
    table.add({std::to_string(chosen[i]->id), mean_text(chosen[i]->metrics), our_mean,
               p ? evaluators::p_text(*p) : "-", pass ? "yes" : "NO", reason});
  }
  const auto total = static_cast<std::int64_t>(chosen.size());
  const double share = total == 0 ? 1 : static_cast<double>(passed) / static_cast<double>(total);
  if (arguments.flag("json"))
    std::cout << to_text({{"fault", fault.id},
                          {"seed", arguments.integer("seed")},
                          {"metric", metric.name},
                          {"rows", rows},
                          {"total", total},
                          {"passed", passed},
                          {"p_below_0_05", low}});
  else
    std::cout << table.text() << "\n"
              << passed << " of " << total << " programs pass (p >= " << kPassP
              << " or means within " << kRecordGrain << "), " << low << " have p < 0.05\n";
  return static_cast<int>(share >= arguments.number("min-pass") ? Exit::kDone : Exit::kFailed);
}

}  // namespace

Verb verify_verb() {
  return {"verify",
          "train recorded programs and compare with the record",
          "verify FILE.tsv --fault FAULT [--rows N|LIST] [--min-pass SHARE] [options]",
          {{"backend", "data-dir", "fault", "memory", "min-pass", "reuse-epochs", "rows", "seed",
            "skip-dead", "workers"},
           1,
           1,
           "FILE.tsv"},
          "Trains each program of a recorded network as often as it was recorded. A row passes "
          "with a permutation p of at\n"
          "least 0.001 on the difference of the means, or means within 0.01 (the records have two "
          "decimals). Exit 0 if the\n"
          "share --min-pass is reached, 1 if not, 3 if the file's root is not the fault's buggy "
          "program.",
          "  neutra verify 51181393.tsv --fault D7 --rows 10",
          run};
}

}  // namespace neutra::cli
