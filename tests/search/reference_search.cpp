#include "tests/search/reference_search.h"

namespace neutra::search::tests {
namespace {

class ReferenceSearch {
 public:
  explicit ReferenceSearch(const Case& c) : c_(c), trainer_(c.landscape) {}

  Network run() {
    nodes_ = {evaluate(c_.task.start, 0)};
    visited_ = {program::to_string(c_.task.start)};
    queue_ = {0};
    const int deepest = c_.config.max_depth.value_or(recorded() ? 4 : 1'000'000);
    for (std::size_t head = 0; head < queue_.size() && !out_of_budget_; ++head) {
      if (nodes_[queue_[head]].depth < deepest) expand(queue_[head]);
    }
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      Node node;
      node.id = static_cast<std::int64_t>(id);
      node.parameters = nodes_[id].parameters;
      node.metrics = nodes_[id].metrics;
      node.alternative = nodes_[id].alternative;
      network_.nodes.push_back(std::move(node));
    }
    return network_;
  }

 private:
  struct Seen {
    program::Parameters parameters;
    std::vector<double> metrics;
    std::int64_t correct = 0;
    double sum = 0;
    bool usable = true;
    int depth = 0;
    bool alternative = false;
  };

  bool counts() const { return c_.landscape.counts; }
  bool recorded() const { return c_.config.rule == Rule::kRecorded; }

  /// > 0: `a` is better, 0: a tie.
  int better(const Seen& a, const Seen& b) const {
    if (!a.usable || !b.usable) return int{a.usable} - int{b.usable};
    const double x = counts() ? static_cast<double>(a.correct) : -a.sum;
    const double y = counts() ? static_cast<double>(b.correct) : -b.sum;
    return (x > y) - (x < y);
  }

  bool repaired(const Seen& a) const {
    const double level = *c_.config.ground_truth_metric;
    if (!a.usable) return false;
    return counts() ? static_cast<double>(a.correct) / (20.0 * c_.config.replicas) >= level
                    : a.sum / c_.config.replicas <= level;
  }

  Seen evaluate(const program::Parameters& parameters, int depth) {
    Seen seen{parameters, {}, 0, 0, true, depth};
    std::optional<program::Program> program;
    try {
      program = c_.space.program(parameters);
    } catch (const Error&) {
    }
    if (!program || trainer_.refusal(*program)) {
      seen.usable = false;
      return seen;
    }
    for (int replica = 0; replica < c_.config.replicas; ++replica) {
      const auto result =
          trainer_.result_of(program->document.at("meaning").get<std::string>(), replica);
      seen.metrics.push_back(result.metric);
      seen.usable = seen.usable && std::isfinite(result.metric);
      seen.correct += result.correct;
      seen.sum += result.metric;
    }
    return seen;
  }

  void expand(std::size_t parent) {
    std::vector<program::Parameters> fresh;
    for (const auto& neighbour : c_.space.neighbours(nodes_[parent].parameters)) {
      if (visited_.insert(program::to_string(neighbour.parameters)).second) {
        fresh.push_back(neighbour.parameters);
      }
    }
    std::vector<std::size_t> neutral;
    const std::size_t first = nodes_.size();
    for (const auto& parameters : fresh) {
      if (evaluations_ == c_.config.budget_evaluations.value_or(1'000'000)) {
        out_of_budget_ = true;
        break;
      }
      ++evaluations_;
      nodes_.push_back(evaluate(parameters, nodes_[parent].depth + 1));
      Seen& node = nodes_.back();
      node.alternative = repaired(node);
      const int order = better(node, nodes_[parent]);
      if (node.usable && (recorded() ? order > 0 : order >= 0))
        neutral.push_back(nodes_.size() - 1);
    }
    keep(parent, first, neutral);
  }

  /// Queues the best of the neutral neighbours, and keeps them and the repairs as edges.
  void keep(std::size_t parent, std::size_t first, std::vector<std::size_t> neutral) {
    std::sort(neutral.begin(), neutral.end(), [&](std::size_t a, std::size_t b) {
      const int order = better(nodes_[a], nodes_[b]);
      if (order != 0) return order > 0;
      return recorded() ? a < b
                        : program::to_string(nodes_[a].parameters) <
                              program::to_string(nodes_[b].parameters);
    });
    const std::size_t most = std::min(neutral.size(), static_cast<std::size_t>(c_.config.top_k));
    const std::set<std::size_t> top(neutral.begin(),
                                    neutral.begin() + static_cast<std::ptrdiff_t>(most));
    queue_.insert(queue_.end(), neutral.begin(),
                  neutral.begin() + static_cast<std::ptrdiff_t>(most));
    const std::set<std::size_t> beaten(neutral.begin(), neutral.end());
    for (std::size_t id = first; id < nodes_.size(); ++id) {
      const bool dropped = recorded() && beaten.count(id) && !top.count(id);
      if (top.count(id) || (nodes_[id].alternative && !dropped)) {
        network_.edges.push_back(
            {static_cast<std::int64_t>(parent), static_cast<std::int64_t>(id)});
      }
    }
  }

  const Case& c_;
  FakeTrainer trainer_;
  std::vector<Seen> nodes_;
  std::set<std::string> visited_;
  std::vector<std::size_t> queue_;
  std::int64_t evaluations_ = 1;
  bool out_of_budget_ = false;
  Network network_;
};

}  // namespace

std::string reference_tsv(const Case& c) { return tsv(ReferenceSearch(c).run()); }

}  // namespace neutra::search::tests
