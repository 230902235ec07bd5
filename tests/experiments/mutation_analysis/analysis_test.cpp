#include "experiments/mutation_analysis/analysis.h"

#include <gtest/gtest.h>

#include "tests/experiments/mutation_analysis/fake_trainer.h"

namespace neutra::experiments::tests {
namespace {

TEST(MutationAnalysis, SearchesAndScores) {
  const auto [analysis, trainings] = analyse(options());
  const auto& searches = analysis.sites[0].searches;
  EXPECT_EQ(searches.at(TestSet::kTest).killed, 19);
  EXPECT_EQ(searches.at(TestSet::kTest).survived, 20);
  EXPECT_EQ(searches.at(TestSet::kTrain).killed, 9);
  // Test rows kill more than the training rows: no better than 1.
  ASSERT_EQ(analysis.operators.size(), 2u);
  EXPECT_EQ(analysis.operators[0].scores.at(TestSet::kTest).score, 1);
  // Both kill the same losses.
  EXPECT_EQ(analysis.operators[1].scores.at(TestSet::kTest).score, 1);
  EXPECT_EQ(analysis.scores.at(TestSet::kTest), 1);
  EXPECT_EQ(analysis.original.at(TestSet::kTest).size(), 10u);
  EXPECT_EQ(analysis.trainings, static_cast<std::size_t>(trainings));
}

TEST(MutationAnalysis, WhatIsNoVerdict) {
  const MutationAnalysis analysis = analyse(options()).analysis;
  const AnalysedMutant& same = mutant(analysis, "1:change_loss_function=binary_crossentropy");
  EXPECT_EQ(same.same_as, "original");
  EXPECT_FALSE(same.verdicts.at(TestSet::kTest).killed);
  EXPECT_FALSE(mutant(analysis, "1:change_loss_function=huber").program);
  EXPECT_EQ(mutant(analysis, "1:change_loss_function=huber").reason,
            "huber: no loss for this task");
  const AnalysedMutant& refused = mutant(analysis, "1:change_loss_function=logcosh");
  EXPECT_EQ(refused.status, training::RunStatus::kInvalid);
  EXPECT_EQ(refused.reason, "refused");
  EXPECT_TRUE(refused.verdicts.at(TestSet::kTest).missing);
  const AnalysedMutant& slow =
      mutant(analysis, "1:change_loss_function=kullback_leibler_divergence");
  EXPECT_EQ(slow.status, training::RunStatus::kTimeout);
  EXPECT_TRUE(slow.verdicts.at(TestSet::kTest).missing);
  EXPECT_FALSE(slow.verdicts.at(TestSet::kTest).killed);
  EXPECT_TRUE(mutant(analysis, "1:change_loss_function=hinge").verdicts.at(TestSet::kTest).killed);
}

TEST(MutationAnalysis, WhatDivergesButHasAnAccuracyIsJudgedByIt) {
  const MutationAnalysis analysis = analyse(options()).analysis;
  for (const auto& [loss, killed] : {std::pair{"poisson", true}, {"mean_absolute_error", false}}) {
    const AnalysedMutant& diverged =
        mutant(analysis, std::string("1:change_loss_function=") + loss);
    EXPECT_EQ(diverged.status, training::RunStatus::kDiverged) << loss;
    EXPECT_FALSE(diverged.verdicts.at(TestSet::kTest).missing) << loss;
    EXPECT_EQ(diverged.verdicts.at(TestSet::kTest).killed, killed) << loss;
  }
}

/// A regression whose learning rate makes all (from 1 on), or some (from 0.5 on) of its runs
/// diverge, or lets one run out of time (from 2 on).
class FakeRegression final : public MutantTrainer {
 public:
  static program::Program original() {
    program::Program p = training::moons(50);
    p.document["task"] = "regression";
    p.document["compile"]["loss"] = "mean_squared_error";
    p.document["metric"] = {{"name", "mae"}, {"goal", "minimize"}};
    return p;
  }
  static OperatorSite site() {
    const auto make = [](const std::string& value) {
      program::Program p = original();
      p.document["compile"]["optimizer"]["config"]["learning_rate"] = std::stod(value);
      return p;
    };
    return {"change_learning_rate",
            "HLR",
            "",
            std::nullopt,
            {"0.25", "0.5", "0.9", "1.5", "2.5"},
            make};
  }
  static double rate(const program::Program& p) {
    return p.document["compile"]["optimizer"]["config"]["learning_rate"];
  }
  MutantRun run(const program::Program& program, int run) override {
    const double lr = rate(program);
    MutantRun r;
    const double value = 2 + 0.1 * (run * 7 % 5);
    r.metrics = {{TestSet::kTrain, value}, {TestSet::kTest, value}};
    const bool slow = lr > 2 && run == 3;
    if (slow || lr > 1 || (lr > 0.4 && run < 10 * lr - 2)) {
      r.status = slow ? training::RunStatus::kTimeout : training::RunStatus::kDiverged;
      r.metrics = {{TestSet::kTrain, run % 2 == 0 ? std::nan("") : HUGE_VAL},
                   {TestSet::kTest, std::nan("")}};
    }
    return r;
  }
  std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
};

TEST(MutationAnalysis, ADivergedRegressionIsKilledATimeoutIsNot) {
  const auto analysis_by = [](evaluators::KillVariant variant) {
    MutationOptions o = options();
    o.variant = variant;
    FakeRegression trainer;
    MutantRuns runs;
    return analyse_mutants(FakeRegression::original(), {FakeRegression::site()}, o, trainer, runs);
  };
  const MutationAnalysis analysis = analysis_by(evaluators::KillVariant::kCorrected);
  struct Expected {
    const char* value;
    std::size_t diverged;
    bool killed, missing;
  };
  for (const auto& [value, diverged, killed, missing] : {Expected{"0.25", 0, false, false},
                                                         {"0.5", 3, false, false},
                                                         {"0.9", 7, true, false},
                                                         {"1.5", 10, true, false},
                                                         {"2.5", 0, false, true}}) {
    const AnalysedMutant& m = mutant(analysis, std::string("0:change_learning_rate=") + value);
    for (const TestSet set : {TestSet::kTrain, TestSet::kTest}) {
      const evaluators::KillVerdict& v = m.verdicts.at(set);
      EXPECT_EQ(v.killed, killed) << value;
      EXPECT_EQ(v.missing, missing) << value;
      EXPECT_EQ(m.diverged.contains(set), !missing) << value;
      if (!missing) {
        EXPECT_EQ(m.diverged.at(set), diverged) << value;
      }
      EXPECT_FALSE(std::isnan(v.d) || std::isnan(v.p)) << value;
    }
  }
  EXPECT_EQ(mutant(analysis, "0:change_learning_rate=2.5").status, training::RunStatus::kTimeout);
  EXPECT_TRUE(mutant(analysis, "0:change_learning_rate=1.5").verdicts.at(TestSet::kTest).stable);
  // The study's own analysis has no verdict on what diverged.
  const MutationAnalysis published = analysis_by(evaluators::KillVariant::kAsPublished);
  for (const char* value : {"0.5", "0.9", "1.5", "2.5"}) {
    const AnalysedMutant& m = mutant(published, std::string("0:change_learning_rate=") + value);
    EXPECT_TRUE(m.verdicts.at(TestSet::kTest).missing) << value;
    EXPECT_FALSE(m.verdicts.at(TestSet::kTest).killed) << value;
  }
}

TEST(MutationAnalysis, TheMildestValueThatDivergesIsSearched) {
  OperatorSite site = FakeRegression::site();
  site.values.clear();
  site.range = evaluators::SearchRange{0.1, 1.9, 0.01, 2};
  FakeRegression trainer;
  MutantRuns runs;
  const MutationAnalysis analysis =
      analyse_mutants(FakeRegression::original(), {site}, options(), trainer, runs);
  const evaluators::BinarySearch& search = analysis.sites[0].searches.at(TestSet::kTest);
  EXPECT_TRUE(search.steps.front().verdict.killed);
  ASSERT_TRUE(search.killed && search.survived);
  // Six of ten diverge from rates above 0.7 on, five of ten may be chance (p = 0.033 of ranks).
  EXPECT_NEAR(*search.killed, 0.61, 0.1);
  EXPECT_LE(*search.killed - *search.survived, 0.011);
  // Both sets kill alike.
  EXPECT_EQ(analysis.operators[0].scores.at(TestSet::kTest).score, 1);
  EXPECT_EQ(analysis.operators[0].scores.at(TestSet::kTest).instability, 0);
}

TEST(MutationAnalysis, ASevereEndWithoutAVerdictEndsNoSearch) {
  OperatorSite slow = epochs_site(), refused = epochs_site();
  slow.make = [](const std::string& value) {
    program::Program p = with_epochs(value);
    if (std::stoi(value) < 5) p.document["compile"]["loss"] = "kullback_leibler_divergence";
    return p;
  };
  refused.make = [](const std::string& value) {
    if (std::stoi(value) < 5) throw input_error("too few");
    return with_epochs(value);
  };
  for (const OperatorSite& site : {slow, refused}) {
    const MutationAnalysis analysis = analyse(options(), {site}).analysis;
    EXPECT_TRUE(mutant(analysis, "0:change_epochs=1").verdicts.at(TestSet::kTest).missing);
    EXPECT_EQ(analysis.sites[0].searches.at(TestSet::kTest).killed, 19);
    EXPECT_EQ(analysis.sites[0].searches.at(TestSet::kTrain).killed, 9);
  }
}

TEST(MutationAnalysis, PublishedKillsAgainstTheLastSurvivorWithThePowerAgainstTheOriginal) {
  struct Sloped final : MutantTrainer {
    static double metric(int epochs, int run) {
      return 0.9 + (run % 2 == 0 ? 0.01 : -0.01) - 0.0004 * (50 - epochs);
    }
    MutantRun run(const program::Program& program, int run) override {
      MutantRun r;
      const double value = metric(program.document["fit"]["epochs"], run);
      r.metrics = {{TestSet::kTrain, value}, {TestSet::kTest, value}};
      r.right = {true};
      return r;
    }
    std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  } trainer;
  MutationOptions o = options();
  o.variant = evaluators::KillVariant::kAsPublished;
  MutantRuns runs;
  const MutationAnalysis analysis = analyse_mutants(original(), {epochs_site()}, o, trainer, runs);
  const auto values = [](int epochs) {
    std::vector<double> list;
    for (int run = 0; run < 10; ++run) list.push_back(Sloped::metric(epochs, run));
    return list;
  };
  // 1 and 26 are killed, 38 survives; 32 is compared with it.
  const evaluators::KillVerdict& v =
      mutant(analysis, "0:change_epochs=32").verdicts.at(TestSet::kTest);
  const evaluators::KillVerdict of_original = evaluators::kill_test(values(50), values(32),
                                                                    {true, o.variant}),
                                of_survivor = evaluators::kill_test(values(38), values(32),
                                                                    {true, o.variant});
  ASSERT_NE(of_original.power, of_survivor.power);
  EXPECT_EQ(v.p, of_survivor.p);
  EXPECT_EQ(v.d, of_survivor.d);
  EXPECT_EQ(v.power, of_original.power);
  EXPECT_EQ(v.stable, of_original.stable);
}

TEST(MutationAnalysis, TheSameWithManyWorkersAndWithoutSavings) {
  const Outcome one = analyse(options()), many = analyse(options(true, 4)),
                whole = analyse(options(false));
  EXPECT_EQ(text(one.analysis), text(many.analysis));
  EXPECT_LT(one.trainings, whole.trainings);
  EXPECT_GT(one.analysis.saved, 0u);
  ASSERT_EQ(one.analysis.mutants.size(), whole.analysis.mutants.size());
  for (std::size_t i = 0; i < one.analysis.mutants.size(); ++i) {
    const AnalysedMutant &a = one.analysis.mutants[i], &b = whole.analysis.mutants[i];
    EXPECT_EQ(a.id(), b.id());
    for (const auto& [set, verdict] : b.verdicts) {
      EXPECT_EQ(a.verdicts.at(set).killed, verdict.killed) << a.id();
    }
    EXPECT_LE(a.runs, b.runs);
  }
  EXPECT_EQ(one.analysis.scores, whole.analysis.scores);
}

TEST(MutationAnalysis, AVerdictAfterOneRunIsOne) {
  // Originals that spread: the first run of a good mutant decides that it survives.
  int least = 10;
  for (int runs = 2; runs <= 6; ++runs) {
    for (const double spread : {0.02, 0.1, 0.2}) {
      const auto analysed = [&](bool early) {
        MutationOptions o = options(early);
        o.runs = runs;
        FakeTrainer trainer;
        trainer.spread = spread;
        MutantRuns kept;
        return analyse_mutants(original(), {epochs_site(), loss_site()}, o, trainer, kept);
      };
      const MutationAnalysis some = analysed(true), all = analysed(false);
      ASSERT_EQ(some.mutants.size(), all.mutants.size()) << runs << " " << spread;
      for (std::size_t i = 0; i < all.mutants.size(); ++i) {
        const AnalysedMutant &a = some.mutants[i], &b = all.mutants[i];
        ASSERT_EQ(a.id(), b.id());
        for (const auto& [set, verdict] : b.verdicts) {
          EXPECT_EQ(a.verdicts.at(set).killed, verdict.killed) << a.id();
          EXPECT_EQ(a.verdicts.at(set).missing, verdict.missing) << a.id();
        }
        if (a.program && a.status == training::RunStatus::kOk) least = std::min(least, a.runs);
      }
      EXPECT_EQ(some.scores, all.scores);
    }
  }
  EXPECT_EQ(least, 1);
}

TEST(MutationAnalysis, TwinsAreTrainedOnce) {
  const int once = analyse(options(), {loss_site()}).trainings;
  const auto [analysis, twice] = analyse(options(), {loss_site(), loss_site()});
  EXPECT_EQ(twice, once);
  EXPECT_EQ(mutant(analysis, "1:change_loss_function=hinge").same_as,
            "0:change_loss_function=hinge");
}

TEST(MutationAnalysis, InputsThatKill) {
  MutationOptions o = options(false);
  const MutationAnalysis analysis = analyse(o).analysis;
  const AnalysedMutant& hinge = mutant(analysis, "1:change_loss_function=hinge");
  // Half of the inputs always, the others never.
  EXPECT_DOUBLE_EQ(hinge.triviality.value(), 0.5);
  EXPECT_TRUE(hinge.redundant.has_value());
  EXPECT_EQ(mutant(analysis, "0:change_epochs=26").triviality, 0);
  EXPECT_EQ(mutant(analysis, "0:change_epochs=26").redundant, std::nullopt);  // survived
}

TEST(MutationAnalysis, WeakRowsAreTheCertainOnes) {
  MutationOptions o = options();
  o.sets = {TestSet::kTrain, TestSet::kTest, TestSet::kWeak};
  for (const evaluators::KillVariant variant :
       {evaluators::KillVariant::kCorrected, evaluators::KillVariant::kAsPublished}) {
    o.variant = variant;
    const MutationAnalysis analysis = analyse(o).analysis;
    EXPECT_EQ(analysis.original.at(TestSet::kWeak), std::vector<double>(10, 1.0));
    // Epochs change nothing on the easy rows, hinge does.
    EXPECT_EQ(analysis.sites[0].searches.at(TestSet::kWeak).killed, std::nullopt);
    EXPECT_TRUE(
        mutant(analysis, "1:change_loss_function=hinge").verdicts.at(TestSet::kWeak).killed);
    EXPECT_EQ(analysis.operators[0].scores.at(TestSet::kWeak).score, 0);
  }
}

TEST(MutationAnalysis, RunsThatAskedForOtherTrainingRowsAreMadeAgain) {
  program::Program p = original();
  p.document["data"]["preprocess"] = Json::array({{{"op", "scale"}, {"by", 2}}});
  const auto made = [&](const std::string& value) {
    program::Program mutant = p;
    Json& step = mutant.document["data"]["preprocess"][0];
    if (value == "test alone") step["part"] = "test";
    if (value == "none") step["by"] = 1;
    return mutant;
  };
  const std::vector<OperatorSite> sites{
      {"preprocessing", "PRE", "", std::nullopt, {"test alone", "none"}, made}};
  const auto trainings = [&](int version) {
    FakeTrainer trainer;
    MutantRuns runs;
    for (const program::Program& program : {p, made("test alone"), made("none")}) {
      for (int run = 0; run < 10; ++run) {
        MutantRun kept = FakeTrainer().run(program, run);
        kept.version = version;
        runs.add(program::program_hash(program), run, kept);
      }
    }
    analyse_mutants(p, sites, options(false), trainer, runs);
    return trainer.trainings;
  };
  EXPECT_EQ(trainings(kMutantRunVersion), 0);
  EXPECT_EQ(trainings(1), 10);
}

TEST(MutationAnalysis, AnOriginalThatCannotBeJudged) {
  struct Broken final : MutantTrainer {
    MutantRun run(const program::Program&, int) override {
      MutantRun r;
      r.status = training::RunStatus::kTimeout;
      r.message = "slow";
      return r;
    }
    std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  } trainer;
  MutantRuns runs;
  EXPECT_THROW(analyse_mutants(original(), {}, options(), trainer, runs), Error);
}

}  // namespace
}  // namespace neutra::experiments::tests
