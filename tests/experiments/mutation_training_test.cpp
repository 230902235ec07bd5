#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/mutation_analysis.h"
#include "experiments/mutation_task.h"
#include "mutators/registry.h"
#include "tests/training/programs.h"

/// The mutation analysis on real trainings.
namespace neutra {
namespace {

Program original() {
  Program p = moons(15);
  p.document["fit"]["batch_size"] = 8;
  return p;
}

Program with_labels_changed(int percentage) {
  Program p = original();
  p.document["data"]["mutations"] =
      Json::array({{{"op", "change_label"}, {"percentage", percentage}, {"seed", 0}}});
  return p;
}

TEST(MutationTraining, ARunIsMeasuredOnCleanRows) {
  const auto trainer = make_local_trainer({});
  const Program p = original();
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  const MutantRun run = mutants->run(p, 3);
  EXPECT_EQ(run.status, RunStatus::kOk) << run.message;
  EXPECT_GT(run.metrics.at(TestSet::kTrain), 0.9);
  // The rows that give the metric, one by one.
  const auto right = std::count(run.right.begin(), run.right.end(), true);
  EXPECT_DOUBLE_EQ(static_cast<double>(right) / static_cast<double>(run.right.size()),
                   run.metrics.at(TestSet::kTest));
  for (const float c : run.certainty) {
    EXPECT_GE(c, 0.5f);
    EXPECT_LE(c, 1.0f);
  }
  // All labels of one class are wrong while it trains: on the true ones it does badly.
  const MutantRun wrong = mutants->run(with_labels_changed(100), 3);
  EXPECT_LT(wrong.metrics.at(TestSet::kTrain), 0.75);
  // Independent draws: not the search's.
  TrainingJob job;
  job.program = &p;
  job.replica = 3;
  job.stream = StreamKey::kIndependent;
  EXPECT_EQ(trainer->train(job).metric, run.metrics.at(TestSet::kTest));
}

TEST(MutationTraining, RowsAreAskedForAsTheProgramEvaluates) {
  const auto trainer = make_local_trainer({});
  const Program p = original();
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  Program noisy = p;
  noisy.document["fit"]["loop"] = {{"eval_mode", false}};
  noisy.document["model"]["config"]["layers"][1]["config"]["rate"] = 0.8;
  const auto share = [&](int replica) {
    const MutantRun run = mutants->run(noisy, replica);
    const auto right = std::count(run.right.begin(), run.right.end(), true);
    EXPECT_DOUBLE_EQ(static_cast<double>(right) / static_cast<double>(run.right.size()),
                     run.metrics.at(TestSet::kTest));
    EXPECT_LT(run.metrics.at(TestSet::kTrain), 0.95);
    return run.right;
  };
  EXPECT_NE(share(0), share(1));
}

TEST(MutationTraining, OperatorsEndToEnd) {
  const auto trainer = make_local_trainer({});
  const Program p = original();
  const Target target = make_target(p, nullptr);
  std::vector<const MutationOperator*> operators;
  for (const char* name : {"TCL", "HLR", "ARM", "RCP"}) {
    operators.push_back(&find_mutation_operator(name));
  }
  const MutationTask task = mutation_task(operators, target, {}, 0);
  ASSERT_EQ(task.left_out.size(), 1u);
  EXPECT_EQ(task.left_out[0].op->abbreviation, "RCP");  // there is no early stopping
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  const auto analyse = [&](int workers) {
    MutationOptions options;
    options.runs = 6;
    options.workers = workers;
    MutantRuns runs;
    return analyse_mutants(p, task.sites, options, *mutants, runs);
  };
  const MutationAnalysis one = analyse(1), two = analyse(2);
  ASSERT_EQ(one.mutants.size(), two.mutants.size());
  for (std::size_t i = 0; i < one.mutants.size(); ++i) {
    EXPECT_EQ(one.mutants[i].id(), two.mutants[i].id());
    EXPECT_EQ(one.mutants[i].means, two.mutants[i].means);
    EXPECT_EQ(one.mutants[i].runs, two.mutants[i].runs);
  }
  const auto tcl = std::find_if(one.operators.begin(), one.operators.end(),
                                [](const OperatorResult& o) { return o.abbreviation == "TCL"; });
  ASSERT_NE(tcl, one.operators.end());
  const BinarySearch& search = one.sites[tcl->sites[0]].searches.at(TestSet::kTest);
  ASSERT_TRUE(search.killed);
  EXPECT_LE(*search.killed, 100);
  EXPECT_LE(*search.killed - *search.survived, 5);
}

}  // namespace
}  // namespace neutra
