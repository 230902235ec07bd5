#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/mutation_analysis/analysis.h"
#include "experiments/mutation_analysis/task.h"
#include "mutators/registry.h"
#include "tests/training/programs.h"

/// The mutation analysis on real trainings.
namespace neutra::experiments {

using namespace training;
namespace {

program::Program original() {
  program::Program p = moons(15);
  p.document["fit"]["batch_size"] = 8;
  return p;
}

program::Program with_labels_changed(int percentage) {
  program::Program p = original();
  p.document["data"]["mutations"] =
      Json::array({{{"op", "change_label"}, {"percentage", percentage}, {"seed", 0}}});
  return p;
}

TEST(MutationTraining, ARunIsMeasuredOnCleanRows) {
  const auto trainer = training::make_local_trainer({});
  const program::Program p = original();
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  const MutantRun run = mutants->run(p, 3);
  EXPECT_EQ(run.status, training::RunStatus::kOk) << run.message;
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
  training::TrainingJob job;
  job.program = &p;
  job.replica = 3;
  job.stream = training::StreamKey::kIndependent;
  EXPECT_EQ(trainer->train(job).metric, run.metrics.at(TestSet::kTest));
}

TEST(MutationTraining, WithoutAFitSection) {
  const auto trainer = training::make_local_trainer({});
  program::Program p = original();
  p.document.erase("fit");
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  for (const char* mutation : {"TCL=50", "HBS=8"}) {  // the second has a fit
    const MutantRun run =
        mutants->run(mutators::apply_all(p, {mutators::parse_application(mutation, 0)}).program, 0);
    EXPECT_EQ(run.status, training::RunStatus::kOk) << run.message;
    EXPECT_GE(run.metrics.at(TestSet::kTrain), 0) << mutation;
  }
}

TEST(MutationTraining, TrainingRowsArePreparedAsTestRows) {
  const auto trainer = training::make_local_trainer({});
  program::Program p = original();
  p.document["data"]["preprocess"] =
      Json::array({{{"op", "standardize"}}, {{"op", "add"}, {"value", 9}}});
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  const auto metrics = [&](const program::Program& program) {
    return mutants->run(program, 0).metrics;
  };
  // It learns the rows as they are and is asked about rows far from them.
  const auto skewed =
      metrics(mutators::apply_all(p, {mutators::parse_application("SPP=1", 0)}).program);
  EXPECT_LT(skewed.at(TestSet::kTest), 0.7);
  EXPECT_NEAR(skewed.at(TestSet::kTrain), skewed.at(TestSet::kTest), 0.15);
  // Without the step for both parts it is asked about what it learned.
  const auto without =
      metrics(mutators::apply_all(p, {mutators::parse_application("CPP=1", 0)}).program);
  EXPECT_GT(without.at(TestSet::kTrain), 0.85);
}

TEST(MutationTraining, ADivergedClassificationIsJudgedByItsAccuracy) {
  const auto trainer = training::make_local_trainer({});
  const program::Program p = original();
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  // A feature that is NaN makes every weight NaN, and the outputs for clean rows: class 0.
  const MutantRun run =
      mutants->run(mutators::apply_all(p, {mutators::parse_application("TMN=50", 0)}).program, 0);
  ASSERT_EQ(run.status, training::RunStatus::kDiverged) << run.message;
  for (const auto& [set, value] : run.metrics) EXPECT_NEAR(value, 0.5, 0.15) << to_string(set);
  EXPECT_FALSE(run.right.empty());
}

TEST(MutationTraining, RowsAreAskedForAsTheProgramEvaluates) {
  const auto trainer = training::make_local_trainer({});
  const program::Program p = original();
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  program::Program noisy = p;
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

program::Program with_steps(std::vector<Json> steps) {
  program::Program p = original();
  p.document["trained"]["mutations"] = steps;
  return p;
}

TEST(MutationTraining, TrainedModelsAreMeasuredAsMutated) {
  const auto trainer = training::make_local_trainer({});
  const program::Program p = original();
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  for (const Json& step : {Json{{"op", "neuron_activation_inverse"}, {"percentage", 100}},
                           Json{{"op", "activation_removal"}, {"layer", 0}},
                           Json{{"op", "gaussian_fuzz"}, {"percentage", 100}, {"stddev", 5}}}) {
    const MutantRun run = mutants->run(with_steps({step}), 1);
    SCOPED_TRACE(step.dump());
    ASSERT_EQ(run.status, training::RunStatus::kOk) << run.message;
    const auto right = std::count(run.right.begin(), run.right.end(), true);
    EXPECT_DOUBLE_EQ(static_cast<double>(right) / static_cast<double>(run.right.size()),
                     run.metrics.at(TestSet::kTest));
    EXPECT_LT(run.metrics.at(TestSet::kTest), 0.97);
    EXPECT_NEAR(run.metrics.at(TestSet::kTrain), run.metrics.at(TestSet::kTest), 0.15);
  }
}

TEST(MutationTraining, TrainedModelsHaveTrainingsApartFromTheOriginals) {
  const auto trainer = training::make_local_trainer({});
  program::Program p = moons(2);  // not learned yet: runs differ
  const auto without_effect = [&](const char* op) {
    program::Program mutant = p;
    mutant.document["trained"]["mutations"] = Json::array({{{"op", op}, {"percentage", 0.1}}});
    return mutant;
  };
  const auto mutants = make_mutant_trainer(p, *trainer, 0, {});
  int same_as_original = 0, runs = 6;
  for (int run = 0; run < runs; ++run) {
    const MutantRun one = mutants->run(without_effect("neuron_switch"), run);
    const MutantRun two = mutants->run(without_effect("weight_shuffle"), run);
    EXPECT_EQ(one.metrics, two.metrics);
    EXPECT_EQ(one.right, two.right);
    same_as_original += one.right == mutants->run(p, run).right;
  }
  EXPECT_LT(same_as_original, runs);
}

TEST(MutationTraining, OperatorsEndToEnd) {
  const auto trainer = training::make_local_trainer({});
  const program::Program p = original();
  const mutators::Target target = mutators::make_target(p, nullptr);
  std::vector<const mutators::MutationOperator*> operators;
  for (const char* name : {"TCL", "HLR", "ARM", "RCP", "NAI", "AFRm"}) {
    operators.push_back(&mutators::find_mutation_operator(name));
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
  const evaluators::BinarySearch& search = one.sites[tcl->sites[0]].searches.at(TestSet::kTest);
  ASSERT_TRUE(search.killed);
  EXPECT_LE(*search.killed, 100);
  EXPECT_LE(*search.killed - *search.survived, 5);
  const auto nai = std::find_if(one.operators.begin(), one.operators.end(),
                                [](const OperatorResult& o) { return o.abbreviation == "NAI"; });
  ASSERT_NE(nai, one.operators.end());
  EXPECT_TRUE(one.sites[nai->sites[0]].searches.at(TestSet::kTest).killed);
}

}  // namespace
}  // namespace neutra::experiments
