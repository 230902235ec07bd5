#include "search/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "base/error.h"
#include "evaluators/comparison.h"

namespace neutra::search {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int most_changes(const SearchConfig& config) {
  return depth_limit(config).value_or(std::numeric_limits<int>::max());
}

}  // namespace

void MetricMean::add(const training::ReplicaResult& result) {
  ++replicas;
  usable = usable && std::isfinite(result.metric);
  sum += result.metric;
  exact = exact && result.correct >= 0 && result.total > 0;
  if (exact) {
    correct += result.correct;
    total += result.total;
  }
}

double MetricMean::mean() const {
  if (!usable || replicas == 0) return kNaN;
  return exact ? static_cast<double>(correct) / static_cast<double>(total) : sum / replicas;
}

std::optional<MetricMean> MetricMean::completed(int count, double bound) const {
  MetricMean best = *this;
  best.replicas = count;
  if (replicas == 0) {
    best.exact = false;
  } else if (exact) {
    if ((bound != 0 && bound != 1) || total % replicas != 0) return std::nullopt;
    const std::int64_t rows = total / replicas * (count - replicas);
    best.total += rows;
    if (bound == 1) best.correct += rows;
  }
  // Rounded addition is monotonic: no real sum in replica order can be better than this one.
  for (int i = replicas; i < count; ++i) best.sum += bound;
  return best;
}

MetricMean mean_of_level(double level) {
  MetricMean score;
  score.usable = std::isfinite(level);
  score.exact = false;
  score.sum = level;
  score.replicas = 1;
  return score;
}

int compare_means(const MetricMean& a, const MetricMean& b, program::Goal goal) {
  if (!a.usable || !b.usable) return a.usable - b.usable;
  int order = 0;
  if (a.exact && b.exact) {
    const auto left = static_cast<__int128>(a.correct) * b.total;
    const auto right = static_cast<__int128>(b.correct) * a.total;
    order = (left > right) - (left < right);
  } else {
    const bool sums = !a.exact && !b.exact && a.replicas == b.replicas;
    const double left = sums ? a.sum : a.mean();
    const double right = sums ? b.sum : b.mean();
    order = (left > right) - (left < right);
  }
  return goal == program::Goal::kMaximize ? order : -order;
}

SearchMachine::SearchMachine(const SearchTask& task, const SearchSpace& space,
                             const SearchConfig& config, Switches switches, Memory memory,
                             training::Trainer& trainer, std::function<double()> elapsed)
    : task_(task),
      space_(space),
      config_(config),
      switches_(switches),
      elapsed_(std::move(elapsed)),
      evaluations_(space, config.replicas, {switches.reuse_identical, switches.isolated},
                   std::move(memory), trainer) {
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
  const Node& parent = candidates_[static_cast<std::size_t>(block.parent)].node;
  const double seconds = expected_seconds(candidates_[static_cast<std::size_t>(block.parent)]);
  for (mutators::Neighbour& neighbour : space_.neighbours(parent.parameters)) {
    if (!visited_.insert(program::to_string(neighbour.parameters)).second) continue;
    Node node;
    node.parameters = std::move(neighbour.parameters);
    node.mutation = std::move(neighbour.mutation);
    node.parent = block.parent;
    node.depth = parent.depth + 1;
    const auto slower = slower_.find({node.mutation.key, node.mutation.after});
    add_candidate(std::move(node));
    candidates_.back().foreseen =
        slower == slower_.end() ? seconds : seconds * slower->second.first / slower->second.second;
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
      candidates_[static_cast<std::size_t>(blocks_.front().parent)].node.dequeued = dequeued_++;
      shown_ = blocks_.front().end;
    } else if (next_commit_ >= budget()) {
      end_ = SearchEnd::kEvaluationBudget;
      finish_parent(blocks_.front());
      return;
    } else if (Candidate& candidate = candidates_[static_cast<std::size_t>(next_commit_)];
               decided(candidate)) {
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

bool SearchMachine::is_neutral(const MetricMean& score, const MetricMean& parent) const {
  if (!score.usable) return false;
  const int order = compare_means(score, parent, task_.goal);
  return config_.rule == Rule::kRecorded ? order > 0 : order >= 0;
}

bool SearchMachine::reaches_level(const MetricMean& score) const {
  return score.usable && (!level_ || compare_means(score, *level_, task_.goal) >= 0);
}

/// Can a candidate with this mean, or one as good as this at best, be a repair? Exact: of finite
/// metrics none is significantly better without a better mean.
bool SearchMachine::can_repair(const MetricMean& best) const {
  if (!reaches_level(best)) return false;
  if (!config_.improve) return true;
  const MetricMean& buggy = candidates_.front().score;
  return !buggy.usable || compare_means(best, buggy, task_.goal) > 0;
}

bool SearchMachine::ruled_out(const Candidate& candidate) const {
  if (!candidate.score.usable) return true;
  if (!task_.metric_bound) return false;
  const auto best = candidate.score.completed(config_.replicas, *task_.metric_bound);
  const Candidate& parent = candidates_[static_cast<std::size_t>(candidate.node.parent)];
  return best && !is_neutral(*best, parent.score) && !can_repair(*best);
}

bool SearchMachine::decided(Candidate& candidate) {
  const bool may_curtail = switches_.curtail && candidate.node.parent >= 0;
  return decide(evaluations_[candidate.evaluation], config_.replicas, candidate,
                [&](const MetricMean&) { return may_curtail && ruled_out(candidate); });
}

bool conclude(const EvaluatedProgram& evaluation, int replicas, Decision& decision, Node& node,
              SearchCounters& counters) {
  training::RunStatus worst = training::RunStatus::kOk;
  for (int replica = 0; replica < decision.counted; ++replica) {
    const training::ReplicaResult& result =
        evaluation.slots[static_cast<std::size_t>(replica)].result;
    node.metrics.push_back(result.metric);
    counters.diverged += result.status == training::RunStatus::kDiverged;
    counters.timed_out += result.status == training::RunStatus::kTimeout;
    worst = std::max(worst, result.status);  // the enumeration goes from harmless to fatal
  }
  const bool complete = decision.counted == replicas;
  if (evaluation.refusal || worst == training::RunStatus::kInvalid) {
    node.status = to_string(training::RunStatus::kInvalid);
    decision.score.usable = false;
    ++counters.invalid;
  } else if (complete || !training::has_metric(worst)) {
    node.status = to_string(worst);
    counters.failed += !training::has_metric(worst);
  } else {
    node.status = "curtailed";
  }
  if (!complete && node.status == "curtailed") {
    counters.trainings_saved_curtailed += replicas - decision.counted;
  }
  node.mean = complete ? decision.score.mean() : kNaN;
  return complete;
}

void compare_with(const std::vector<double>& reference, program::Goal goal, Node& node) {
  if (reference.empty()) return;
  const evaluators::Comparison comparison =
      evaluators::compare(node.metrics, reference, goal == program::Goal::kMaximize);
  node.p = comparison.p;
  node.d = comparison.d;
  node.significant = comparison.significant;
}

void SearchMachine::commit(Candidate& candidate) {
  EvaluatedProgram& evaluation = evaluations_[candidate.evaluation];
  Node& node = candidate.node;
  const bool complete = conclude(evaluation, config_.replicas, candidate, node, counters_);
  if (complete && node.parent >= 0) judge(candidate);
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
    const double parent = expected_seconds(candidates_[static_cast<std::size_t>(node.parent)]);
    if (evaluation.known > 0 && parent > 0) {
      auto& [sum, number] = slower_[{node.mutation.key, node.mutation.after}];
      sum += expected_seconds(candidate) / parent;
      ++number;
    }
  }
  used_trainings_ += evaluations_.book(candidate.evaluation, candidate.counted, counters_);
  if (candidate.evaluation != fixed_) evaluation.program.reset();
}

/// Is a candidate with all its replicas neutral, and a repair?
void SearchMachine::judge(Candidate& candidate) {
  Node& node = candidate.node;
  node.neutral =
      is_neutral(candidate.score, candidates_[static_cast<std::size_t>(node.parent)].score);
  if (!can_repair(candidate.score)) return;
  compare_with(config_.improve ? candidates_.front().node.metrics : fixed_metrics_, task_.goal,
               node);
  node.alternative = !config_.improve || node.significant;
}

void SearchMachine::finish_parent(const Block& block) {
  const std::int64_t end = std::min(block.end, next_commit_);
  if (block.parent < 0) {  // the root itself
    if (end > 0 && most_changes(config_) > 0) queue_.push_back(0);
    return;
  }
  const auto at = [this](std::int64_t id) -> Candidate& {
    return candidates_[static_cast<std::size_t>(id)];
  };
  const bool recorded = config_.rule == Rule::kRecorded;
  std::vector<std::int64_t> neutral;
  for (std::int64_t id = block.first; id < end; ++id) {
    if (at(id).node.neutral) neutral.push_back(id);
  }
  for (const std::int64_t id : top_k(std::move(neutral))) {
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

/// The best ones, best first. `neutral`: by id.
std::vector<std::int64_t> SearchMachine::top_k(std::vector<std::int64_t> neutral) {
  const auto at = [this](std::int64_t id) -> const Candidate& {
    return candidates_[static_cast<std::size_t>(id)];
  };
  const bool recorded = config_.rule == Rule::kRecorded;
  const bool spreads = !recorded && config_.ties == TieOrder::kSpread;
  // Ids are in order already: the records break ties by them.
  std::stable_sort(neutral.begin(), neutral.end(), [&](std::int64_t a, std::int64_t b) {
    const int order = compare_means(at(a).score, at(b).score, task_.goal);
    if (order != 0 || recorded || spreads) return order > 0;
    return program::to_string(at(a).node.parameters) < program::to_string(at(b).node.parameters);
  });
  const auto most = static_cast<std::size_t>(config_.top_k);
  if (!spreads) {
    if (neutral.size() > most) neutral.resize(most);
    return neutral;
  }
  std::vector<std::int64_t> ranked;
  for (auto first = neutral.begin(); first != neutral.end() && ranked.size() < most;) {
    const auto end = std::find_if(first, neutral.end(), [&](std::int64_t id) {
      return compare_means(at(*first).score, at(id).score, task_.goal) != 0;
    });
    std::vector<std::int64_t> ties(first, end);
    spread(ties, most - ranked.size());
    ranked.insert(ranked.end(), ties.begin(), ties.end());
    first = end;
  }
  return ranked;
}

/// Keeps at most `places` of candidates with equal means, first those that mend an unusual value,
/// then one of each kind of hyperparameter in turn: the kinds and then the keys that the fewest
/// queued programs changed, in the order of their likelihood.
void SearchMachine::spread(std::vector<std::int64_t>& ties, std::size_t places) {
  struct Tie {
    const Node* node = nullptr;
    mutators::Likelihood likelihood;
    std::int64_t recorded_place = 0;
  };
  std::vector<Tie> left;
  for (const std::int64_t id : ties) {
    const Node& node = candidates_[static_cast<std::size_t>(id)].node;
    left.push_back({&node, space_.likelihood(node.mutation),
                    space_.recorded_place(node.parameters).value_or(0)});
  }
  ties.clear();
  std::set<std::string> mended;  // one value of each key
  while (!left.empty() && ties.size() < places) {
    const auto rank = [&](const Tie& tie) {
      const auto& [op, key, before, after] = tie.node->mutation;
      const bool mends = tie.likelihood.mends && mended.count(key) == 0;
      return std::tuple{tie.recorded_place, !mends,
                        queued_kinds_[op],  tie.likelihood.kind,
                        queued_keys_[key],  tie.likelihood.value,
                        tie.node->id};
    };
    const auto first = std::min_element(
        left.begin(), left.end(), [&](const Tie& a, const Tie& b) { return rank(a) < rank(b); });
    const mutators::Mutation& mutation = first->node->mutation;
    mended.insert(mutation.key);
    ++queued_kinds_[mutation.op];
    ++queued_keys_[mutation.key];
    ties.push_back(first->node->id);
    left.erase(first);
  }
}

std::int64_t SearchMachine::ahead() {
  const std::int64_t end = std::min(static_cast<std::int64_t>(candidates_.size()), budget());
  std::int64_t count = 0;
  for (std::int64_t id = next_commit_; id < (switches_.speculate ? end : std::min(end, shown_));
       ++id) {
    Candidate& candidate = candidates_[static_cast<std::size_t>(id)];
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
  const MetricMean& parent = candidates_[static_cast<std::size_t>(candidate.node.parent)].score;
  const double to_mean = std::abs(bound - candidate.score.mean());
  const MetricMean& level = level_ ? *level_ : candidates_.front().score;
  const double to_level = std::max(std::abs(bound - parent.mean()), std::abs(bound - level.mean()));
  return to_mean > to_level ? std::min(static_cast<int>(all * to_level / to_mean) + 1, all) : all;
}

double SearchMachine::expected_seconds(const Candidate& candidate) const {
  const EvaluatedProgram& evaluation = evaluations_[candidate.evaluation];
  return evaluation.known > 0 ? evaluation.seconds / evaluation.known : candidate.foreseen;
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
      Candidate& candidate = candidates_[static_cast<std::size_t>(id)];
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
    network.nodes.push_back(candidates_[static_cast<std::size_t>(id)].node);
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
