#include "search/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "base/error.h"

namespace neutra::search {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int most_changes(const SearchConfig& config) {
  return depth_limit(config).value_or(std::numeric_limits<int>::max());
}

}  // namespace

SearchMachine::SearchMachine(const SearchTask& task, const SearchSpace& space,
                             const SearchConfig& config, Switches switches, EarlierResults earlier,
                             training::Trainer& trainer, std::function<double()> elapsed)
    : task_(task),
      space_(space),
      config_(config),
      switches_(switches),
      elapsed_(std::move(elapsed)),
      evaluations_(space, config.replicas, {switches.reuse_identical, switches.isolated},
                   std::move(earlier), trainer),
      top_k_(space_, config_, task_.goal) {
  if (config_.ground_truth_metric) level_ = mean_of_level(*config_.ground_truth_metric);
  if (task_.fixed && !config_.improve)
    fixed_ = evaluations_.add([this] { return *task_.fixed; }, "known fix");
  Node root;
  root.parameters = task_.start;
  visited_.insert(program::to_string(task_.start));
  add_candidate(std::move(root));
  blocks_.push_back({-1, 0, 1});
  advance();
}

void SearchMachine::add_candidate(Node node) {
  Candidate candidate;
  node.id = static_cast<std::int64_t>(candidates_.size());
  node.status = "pending";
  node.mean = kNaN;
  candidate.evaluation = evaluations_.add([&] { return space_.program(node.parameters); },
                                          program::to_string(node.parameters));
  node.hash = evaluations_[candidate.evaluation].hash;
  candidate.node = std::move(node);
  candidates_.push_back(std::move(candidate));
}

void SearchMachine::generate() {
  Block block;
  block.parent = queue_.front();
  queue_.pop_front();
  block.first = static_cast<std::int64_t>(candidates_.size());
  const Node& parent = at(block.parent).node;
  const double seconds = expected_seconds(at(block.parent));
  for (mutators::Neighbour& neighbour : space_.neighbours(parent.parameters)) {
    if (!visited_.insert(program::to_string(neighbour.parameters)).second) continue;
    Node node;
    node.parameters = std::move(neighbour.parameters);
    node.mutation = std::move(neighbour.mutation);
    node.parent = block.parent;
    node.depth = parent.depth + 1;
    const auto slowdown = slowdowns_.find({node.mutation.key, node.mutation.after});
    add_candidate(std::move(node));
    candidates_.back().predicted_seconds =
        slowdown == slowdowns_.end() ? seconds
                                     : seconds * slowdown->second.first / slowdown->second.second;
  }
  block.end = static_cast<std::int64_t>(candidates_.size());
  blocks_.push_back(block);
}

std::int64_t SearchMachine::budget() const {
  return config_.budget_evaluations.value_or(std::numeric_limits<std::int64_t>::max());
}

bool SearchMachine::out_of_time() const {
  return config_.budget_seconds && elapsed_() >= *config_.budget_seconds;
}

void SearchMachine::advance() {
  if (end_) return;
  if (!fixed_ready()) {
    if (out_of_time()) end_ = SearchEnd::kTimeBudget;
    return;
  }
  for (;;) {
    if (open_ && next_commit_ == blocks_.front().end) {
      finish_parent(blocks_.front());
      blocks_.pop_front();
      open_ = false;
    } else if (!open_) {
      if (blocks_.empty() && queue_.empty()) {
        end_ = SearchEnd::kQueueEmpty;
        return;
      }
      if (next_commit_ >= budget()) {
        end_ = SearchEnd::kEvaluationBudget;
        return;
      }
      if (blocks_.empty()) generate();
      open_ = true;
      at(blocks_.front().parent).node.dequeued = dequeued_++;
      shown_ = blocks_.front().end;
    } else if (next_commit_ >= budget()) {
      end_ = SearchEnd::kEvaluationBudget;
      finish_parent(blocks_.front());
      return;
    } else if (Candidate& candidate = at(next_commit_); decided(candidate)) {
      commit(candidate);
      ++next_commit_;
    } else {
      // Candidates whose results are known cost no time: a search that was killed after its time
      // ran out still commits all of them when it is started again.
      if (out_of_time()) {
        end_ = SearchEnd::kTimeBudget;
        finish_parent(blocks_.front());
      }
      return;
    }
  }
}

bool SearchMachine::fixed_ready() {
  if (fixed_done_) return true;
  MetricMean score;
  if (fixed_) {
    const EvaluatedProgram& evaluation = evaluations_[*fixed_];
    std::string reason = evaluation.refusal.value_or("");
    std::vector<double> metrics;
    bool comparable = reason.empty();
    if (reason.empty()) {
      for (const EvaluatedProgram::Slot& slot : evaluation.slots) {
        if (slot.origin == EvaluatedProgram::Origin::kNone) return false;
        comparable = comparable && training::has_metric(slot.result.status);
        score.add(slot.result);
        metrics.push_back(slot.result.metric);
        if (reason.empty() && !std::isfinite(slot.result.metric)) {
          reason = slot.result.message.empty() ? "its metric is not a number" : slot.result.message;
        }
      }
    }
    if (!reason.empty() && !level_) {
      throw input_error(task_.fault_id + ": the known fix gives no level: " + reason +
                        "; give the level (--ground-truth-metric)");
    }
    if (comparable) fixed_metrics_ = std::move(metrics);
    used_trainings_ +=
        evaluations_.book(*fixed_, evaluation.refusal ? 0 : config_.replicas, counters_);
  }
  if (!level_ && !config_.improve) level_ = score;
  fixed_done_ = true;
  return true;
}

Criteria SearchMachine::criteria() const {
  Criteria criteria{config_.rule, task_.goal, config_.replicas, task_.metric_bound, level_, {}};
  if (config_.improve) criteria.buggy = candidates_.front().score;
  return criteria;
}

bool SearchMachine::decided(Candidate& candidate) {
  const bool may_curtail = switches_.curtail && candidate.node.parent >= 0;
  const auto hopeless = [&](const MetricMean& score) {
    return may_curtail && ruled_out(score, at(candidate.node.parent).score, criteria());
  };
  return decide(evaluations_[candidate.evaluation], config_.replicas, candidate, hopeless);
}

void SearchMachine::commit(Candidate& candidate) {
  EvaluatedProgram& evaluation = evaluations_[candidate.evaluation];
  Node& node = candidate.node;
  const bool complete = conclude(evaluation, config_.replicas, candidate, node, counters_);
  if (complete && node.parent >= 0) {
    judge(candidate.score, at(node.parent).score, criteria(),
          config_.improve ? candidates_.front().node.metrics : fixed_metrics_, node);
  }
  const bool trains = training::has_metric(
      training::parse_run_status(node.status).value_or(training::RunStatus::kOk));
  if (config_.improve && node.parent < 0 && !trains) {
    throw input_error(task_.fault_id + ": the buggy program does not train (" + node.status +
                      "), so nothing can be told to be better; give the level a repair must reach "
                      "(--ground-truth-metric) without --improve, or larger limits");
  }
  alternatives_ += node.alternative;
  ++counters_.evaluations;
  if (node.parent >= 0) {
    counted_replicas_ += candidate.counted;
    const double parent = expected_seconds(at(node.parent));
    if (evaluation.known > 0 && parent > 0) {
      auto& [sum, number] = slowdowns_[{node.mutation.key, node.mutation.after}];
      sum += expected_seconds(candidate) / parent;
      ++number;
    }
  }
  used_trainings_ += evaluations_.book(candidate.evaluation, candidate.counted, counters_);
  if (candidate.evaluation != fixed_) evaluation.program.reset();
}

void SearchMachine::finish_parent(const Block& block) {
  const std::int64_t end = std::min(block.end, next_commit_);
  if (block.parent < 0) {  // the root itself
    if (end > 0 && most_changes(config_) > 0) queue_.push_back(0);
    return;
  }
  const bool recorded = config_.rule == Rule::kRecorded;
  std::vector<TopK::Neighbour> neutral;
  for (std::int64_t id = block.first; id < end; ++id) {
    if (at(id).node.neutral) neutral.push_back({&at(id).node, &at(id).score});
  }
  for (const std::int64_t id : top_k_.choose(std::move(neutral))) {
    at(id).node.queued = true;
    if (at(id).node.depth < most_changes(config_)) queue_.push_back(id);
  }
  for (std::int64_t id = block.first; id < end; ++id) {
    Node& node = at(id).node;
    // The records keep no child that beats its parent outside the top k, repaired or not.
    if (recorded && node.alternative && node.neutral && !node.queued) {
      node.alternative = false;
      --alternatives_;
    }
    if (node.queued || node.alternative) edges_.push_back({block.parent, id});
  }
}

std::int64_t SearchMachine::ahead() {
  const std::int64_t end = std::min(static_cast<std::int64_t>(candidates_.size()), budget());
  std::int64_t count = 0;
  for (std::int64_t id = next_commit_; id < (switches_.speculate ? end : std::min(end, shown_));
       ++id) {
    Candidate& candidate = at(id);
    const std::size_t index = candidate.evaluation;
    count +=
        evaluations_[index].running == 0 && !decided(candidate) && evaluations_.trainable(index);
  }
  return count;
}

/// How many replicas will decide about a candidate, if those to come are like those so far; before
/// the first: as many as have decided about others.
int SearchMachine::expected_replicas(const Candidate& candidate) const {
  const int all = config_.replicas;
  if (candidate.node.parent < 0 || !switches_.curtail || !task_.metric_bound) return all;
  if (candidate.checked == 0) {
    const std::int64_t others = counters_.evaluations - 1;
    return others > 0 ? static_cast<int>((counted_replicas_ + others - 1) / others) : all;
  }
  // Ruled out after k replicas of mean m: (k m + (all - k) bound) / all is worse than the parent
  // and the ground truth.
  const double bound = *task_.metric_bound;
  const MetricMean& parent = at(candidate.node.parent).score;
  const double to_mean = std::abs(bound - candidate.score.mean());
  const MetricMean& level = level_ ? *level_ : candidates_.front().score;
  const double to_level = std::max(std::abs(bound - parent.mean()), std::abs(bound - level.mean()));
  return to_mean > to_level ? std::min(static_cast<int>(all * to_level / to_mean) + 1, all) : all;
}

double SearchMachine::expected_seconds(const Candidate& candidate) const {
  const EvaluatedProgram& evaluation = evaluations_[candidate.evaluation];
  return evaluation.known > 0 ? evaluation.seconds / evaluation.known : candidate.predicted_seconds;
}

std::optional<Task> SearchMachine::next(bool generate, bool share) {
  advance();
  if (end_ || evaluations_.alone()) return std::nullopt;
  struct Choice {
    std::size_t evaluation;
    int replica;
    const program::Parameters* parameters;
    std::tuple<bool, double, double> weight;
  };
  std::optional<Choice> shared;  // of the candidates that have a worker already
  bool wait = false;
  // True: take it now, it is in `shared`.
  const auto consider = [&](std::size_t index, int expected, double seconds, std::size_t block,
                            const program::Parameters* parameters) {
    const std::optional<int> replica = evaluations_.trainable(index);
    if (!replica) return false;
    const EvaluatedProgram& evaluation = evaluations_[index];
    if (evaluations_.must_wait(index)) {
      wait = true;  // let the others end: a suspect trains alone
      return false;
    }
    if (evaluation.running == 0) {
      shared = Choice{index, *replica, parameters, {}};
      return true;
    }
    const bool needed = *replica < expected;  // as it seems
    const auto behind = static_cast<double>(block);
    const std::tuple<bool, double, double> weight{needed, needed ? seconds : -behind,
                                                  -evaluation.running};
    if (!shared || weight > shared->weight) shared = Choice{index, *replica, parameters, weight};
    return false;
  };
  const auto take = [&]() -> std::optional<Task> {
    return evaluations_.hand_out(shared->evaluation, shared->replica,
                                 [&] { return space_.program(*shared->parameters); });
  };
  if (!fixed_done_ && consider(*fixed_, config_.replicas, 0, 0, nullptr)) return take();
  for (std::size_t number = 0;; ++number) {
    if (number == blocks_.size()) {
      const bool more = switches_.speculate && fixed_done_ && !queue_.empty() &&
                        static_cast<std::int64_t>(candidates_.size()) < budget();
      if (!generate || !more) break;
      this->generate();
    }
    const std::int64_t end = std::min(blocks_[number].end, budget());
    for (std::int64_t id = std::max(blocks_[number].first, next_commit_); id < end && !wait; ++id) {
      Candidate& candidate = at(id);
      if (!decided(candidate) &&
          consider(candidate.evaluation, expected_replicas(candidate), expected_seconds(candidate),
                   number, &candidate.node.parameters)) {
        return take();
      }
    }
    if (wait) return std::nullopt;
    // What a block still needs comes before all of the later ones: they wait for its end.
    if (share && shared && std::get<0>(shared->weight)) return take();
  }
  return share && shared ? take() : std::nullopt;
}

void SearchMachine::drop(const Task& task) { evaluations_.drop(task); }

void SearchMachine::deliver(const Task& task, training::ReplicaResult result) {
  evaluations_.deliver(task, std::move(result), counters_);
  advance();
}

Progress SearchMachine::progress() const {
  return {counters(), queue_length(), alternatives(), fraction()};
}

Network SearchMachine::network() const {
  Network network;
  network.fault_id = task_.fault_id;
  network.metric = task_.metric;
  network.goal = task_.goal;
  network.improve = config_.improve;
  for (std::int64_t id = 0; id < shown_; ++id) {
    network.nodes.push_back(at(id).node);
  }
  network.edges = edges_;
  if (level_ && level_->usable) network.ground_truth = level_->mean();
  network.fixed_metrics = fixed_metrics_;
  network.fixed_parameters = task_.fixed_parameters;
  return network;
}

SearchCounters SearchMachine::counters() const {
  SearchCounters counters = counters_;
  counters.speculative_trainings = counters.trainings - used_trainings_ - undecided_trainings();
  return counters;
}

/// Trainings of candidates that are still to be committed: they may be needed yet.
std::int64_t SearchMachine::undecided_trainings() const {
  if (end_) return 0;
  std::set<std::size_t> open;
  if (fixed_ && !fixed_done_) open.insert(*fixed_);
  for (auto id = static_cast<std::size_t>(next_commit_); id < candidates_.size(); ++id) {
    open.insert(candidates_[id].evaluation);
  }
  std::int64_t count = 0;
  for (const std::size_t index : open) {
    for (const EvaluatedProgram::Slot& slot : evaluations_[index].slots) {
      count += slot.origin == EvaluatedProgram::Origin::kTrained && !slot.used;
    }
  }
  return count;
}

std::int64_t SearchMachine::queue_length() const {
  // Parents that run ahead are still in the serial queue.
  const auto ahead = static_cast<std::int64_t>(blocks_.size()) - (open_ ? 1 : 0);
  return static_cast<std::int64_t>(queue_.size()) + std::max<std::int64_t>(ahead, 0);
}

std::optional<double> SearchMachine::fraction() const {
  std::optional<double> done;
  if (config_.budget_evaluations && *config_.budget_evaluations > 0) {
    done = static_cast<double>(counters_.evaluations) /
           static_cast<double>(*config_.budget_evaluations);
  }
  if (config_.budget_seconds && *config_.budget_seconds > 0) {
    done = std::max(done.value_or(0), elapsed_() / *config_.budget_seconds);
  }
  if (done) done = std::min(*done, 1.0);
  return done;
}

}  // namespace neutra::search
