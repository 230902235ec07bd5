#include "search/minimiser.h"

#include <algorithm>
#include <cmath>

namespace neutra::search {
namespace {

/// A search that went on is minimised anew, from what it knows itself.
Network without_subpatches(Network network) {
  network.subpatches.clear();
  return network;
}

/// A mean of which a network keeps the metrics and the value. Counts have the exact value; sums are
/// made again, in the order of the replicas.
MetricMean kept_mean(const std::vector<double>& metrics, double mean, bool exact) {
  if (exact || metrics.empty() || !std::isfinite(mean)) return mean_of_level(mean);
  MetricMean sum;
  sum.exact = false;
  for (const double metric : metrics) sum.sum += metric;
  sum.replicas = static_cast<int>(metrics.size());
  return sum;
}

}  // namespace

Minimiser::Minimiser(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                     Switches switches, EarlierResults earlier, training::Trainer& trainer,
                     Network network, std::optional<std::int64_t> budget)
    : task_(task),
      space_(space),
      config_(config),
      switches_(switches),
      network_(without_subpatches(std::move(network))),
      budget_(budget),
      evaluations_(space, config.replicas, {true, switches.isolated}, std::move(earlier), trainer),
      known_(network_, &space) {
  advance();
}

/// Can a program with this mean be a repair? As in the search, from what its network keeps.
bool Minimiser::can_repair(const MetricMean& score) const {
  Criteria criteria;
  criteria.goal = task_.goal;
  if (network_.ground_truth) {
    const bool measured = !config_.ground_truth_metric;
    criteria.level = kept_mean(measured ? network_.fixed_metrics : std::vector<double>{},
                               *network_.ground_truth, score.exact);
  }
  if (network_.improve) {
    const Node& buggy = network_.nodes.front();
    criteria.buggy = kept_mean(buggy.metrics, buggy.mean, score.exact);
  }
  if (!criteria.level && !criteria.buggy) return false;  // there is nothing to reach
  return search::can_repair(score, criteria);
}

bool Minimiser::decided(Candidate& candidate) {
  const auto ruled_out = [&](const MetricMean& score) {
    if (!switches_.curtail) return false;
    if (!score.usable) return true;
    if (!task_.metric_bound) return false;
    const auto best = score.completed(config_.replicas, *task_.metric_bound);
    return best && !can_repair(*best);
  };
  return decide(evaluations_[candidate.evaluation], config_.replicas, candidate, ruled_out);
}

void Minimiser::advance() {
  while (!end_) {
    if (next_commit_ == candidates_.size()) {
      begin_round();
    } else if (Candidate& candidate = candidates_[next_commit_]; decided(candidate)) {
      commit(candidate);
      ++next_commit_;
    } else {
      return;
    }
  }
}

Node Minimiser::new_node(program::Parameters parameters) const {
  Node node;
  node.depth = static_cast<int>(changed_keys(task_.start, parameters).size());
  node.parameters = std::move(parameters);
  return node;
}

/// A sub-patch with its results; `alternative` says that its mean is that of a repair.
void Minimiser::add(Node node) {
  node.id = -static_cast<std::int64_t>(network_.subpatches.size()) - 1;
  if (node.alternative) {
    const bool improve = network_.improve;
    compare_with(improve ? network_.nodes.front().metrics : network_.fixed_metrics, task_.goal,
                 node);
    node.alternative = !improve || node.significant;
  }
  network_.subpatches.push_back(std::move(node));
  known_.add(network_.subpatches.back());
}

void Minimiser::commit(Candidate& candidate) {
  EvaluatedProgram& evaluation = evaluations_[candidate.evaluation];
  const bool complete =
      conclude(evaluation, config_.replicas, candidate, candidate.node, counters_);
  candidate.node.alternative = complete && can_repair(candidate.score);
  ++counters_.evaluations;
  used_trainings_ += evaluations_.book(candidate.evaluation, candidate.counted, counters_);
  evaluation.program.reset();
  add(std::move(candidate.node));
}

/// Lists the sub-patches that need no training, since they are the program of a known repair: what
/// they lack does nothing. Also those that reach the level but were left out by the search's rule.
void Minimiser::adopt() {
  using Verdict = KnownPrograms::Verdict;
  std::set<program::Parameters> listed;
  for (const auto* nodes : {&network_.nodes, &network_.subpatches}) {
    for (const Node& node : *nodes) {
      if (node.alternative) listed.insert(node.parameters);
    }
  }
  // The program of `parameters` among the known repairs.
  const auto known_repair = [&](const program::Parameters& parameters) -> const Node* {
    const auto program = known_.hash(parameters);
    for (const auto* nodes : {&network_.nodes, &network_.subpatches}) {
      for (const Node& node : *nodes) {
        if (node.hash == program && (node.alternative || reaches_unlisted(network_, node))) {
          return &node;
        }
      }
    }
    return nullptr;
  };
  for (bool again = true; again;) {
    again = false;
    std::vector<Node> found;
    for (const RepairSize& size : repair_sizes(network_, known_)) {
      if (size.minimal != false) continue;
      std::optional<program::Parameters> first;
      bool has_listed = false;
      for (const std::string& key : changed_keys(task_.start, size.node->parameters)) {
        program::Parameters smaller = taken_back(task_.start, size.node->parameters, key);
        if (known_.verdict(smaller) != Verdict::kRepair || smaller == task_.start) continue;
        has_listed = has_listed || listed.contains(smaller);
        if (!first) first = std::move(smaller);
      }
      if (has_listed || !first) continue;
      const Node* same = known_repair(*first);
      if (same == nullptr) continue;
      Node node = new_node(*first);
      node.hash = same->hash;
      node.status = same->status;
      node.metrics = same->metrics;
      node.mean = same->mean;
      node.alternative = true;
      listed.insert(*first);
      found.push_back(std::move(node));
    }
    for (Node& node : found) {
      add(std::move(node));
      again = true;
    }
  }
}

void Minimiser::begin_round() {
  adopt();
  const std::vector<RepairSize> sizes = repair_sizes(network_, known_);
  undecided_ = count(sizes).unknown;
  if (undecided_ == 0) {
    end_ = SearchEnd::kQueueEmpty;
    return;
  }
  std::set<Hash> chosen;
  const RepairSize* first = nullptr;
  for (const RepairSize& size : sizes) {
    if (size.minimal) continue;
    if (first == nullptr) first = &size;
    const bool same_class =
        size.changes == first->changes && size.is_folded() == first->is_folded();
    if (!same_class) break;
    if (budget_ && static_cast<std::int64_t>(candidates_.size()) >= *budget_) break;
    choose(size, chosen);
  }
  if (next_commit_ == candidates_.size()) end_ = SearchEnd::kEvaluationBudget;
}

/// Adds the next sub-patch of an undecided repair to the round. One that waits for another's gets
/// none.
void Minimiser::choose(const RepairSize& size, std::set<Hash>& chosen) {
  std::optional<program::Parameters> best;
  bool best_holds = false;
  for (const std::string& key : changed_keys(task_.start, size.node->parameters)) {
    program::Parameters smaller = taken_back(task_.start, size.node->parameters, key);
    if (known_.verdict(smaller) != KnownPrograms::Verdict::kUnknown) continue;
    if (chosen.contains(known_.hash(smaller).value())) return;
    const bool holds =
        size.within != nullptr && size.within->parameters.at(key) == task_.start.at(key);
    if (best && (best_holds || !holds)) continue;
    best = std::move(smaller);
    best_holds = holds;
  }
  Candidate candidate;
  candidate.node = new_node(std::move(best.value()));
  const program::Parameters& parameters = candidate.node.parameters;
  candidate.evaluation =
      evaluations_.add([&] { return space_.program(parameters); }, program::to_string(parameters));
  candidate.node.hash = evaluations_[candidate.evaluation].hash;
  chosen.insert(candidate.node.hash);
  candidates_.push_back(std::move(candidate));
}

std::int64_t Minimiser::ahead() {
  std::int64_t count = 0;
  for (std::size_t i = next_commit_; i < candidates_.size(); ++i) {
    const std::size_t index = candidates_[i].evaluation;
    count += evaluations_[index].running == 0 && !decided(candidates_[i]) &&
             evaluations_.trainable(index);
  }
  return count;
}

std::optional<Task> Minimiser::next(bool share) {
  advance();
  if (end_ || evaluations_.alone()) return std::nullopt;
  std::optional<std::size_t> shared;  // of those that have a worker, the one with the fewest
  for (std::size_t i = next_commit_; i < candidates_.size(); ++i) {
    const std::size_t index = candidates_[i].evaluation;
    if (decided(candidates_[i]) || !evaluations_.trainable(index)) continue;
    if (evaluations_.must_wait(index)) return std::nullopt;  // a suspect trains alone
    const auto running = [&](std::size_t at) {
      return evaluations_[candidates_[at].evaluation].running;
    };
    if (!shared || running(i) < running(*shared)) shared = i;
    if (running(i) == 0) break;
  }
  if (!shared) return std::nullopt;
  const Candidate& candidate = candidates_[*shared];
  if (!share && evaluations_[candidate.evaluation].running > 0) return std::nullopt;
  return evaluations_.hand_out(candidate.evaluation, *evaluations_.trainable(candidate.evaluation),
                               [&] { return space_.program(candidate.node.parameters); });
}

void Minimiser::deliver(const Task& task, training::ReplicaResult result) {
  evaluations_.deliver(task, std::move(result), counters_);
  advance();
}

Progress Minimiser::progress() const {
  Progress progress{counters_, undecided_, 0, std::nullopt};
  for (const Node& node : network_.subpatches) progress.alternatives += node.alternative;
  if (budget_ && *budget_ > 0) {
    progress.fraction = static_cast<double>(counters_.evaluations) / static_cast<double>(*budget_);
  }
  return progress;
}

Minimising Minimiser::state() const {
  Minimising state{budget_, end_.value_or(SearchEnd::kInterrupted), counters_};
  if (end_) state.counters.speculative_trainings = counters_.trainings - used_trainings_;
  return state;
}

}  // namespace neutra::search
