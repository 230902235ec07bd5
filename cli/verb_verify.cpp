#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
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

/// A recorded program beside its trainings here.
struct Row {
  const search::Node* node = nullptr;  ///< in the recorded network
  std::vector<double> metrics;         ///< of the trainings; empty: it can't be trained
  std::string mean = "-";              ///< of these, for people
  std::optional<double> p;             ///< nullopt: it can't be trained
  bool pass = false;
  std::string reason;  ///< why not, or why not trained; "": nothing to say
};

/// The trainings of a program against its record.
Row compared(const search::Node& node, std::span<const training::ReplicaResult> results) {
  Row row{&node, {}, not_finite_text(results), {}, false, ""};
  std::vector<double> ours, theirs;
  for (const training::ReplicaResult& result : results) {
    if (result.status != training::RunStatus::kOk && row.reason.empty())
      row.reason = std::string(to_string(result.status)) +
                   (result.message.empty() ? "" : ": " + result.message);
    ours.push_back(recorded_form(result.metric));
    row.metrics.push_back(result.metric);
  }
  if (row.mean.empty()) row.mean = rounded(evaluators::mean(ours));
  for (const double value : node.metrics) theirs.push_back(std::isfinite(value) ? value : kHuge);
  const double difference = std::fabs(evaluators::mean(ours) - evaluators::mean(theirs));
  // Differences within the records' rounding say nothing: no evidence against equality.
  const bool near = difference <= kRecordGrain + 1e-12;
  row.p = near ? 1 : evaluators::permutation_p(ours, theirs);
  const bool can_fail = ours.size() >= kFewestMetrics;
  row.pass = near || (can_fail && *row.p >= kPassP);
  if (row.pass || !row.reason.empty()) return row;
  row.reason = can_fail ? "means differ by " + rounded(difference)
                        : std::to_string(ours.size()) + " recorded metrics can't tell: at least " +
                              std::to_string(kFewestMetrics) + " are needed";
  return row;
}

struct Verification {
  std::string fault, metric;
  std::int64_t seed = 0;
  std::shared_ptr<const search::Network> recorded;  ///< whose nodes the rows name
  std::vector<Row> rows;

  std::int64_t passed() const {
    return std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.pass; });
  }
  std::int64_t low() const {
    return std::count_if(rows.begin(), rows.end(),
                         [](const Row& row) { return row.p && *row.p < 0.05; });
  }
  double share() const {
    return rows.empty() ? 1 : static_cast<double>(passed()) / static_cast<double>(rows.size());
  }
};

Json json_of(const Verification& all) {
  Json rows = Json::array();
  for (const Row& row : all.rows) {
    Json ours = Json::array();
    for (const double metric : row.metrics) ours.push_back(json_number(metric));
    rows.push_back({{"id", row.node->id},
                    {"program", program::to_string(row.node->parameters)},
                    {"recorded", row.node->metrics},
                    {"ours", std::move(ours)},
                    {"p", json_or_null(row.p)},
                    {"pass", row.pass},
                    {"reason", row.reason}});
  }
  return {{"fault", all.fault},
          {"seed", all.seed},
          {"metric", all.metric},
          {"rows", std::move(rows)},
          {"total", static_cast<std::int64_t>(all.rows.size())},
          {"passed", all.passed()},
          {"p_below_0_05", all.low()}};
}

std::string text_of(const Verification& all) {
  TextTable table({"node", "recorded", "ours", "p", "pass", "reason"});
  for (const Row& row : all.rows)
    table.add({std::to_string(row.node->id), mean_text(row.node->metrics), row.mean,
               row.p ? evaluators::p_text(*row.p) : "-", row.pass ? "yes" : "NO", row.reason});
  return table.text() + "\n" + std::to_string(all.passed()) + " of " +
         std::to_string(all.rows.size()) + " programs pass (p >= " + shortest(kPassP) +
         " or means within " + shortest(kRecordGrain) + "), " + std::to_string(all.low()) +
         " have p < 0.05\n";
}

/// The recorded programs that --rows names, each once.
std::vector<const search::Node*> chosen_nodes(const Arguments& arguments,
                                              const search::Network& recorded,
                                              const std::string& file) {
  std::vector<const search::Node*> all, chosen;
  std::set<program::Parameters> seen;
  for (const search::Node& node : recorded.nodes)
    if (!node.metrics.empty() && seen.insert(node.parameters).second) all.push_back(&node);
  if (all.empty())
    throw input_error(describe(file, "", "no program with metrics", "a recorded network"));
  for (const std::size_t i : positions(arguments, all.size())) chosen.push_back(all[i]);
  return chosen;
}

Result run(const Arguments& arguments) {
  catch_signals();
  const std::string& file = arguments.positional.front();
  if (!arguments.has("fault"))
    throw usage_error("--fault is missing: which fault do the records belong to?");
  const experiments::Fault fault =
      experiments::scored_alike(experiments::load_fault(arguments.text("fault")));
  Verification all;
  all.recorded = std::make_shared<const search::Network>(search::read_network_tsv(file));
  experiments::require_root(*all.recorded, fault, file);
  all.fault = fault.id;
  all.metric = experiments::metric_of(fault.buggy, fault.file.string()).name;
  all.seed = arguments.integer("seed");
  const std::vector<const search::Node*> chosen = chosen_nodes(arguments, *all.recorded, file);

  const auto trainer = make_trainer(arguments, fault.file);
  warn_of(fault.id, fault.buggy);
  std::vector<program::Program> programs;
  std::vector<std::string> refusals;
  programs.reserve(chosen.size());
  for (const search::Node* node : chosen) {
    programs.push_back(fault.space.instantiate(node->parameters, file));
    refusals.push_back(trainer->refusal(programs.back()).value_or(""));
  }
  std::vector<training::TrainingJob> jobs;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!refusals[i].empty()) continue;
    for (std::size_t replica = 0; replica < chosen[i]->metrics.size(); ++replica) {
      training::TrainingJob job;
      job.program = &programs[i];
      job.seed = static_cast<std::uint64_t>(all.seed);
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
  std::span<const training::ReplicaResult> left = results;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!refusals[i].empty()) {
      all.rows.push_back({chosen[i], {}, "-", {}, false, refusals[i]});
      continue;
    }
    const std::size_t count = chosen[i]->metrics.size();
    all.rows.push_back(compared(*chosen[i], left.first(count)));
    left = left.subspan(count);
  }
  const bool enough = all.share() >= arguments.number("min-pass");
  return result_of(std::move(all), enough ? Exit::kDone : Exit::kFailed);
}

}  // namespace

Verb verify_verb() {
  return {.name = "verify",
          .summary = "train recorded programs and compare with the record",
          .synopsis = "verify FILE.tsv --fault FAULT [--rows N|LIST] [--min-pass SHARE] [options]",
          .options = {.names = {"backend", "data-dir", "fault", "memory", "min-pass",
                                "reuse-epochs", "rows", "seed", "skip-dead", "workers"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "FILE.tsv"},
          .description =
              "Trains each program of a recorded network as often as it was recorded. A row passes "
              "with a permutation p of at\n"
              "least 0.001 on the difference of the means, or means within 0.01 (the records have "
              "two decimals). Exit 0 if the\n"
              "share --min-pass is reached, 1 if not, 3 if the file's root is not the fault's "
              "buggy program.",
          .example = "  neutra verify 51181393.tsv --fault D7 --rows 10",
          .run = run};
}

}  // namespace neutra::cli
