// Searches that minimise: workers, budgets, interruptions and kills do not show.
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "search/minimal.h"
#include "search/store.h"
#include "search/store_check.h"
#include "search/store_content.h"
#include "search/store_reader.h"
#include "tests/search/minimal_cases.h"

namespace neutra::search::tests {
namespace {

std::string text(const SearchOutcome& outcome, const Case& c) {
  return to_json(outcome.network, &c.space).dump(1);
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

}  // namespace
}  // namespace neutra::search::tests
