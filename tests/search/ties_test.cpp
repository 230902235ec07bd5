#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/search/fakes.h"

namespace neutra::search::tests {
namespace {

/// A plateau: every program is exactly as good as the buggy one, but for the two-step repair and
/// for those that make its second step without the first, which are worse.
class Plateau : public SearchSpace, public training::Trainer {
 public:
  struct Property {
    std::string key, op;
    std::vector<std::string> values;  ///< the first is the buggy program's
    mutators::Likelihood likelihood;
  };
  /// The first and the second step: a key and the value that it gets.
  using Steps = std::vector<std::pair<std::string, std::string>>;
  Plateau(std::vector<Property> keys, Steps steps)
      : keys_(std::move(keys)), steps_(std::move(steps)) {}

  std::vector<mutators::Neighbour> neighbours(
      const program::Parameters& parameters) const override {
    std::vector<mutators::Neighbour> result;
    for (const Property& key : keys_) {
      for (const std::string& value : key.values) {
        if (parameters.at(key.key) == value) continue;
        mutators::Neighbour neighbour{{key.op, key.key, parameters.at(key.key), value}, parameters};
        neighbour.parameters[key.key] = value;
        result.push_back(std::move(neighbour));
      }
    }
    return result;
  }
  program::Program program(const program::Parameters& parameters) const override {
    return {{{"meaning", program::to_string(parameters)}}};
  }
  Hash hash(const program::Program& program) const override {
    const auto text = program.document.at("meaning").get<std::string>();
    return {text_hash(text, 1), text_hash(text, 2)};
  }
  mutators::Likelihood likelihood(const mutators::Mutation& mutation) const override {
    for (const Property& key : keys_) {
      if (key.key == mutation.key) return key.likelihood;
    }
    return {};
  }
  training::ReplicaResult train(const training::TrainingJob& job) override {
    const program::Parameters parameters =
        program::parse_parameters(job.program->document.at("meaning").get<std::string>(), "");
    const auto made = [&](std::size_t step) {
      return steps_.size() > step && parameters.at(steps_[step].first) == steps_[step].second;
    };
    training::ReplicaResult result;
    result.total = 20;
    result.correct = made(0) && made(1) ? 20 : made(1) ? 5 : 10;
    result.metric = static_cast<double>(result.correct) / 20;
    return result;
  }
  std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  std::string fingerprint(const program::Program&) override { return "fake"; }

  SearchOutcome search(TieOrder ties, int workers = 1, Rule rule = Rule::kAlgorithm1) {
    SearchTask task;
    task.fault_id = "plateau";
    task.metric = "accuracy";
    task.metric_bound = 1;
    for (const Property& key : keys_) task.start[key.key] = key.values.front();
    SearchConfig config;
    config.ties = ties;
    config.rule = rule;
    config.replicas = 2;
    config.budget_evaluations = 300;
    config.ground_truth_metric = 1;
    config.fingerprint = "fake";
    RunOptions options;
    options.workers = workers;
    options.fresh = true;
    return run_search(task, *this, config, options, *this, folder_ / "s.h5");
  }

 private:
  std::vector<Property> keys_;
  Steps steps_;
  TemporaryFolder folder_;
};

/// The keys of a program with two layers, as many values as preset paper has. The buggy program has
/// the value "v" of each.
Plateau plateau(const Plateau::Steps& steps) {
  const auto values = [](int count) {
    std::vector<std::string> list = {"v"};
    for (int i = 1; i < count; ++i) list.emplace_back(1, static_cast<char>('a' + i - 1));
    return list;
  };
  return Plateau({{"ki1", "ki", values(4), {false, 4, 0}},
                  {"ki2", "ki", values(4), {false, 4, 0}},
                  {"bi1", "bi", values(4), {false, 9, 0}},
                  {"bi2", "bi", values(4), {false, 9, 0}},
                  {"act1", "act", values(5), {false, 1, 0}},
                  {"act2", "act", values(5), {false, 1, 0}},
                  {"loss", "loss", values(2), {false, 0, 0}},
                  {"batch_size", "batch", values(6), {false, 6, 0}},
                  {"optimizer", "optimizer", values(2), {false, 3, 0}},
                  {"lr", "lr", values(3), {false, 2, 0}},
                  {"epochs", "epochs", values(3), {false, 5, 0}}},
                 steps);
}

bool finds_two_steps(const Network& network) {
  const auto repairs = network.alternatives();
  return std::any_of(repairs.begin(), repairs.end(),
                     [](const Node* node) { return node->depth == 2; });
}

TEST(Ties, SpreadOverTheHyperparametersFindWhatStarvesByName) {
  const Plateau::Steps repairs[] = {{{"loss", "a"}, {"act2", "c"}},
                                    {{"optimizer", "a"}, {"lr", "b"}},
                                    {{"lr", "a"}, {"epochs", "a"}},
                                    {{"loss", "a"}, {"batch_size", "c"}},
                                    {{"ki1", "a"}, {"act1", "b"}}};
  int before = 0, after = 0;
  for (const Plateau::Steps& repair : repairs) {
    before += finds_two_steps(plateau(repair).search(TieOrder::kParameters).network);
    const SearchOutcome spread = plateau(repair).search(TieOrder::kSpread);
    after += finds_two_steps(spread.network);
    EXPECT_EQ(tsv(plateau(repair).search(TieOrder::kSpread, 3).network), tsv(spread.network));
  }
  EXPECT_EQ(before, 0);
  EXPECT_EQ(after, 5);
}

TEST(Ties, OneOfEachKindThenTheKindsThatWereQueuedLeast) {
  const SearchOutcome outcome = plateau({}).search(TieOrder::kSpread);
  std::map<std::int64_t, std::vector<std::string>> queued;
  for (const Node& node : outcome.network.nodes) {
    if (node.queued) queued[node.parent].push_back(node.mutation.op);
  }
  for (auto& [parent, kinds] : queued) std::sort(kinds.begin(), kinds.end());
  using Words = std::vector<std::string>;
  EXPECT_EQ(queued.at(0), (Words{"act", "ki", "loss", "lr", "optimizer"}));
  const Node* first = nullptr;
  for (const Node& node : outcome.network.nodes) {
    if (node.dequeued == 1) first = &node;
  }
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->mutation.op, "loss");  // the likeliest is expanded first
  EXPECT_EQ(queued.at(first->id), (Words{"act", "batch", "bi", "epochs", "lr"}));
}

TEST(Ties, WhatMendsAnUnusualValueComesFirst) {
  Plateau space({{"act1", "act", {"0", "1", "2"}, {false, 1, 0}},
                 {"bi1", "bi", {"0", "1", "2"}, {true, 9, 0}},
                 {"loss", "loss", {"0", "1", "2"}, {false, 0, 0}}},
                {});
  const SearchOutcome outcome = space.search(TieOrder::kSpread);
  std::vector<std::string> order(4);
  for (const Node& node : outcome.network.nodes) {
    if (node.dequeued > 0 && node.dequeued <= 3) {
      order[static_cast<std::size_t>(node.dequeued)] = node.mutation.key;
    }
  }
  // One value of it, then the others in turn.
  EXPECT_EQ(order, (std::vector<std::string>{"", "bi1", "loss", "act1"}));
}

TEST(Ties, RuleRecordedTakesEqualsAsTheyWereGenerated) {
  Plateau space = plateau({{"loss", "a"}, {"act2", "c"}});
  EXPECT_EQ(tsv(space.search(TieOrder::kSpread, 1, Rule::kRecorded).network),
            tsv(space.search(TieOrder::kParameters, 1, Rule::kRecorded).network));
}

}  // namespace
}  // namespace neutra::search::tests
