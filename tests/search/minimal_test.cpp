#include "search/minimal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "evaluators/comparison.h"
#include "tests/search/minimal_cases.h"

namespace neutra::search::tests {
namespace {

/// What a program does; nullopt: the parameters make none.
std::optional<std::string> meaning(const Case& c, const program::Parameters& parameters) {
  try {
    return c.space.program(parameters).document.at("meaning").get<std::string>();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Is a program a repair? Trained with all replicas, whatever the search knows.
class Truth {
 public:
  explicit Truth(const Case& c) : c_(c), trainer_(c.landscape), buggy_(metrics(c.task.start)) {
    if (c.config.ground_truth_metric) {
      level_ = *c.config.ground_truth_metric;
    } else if (!c.config.improve) {
      level_ = mean(metrics(*c.task.fixed_parameters));
    }
  }
  bool repairs(const program::Parameters& parameters) {
    const auto [known, is_new] = known_.emplace(parameters, false);
    if (!is_new) return known->second;
    const std::vector<double> own = metrics(parameters);
    if (own.empty() || !std::isfinite(mean(own))) return false;
    const bool maximize = c_.task.goal == program::Goal::kMaximize;
    const auto better = [&](double level) {
      return maximize ? mean(own) - level : level - mean(own);
    };
    if (level_ && better(*level_) < 0) return false;
    known->second = !c_.config.improve || (better(mean(buggy_)) > 0 &&
                                           evaluators::compare(own, buggy_, maximize).significant);
    return known->second;
  }

 private:
  /// Empty: it can't be trained.
  std::vector<double> metrics(const program::Parameters& parameters) {
    std::vector<double> result;
    const auto text = meaning(c_, parameters);
    if (!text || trainer_.refusal(c_.space.program(parameters))) return result;
    for (int replica = 0; replica < c_.config.replicas; ++replica) {
      result.push_back(trainer_.result_of(*text, replica).metric);
    }
    return result;
  }
  /// As exact as the search: accuracies are counts of 20.
  double mean(const std::vector<double>& metrics) const {
    double sum = 0;
    for (const double metric : metrics) {
      sum += c_.landscape.counts ? std::round(metric * 20) : metric;
    }
    const auto count = static_cast<double>(metrics.size());
    return c_.landscape.counts ? sum / (20 * count) : sum / count;
  }
  const Case& c_;
  FakeTrainer trainer_;
  std::optional<double> level_;
  const std::vector<double> buggy_;
  std::map<program::Parameters, bool> known_;
};

std::vector<program::Parameters> sub_patches(const Case& c, const program::Parameters& parameters) {
  std::vector<program::Parameters> result;
  for (const std::string& key : changed_keys(c.task.start, parameters)) {
    result.push_back(taken_back(c.task.start, parameters, key));
  }
  return result;
}

/// The definition, from everything that can be trained.
bool is_minimal(const Case& c, Truth& truth, const program::Parameters& parameters) {
  const auto smaller = sub_patches(c, parameters);
  return !truth.repairs(c.task.start) &&
         std::none_of(smaller.begin(), smaller.end(),
                      [&](const program::Parameters& one) { return truth.repairs(one); });
}

/// The definition, from what a search has evaluated.
std::optional<bool> known_minimal(const Case& c, Truth& truth, const Network& network,
                                  const program::Parameters& parameters) {
  bool open = false;
  if (truth.repairs(c.task.start)) return false;
  for (const program::Parameters& smaller : sub_patches(c, parameters)) {
    const auto program = meaning(c, smaller);
    if (!program) continue;
    if (program == meaning(c, parameters)) return false;
    bool evaluated = false;
    for (const Node& node : network.nodes) {
      evaluated |= node.status != "pending" && meaning(c, node.parameters) == program;
    }
    if (evaluated && truth.repairs(smaller)) return false;
    open = open || !evaluated;
  }
  if (open) return std::nullopt;
  return true;
}

TEST(Minimal, EqualsTheDefinitionOnWhatTheSearchEvaluated) {
  TemporaryFolder folder;
  int minimal = 0, not_minimal = 0, unknown = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = level_case(seed);
    Truth truth(c);
    FakeTrainer trainer(c.landscape);
    RunOptions options;
    options.fresh = true;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    for (const RepairSize& size : repair_sizes(outcome.network, &c.space)) {
      const program::Parameters& parameters = size.node->parameters;
      ASSERT_EQ(size.minimal, known_minimal(c, truth, outcome.network, parameters))
          << "seed " << seed << ": " << program::to_string(parameters);
      ASSERT_EQ(size.changes, static_cast<int>(changed_keys(c.task.start, parameters).size()));
      ASSERT_EQ(size.minimal.value_or(is_minimal(c, truth, parameters)),
                is_minimal(c, truth, parameters))
          << seed;
      ++(!size.minimal ? unknown : *size.minimal ? minimal : not_minimal);
    }
  }
  EXPECT_GT(minimal, 50);
  EXPECT_GT(not_minimal, 50);
  EXPECT_GT(unknown, 20);
}

TEST(Minimal, MinimisingDecidesAllByTheDefinition) {
  TemporaryFolder folder;
  int minimal = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = level_case(seed);
    Truth truth(c);
    FakeTrainer trainer(c.landscape);
    RunOptions options = minimising(1 + static_cast<int>(seed % 3));
    options.fresh = true;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    ASSERT_EQ(outcome.minimising->end, SearchEnd::kQueueEmpty) << seed;
    const auto sizes = repair_sizes(outcome.network, &c.space);
    std::set<program::Parameters> listed;
    for (const RepairSize& size : sizes) {
      ASSERT_EQ(size.minimal, is_minimal(c, truth, size.node->parameters))
          << "seed " << seed << ": " << program::to_string(size.node->parameters);
      ASSERT_TRUE(truth.repairs(size.node->parameters)) << seed;
      minimal += *size.minimal;
      found += size.node->id < 0;
      listed.insert(size.node->parameters);
    }
    // Down to the smallest: whoever can do without a change has a smaller one in the list.
    for (const RepairSize& size : sizes) {
      if (*size.minimal || truth.repairs(c.task.start)) continue;
      const auto smaller = sub_patches(c, size.node->parameters);
      EXPECT_TRUE(std::any_of(smaller.begin(), smaller.end(), [&](const program::Parameters& one) {
        return listed.contains(one);
      })) << seed;
      EXPECT_NE(size.within, nullptr) << seed;
    }
  }
  EXPECT_GT(minimal, 50);
  EXPECT_GT(found, 2);
}

TEST(Minimal, ListIsByChangesThenMetricAndFoldsUnderTheSmallest) {
  TemporaryFolder folder;
  int folded = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case c = level_case(seed);
    FakeTrainer trainer(c.landscape);
    RunOptions options;
    options.fresh = true;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    const auto sizes = repair_sizes(outcome.network, &c.space);
    const bool maximize = c.task.goal == program::Goal::kMaximize;
    std::int64_t counted = 0;
    for (const RepairSize& size : sizes) {
      counted += size.folded;
      // The smallest by trying all.
      int fewest = size.changes;
      for (const RepairSize& other : sizes) {
        const auto keys = changed_keys(c.task.start, other.node->parameters);
        if (other.changes < size.changes &&
            std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
              return other.node->parameters.at(key) == size.node->parameters.at(key);
            })) {
          fewest = std::min(fewest, other.changes);
        }
      }
      ASSERT_EQ(size.within != nullptr, fewest < size.changes) << seed;
      if (size.within == nullptr) continue;
      ASSERT_EQ(static_cast<int>(changed_keys(c.task.start, size.within->parameters).size()),
                fewest);
      folded += size.is_folded();
    }
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const RepairSize &a = sizes[i - 1], &b = sizes[i];
      EXPECT_LE(a.is_folded(), b.is_folded());
      EXPECT_GE(a.minimal == true, b.minimal == true);
      if (a.is_folded() != b.is_folded() || a.minimal != b.minimal) continue;
      EXPECT_LE(a.changes, b.changes);
      if (a.changes == b.changes) {
        EXPECT_TRUE(maximize ? a.node->mean >= b.node->mean : a.node->mean <= b.node->mean);
      }
    }
    EXPECT_EQ(counted, std::count_if(sizes.begin(), sizes.end(),
                                     [](const RepairSize& size) { return size.is_folded(); }));
  }
  EXPECT_GT(folded, 50);
}

/// A network as read from a file of rows alone.
Network rows(const std::vector<std::pair<program::Parameters, bool>>& programs) {
  Network network;
  for (const auto& [parameters, alternative] : programs) {
    Node node;
    node.id = static_cast<std::int64_t>(network.nodes.size());
    node.parameters = parameters;
    node.status = "ok";
    node.metrics = {node.id == 0 ? 0.1 : 0.9};
    node.mean = node.metrics.front();
    node.alternative = alternative;
    network.nodes.push_back(std::move(node));
  }
  return network;
}

TEST(Minimal, OfRowsAloneWhatIsNotThereIsNotKnown) {
  const FakeSpace space(3, 3);
  const auto with = [&](program::Parameters changes) {
    program::Parameters parameters = space.start();
    for (const auto& [key, value] : changes) parameters[key] = value;
    return parameters;
  };
  const Network network =
      rows({{with({}), false},
            {with({{"a", "1"}}), false},
            {with({{"c", "1"}}), true},                          // alone: the buggy program doesn't
            {with({{"a", "1"}, {"b", "2"}}), true},              // b=2 was never evaluated
            {with({{"a", "1"}, {"b", "1"}, {"c", "1"}}), true},  // holds c=1, its parts are unknown
            {with({{"a", "1"}, {"c", "1"}}), true},              // holds c=1
            {with({{"b", "1"}, {"c", "2"}}), true}});            // a=0: b means nothing
  const auto minimal = [&](const SearchSpace* known) {
    std::vector<std::optional<bool>> result(network.nodes.size());
    for (const RepairSize& size : repair_sizes(network, known)) {
      result[static_cast<std::size_t>(size.node->id)] = size.minimal;
    }
    return result;
  };
  using Answers = std::vector<std::optional<bool>>;
  const Answers without = {{}, {}, true, {}, false, false, {}};
  EXPECT_EQ(minimal(nullptr), without);
  // With the programs: b=2 alone is the buggy program, and b does nothing beside c=2.
  const Answers with_programs = {{}, {}, true, true, false, false, false};
  EXPECT_EQ(minimal(&space), with_programs);
  const auto sizes = repair_sizes(network, nullptr);
  ASSERT_EQ(sizes.size(), 5U);
  EXPECT_EQ(sizes[0].node->id, 2);
  EXPECT_EQ(sizes[0].folded, 2);
  EXPECT_EQ(sizes[3].within->id, 2);
  const Json json = to_json(network, &space);
  EXPECT_EQ(json["minimal"], Json::parse(R"({"minimal": 2, "not_minimal": 3, "unknown": 0})"));
}

TEST(Minimal, NothingIsWhereTheBuggyProgramReachesTheLevel) {
  Network network = rows({{{{"a", "0"}}, false}, {{{"a", "1"}}, true}});
  EXPECT_EQ(repair_sizes(network, nullptr).front().minimal, true);
  network.ground_truth = 0.1;
  EXPECT_EQ(repair_sizes(network, nullptr).front().minimal, false);
  network.ground_truth.reset();
  network.nodes.front().mean = 0.9;  // as good as a repair
  EXPECT_EQ(repair_sizes(network, nullptr).front().minimal, false);
  EXPECT_TRUE(repair_sizes(Network{}, nullptr).empty());
}

}  // namespace
}  // namespace neutra::search::tests
