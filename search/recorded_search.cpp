#include "search/recorded_search.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "search/store_reader.h"

namespace neutra::search {
namespace {

constexpr std::int64_t kNeverQueued = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNeverTaken = kNeverQueued - 1;  ///< out of the queue

program::Program program_of(const Hash& hash) { return {{{"hash", to_string(hash)}}}; }

Hash hash_of(const Json& hex) { return parse_hash(hex.get<std::string>()).value(); }

}  // namespace

RecordedSearch::RecordedSearch(const std::filesystem::path& store, double time_factor) {
  if (!read_store(store).finished) {  // says what is wrong with it, too
    throw input_error(describe(store.string(), "", "an unfinished search",
                               "a finished one: the command that began it goes on"));
  }
  StoreContent content = load_store(store);
  const Json& header = content.header;
  config_ = search_config_from_json(header.at("config"), store.string());
  if (content.end == SearchEnd::kTimeBudget) {
    config_.budget_evaluations = content.counters.evaluations;
  }
  config_.budget_seconds.reset();
  network_ = std::move(content.network);
  evaluations_ = std::move(content.evaluations);

  task_.fault_id = network_.fault_id;
  task_.start = network_.nodes.at(0).parameters;
  if (!header.at("fixed").is_null()) task_.fixed = program_of(hash_of(header.at("fixed")));
  task_.fixed_parameters = network_.fixed_parameters;
  task_.goal = network_.goal;
  task_.metric = network_.metric;
  task_.metric_bound = metric_bound(network_.metric, network_.goal);

  const auto require = [&](const Hash& hash, std::size_t replicas) {
    for (std::size_t replica = 0; replica < replicas; ++replica) {
      if (evaluations_.count({hash, static_cast<int>(replica)})) continue;
      throw input_error(describe(store.string(), "", "results that came from another store",
                                 "a search that trained all its programs, without --reuse"));
    }
  };
  for (const Node& node : network_.nodes) {
    require(node.hash, node.metrics.size());
    if (node.queued) {
      places_.emplace(node.parameters, node.dequeued >= 0 ? node.dequeued : kNeverTaken);
    }
    hashes_.emplace(node.parameters, node.hash);
    if (node.status == to_string(training::RunStatus::kInvalid) && node.metrics.empty()) {
      refused_.insert(node.hash);
    }
    if (node.parent < 0) continue;
    const Node* parent = network_.find(node.parent);
    neighbours_[parent->parameters].push_back({node.mutation, node.parameters});
  }
  if (task_.fixed) {
    const Hash fixed = hash(*task_.fixed);
    require(fixed, network_.fixed_metrics.size());
    if (network_.fixed_metrics.empty() && !evaluations_.count({fixed, 0})) refused_.insert(fixed);
  }

  std::vector<double> seconds;
  for (auto& [key, result] : evaluations_) {
    result.seconds *= time_factor;
    seconds.push_back(result.seconds);
  }
  if (seconds.empty()) return;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  median_seconds_ = *middle;
}

std::vector<mutators::Neighbour> RecordedSearch::neighbours(
    const program::Parameters& parameters) const {
  const auto found = neighbours_.find(parameters);
  return found == neighbours_.end() ? std::vector<mutators::Neighbour>{} : found->second;
}

std::optional<std::int64_t> RecordedSearch::recorded_place(
    const program::Parameters& parameters) const {
  const auto found = places_.find(parameters);
  return found == places_.end() ? kNeverQueued : found->second;
}

program::Program RecordedSearch::program(const program::Parameters& parameters) const {
  return program_of(hashes_.at(parameters));
}

Hash RecordedSearch::hash(const program::Program& program) const {
  return hash_of(program.document.at("hash"));
}

training::ReplicaResult RecordedSearch::train(const training::TrainingJob& job) {
  const EvaluationKey key{hash(*job.program), job.replica};
  const auto found = evaluations_.find(key);
  if (found != evaluations_.end()) return found->second;
  std::vector<const training::ReplicaResult*> others;
  for (auto other = evaluations_.lower_bound({key.hash, 0});
       other != evaluations_.end() && other->first.hash == key.hash; ++other) {
    others.push_back(&other->second);
  }
  training::ReplicaResult result;
  if (others.empty()) {
    result.metric = std::numeric_limits<double>::quiet_NaN();
    result.seconds = median_seconds_;
  } else {
    result = *others[static_cast<std::size_t>(key.replica) % others.size()];
  }
  result.backend = kEstimated;
  return result;
}

std::optional<std::string> RecordedSearch::refusal(const program::Program& program) {
  if (refused_.count(hash(program))) return "refused in the recorded search";
  return std::nullopt;
}

}  // namespace neutra::search
