#include "cli/report_curves.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/parse_number.h"
#include "cli/progress_line.h"
#include "cli/trainers.h"
#include "cli/warnings.h"
#include "experiments/catalog.h"
#include "experiments/search_task.h"
#include "training/curves.h"

namespace neutra::cli {
namespace {

std::int64_t whole_number(const std::string& text, std::string_view part) {
  const auto number = parse_number<std::int64_t>(part);
  if (!number || *number < 0)
    throw usage_error("--curves: found '" + text +
                      "'; allowed: N, how many of the best repairs, or ids of programs such as "
                      "id:7 or id:7,12");
  return *number;
}

/// As the page has it: the best first, NaN last.
std::vector<const search::Node*> best_repairs(const search::Network& network) {
  std::vector<const search::Node*> repairs = network.alternatives();
  const auto rank = [&](const search::Node* node) {
    if (std::isnan(node->mean)) return std::numeric_limits<double>::infinity();
    return network.goal == program::Goal::kMaximize ? -node->mean : node->mean;
  };
  std::stable_sort(repairs.begin(), repairs.end(),
                   [&](const search::Node* a, const search::Node* b) { return rank(a) < rank(b); });
  return repairs;
}

/// The programs that --curves names: "5", the best five repairs, or "id:7,12" or "7,12", ids; and
/// always the buggy one.
std::vector<const search::Node*> chosen_nodes(const std::string& text,
                                              const search::Network& network) {
  const std::vector<const search::Node*> drawn = search::drawn_nodes(network);
  std::vector<const search::Node*> chosen;
  if (!drawn.empty() && drawn.front()->id == 0) chosen.push_back(drawn.front());
  constexpr std::string_view kIds = "id:";
  const bool named = text.starts_with(kIds);
  if (!named && text.find(',') == std::string::npos) {
    std::vector<const search::Node*> repairs = best_repairs(network);
    const auto count = static_cast<std::size_t>(whole_number(text, text));
    if (count > repairs.size())
      std::cerr << "neutra: --curves " << text << ": the network has " << repairs.size()
                << (repairs.size() == 1 ? " repair" : " repairs") << "; all are trained\n";
    repairs.resize(std::min(repairs.size(), count));
    chosen.insert(chosen.end(), repairs.begin(), repairs.end());
    return chosen;
  }
  if (text == kIds) whole_number(text, "");
  for (std::size_t start = named ? kIds.size() : 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::int64_t id = whole_number(text, std::string_view(text).substr(start, end - start));
    const auto found = std::find_if(drawn.begin(), drawn.end(),
                                    [&](const search::Node* node) { return node->id == id; });
    if (found == drawn.end()) {
      constexpr std::size_t kExamples = 3;
      std::string examples;
      for (std::size_t i = 0; i < std::min(drawn.size(), kExamples); ++i)
        examples += (i > 0 ? ", " : "") + std::to_string(drawn[i]->id);
      throw usage_error("--curves: found " + std::to_string(id) +
                        ", which isn't in the network; allowed: ids of its programs such as " +
                        examples);
    }
    if (std::find(chosen.begin(), chosen.end(), *found) == chosen.end()) chosen.push_back(*found);
    start = end + 1;
  }
  return chosen;
}

/// A program to train, and what the search has of it.
struct Planned {
  program::Program program;
  const std::vector<double>* metrics = nullptr;
  report::ProgramCurves curves;
};

}  // namespace

report::ReportCurves train_curves(const Arguments& arguments,
                                  const experiments::NetworkFile& loaded, const std::string& file) {
  const search::Network& network = loaded.network;
  if (loaded.header.empty())
    throw input_error(describe(file, "", "a recorded network, without seed and back end",
                               "--curves with a store"));
  if (!loaded.fault)
    throw input_error(describe(file, "", "a network of a fault that isn't known here",
                               "--fault FAULT says which one it is"));
  const experiments::Fault& fault = *loaded.fault;

  std::vector<Planned> planned;
  for (const search::Node* node : chosen_nodes(arguments.text("curves"), network)) {
    Planned one{fault.space.instantiate(node->parameters, file), &node->metrics, {}};
    one.curves.node = node->id;
    one.curves.fixed = network.is_known_fix(*node);
    planned.push_back(std::move(one));
  }
  const bool has_fixed = std::any_of(planned.begin(), planned.end(),
                                     [](const Planned& one) { return one.curves.fixed; });
  if (fault.fixed && !has_fixed) {
    Planned one{*fault.fixed, &network.fixed_metrics, {}};
    one.curves.fixed = true;
    for (const search::Node* node : search::drawn_nodes(network)) {
      if (network.is_known_fix(*node)) one.curves.node = node->id;
    }
    planned.push_back(std::move(one));
  }

  // "auto 3, torch ...": fingerprints begin with the back end.
  const Json& config = loaded.header.at("config");
  const auto searched_with = config.at("fingerprint").get<std::string>();
  const training::Backend backend =
      training::parse_backend(searched_with.substr(0, searched_with.find(' ')))
          .value_or(training::Backend::kAuto);
  const auto trainer = make_trainer(arguments, fault.file, backend);
  warn_of(fault.id, fault.buggy);
  const std::int64_t replicas =
      std::min(arguments.integer("replicas"), config.at("replicas").get<std::int64_t>());

  std::vector<training::TrainingJob> jobs;
  std::deque<training::CurveRecorder> recorders;
  std::vector<training::Observer*> observers;
  for (const Planned& one : planned) {
    for (int replica = 0; replica < replicas; ++replica) {
      training::TrainingJob job;
      job.program = &one.program;
      job.seed = config.at("seed").get<std::uint64_t>();
      job.replica = replica;
      job.memory_limit = config.at("memory_limit").get<std::uint64_t>();
      jobs.push_back(job);
      observers.push_back(&recorders.emplace_back());
    }
  }
  ProgressLine progress(arguments.flag("quiet"), "curves of " + fault.id);
  const std::vector<training::ReplicaResult> results = train_all(
      *trainer, jobs, worker_count(arguments),
      [&](const Tally& tally) { progress.update(progress_of(tally, "trainings")); }, observers);

  report::ReportCurves curves;
  curves.searched_with = searched_with;
  curves.trained_with = experiments::search_fingerprint(fault, *trainer);
  std::size_t next = 0;
  for (Planned& one : planned) {
    for (std::size_t replica = 0; replica < static_cast<std::size_t>(replicas); ++replica, ++next) {
      report::ProgramCurves::Replica trained;
      trained.replica = jobs[next].replica;
      trained.status = to_string(results[next].status);
      trained.metric = results[next].metric;
      if (replica < one.metrics->size()) trained.stored = (*one.metrics)[replica];
      trained.curves = recorders[next].curves();
      one.curves.replicas.push_back(std::move(trained));
    }
    curves.programs.push_back(std::move(one.curves));
  }
  return curves;
}

}  // namespace neutra::cli
