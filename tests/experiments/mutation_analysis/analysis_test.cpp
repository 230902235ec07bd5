#include "experiments/mutation_analysis/analysis.h"
#include "base/numbers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "base/journal.h"
#include "tests/training/programs.h"

namespace neutra::experiments {

using namespace training;
namespace {

constexpr std::size_t kInputs = 40;

/// A classification that is as good as its number of epochs says.
program::Program original() { return moons(50); }

program::Program with_epochs(const std::string& value) {
  program::Program p = original();
  p.document["fit"]["epochs"] = std::stoi(value);
  return p;
}
program::Program with_loss(const std::string& value) {
  if (value == "huber") throw input_error("huber: no loss for this task");
  program::Program p = original();
  p.document["compile"]["loss"] = value;
  return p;
}

OperatorSite epochs_site() {
  return {"change_epochs", "HNE", "", evaluators::SearchRange{50, 1, 1, 0}, {}, with_epochs};
}
OperatorSite loss_site() {
  return {"change_loss_function",
          "LCH",
          "",
          std::nullopt,
          {"binary_crossentropy", "mean_squared_error", "hinge", "poisson", "mean_absolute_error",
           "kullback_leibler_divergence", "huber", "logcosh"},
          with_loss};
}

/// Metrics without training: on the test rows less than 20, on the training rows less than 10
/// epochs are bad; hinge is bad; poisson and mean_absolute_error diverge, which leaves an accuracy,
/// a bad and a good one; kullback_leibler_divergence runs out of time; logcosh is refused.
class FakeTrainer final : public MutantTrainer {
 public:
  MutantRun run(const program::Program& program, int run) override {
    {
      const std::lock_guard lock(mutex_);
      if (trainings == limit) throw Error(Exit::kInterrupted, "interrupted");
      ++trainings;
    }
    const Json& document = program.document;
    const int epochs = document["fit"]["epochs"];
    const std::string loss = document["compile"]["loss"];
    const double noise = spread * static_cast<double>((run * 7 + epochs) % 5);
    MutantRun result;
    const auto metric = [&](bool bad) { return (bad ? 0.5 : 0.9) + noise; };
    const bool hinge = loss == "hinge", bad_loss = hinge || loss == "poisson";
    result.metrics = {{TestSet::kTrain, metric(epochs < 10 || bad_loss)},
                      {TestSet::kTest, metric(epochs < 20 || bad_loss)}};
    // The first half of the rows is easy and lost with hinge alone.
    for (std::size_t i = 0; i < kInputs; ++i) {
      const bool easy = i < kInputs / 2;
      result.right.push_back(easy ? !hinge
                                  : epochs >= 20 && i % 5 != static_cast<unsigned>(run) % 5);
      result.certainty.push_back(easy ? 1.0f : 0.6f);
    }
    if (loss == "poisson" || loss == "mean_absolute_error") {
      result.status = training::RunStatus::kDiverged;
      result.message = "weights are not finite";
    }
    if (loss == "kullback_leibler_divergence") {
      result.status = training::RunStatus::kTimeout;
      for (auto& [set, value] : result.metrics) value = std::nan("");
      result.right.clear();
    }
    result.seconds = 1;
    return result;
  }
  std::optional<std::string> refusal(const program::Program& program) override {
    if (program.document["compile"]["loss"] == "logcosh") return "refused";
    return std::nullopt;
  }
  int trainings = 0;
  int limit = -1;  ///< from there on interrupted
  double spread = 0.02;

 private:
  std::mutex mutex_;
};

MutationOptions options(bool early = true, int workers = 1) {
  MutationOptions o;
  o.runs = 10;
  o.early = early;
  o.workers = workers;
  return o;
}

struct Outcome {
  MutationAnalysis analysis;
  int trainings = 0;
};
Outcome analyse(const MutationOptions& o,
                const std::vector<OperatorSite>& sites = {epochs_site(), loss_site()}) {
  FakeTrainer trainer;
  MutantRuns runs;
  return {analyse_mutants(original(), sites, o, trainer, runs), trainer.trainings};
}

const AnalysedMutant& mutant(const MutationAnalysis& analysis, const std::string& id) {
  for (const AnalysedMutant& m : analysis.mutants) {
    if (m.id() == id) return m;
  }
  throw std::runtime_error("no mutant " + id);
}

/// Everything that must not depend on how it was computed.
std::string text(const MutationAnalysis& analysis) {
  std::string text;
  for (const AnalysedMutant& m : analysis.mutants) {
    text += m.id() + " " + std::string(to_string(m.status)) + " " + std::to_string(m.runs);
    for (const auto& [set, v] : m.verdicts) {
      text += " " + std::string(to_string(set)) + (v.killed ? " killed " : " survived ") +
              shortest(v.p) + " " + shortest(v.d);
    }
    text += "\n";
  }
  return text;
}

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
    program::Program p = moons(50);
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

class KeptRuns : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("neutra_runs_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    file_ = folder_ / "runs.nmr";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static Json header(int seed = 0) {
    return {{"format", "neutra-mutant-runs"}, {"version", kMutantRunVersion}, {"seed", seed}};
  }
  std::filesystem::path folder_, file_;
};

TEST_F(KeptRuns, AnInterruptedAnalysisGoesOn) {
  const std::vector<OperatorSite> sites{epochs_site(), loss_site()};
  const auto [uninterrupted, trainings] = analyse(options());
  int total = 0;
  std::optional<MutationAnalysis> resumed;
  for (int process = 0; !resumed && process < 100; ++process) {
    FakeTrainer trainer;
    trainer.limit = 7;
    MutantRuns runs(file_, header(), false, "test");
    try {
      resumed = analyse_mutants(original(), sites, options(), trainer, runs);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::kInterrupted);
    }
    total += trainer.trainings;
    if (process == 3) {  // a record cut off
      std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 5);
      --total;
    }
  }
  ASSERT_TRUE(resumed);
  EXPECT_EQ(text(*resumed), text(uninterrupted));
  EXPECT_EQ(total, trainings);
}

TEST_F(KeptRuns, OfAnotherAnalysisAreRefused) {
  const auto message = [&](const Json& header) -> std::string {
    try {
      MutantRuns runs(file_, header, false, "test");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(header(0)), "");
  EXPECT_NE(message(header(1)).find("seed: found 1 now, 0 in the file"), std::string::npos)
      << message(header(1));
  { MutantRuns runs(file_, header(1), true, "test"); }
  EXPECT_EQ(message(header(1)), "");
  std::ofstream(file_) << "something else";
  EXPECT_NE(message(header(1)).find("another kind of file"), std::string::npos);
}

TEST_F(KeptRuns, OtherJournalsAreNeverReplaced) {
  const Json search = {{"type", "header"}, {"header", {{"format", "neutra-store"}}}};
  for (const std::vector<Json>& records : {std::vector<Json>{search}, std::vector<Json>{}}) {
    { Journal journal(file_, records, nullptr); }
    std::ofstream(file_, std::ios::app) << "NJR1";
    const auto size = std::filesystem::file_size(file_);
    for (const bool fresh : {false, true}) {
      try {
        MutantRuns(file_, header(), fresh, "test");
        ADD_FAILURE() << "taken";
      } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("allowed: a file of mutant runs"), std::string::npos);
      }
      EXPECT_EQ(std::filesystem::file_size(file_), size);
    }
  }
}

TEST_F(KeptRuns, ADamagedHeaderLosesNoRuns) {
  const Hash hash{1, 2};
  std::uintmax_t end = 0;
  {
    MutantRuns runs(file_, header(), false, "test");
    end = std::filesystem::file_size(file_);
    runs.add(hash, 0, {});
  }
  const auto damage = [&] {
    std::fstream(file_).seekp(static_cast<std::streamoff>(end / 2)).put('#');
  };
  damage();
  // Of another analysis they aren't taken.
  try {
    MutantRuns(file_, header(1), false, "test");
    ADD_FAILURE() << "taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a damaged header"), std::string::npos) << e.what();
  }
  ::testing::internal::CaptureStderr();
  {
    const MutantRuns runs(file_, header(), false, "test");
    EXPECT_NE(runs.find(hash, 0), nullptr);
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("the first at byte 0"),
            std::string::npos);
  // The header is whole again.
  EXPECT_NE(MutantRuns(file_, header(), false, "test").find(hash, 0), nullptr);
  damage();
  EXPECT_EQ(MutantRuns(file_, header(1), true, "test").find(hash, 0), nullptr);
}

TEST_F(KeptRuns, OfVersionOneAreTakenAndToldApart) {
  const Hash hash{1, 2}, other{3, 4};
  {
    Json old = header(), run = to_json(MutantRun{});
    old["version"] = 1;
    run.update({{"type", "run"}, {"program", to_string(hash)}, {"run", 0}});
    Journal(file_, {{{"type", "header"}, {"header", old}}, run}, nullptr);
  }
  for (int process = 0; process < 3; ++process) {
    MutantRuns runs(file_, header(), false, "test");
    ASSERT_NE(runs.find(hash, 0), nullptr);
    EXPECT_EQ(runs.find(hash, 0)->version, 1);
    if (process > 0) {
      ASSERT_NE(runs.find(other, 0), nullptr);
      EXPECT_EQ(runs.find(other, 0)->version, kMutantRunVersion);
    }
    runs.add(other, 0, {});
  }
  // What replaces a run stays.
  MutantRuns(file_, header(), false, "test").add(hash, 0, {});
  EXPECT_EQ(MutantRuns(file_, header(), false, "test").find(hash, 0)->version, kMutantRunVersion);
  // Not of a version to come.
  Json next = header();
  next["version"] = kMutantRunVersion + 1;
  { MutantRuns(file_, next, true, "test"); }
  EXPECT_THROW(MutantRuns(file_, header(), false, "test"), Error);
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

TEST_F(KeptRuns, DamagedRecordsAreLeftOutWithAWarning) {
  const Hash hash{1, 2};
  std::uintmax_t ends[3];
  {
    MutantRuns runs(file_, header(), false, "test");
    for (int run = 0; run < 3; ++run) {
      runs.add(hash, run, {});
      ends[run] = std::filesystem::file_size(file_);
    }
  }
  std::fstream(file_).seekp(static_cast<std::streamoff>(ends[0] + 30)).put('#');
  ::testing::internal::CaptureStderr();
  const MutantRuns runs(file_, header(), false, "test");
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find(file_.string() + ": " + std::to_string(ends[1] - ends[0]) +
                         " damaged bytes, the first at byte " + std::to_string(ends[0])),
            std::string::npos)
      << warning;
  EXPECT_NE(runs.find(hash, 0), nullptr);
  EXPECT_EQ(runs.find(hash, 1), nullptr);
  EXPECT_NE(runs.find(hash, 2), nullptr);
}

TEST_F(KeptRuns, HaveOneWriter) {
  MutantRuns first(file_, header(), false, "first");
  EXPECT_THROW(MutantRuns(file_, header(), false, "second"), Error);
}

TEST(MutantRun, ReadsBack) {
  MutantRun run;
  run.status = training::RunStatus::kDiverged;
  run.message = "why";
  run.metrics = {{TestSet::kTrain, 0.1}, {TestSet::kTest, std::numeric_limits<double>::infinity()}};
  run.right = {true, false, true};
  run.certainty = {0.1f, 1};
  run.seconds = 0.25;
  run.version = 1;
  const MutantRun again = mutant_run_from_json(to_json(run));
  EXPECT_EQ(again.status, run.status);
  EXPECT_EQ(again.message, run.message);
  EXPECT_EQ(again.metrics, run.metrics);
  EXPECT_EQ(again.right, run.right);
  EXPECT_EQ(again.certainty, run.certainty);
  EXPECT_EQ(again.seconds, run.seconds);
  EXPECT_EQ(again.version, 1);
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
}  // namespace neutra::experiments
