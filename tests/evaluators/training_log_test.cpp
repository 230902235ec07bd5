#include "evaluators/training_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/csv_table.h"

namespace neutra::evaluators {
namespace {

LoggedTraining training() {
  LoggedTraining logged;
  logged.program = "D7";
  logged.variant = "buggy";
  logged.hash = "509a4bb3c7d93ff542efd95db93bac50";
  logged.stream = "prefix";
  logged.seed = 3;
  logged.replica = 1;
  logged.parameters = {{"lr", "0.001"}, {"act1", "linear"}};
  logged.backend = "fused";
  logged.metric = "mae";
  logged.value = 0.1;
  logged.curves.begin = 1700000000;
  logged.curves.ends = {1700000000.5, 1700000001};
  logged.curves.series = {{"loss", {2, std::nan("")}},
                          {"val_loss", {1.0 / 3, std::numeric_limits<double>::infinity()}}};
  logged.provenance = {{"program_version", "1.2.3"}};
  return logged;
}

/// The files of a log by their paths.
std::map<std::string, std::string> files(LogFormat format, const LoggedTraining& logged) {
  std::map<std::string, std::string> contents;
  for (const LogFile& file : log_files(format, logged, "/logs/a b")) {
    EXPECT_TRUE(contents.emplace(file.path.string(), file.content).second) << file.path;
  }
  return contents;
}

TEST(TrainingLog, NamesOfFormats) {
  for (const LogFormat format : {LogFormat::kCsv, LogFormat::kTensorBoard, LogFormat::kMlflow}) {
    EXPECT_EQ(parse_log_format(to_string(format)), format);
  }
  EXPECT_EQ(parse_log_format("xml"), std::nullopt);
}

TEST(TrainingLog, TableHoldsEveryValueExactly) {
  const auto written = files(LogFormat::kCsv, training());
  ASSERT_EQ(written.size(), 1U);
  const auto& [path, text] = *written.begin();
  EXPECT_EQ(path, log_folder(training()) + "/replica-1.csv");
  const CsvTable table = parse_csv_table(text, path);
  EXPECT_EQ(table.header, (std::vector<std::string>{"replica", "epoch", "loss", "val_loss"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells, (std::vector<std::string>{"1", "1", "2", "0.3333333333333333"}));
  EXPECT_EQ(std::stod(table.rows[0].cells[3]), 1.0 / 3);
  EXPECT_TRUE(std::isnan(std::stod(table.rows[1].cells[2])));
  EXPECT_TRUE(std::isinf(std::stod(table.rows[1].cells[3])));
}

TEST(TrainingLog, FoldersTellTrainingsApart) {
  const LoggedTraining one = training();
  std::set<std::string> names{log_folder(one)};
  LoggedTraining other = one;
  other.replica = 7;
  EXPECT_EQ(log_folder(other), log_folder(one));  // replicas of one folder
  const auto expect_another = [&](LoggedTraining changed) {
    EXPECT_TRUE(names.insert(log_folder(changed)).second) << log_folder(changed);
  };
  (other = one).seed = 4;
  expect_another(other);
  (other = one).stream = "independent";
  expect_another(other);
  (other = one).hash[0] = '6';
  expect_another(other);
}

TEST(TrainingLog, ProgramsOfAnyNameStayInTheFolder) {
  const std::vector<std::string> names = {
      "../up", "/root", "a/b\\c", ".", "", "x\ny\x1b", "\xc3\xa4", "a|b", std::string(1000, 'n')};
  for (const std::string& name : names) {
    LoggedTraining logged = training();
    logged.program = name;
    logged.parameters = {{"../k/e:y", "line\nline|"}};
    for (const LogFormat format : {LogFormat::kCsv, LogFormat::kTensorBoard, LogFormat::kMlflow}) {
      for (const LogFile& file : log_files(format, logged, "/logs")) {
        EXPECT_TRUE(file.path.is_relative()) << file.path;
        for (const std::filesystem::path& part : file.path) {
          EXPECT_NE(part, "..");
          EXPECT_LT(part.string().size(), 255U);
          EXPECT_EQ(part.string().find_first_of("/\\|\n\x1b\xc3"), std::string::npos) << part;
        }
      }
    }
  }
}

TEST(TrainingLog, EventFileHasTextsAndScalars) {
  const auto written = files(LogFormat::kTensorBoard, training());
  ASSERT_EQ(written.size(), 1U);
  const auto& [path, bytes] = *written.begin();
  EXPECT_EQ(path, log_folder(training()) + "/replica-1/events.out.tfevents.neutra");
  for (const char* text : {"brain.Event:2", "| lr | 0.001 |", "| seed | 3 |", "| program | D7 |",
                           "val_loss", "holdout_mae", "hyperparameters"}) {
    EXPECT_NE(bytes.find(text), std::string::npos) << text;
  }

  LoggedTraining odd = training();
  odd.parameters = {{"a|b", "c\nd"}};
  EXPECT_NE(files(LogFormat::kTensorBoard, odd).begin()->second.find("| a\\|b | c\\x0ad |\n"),
            std::string::npos);
}

TEST(TrainingLog, RunsOfMlflow) {
  const std::vector<LogFile> list = log_files(LogFormat::kMlflow, training(), "/logs/a b");
  EXPECT_EQ(list.back().path.filename(), "meta.yaml");  // a run appears when it is whole
  const auto written = files(LogFormat::kMlflow, training());
  const std::filesystem::path run = list.back().path.parent_path();
  const std::filesystem::path experiment = run.parent_path();
  EXPECT_EQ(experiment.parent_path(), "mlruns");
  EXPECT_EQ(run.filename().string().size(), 32U);
  const auto content = [&](const std::filesystem::path& path) { return written.at(path.string()); };
  EXPECT_EQ(
      content(experiment / "meta.yaml"),
      "artifact_location: \"file:///logs/a%20b/" + experiment.string() +
          "\"\ncreation_time: 1700000000000\nexperiment_id: '" + experiment.filename().string() +
          "'\nlast_update_time: 1700000000000\nlifecycle_stage: active\nname: \"neutra D7\"\n");
  EXPECT_NE(content(run / "meta.yaml").find("status: 3\n"), std::string::npos);
  EXPECT_NE(content(run / "meta.yaml").find("end_time: 1700000001000\n"), std::string::npos);
  EXPECT_EQ(content(run / "metrics/loss"), "1700000000500 2 1\n1700000001000 nan 2\n");
  EXPECT_EQ(content(run / "metrics/val_loss"),
            "1700000000500 0.3333333333333333 1\n1700000001000 inf 2\n");
  EXPECT_EQ(content(run / "metrics/holdout_mae"), "1700000001000 0.1 2\n");
  EXPECT_EQ(content(run / "params/lr"), "0.001");
  EXPECT_EQ(content(run / "params/seed"), "3");
  EXPECT_EQ(content(run / "tags/mlflow.runName"), "buggy replica-1");
  EXPECT_EQ(content(run / "tags/neutra.program_version"), "1.2.3");
  EXPECT_EQ(content(run / "artifacts/epochs.csv"),
            files(LogFormat::kCsv, training()).begin()->second);

  LoggedTraining other = training();
  other.replica = 2;
  const std::filesystem::path its = log_files(LogFormat::kMlflow, other, "/logs").back().path;
  EXPECT_NE(its.parent_path(), run);
  EXPECT_EQ(its.parent_path().parent_path(), experiment);
}

TEST(TrainingLog, TrainingsThatFailedSaySo) {
  LoggedTraining logged = training();
  logged.status = "timeout";
  logged.message = "ran past its time limit in epoch 1";
  logged.curves.series.clear();
  logged.curves.ends.clear();
  logged.value = std::nan("");
  EXPECT_EQ(files(LogFormat::kCsv, logged).begin()->second, "replica,epoch\n");
  const std::string events = files(LogFormat::kTensorBoard, logged).begin()->second;
  EXPECT_NE(events.find("| message | ran past its time limit in epoch 1 |"), std::string::npos);
  const std::vector<LogFile> run = log_files(LogFormat::kMlflow, logged, "/logs");
  EXPECT_NE(run.back().content.find("status: 4\n"), std::string::npos);
  EXPECT_NE(run.back().content.find("end_time: 1700000000000\n"), std::string::npos);
}

}  // namespace
}  // namespace neutra::evaluators
