#include "search/minimal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "evaluators/comparison.h"
#include "search/store.h"
#include "search/store_check.h"
#include "search/store_content.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"

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

RunOptions minimising(int workers = 1) {
  RunOptions options;
  options.workers = workers;
  options.minimise = true;
  return options;
}

std::string text(const SearchOutcome& outcome, const Case& c) {
  return to_json(outcome.network, &c.space).dump(1);
}

/// Random searches whose repairs take several changes, and pile up changes that are not needed.
/// Every third takes its level from the known fix.
Case level_case(std::uint64_t seed) {
  Case c = random_case(seed);
  c.space = FakeSpace(7, 3);
  c.task.start = c.space.start();
  program::Parameters fixed = c.task.start;
  fixed["c"] = fixed["d"] = "1";
  c.task.fixed = c.space.program(fixed);
  c.task.fixed_parameters = fixed;
  c.config.top_k = 2 + static_cast<int>(seed % 2);
  c.config.max_depth.reset();
  c.config.budget_evaluations = 100 + 40 * static_cast<std::int64_t>(seed % 5);
  c.landscape.additive = true;
  const double harder = static_cast<double>(seed % 3);
  c.config.ground_truth_metric = c.landscape.counts ? 0.55 + 0.05 * harder : 0.8 - 0.1 * harder;
  if (seed % 4 == 1) {
    c.config.improve = true;
    c.config.replicas = 5;
    c.landscape.refused = c.landscape.not_a_number = 0;
    if (seed % 8 == 1) c.config.ground_truth_metric.reset();
  } else if (seed % 3 == 0) {
    c.landscape.refused = c.landscape.not_a_number = 0;
    c.config.ground_truth_metric.reset();
  }
  return c;
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

TEST(Minimal, WorkersDontShow) {
  TemporaryFolder folder;
  std::int64_t curtailed = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Case c = level_case(seed);
    std::string expected;
    RepairCounts counts;
    for (const int workers : {1, 2, 4, 8}) {
      FakeTrainer trainer(c.landscape);
      RunOptions options = minimising(workers);
      options.fresh = true;
      const auto outcome = run(c, options, trainer, folder / "s.h5");
      if (workers == 1) {
        expected = text(outcome, c);
        counts = count(repair_sizes(outcome.network, &c.space));
      }
      ASSERT_EQ(text(outcome, c), expected) << seed << ", " << workers;
      curtailed += outcome.minimising->counters.trainings_saved_curtailed;
    }
    FakeTrainer trainer(c.landscape);
    RunOptions options = minimising();
    options.curtail = false;
    options.fresh = true;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    EXPECT_EQ(to_json(count(repair_sizes(outcome.network, &c.space))), to_json(counts)) << seed;
    EXPECT_EQ(outcome.minimising->counters.trainings_saved_curtailed, 0);
  }
  EXPECT_GT(curtailed, 5);
}

TEST(Minimal, RowsAndBudgetOfTheSearchStay) {
  TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Case c = level_case(seed);
    RunOptions fresh;
    fresh.fresh = true;
    FakeTrainer plain(c.landscape), trainer(c.landscape);
    const auto without = run(c, fresh, plain, folder / "plain.h5");
    RunOptions options = minimising();
    options.fresh = true;
    const auto with = run(c, options, trainer, folder / "s.h5");
    ASSERT_EQ(tsv(with.network), tsv(without.network)) << seed;
    EXPECT_EQ(with.counters.evaluations, without.counters.evaluations);
    EXPECT_EQ(with.counters.trainings, without.counters.trainings);
    EXPECT_EQ(trainer.trainings, with.counters.trainings + with.minimising->counters.trainings);
    EXPECT_TRUE(check_store(folder / "s.h5").empty());
    EXPECT_EQ(tsv(read_store(folder / "s.h5").network), tsv(without.network));
    if (!c.config.budget_evaluations) continue;
    // The search goes on as if nothing had been trained besides.
    *c.config.budget_evaluations += 30;
    FakeTrainer again(c.landscape), more(c.landscape);
    const auto longer = run(c, fresh, again, folder / "plain.h5");
    EXPECT_EQ(tsv(run(c, {}, more, folder / "s.h5").network), tsv(longer.network)) << seed;
    EXPECT_LE(more.trainings, again.trainings);
    // Minimised anew, it is like one that was never minimised before.
    const auto twice = run(c, minimising(), more, folder / "s.h5");
    const auto once = run(c, minimising(), again, folder / "plain.h5");
    EXPECT_EQ(text(twice, c), text(once, c)) << seed;
  }
}

TEST(Minimal, GoesOnWhereItWasInterrupted) {
  TemporaryFolder folder;
  int interruptions = 0;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const Case c = level_case(seed);
    FakeTrainer whole(c.landscape);
    RunOptions options = minimising();
    options.fresh = true;
    const auto expected = run(c, options, whole, folder / "whole.h5");

    FakeTrainer searched(c.landscape);
    options.minimise = false;
    run(c, options, searched, folder / "s.h5");
    int trainings = searched.trainings;
    for (int stop = 3;; stop += 2) {
      FakeTrainer trainer(c.landscape);
      trainer.stop_after = stop;
      RunOptions part = minimising();
      part.stop = &trainer.stop;
      const auto outcome = run(c, part, trainer, folder / "s.h5");
      trainings += trainer.trainings;
      EXPECT_EQ(tsv(outcome.network), tsv(expected.network));
      EXPECT_TRUE(check_store(folder / "s.h5").empty());
      if (outcome.minimising->end != SearchEnd::kInterrupted) {
        ASSERT_EQ(text(outcome, c), text(expected, c)) << seed;
        break;
      }
      ++interruptions;
    }
    EXPECT_EQ(trainings, whole.trainings) << seed;  // nothing twice
    // Finished: the same command trains nothing, and neither does the search.
    FakeTrainer idle(c.landscape);
    EXPECT_EQ(text(run(c, minimising(), idle, folder / "s.h5"), c), text(expected, c));
    const auto read = read_store(folder / "s.h5");
    EXPECT_EQ(to_json(read.network, &c.space).dump(1), text(expected, c));
    EXPECT_TRUE(read.finished);
    EXPECT_EQ(read.minimising->end, SearchEnd::kQueueEmpty);
    EXPECT_EQ(read.minimising->counters.evaluations, expected.minimising->counters.evaluations);
    EXPECT_EQ(idle.trainings, 0);
  }
  EXPECT_GT(interruptions, 2);
}

/// A case whose minimising trains a lot.
Case padded_case() {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    TemporaryFolder folder;
    const Case c = level_case(seed);
    FakeTrainer trainer(c.landscape);
    const auto outcome = run(c, minimising(), trainer, folder / "s.h5");
    if (outcome.minimising->counters.evaluations >= 12) return c;
  }
  throw std::logic_error("no such case");
}

TEST(Minimal, WhatAKilledProcessTrainedIsKept) {
  TemporaryFolder folder;
  const Case c = padded_case();
  FakeTrainer trainer(c.landscape);
  const auto store = folder / "s.h5";
  RunOptions options;
  run(c, options, trainer, store);
  const std::filesystem::path before = folder / "before.h5";
  std::filesystem::copy_file(store, before);
  FakeTrainer once(c.landscape);
  const auto expected = run(c, minimising(), once, store);
  const EvaluationMap after = load_store(store).evaluations;
  std::filesystem::copy_file(before, store, std::filesystem::copy_options::overwrite_existing);

  std::size_t kept = 0;
  {
    // A process that is killed leaves its journal.
    const StoreContent content = load_store(store);
    Store killed(store, content.header, false);
    killed.begin_minimising();
    for (const auto& [key, result] : after) {
      if (content.evaluations.contains(key) || kept == 5) continue;
      killed.started(key, false);
      killed.finished(key, result);
      ++kept;
    }
  }
  ASSERT_EQ(kept, 5U);
  ASSERT_TRUE(std::filesystem::exists(folder / "s.h5.journal"));
  EXPECT_TRUE(read_store(store).finished);
  EXPECT_EQ(load_store(store).evaluations.size(), load_store(before).evaluations.size() + kept);
  // A search that has nothing to do leaves it there; whoever minimises takes it in.
  FakeTrainer idle(c.landscape);
  run(c, options, idle, store);
  EXPECT_EQ(idle.trainings, 0);
  FakeTrainer rest(c.landscape);
  const auto outcome = run(c, minimising(), rest, store);
  EXPECT_EQ(text(outcome, c), text(expected, c));
  EXPECT_EQ(rest.trainings + 5, once.trainings);
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.journal"));
  EXPECT_TRUE(check_store(store).empty());
}

TEST(Minimal, HasABudgetOfItsOwn) {
  TemporaryFolder folder;
  const Case c = padded_case();
  FakeTrainer whole(c.landscape);
  const auto expected = run(c, minimising(), whole, folder / "whole.h5");
  FakeTrainer trainer(c.landscape);
  RunOptions options = minimising();
  std::int64_t unknown = 1000;
  for (const std::int64_t budget : {2, 5, 9}) {
    options.budget_minimise = budget;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    EXPECT_EQ(outcome.minimising->end, SearchEnd::kEvaluationBudget);
    EXPECT_EQ(outcome.minimising->counters.evaluations, budget);
    EXPECT_EQ(outcome.counters.evaluations, expected.counters.evaluations);
    const auto counts = count(repair_sizes(outcome.network, &c.space));
    EXPECT_GT(counts.unknown, 0);
    EXPECT_LE(counts.unknown, unknown);
    unknown = counts.unknown;
  }
  const int trainings = trainer.trainings;
  options.budget_minimise = 4;  // less than was done
  run(c, options, trainer, folder / "s.h5");
  EXPECT_EQ(trainer.trainings, trainings);
  const auto outcome = run(c, minimising(), trainer, folder / "s.h5");
  EXPECT_EQ(text(outcome, c), text(expected, c));
  EXPECT_EQ(trainer.trainings, whole.trainings);
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
