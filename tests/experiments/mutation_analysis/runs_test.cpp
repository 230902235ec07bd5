#include "experiments/mutation_analysis/runs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/journal.h"
#include "tests/experiments/mutation_analysis/fake_trainer.h"

namespace neutra::experiments::tests {
namespace {

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

}  // namespace
}  // namespace neutra::experiments::tests
