// `neutra train`: the same numbers whatever is recorded, logs, signals.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/count.h"

namespace neutra::cli {
namespace {

/// Of all replicas that `train --json` printed.
Json metrics_of(const Called& called) {
  const Json out = parse_json(called.out, "out");
  Json values;
  for (const auto& replica : out.at("replicas")) values.push_back(replica.at("metric"));
  return values;
}

TEST(Train, TrainIsTheSameWithAnyNumberOfWorkers) {
  const Folder folder;
  std::vector<Json> metrics;
  for (const char* workers : {"1", "2", "4"}) {
    const Called called =
        call({"train", "D7", "-n", "4", "--json", "--workers", workers}, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    metrics.push_back(metrics_of(called));
  }
  EXPECT_EQ(metrics[0], metrics[1]);
  EXPECT_EQ(metrics[0], metrics[2]);
}

TEST(Train, MonitoredTrainingsAreTheSameAndTheirFileToo) {
  const Folder folder;
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"train", "D7", "-n", "3", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    return called;
  };
  const Json alone = metrics_of(train({}));
  EXPECT_EQ(metrics_of(train({"--monitor", "a.h5", "--workers", "1"})), alone);
  EXPECT_EQ(metrics_of(train({"--monitor", "b.h5", "--workers", "3"})), alone);
  EXPECT_EQ(folder.read("a.h5"), folder.read("b.h5"));
  train({"--monitor", "clean.h5", "--version", "fixed"});

  const Called shown = call({"symptoms", "a.h5", "--clean", "clean.h5"}, folder.path());
  ASSERT_EQ(shown.exit, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, {"D7 (buggy)", "3 trainings", "D7 (fixed)"}));
  const Called json = call({"symptoms", "a.h5", "--clean", "clean.h5", "--json"}, folder.path());
  const Json result = parse_json(json.out, "out");
  EXPECT_EQ(result["mode"], "relative");
  ASSERT_EQ(result["replicas"].size(), 3u);
  EXPECT_EQ(result["replicas"][2]["epochs"], 200);
  EXPECT_EQ(result["replicas"][0]["data_faults"].size(), 4u);
  ASSERT_EQ(result["prevalence"].size(), 16u);
  const Json& count = result["prevalence"][0];
  EXPECT_EQ(count["pairs"]["faulty_only"].get<int>() + count["pairs"]["both"].get<int>(),
            count["faulty"]);
  EXPECT_LE(count["mcnemar"]["exact_p"].get<double>(), 1);
  EXPECT_TRUE(count["odds_ratio"].contains("high"));

  const Called numbers = call({"symptoms", "a.h5", "--json"}, folder.path());
  EXPECT_EQ(parse_json(numbers.out, "out")["mode"], "absolute");
  EXPECT_FALSE(parse_json(numbers.out, "out")["prevalence"][0].contains("mcnemar"));

  ASSERT_EQ(call({"train", "D7", "-n", "1", "--monitor", "one.h5"}, folder.path()).exit, 0);
  const Called fewer = call({"symptoms", "a.h5", "--clean", "one.h5"}, folder.path());
  EXPECT_TRUE(refused(fewer, 3, {"one.h5: /replicas: found 1 ", "a.h5: 3"}));
  ASSERT_EQ(
      call({"train", "D7", "-n", "3", "--seed", "4", "--monitor", "other.h5"}, folder.path()).exit,
      0);
  const Called other = call({"symptoms", "a.h5", "--clean", "other.h5"}, folder.path());
  EXPECT_TRUE(refused(other, 3, {"other.h5: seed: found 4; allowed: 0"}));
  const Called itself = call({"symptoms", "a.h5", "--clean", "b.h5"}, folder.path());
  EXPECT_TRUE(refused(itself, 3, {"b.h5: hash: ", "a.h5"}));
  std::filesystem::create_directory(folder.path() / "folder");
  EXPECT_EQ(call({"train", "D7", "-n", "1", "--monitor", "folder"}, folder.path()).exit, 3);
}

TEST(Train, LogsOfTrainingsChangeNothingAndStay) {
  const Folder folder;
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"train", "D7", "-n", "3", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return call(words, folder.path());
  };
  const auto logs = [&](const std::string& ending) {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      const std::string name =
          std::filesystem::relative(entry.path(), folder.path()).lexically_normal().string();
      if (entry.is_regular_file() && name.ends_with(ending)) contents[name] = folder.read(name);
    }
    return contents;
  };
  const Json alone = metrics_of(train({}));
  EXPECT_EQ(metrics_of(train({"--log", "one", "--workers", "1"})), alone);
  const Called every =
      train({"--log", "all/of", "--log-format", "mlflow", "--log-format", "csv", "--log-format",
             "tensorboard", "--workers", "3", "--monitor", "m.h5"});
  EXPECT_EQ(every.exit, 0) << every.err;
  EXPECT_EQ(metrics_of(every), alone);
  const auto tables = logs(".csv");
  ASSERT_EQ(tables.size(), 9u);  // three of one/, three of all/of, three of its runs of MLflow
  for (const auto& [name, content] : tables) {
    EXPECT_EQ(count(content, "\n"), 201u) << name;
    EXPECT_TRUE(content.starts_with("replica,epoch,loss,mae,val_loss,val_mae\n")) << name;
    if (!name.starts_with("all/of/D7")) continue;
    EXPECT_EQ(content, tables.at("one" + name.substr(std::string("all/of").size()))) << name;
  }
  EXPECT_EQ(logs(".neutra").size(), 3u);
  EXPECT_EQ(logs("metrics/holdout_mae").size(), 3u);

  // The same again replaces, another one comes beside it.
  EXPECT_EQ(train({"--log", "one"}).exit, 0);
  EXPECT_EQ(logs(".csv"), tables);
  EXPECT_EQ(train({"--log", "one", "--version", "fixed"}).exit, 0);
  EXPECT_EQ(logs(".csv").size(), 12u);
}

TEST(Train, LogsThatCantBeWrittenAreFoundBeforeTheTraining) {
  const Folder folder;
  const auto refuses = [&](std::vector<std::string> more, int code, const std::string& named) {
    std::vector<std::string> words{"train", "D7", "-n", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Called called = call(words, folder.path());
    EXPECT_TRUE(refused(called, code, {named}));
  };
  folder.write("file", "text");
  refuses({"--log", "file"}, 3, "--log: found file/");
  refuses({"--log", "/proc/none"}, 3, "--log: found /proc/none");
  refuses({"--log", "D7.csv"}, 2, "--log: found D7.csv");
  refuses({"--log-format", "csv"}, 2, "--log-format: found no --log");
  refuses({"--log", "logs", "--log-format", "tensorbord"}, 2, "tensorboard?");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
  EXPECT_EQ(folder.read("file"), "text");
}

TEST(Train, LogsOfAnInterruptedRunAreThoseOfItsFinishedReplicas) {
  const Folder folder;
  Json program = parse_json(call({"show", "D7", "--json"}, folder.path()).out, "out")["program"];
  program["fit"]["epochs"] = 20000;  // that all replicas take minutes
  folder.write("long.json", to_text(program));
  Running training(
      {built_command(), "train", "long.json", "-n", "1000", "--log", "logs", "--workers", "1"},
      folder.path());
  /// One worker: in their order.
  const auto written = [&] {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& own : std::filesystem::directory_iterator(folder.path() / "logs", ignored)) {
      for (const std::string name = "logs/" + own.path().filename().string() + "/replica-";;) {
        const std::string next = name + std::to_string(names.size()) + ".csv";
        if (!std::filesystem::exists(folder.path() / next)) break;
        names.push_back(next);
      }
    }
    return names;
  };
  training.wait_until([&] { return written().size() >= 2; });
  kill(training.pid(), SIGINT);
  const Called called = training.wait(120);
  EXPECT_EQ(called.exit, 75) << called.err;
  EXPECT_GE(written().size(), 2u);
  EXPECT_LT(written().size(), 1000u);
  for (const std::string& name : written()) EXPECT_EQ(count(folder.read(name), "\n"), 20001u);
}

TEST(Train, ASignalToldTwiceIsOne) {
  const Folder folder;
  // As coreutils' timeout does: once to its command, once to the whole group.
  Running search({built_command(), "search", "D8", "--store", "D8.h5", "--quiet"}, folder.path());
  const std::filesystem::path journal = folder.path() / "D8.h5.journal";
  std::error_code not_yet;  // with some trainings in it
  search.wait_until([&] {
    return std::filesystem::exists(journal, not_yet) &&
           std::filesystem::file_size(journal, not_yet) > 10'000;
  });
  kill(search.pid(), SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(search.pid(), SIGTERM);
  const Called called = search.wait(120);
  EXPECT_EQ(called.exit, 75) << called.err;
  EXPECT_EQ(call({"store", "check", "D8.h5"}, folder.path()).exit, 0);
}

}  // namespace
}  // namespace neutra::cli
