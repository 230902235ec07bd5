#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/count.h"
#include "tests/schema.h"

namespace neutra::cli {
namespace {

std::string file_text(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Command, ReferencePageIsWhatHelpSays) {
  const Folder folder;
  const Called called = call({"help", "--markdown"}, folder.path());
  ASSERT_EQ(called.exit, 0);
  EXPECT_EQ(called.out, file_text(NEUTRA_SOURCE_DIR "/docs/reference/commands.md"))
      << "run scripts/update_docs";
}

TEST(Command, VersionNamesLibrariesAndBlasRoute) {
  const Folder folder;
  const Called called = call({"--version"}, folder.path());
  ASSERT_EQ(called.exit, 0);
  for (const char* word :
       {"neutra 0.1.0", "LibTorch", "oneDNN", "HDF5", "MPI: ", "BLAS route: oneDNN", "GFLOP/s"})
    EXPECT_NE(called.out.find(word), std::string::npos) << word << called.out;
}

TEST(Command, ListsSubjectsAndFaults) {
  const Folder folder;
  const Called faults = call({"faults", "--json"}, folder.path());
  ASSERT_EQ(faults.exit, 0) << faults.err;
  EXPECT_EQ(parse_json(faults.out, "out").size(), 25u);
  const Called subjects = call({"subjects", "--json"}, folder.path());
  ASSERT_EQ(subjects.exit, 0) << subjects.err;
  EXPECT_EQ(parse_json(subjects.out, "out").size(), 22u);
}

TEST(Command, ListsTheDataThatFaultsLack) {
  const Folder folder;
  const auto list = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "faults", "D1", "D2", "R1", "R2", "C1", "--data", "--data-dir", folder.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return call(words, folder.path());
  };
  const Called text = list({});
  ASSERT_EQ(text.exit, 0) << text.err;
  for (const char* words :
       {"cifar-10-batches-bin: 6 files", "R1, R2", "higgs.csv", "kaggle.com/c/higgs-boson"})
    EXPECT_NE(text.out.find(words), std::string::npos) << words << " in:\n" << text.out;
  EXPECT_NE(text.err.find("1 of 5 faults have all their data here"), std::string::npos) << text.err;

  std::ofstream(folder.path() / "reuters.npz") << "here";
  const Called called = list({"--json"});
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json json = parse_json(called.out, "out");
  EXPECT_EQ(json["faults"][0], Json::parse(R"({"id": "D1", "missing": []})"));
  EXPECT_EQ(json["faults"][1], Json::parse(R"({"id": "D2", "missing": ["higgs.csv"]})"));
  EXPECT_EQ(json["faults"][2], Json::parse(R"({"id": "R1", "missing": []})"));
  for (const Json& file : json["files"]) {
    if (file["file"] == "reuters.npz") {
      EXPECT_EQ(file["faults"], Json::parse(R"(["R1", "R2"])"));
      EXPECT_EQ(file["found"], (folder.path() / "reuters.npz").string());
      EXPECT_TRUE(file["put"].is_null());
    }
    if (file["file"] == "higgs.csv") {
      EXPECT_TRUE(file["found"].is_null());
      EXPECT_TRUE(file["put"].get<std::string>().ends_with("/higgs.csv"));
    }
  }
  EXPECT_EQ(list({"--check"}).exit, 2);
}

/// Of all replicas that `train --json` printed.
Json metrics_of(const Called& called) {
  Json values;
  for (const auto& replica : parse_json(called.out, "out")["replicas"])
    values.push_back(replica["metric"]);
  return values;
}

TEST(Command, TrainIsTheSameWithAnyNumberOfWorkers) {
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

TEST(Command, MonitoredTrainingsAreTheSameAndTheirFileToo) {
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
  EXPECT_NE(shown.out.find("D7 (buggy), 3 trainings, against clean ones of D7 (fixed)"),
            std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("likeliest fault of the data"), std::string::npos);
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
  EXPECT_EQ(fewer.exit, 3);
  EXPECT_NE(fewer.err.find("one.h5: /replicas: found 1 replicas; allowed: as many as in a.h5: 3"),
            std::string::npos)
      << fewer.err;
  ASSERT_EQ(
      call({"train", "D7", "-n", "3", "--seed", "4", "--monitor", "other.h5"}, folder.path()).exit,
      0);
  const Called other = call({"symptoms", "a.h5", "--clean", "other.h5"}, folder.path());
  EXPECT_EQ(other.exit, 3);
  EXPECT_NE(other.err.find("other.h5: seed: found 4; allowed: 0, that of a.h5"), std::string::npos)
      << other.err;
  const Called itself = call({"symptoms", "a.h5", "--clean", "b.h5"}, folder.path());
  EXPECT_EQ(itself.exit, 3);
  EXPECT_NE(itself.err.find("b.h5: hash: found the program of a.h5 itself"), std::string::npos)
      << itself.err;
  std::filesystem::create_directory(folder.path() / "folder");
  EXPECT_EQ(call({"train", "D7", "-n", "1", "--monitor", "folder"}, folder.path()).exit, 3);
}

TEST(Command, LogsOfTrainingsChangeNothingAndStay) {
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

TEST(Command, LogsThatCantBeWrittenAreFoundBeforeTheTraining) {
  const Folder folder;
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& reason) {
    std::vector<std::string> words{"train", "D7", "-n", "1"};
    words.insert(words.end(), more.begin(), more.end());
    const Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, code) << called.err;
    EXPECT_NE(called.err.find(reason), std::string::npos) << called.err;
    EXPECT_EQ(called.out, "");
  };
  folder.write("file", "text");
  refused({"--log", "file"}, 3, "--log: found file/");
  refused({"--log", "/proc/none"}, 3, "--log: found /proc/none");
  refused({"--log", "D7.csv"}, 2, "--log: found D7.csv; allowed: a folder");
  refused({"--log-format", "csv"}, 2, "--log-format: found no --log");
  refused({"--log", "logs", "--log-format", "tensorbord"}, 2, "did you mean tensorboard?");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
  EXPECT_EQ(folder.read("file"), "text");
}

TEST(Command, LogsOfAnInterruptedRunAreThoseOfItsFinishedReplicas) {
  const Folder folder;
  Json program = parse_json(call({"show", "D7", "--json"}, folder.path()).out, "out")["program"];
  program["fit"]["epochs"] = 20000;  // that all replicas take minutes
  folder.write("long.json", to_text(program));
  Running training(
      {NEUTRA_COMMAND, "train", "long.json", "-n", "1000", "--log", "logs", "--workers", "1"},
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

TEST(Command, ASignalToldTwiceIsOne) {
  const Folder folder;
  // As coreutils' timeout does: once to its command, once to the whole group.
  Running search({NEUTRA_COMMAND, "search", "D8", "--store", "D8.h5", "--quiet"}, folder.path());
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

/// A script that stands for a program of that name in commands of `with_tools`.
void write_tool(const Folder& folder, const std::string& name, const std::string& script) {
  std::filesystem::permissions(folder.write(name, "#!/bin/sh\n" + script),
                               std::filesystem::perms::owner_all);
}
std::vector<std::string> with_tools(const Folder& folder, const std::string& words) {
  return {"sh", "-c",
          "PATH=" + folder.path().string() + ":$PATH exec '" NEUTRA_COMMAND "' " + words};
}

TEST(Command, SubmitKnowsItsJobs) {
  const Folder folder;
  const auto tool = [&](const std::string& name, const std::string& script) {
    write_tool(folder, name, script);
  };
  tool("sbatch", "echo 13\n");
  tool("squeue", "echo '13_1|PENDING|0:00|1:00|(Priority, x)'; echo '14_0|RUNNING|0:01|1:00|n1'\n");
  const auto study = [&](const std::string& name) {
    folder.write("study.json", R"({"format": "neutra-study", "version": 1, "name": ")" + name +
                                   R"(", "faults": ["D6", "D7", "D8"]})");
  };
  const auto submit = [&](const std::string& words) {
    return Running(with_tools(folder, words), folder.path()).wait(120);
  };
  study("first");
  Called called = submit("submit study.json --folder out --only D6 --only D7");
  ASSERT_EQ(called.exit, 0) << called.err;
  // The queue has D7; of 14 this folder knows nothing.
  called = submit("status out");
  EXPECT_NE(called.out.find("13_1"), std::string::npos) << called.out;
  EXPECT_NE(called.out.find("(Priority, x)"), std::string::npos) << called.out;
  EXPECT_EQ(called.out.find("14_0"), std::string::npos) << called.out;
  EXPECT_EQ(submit("status out out/ ./out --format json").out,
            submit("status out --format json").out);
  for (const char* executor : {"slurm", "local"}) {
    called = submit("submit study.json --folder out --only D7 --executor " + std::string(executor));
    EXPECT_EQ(called.exit, 3);
    EXPECT_NE(called.err.find("D7 (job 13_1, PENDING)"), std::string::npos) << called.err;
  }
  // Who can't ask the queue doesn't submit a second time.
  const std::string queue = folder.read("squeue");
  tool("squeue", "exit 1\n");
  called = submit("submit study.json --folder out --only D7");
  EXPECT_EQ(called.exit, 1);
  EXPECT_NE(called.err.find("squeue doesn't say"), std::string::npos) << called.err;
  EXPECT_EQ(submit("status out").exit, 0);
  folder.write("squeue", queue);
  // Of these, D7 is queued and left out.
  tool("sbatch", "echo 15\n");
  folder.write("out/logs/D8.end", "exit 137 at attempt 20 of 20");
  called = submit("submit study.json --folder out --only D7 --only D8");
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_NE(called.err.find("left out, for they are in the queue: D7 (job 13_1, PENDING)\n"),
            std::string::npos)
      << called.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/logs/D8.end"));
  // What was submitted earlier is not forgotten.
  const Json batch = parse_json(folder.read("out/batch.json"), "batch.json");
  EXPECT_EQ(batch["faults"], Json::parse(R"(["D6", "D7", "D8"])"));
  EXPECT_EQ(batch["jobs"], Json::parse(R"([{"id": "13", "faults": ["D6", "D7"]},
                                           {"id": "15", "faults": ["D8"]}])"));
  study("second");
  called = submit("submit study.json --folder out --only D8");
  EXPECT_EQ(called.exit, 3);
  EXPECT_NE(called.err.find("\"first\", another study"), std::string::npos) << called.err;
  tool("sbatch", "echo no partition >&2; exit 1\n");
  called = submit("submit study.json --folder new");
  EXPECT_EQ(called.exit, 1);
  EXPECT_EQ(count(called.err, "no partition"), 1u) << called.err;
  tool("sbatch", "echo would start soon >&2\n");
  called = submit("submit study.json --folder new");
  EXPECT_EQ(called.exit, 1);
  EXPECT_NE(called.err.find("would start soon"), std::string::npos) << called.err;
  // The mended command goes through, in the folder where it is called.
  tool("sbatch", "pwd > where; echo 16\n");
  called = submit("submit study.json --folder new");
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(parse_json(folder.read("new/batch.json"), "batch.json")["jobs"].size(), 1U);
  EXPECT_EQ(folder.read("where"), folder.path().string() + "\n");
}

TEST(Command, OneSubmitAtATime) {
  const Folder folder;
  write_tool(folder, "sbatch", "echo . >> called; sleep 5; grep -c . called\n");
  folder.write("study.json", R"({"format": "neutra-study", "version": 1, "name": "s",
                                 "faults": ["D6", "D7"]})");
  const auto submit = [&](const std::string& fault) {
    return Running(with_tools(folder, "submit study.json --folder out --only " + fault),
                   folder.path());
  };
  Running first = submit("D6");
  first.wait_until([&] { return std::filesystem::exists(folder.path() / "called"); });
  const Called second = submit("D7").wait(120);
  EXPECT_EQ(second.exit, 1);
  EXPECT_NE(second.err.find("another neutra submit is at work there"), std::string::npos)
      << second.err;
  EXPECT_EQ(first.wait(120).exit, 0);
  EXPECT_EQ(parse_json(folder.read("out/batch.json"), "batch.json")["jobs"],
            Json::parse(R"([{"id": "1", "faults": ["D6"]}])"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/batch.lock"));
}

TEST(Command, ReportsOfTwoProgramsAreRefusedBriefly) {
  const Folder folder;
  for (const char* fault : {"D6", "D7"}) {
    ASSERT_EQ(call({"search", fault, "--store", std::string(fault) + ".h5", "--budget-evaluations",
                    "1", "--replicas", "2", "--quiet"},
                   folder.path())
                  .exit,
              0);
  }
  const Called called = call({"report", "D7.h5", "D6.h5", "-o", "r.html"}, folder.path());
  EXPECT_EQ(called.exit, 3) << called.err;
  EXPECT_NE(called.err.find("found D6 ("), std::string::npos) << called.err;
  EXPECT_NE(called.err.find("allowed: D7 ("), std::string::npos) << called.err;
  EXPECT_LT(called.err.size(), 300u) << called.err;
}

TEST(Command, AToolWithoutMessagesHasNoHeadingForThem) {
  const Folder folder;
  const Called called =
      call({"localise", "D6", "--tool", "neuralint", "--runs", "1"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(called.out.find("\n\n\n"), std::string::npos) << called.out;
  std::istringstream lines(called.out);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line.empty() ? last : line;
  EXPECT_NE(last.back(), ':') << called.out;
}

TEST(Command, AStoreHasAStatusWhateverLiesBesideIt) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "3", "--quiet"},
                 folder.path())
                .exit,
            0);
  folder.write("batch.json", "{\"my\": \"file\"}");
  const Called called = call({"status", "D7.h5"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_NE(called.out.find("finished"), std::string::npos) << called.out;
  // What it found so far.
  const Json listed = parse_json(call({"status", "D7.h5", "--json"}, folder.path()).out, "out");
  const Json& row = listed.at("searches").front();
  EXPECT_TRUE(row.at("buggy").is_number()) << listed;
  EXPECT_EQ(row.at("best").is_null(), row.at("alternatives") == 0) << listed;
}

TEST(Command, CurvesOfReportsAreThoseOfTheSearch) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "150", "--quiet"},
                 folder.path())
                .exit,
            0);
  const auto curves = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"report", "D7.h5", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    return parse_json(called.out, "out");
  };
  EXPECT_TRUE(curves({})["curves"].is_null());
  const Json document = curves({"--curves", "2"});
  const Json& best = document["curves"];
  EXPECT_GE(best["compared"].get<int>(), 20);
  EXPECT_EQ(best["same"], best["compared"]);
  EXPECT_EQ(best["searched_with"], best["trained_with"]);
  EXPECT_EQ(best["programs"][0]["node"], 0);
  EXPECT_EQ(best["programs"][0]["epochs"].size(), 200u);
  const auto metrics = [&](std::int64_t id) {
    for (const Json& node : document["network"]["nodes"])
      if (node["id"] == id) return node["metrics"];
    return Json();
  };
  int fixes = 0;
  for (const Json& program : best["programs"]) {
    fixes += program["fixed"].get<bool>();
    ASSERT_EQ(program["replicas"].size(), 10u);
    const Json wanted = program["fixed"].get<bool>() ? document["network"]["fixed_metrics"]
                                                     : metrics(program["node"].get<std::int64_t>());
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(program["replicas"][i]["metric"], wanted[i]);
  }
  EXPECT_EQ(fixes, 1);
  EXPECT_EQ(curves({"--curves", "2", "--workers", "1"})["curves"], best);

  const Json one = curves({"--curves", "id:0", "--replicas", "1"})["curves"];
  ASSERT_EQ(one["programs"].size(), 2u);  // the buggy one and the known fix
  EXPECT_EQ(one["programs"][0]["replicas"].size(), 1u);
  EXPECT_EQ(one["compared"], 2);

  ASSERT_EQ(call({"network", "D7.h5", "--format", "tsv", "-o", "D7.tsv"}, folder.path()).exit, 0);
  const auto message = [&](std::vector<std::string> words, int code) {
    const Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, code) << called.err;
    return called.err;
  };
  EXPECT_NE(message({"report", "D7.tsv", "--curves", "1"}, 3).find("--curves with a store"),
            std::string::npos);
  for (const std::string wrong : {"x", "-1", "1,y", "1,,2", ",", "1.5", "id:", "id:x", "id"})
    EXPECT_NE(message({"report", "D7.h5", "--curves=" + wrong}, 2).find("--curves: found"),
              std::string::npos)
        << wrong;
  EXPECT_NE(message({"report", "D7.h5", "--curves", "0,99999"}, 2)
                .find("found 99999, which isn't in the network; allowed: ids of its programs such "
                      "as 0, "),
            std::string::npos);
}

TEST(Command, LocaliseIsTheSameWithAnyNumberOfWorkers) {
  const Folder folder;
  std::vector<Json> answers;
  for (const char* workers : {"1", "3"}) {
    const Called called = call({"localise", "D6", "--runs", "4", "--json", "--workers", workers,
                                "--tool", "umlaut", "--tool", "umlaut"},
                               folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    Json tools = parse_json(called.out, "out")["tools"];
    ASSERT_EQ(tools.size(), 1u);
    EXPECT_EQ(tools[0]["answers"], Json::parse(R"([{"answer": "-", "runs": 4}])"));
    EXPECT_GT(tools[0]["seconds"].get<double>(), 0);
    EXPECT_EQ(tools[0]["runs"][0]["messages"][0]["code"], "no_softmax");
    for (Json& run : tools[0]["runs"]) run.erase("seconds");
    answers.push_back(tools[0]["runs"]);
  }
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(Command, LocaliseRepairedSaysNothingMisleading) {
  const Folder folder;
  const Called published = call({"localise", "D1", "--runs", "1"}, folder.path());
  ASSERT_EQ(published.exit, 0) << published.err;
  EXPECT_NE(published.out.find("Missing Softmax layer before loss"), std::string::npos);
  EXPECT_NE(published.out.find("answer in 1 of 1 runs: -"), std::string::npos) << published.out;
  const Called repaired =
      call({"localise", "D1", "--runs", "1", "--defects", "repaired"}, folder.path());
  ASSERT_EQ(repaired.exit, 0) << repaired.err;
  EXPECT_EQ(repaired.out.find("Missing"), std::string::npos) << repaired.out;
}

TEST(Command, LayersAreToldByNumberAndName) {
  const Folder folder;
  Json program = parse_json(call({"show", "D6", "--json"}, folder.path()).out, "out")["program"];
  Json& layers = program["model"]["config"]["layers"];
  layers[1]["config"]["name"] = "dense_out";
  const Json shape = layers[0]["config"]["batch_input_shape"];
  layers[0]["config"].erase("batch_input_shape");
  const Json input = {{"class_name", "InputLayer"},
                      {"config", {{"batch_input_shape", shape}, {"name", "rows"}}}};
  layers.insert(layers.begin(), input);
  folder.write("p.json", program.dump());
  const std::vector<std::string> localise{"localise",     "p.json", "--tool",
                                          "deeplocalize", "--runs", "1"};
  const Called text = call(localise, folder.path());
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_NE(text.out.find("layer 2, dense_out (the tool's layer 1): Error in "), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("  2, dense_out  "), std::string::npos) << text.out;
  std::vector<std::string> as_json = localise;
  as_json.push_back("--json");
  const Json said = parse_json(call(as_json, folder.path()).out, "output");
  EXPECT_EQ(said["layer_names"], Json({"rows", "dense_1", "dense_out"}));
  EXPECT_EQ(said["tools"][0]["runs"][0]["messages"][0]["layers"], Json({2}));
  EXPECT_NE(call({"show", "p.json"}, folder.path()).out.find("2  dense_out  Dense"),
            std::string::npos);
}

TEST(Command, StaticToolsNeedNoData) {
  const Folder folder;
  const Called called = call(
      {"localise", "D4", "--tool", "neuralint", "--json", "--data-dir", folder.path().string()},
      folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json tool = parse_json(called.out, "out")["tools"][0];
  EXPECT_EQ(tool["answer"], "ACH(0), BCI(0,1)");
  EXPECT_EQ(tool["runs"].size(), 1u);
}

TEST(Command, ParseReadsRecordedOutput) {
  const Folder folder;
  const std::string issue =
      "Issue 48385830.py \r\n\t Batch 0 layer 0: Numerical Problem Forward, terminating training "
      "\t\t --- 11.5 seconds ---\t\tPlease change the activaton function at layer: 1\t\r\n";
  folder.write("runs.txt", issue + issue + "\tBatch 3 layer 1: Dead No");
  const std::vector<std::string> parse{"parse", "--tool", "deepdiagnosis", "runs.txt"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = parse;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return call(arguments, folder.path());
  };
  const Called json = with({"--json"});
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json parsed = parse_json(json.out, "out");
  EXPECT_EQ(parsed["tool"], "deepdiagnosis");
  ASSERT_EQ(parsed["programs"].size(), 1u);
  const Json& program = parsed["programs"][0];
  EXPECT_EQ(program["program"], "48385830");
  EXPECT_EQ(program["fault"], "D4");
  EXPECT_EQ(program["runs"], 2);  // a message without its issue is of no run
  EXPECT_EQ(program["answer"], "ACH(1)");
  EXPECT_EQ(program["faults"], Json::array({"ACH(1)"}));
  EXPECT_EQ(program["messages"][0]["code"], "numerical_forward");
  EXPECT_EQ(parsed["warnings"][0]["line"], 5);
  EXPECT_NE(json.err.find("runs.txt:5: the message is cut off"), std::string::npos) << json.err;

  const Called text = with({});
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_EQ(text.out.substr(0, 22), "48385830 (D4): ACH(1)\n") << text.out;

  ASSERT_EQ(with({"--format", "answers", "-o", "answers.csv"}).exit, 0);
  EXPECT_EQ(folder.read("answers.csv").substr(0, 13), "fault,tool,an");
  const Called score =
      call({"score", "--answers", "answers.csv", "--format", "csv"}, folder.path());
  EXPECT_EQ(score.exit, 0) << score.err;
}

TEST(Command, ScoreNamesTheProgramsThatItLeavesOut) {
  const Folder folder;
  folder.write("deepfd.txt",
               "working on subject:  48221692\nDiagnosed / Localized by DeepFD:\n"
               "Fault 1: [lr], Lines: []\ncase end\n"
               "working on subject:  51181393\nDiagnosed / Localized by DeepFD:\n"
               "Fault 1: [loss], Lines: []\ncase end\n");
  ASSERT_EQ(call({"parse", "--tool", "deepfd", "deepfd.txt", "--format", "answers", "-o", "a.csv"},
                 folder.path())
                .exit,
            0);
  EXPECT_EQ(folder.read("a.csv"),
            "fault,tool,answer,runs\n48221692,deepfd,HLR,1\nD7,deepfd,LCH,1\n");
  const Called score = call({"score", "--answers", "a.csv", "--json"}, folder.path());
  ASSERT_EQ(score.exit, 0) << score.err;
  EXPECT_EQ(parse_json(score.out, "out")["scores"].size(), 1u);
  EXPECT_NE(score.err.find("a.csv: answers on 48221692 are not used"), std::string::npos)
      << score.err;
}

TEST(Command, ParseRefusesWhatNoToolPrinted) {
  const Folder folder;
  folder.write("log.txt", "Epoch 1/3\nhello\n");
  EXPECT_EQ(call({"parse", "log.txt"}, folder.path()).exit, 2);
  EXPECT_EQ(call({"parse", "--tool", "umlat", "log.txt"}, folder.path()).exit, 2);
  EXPECT_EQ(call({"parse", "--tool", "umlaut", "none.txt"}, folder.path()).exit, 3);
  const Called nothing = call({"parse", "--tool", "umlaut", "log.txt"}, folder.path());
  EXPECT_EQ(nothing.exit, 3);
  EXPECT_NE(nothing.err.find("log.txt: found nothing that umlaut prints"), std::string::npos)
      << nothing.err;
}

TEST(Command, LocalisePrintsRankings) {
  const Folder folder;
  const std::vector<std::string> arguments{"localise", "D6",       "--runs",    "2",
                                           "--tool",   "deepmufl", "--defects", "repaired"};
  const Called text = call(arguments, folder.path());
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_NE(text.out.find("rank  layer"), std::string::npos) << text.out;
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--tool", "deepfault", "--json"});
  const Called json = call(as_json, folder.path());
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json tools = parse_json(json.out, "out")["tools"];
  ASSERT_EQ(tools.size(), 12u);  // nine formulas and three measures
  for (const Json& tool : tools) {
    const Json& ranking = tool["runs"][1]["ranking"];
    EXPECT_EQ(ranking["layers"].size(), 2u) << tool["tool"];
    const bool neurons = tool["tool"].get<std::string>().starts_with("deepfault");
    EXPECT_EQ(ranking["neurons"].size(), neurons ? 4u : 0u) << tool["tool"];
    EXPECT_TRUE(ranking["layers"][0].contains("suspiciousness"));
  }
}

TEST(Command, LocaliseWritesAnswersThatAreScored) {
  const Folder folder;
  const Called written = call({"localise", "D6", "--runs", "2", "--tool", "umlaut", "--tool",
                               "neuralint", "--format", "csv", "-o", "answers.csv"},
                              folder.path());
  ASSERT_EQ(written.exit, 0) << written.err;
  EXPECT_EQ(written.out, "");
  const std::string text = folder.read("answers.csv");
  EXPECT_TRUE(text.starts_with("fault,tool,answer,version,runs,")) << text;
  const Called scored = call({"score", "--answers", "answers.csv", "--json"}, folder.path());
  ASSERT_EQ(scored.exit, 0) << scored.err;
  const Json scores = parse_json(scored.out, "out")["scores"];
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0]["fault"], "D6");
  EXPECT_EQ(scores[0]["tool"], "umlaut");
  EXPECT_EQ(scores[0]["answer"], "-");
  for (const char* other : {"--list", "--check-tool=none.json"})
    EXPECT_EQ(call({"localise", other, "--format", "csv"}, folder.path()).exit, 2) << other;
}

TEST(Command, LocaliseListsToolsAndRefusesOthers) {
  const Folder folder;
  const Called list = call({"localise", "--list", "--json"}, folder.path());
  ASSERT_EQ(list.exit, 0) << list.err;
  EXPECT_EQ(parse_json(list.out, "out").back()["tool"], "umlaut");
  EXPECT_EQ(call({"localise"}, folder.path()).exit, 2);
  const Called unknown = call({"localise", "D6", "--tool", "umlat"}, folder.path());
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_NE(unknown.err.find("found 'umlat'; allowed: "), std::string::npos) << unknown.err;
}

TEST(Command, MutateListsOperators) {
  const Folder folder;
  const Called list = call({"mutate", "--list", "--json"}, folder.path());
  ASSERT_EQ(list.exit, 0) << list.err;
  const Json operators = parse_json(list.out, "out");
  std::vector<std::string> ids;
  for (const Json& op : operators) ids.push_back(op["id"]);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  for (const char* id : {"change_label", "gaussian_fuzz", "missing_step", "missing_values"})
    EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), id)) << id;
  for (const Json& op : operators) {
    for (const char* key : {"id", "abbreviation", "group", "parameters", "source"})
      EXPECT_TRUE(op.contains(key)) << op;
  }
}

TEST(Command, MutateShowsWhatChanges) {
  const Folder folder;
  const Called called =
      call({"mutate", "d7", "--operator", "HNE", "--value", "20", "--show"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(called.out, "HNE-20\n  replace /fit/epochs: 200 -> 20\n");
}

TEST(Command, MutantsAreProgramsAndFaultsThatOtherVerbsTake) {
  const Folder folder;
  const std::vector<std::string> arguments = {"mutate", "d7", "--order", "2",     "--count", "3",
                                              "--seed", "4",  "--as",    "fault", "-o"};
  auto first = arguments, second = arguments;
  first.push_back("one");
  second.push_back("two");
  ASSERT_EQ(call(first, folder.path()).exit, 0);
  ASSERT_EQ(call(second, folder.path()).exit, 0);
  const Json manifest = parse_json(folder.read("one/manifest.json"), "manifest.json");
  EXPECT_EQ(folder.read("one/manifest.json"), folder.read("two/manifest.json"));
  ASSERT_EQ(manifest["mutants"].size(), 3u);
  for (const Json& mutant : manifest["mutants"]) {
    const std::string file = "one/" + mutant["file"].get<std::string>();
    const Called shown = call({"show", file, "--json"}, folder.path());
    ASSERT_EQ(shown.exit, 0) << shown.err;
    const Json program = parse_json(shown.out, "out");
    EXPECT_EQ(program["hash"], mutant["hash"]);
    EXPECT_EQ(program["faults"], mutant["faults"]);
  }
  ASSERT_EQ(
      call({"mutate", "d7", "--apply", "TCL=50", "--apply", "HNE=2", "-o", "m.json"}, folder.path())
          .exit,
      0);
  const Called trained = call({"train", "m.json", "-n", "1", "--json"}, folder.path());
  EXPECT_EQ(trained.exit, 0) << trained.err;
}

/// A program that tells two classes of the rows of a CSV file apart.
Json binary_classifier(const std::string& file, const Json& split) {
  Json program = read_json(NEUTRA_TEST_DATA "/bad_input.json")["program"];
  program["task"] = "classification";
  program["model"]["config"]["layers"][2]["config"] = {{"units", 1}, {"activation", "sigmoid"}};
  program["compile"] = {
      {"optimizer", "adam"}, {"loss", "binary_crossentropy"}, {"metrics", {"accuracy"}}};
  program["metric"] = {{"name", "accuracy"}, {"goal", "maximize"}};
  program["data"] = {{"source", "csv"}, {"arguments", {{"file", file}}}, {"split", split}};
  return program;
}

TEST(Command, KillRecordsWhyThereIsNoMutant) {
  const Folder folder;
  const Json program = binary_classifier("one.csv", {{"test_size", 2}, {"seed", 1}});
  folder.write("p.json", to_text(program));
  std::string rows = "x,y\n";  // of one class
  for (int i = 0; i < 8; ++i) rows += std::to_string(i) + ",1\n";
  folder.write("one.csv", rows);
  const Called called =
      call({"mutate", "p.json", "--kill", "--runs", "2", "--operator", "TCL", "--operator", "HNE",
            "--operator", "RRW", "--json", "-o", "killed.json"},
           folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(called.out, "");
  const Json killed = parse_json(folder.read("killed.json"), "killed.json");
  std::map<std::string, std::string> reasons;
  for (const Json& entry : killed["not_applicable"])
    reasons[entry["operator"].get<std::string>()] = entry["reason"].get<std::string>();
  ASSERT_EQ(reasons.size(), 2u) << killed["not_applicable"];
  EXPECT_EQ(reasons["change_label"], "does not apply: training rows of one class");
  EXPECT_EQ(reasons.count("remove_weights_regularisation"), 1u);
  for (const Json& mutant : killed["mutants"]) EXPECT_EQ(mutant["operator"], "change_epochs");
}

/// Points on a line in two classes of equal size, and a program for them.
void write_even_classes(const Folder& folder, const Json& fit) {
  // The split takes five of each class.
  Json program = binary_classifier("rows.csv", {{"test_size", 10}, {"seed", 0}});
  if (fit.is_null()) {
    program.erase("fit");
  } else {
    program["fit"] = fit;
  }
  folder.write("p.json", to_text(program));
  std::string rows = "x,y\n";
  for (int i = 0; i < 40; ++i) rows += std::to_string(i) + (i < 20 ? ",0\n" : ",1\n");
  folder.write("rows.csv", rows);
}

TEST(Command, KillTakesAProgramWithoutAFit) {
  const Folder folder;
  write_even_classes(folder, Json());
  const Called called =
      call({"mutate", "p.json", "--operator", "TCL", "--operator", "HBS", "--operator", "RCD",
            "--layer", "1", "--kill", "--runs", "2", "--json"},
           folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json killed = parse_json(called.out, "out");
  for (const Json& mutant : killed["mutants"])
    EXPECT_EQ(mutant["operator"], "change_dropout_rate") << mutant;
  ASSERT_EQ(killed["not_applicable"].size(), 2u) << killed["not_applicable"];
  for (const Json& entry : killed["not_applicable"])
    EXPECT_EQ(entry["reason"], "it changes the whole program, not a layer");
  const Called all = call({"mutate", "p.json", "--operator", "TCL", "--operator", "HBS", "--kill",
                           "--runs", "2", "--json", "--report", "report.json"},
                          folder.path());
  ASSERT_EQ(all.exit, 0) << all.err;
  EXPECT_TRUE(parse_json(all.out, "out")["not_applicable"].empty());
  // Test sets of what was trained alone.
  const Json report = parse_json(folder.read("report.json"), "report.json");
  for (const auto& [name, file] : report["files"].items()) {
    EXPECT_FALSE(file["mutants"].empty());
    for (const Json& mutant : file["mutants"])
      EXPECT_EQ(mutant["coveredBy"].empty(), mutant["status"] == "CompileError") << mutant;
  }
}

TEST(Command, KillTellsDivergenceFromNoVerdict) {
  const Folder folder;
  folder.write("p.json", to_text(read_json(NEUTRA_TEST_DATA "/bad_input.json")["program"]));
  // One NaN among the features and every weight is NaN; the error, too. As published there is no
  // verdict on that.
  for (const std::string variant : {"corrected", "as-published"}) {
    const bool killed = variant == "corrected";
    const std::vector<std::string> kill = {"mutate",          "p.json",    "--operator", "TMN",
                                           "--kill",          "--runs",    "2",          "--store",
                                           variant + ".runs", "--variant", variant};
    auto json = kill, csv = kill;
    json.insert(json.end(), {"--json", "--report", "report.json"});
    csv.insert(csv.end(), {"--format", "csv"});
    const Called called = call(json, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    const Json mutants = parse_json(called.out, "out")["mutants"];
    const Json report = parse_json(folder.read("report.json"), "report.json");
    const Json& reported = report["files"].begin().value()["mutants"];
    EXPECT_GT(mutants.size(), 1u);  // milder ones than that of 100 %
    ASSERT_EQ(reported.size(), mutants.size());
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      EXPECT_EQ(mutants[i]["status"], "diverged");
      const Json& verdict = mutants[i]["verdicts"]["test"];
      EXPECT_TRUE(verdict["mean"].is_null()) << verdict;
      EXPECT_EQ(verdict["diverged"], 2) << verdict;
      if (killed) {
        EXPECT_EQ(verdict["killed"], true) << verdict;
        EXPECT_EQ(verdict["stable"], true) << verdict;
      } else {
        for (const char* field : {"killed", "p", "d", "power", "stable"})
          EXPECT_TRUE(verdict[field].is_null()) << field;
      }
      EXPECT_EQ(reported[i]["status"], killed ? "Killed" : "RuntimeError");
    }
    const Called table = call(csv, folder.path());
    EXPECT_NE(table.out.find("\n0:missing_values_nan=100,"), std::string::npos) << table.out;
    EXPECT_EQ(table.out.find("nan,,"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find(killed ? ",2,true,,0.3333333333333333,-inf,1,true," : ",2,,,,,,,,,"),
              std::string::npos)
        << table.out;
  }
}

TEST(Command, MutateWritesNoFaultWhoseDataCannotBeLoaded) {
  const Folder folder;
  write_even_classes(folder, {{"epochs", 1}});
  for (const auto& [way, what] : {std::pair{"--operator", "TUD"}, {"--apply", "TUD=50"}}) {
    const Called called = call({"mutate", "p.json", way, what, "-o", "m"}, folder.path());
    EXPECT_EQ(called.exit, 3) << called.out;
    EXPECT_NE(called.err.find("classes of equal size"), std::string::npos) << called.err;
  }
}

TEST(Command, MutatePassesNoOptionOver) {
  const Folder folder;
  const auto refused = [&](std::vector<std::string> options, const std::string& named) {
    options.insert(options.begin(), {"mutate", "d7"});
    const Called called = call(options, folder.path());
    EXPECT_EQ(called.exit, 2) << named << called.out;
    EXPECT_NE(called.err.find("--" + named + ": found it"), std::string::npos) << called.err;
  };
  for (const std::vector<std::string>& own :
       {std::vector<std::string>{"--show"}, {"--as", "fault"}, {"--count", "3"}}) {
    std::vector<std::string> options{"--all", "--kill"};
    options.insert(options.end(), own.begin(), own.end());
    refused(options, own.front().substr(2));
  }
  for (const std::vector<std::string>& own : {std::vector<std::string>{"--runs", "5"},
                                              {"--variant", "corrected"},
                                              {"--early", "on"},
                                              {"--store", "a.runs"},
                                              {"--fresh"}}) {
    std::vector<std::string> options{"--all"};
    options.insert(options.end(), own.begin(), own.end());
    refused(options, own.front().substr(2));
  }
  refused({"--all", "--count", "3"}, "count");
  refused({"--all", "--kill", "--fresh"}, "fresh");
  // Defaults and what a file says are no mistake.
  folder.write("neutra.conf", "runs = 5\n");
  EXPECT_EQ(
      call({"mutate", "d7", "--operator", "HNE", "--config", "neutra.conf"}, folder.path()).exit,
      0);
}

TEST(Command, MutateSaysWhereAnOperatorApplies) {
  const Folder folder;
  write_even_classes(folder, {{"epochs", 1}});
  const Called range =
      call({"mutate", "p.json", "--operator", "HNE", "--range", "8:2"}, folder.path());
  EXPECT_EQ(range.exit, 3);
  EXPECT_NE(range.err.find("found one epoch; allowed: a program that change_epochs applies to"),
            std::string::npos)
      << range.err;
}

TEST(Command, MutantsOfTheTrainedModelAreKilledAndReported) {
  const Folder folder;
  const std::vector<std::string> arguments = {
      "mutate",        "D6",         "--version", "fixed",      "--operator",
      "gaussian_fuzz", "--operator", "LAm",       "--operator", "neuron_effect_block",
      "--kill",        "--runs",     "3",         "--json"};
  std::vector<Json> results;
  for (const char* workers : {"1", "3"}) {
    std::vector<std::string> own = arguments;
    own.insert(own.end(), {"--workers", workers, "--report", "report.json"});
    const Called called = call(own, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    Json json = parse_json(called.out, "out");
    for (Json& mutant : json["mutants"]) mutant.erase("seconds");
    results.push_back(std::move(json));
  }
  EXPECT_EQ(results[0], results[1]);
  const Json& mutants = results[0]["mutants"];
  std::map<std::string, Json> by_id;
  for (const Json& mutant : mutants)
    by_id[mutant["operator"].get<std::string>() + "=" + mutant["value"].get<std::string>()] =
        mutant;
  // No weight is left.
  EXPECT_TRUE(by_id["neuron_effect_block=100"]["verdicts"]["test"]["killed"].get<bool>());
  EXPECT_TRUE(by_id.contains("gaussian_fuzz=100"));

  const Json report = parse_json(folder.read("report.json"), "report.json");
  EXPECT_EQ(Schema(NEUTRA_TEST_DATA "/mutation_report.schema.json").problem(report), "");
  const Json& file = report["files"]["D6.json"];
  ASSERT_EQ(file["mutants"].size(), mutants.size());
  const std::string source = file["source"];
  const auto lines = std::count(source.begin(), source.end(), '\n');
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const Json& mutant = file["mutants"][i];
    EXPECT_EQ(mutant["id"], mutants[i]["id"]);
    EXPECT_LE(mutant["location"]["end"]["line"], lines);
    EXPECT_EQ(mutant["status"] == "Killed", mutant.contains("killedBy"));
    for (const Json& set : mutant.value("killedBy", Json::array())) {
      EXPECT_TRUE(mutants[i]["verdicts"][set.get<std::string>()]["killed"].get<bool>());
    }
  }
  EXPECT_EQ(report["testFiles"]["test sets"]["tests"].size(), 2u);
}

TEST(Command, CheckFindsThatTheFaultOfD7Shows) {
  const Folder folder;
  const Called called = call({"faults", "D7", "--check", "--json"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.out << called.err;
  EXPECT_TRUE(parse_json(called.out, "out")[0]["shows"].get<bool>());
}

TEST(Command, SearchNetworkAndStoreGoTogether) {
  const Folder folder;
  const std::vector<std::string> search = {
      "search", "D7", "--store", "a.h5", "--budget-evaluations", "24", "-n", "3"};
  const Called first = call(search, folder.path(), 300);
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"a.h5"}));  // neither journal nor lock is left behind
  const Called again = call(search, folder.path());
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_NE(again.out.find("nothing was trained"), std::string::npos) << again.out;
  const Called other = call(
      {"search", "D7", "--store", "a.h5", "--budget-evaluations", "23", "-n", "3"}, folder.path());
  EXPECT_EQ(other.exit, 3);
  EXPECT_NE(other.err.find("budget"), std::string::npos) << other.err;

  std::vector<std::string> one_worker = search;
  one_worker[3] = "b.h5";
  one_worker.insert(one_worker.end(), {"--workers", "1", "--curtail", "off"});
  ASSERT_EQ(call(one_worker, folder.path(), 300).exit, 0);
  const Called a = call({"network", "a.h5"}, folder.path()),
               b = call({"network", "b.h5"}, folder.path());
  ASSERT_EQ(a.exit, 0) << a.err;
  EXPECT_FALSE(a.out.empty());
  EXPECT_EQ(a.out, b.out);

  for (const char* format : {"tsv", "graphml", "dot", "json", "text"})
    EXPECT_EQ(call({"network", "a.h5", "--format", format, "-o", format}, folder.path()).exit, 0)
        << format;
  EXPECT_EQ(folder.read("tsv"), a.out);
  const Json json = parse_json(folder.read("json"), "json");
  EXPECT_EQ(json.begin().key(), "format");
  EXPECT_EQ(call({"network", "a.h5", "-o", "a.h5"}, folder.path()).exit, 2);  // its own store
  EXPECT_EQ(call({"store", "check", "a.h5"}, folder.path()).exit, 0);
  EXPECT_EQ(parse_json(call({"store", "info", "a.h5", "--json"}, folder.path()).out,
                       "out")["evaluations"],
            24);
}

/// The buggy program's loss scores all programs that are compared.
TEST(Command, ALossThatScoresIsNamed) {
  const Folder folder;
  const Json layer = {{"class_name", "Dense"},
                      {"config", {{"units", 1}, {"batch_input_shape", {nullptr, 1}}}}};
  const Json program = {
      {"model", {{"class_name", "Sequential"}, {"config", {{"layers", {layer}}}}}},
      {"compile", {{"loss", "mean_squared_error"}, {"optimizer", "SGD"}}},
      {"fit", {{"epochs", 1}}},
      {"data",
       {{"source", "generator"},
        {"arguments", {{"name", "linear"}, {"rows", 50}, {"slope", 50}}},
        {"split", {{"test_size", 0.2}, {"seed", 42}}}}}};
  folder.write("f.json", Json{{"format", "neutra-fault"},
                              {"version", 1},
                              {"program", program},
                              {"fixed",
                               {{"patch",
                                 {{{"op", "add"},
                                   {"path", "/data/preprocess"},
                                   {"value", {{{"op", "scale"}, {"on", "y"}, {"by", 50}}}}}}}}}}
                             .dump());
  const std::string scored = "scored by mean_squared_error, the buggy program's loss",
                    scales = "different scales";
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const Called shown = call({"show", "f.json"}, folder.path());
  EXPECT_TRUE(says(shown.out, scored) && says(shown.out, scales)) << shown.out << shown.err;
  const Called checked =
      call({"faults", "f.json", "--check", "--replicas", "2", "--json"}, folder.path());
  EXPECT_TRUE(says(checked.err, scored) && says(checked.err, scales)) << checked.err;
  const Called searched = call(
      {"search", "f.json", "--store", "f.h5", "--budget-evaluations", "6", "-n", "2", "--json"},
      folder.path());
  ASSERT_EQ(searched.exit, 0) << searched.err;
  EXPECT_TRUE(says(searched.err, scored) && says(searched.err, scales)) << searched.err;
  EXPECT_EQ(parse_json(searched.out, "out")["metric"], "mse");
  const Called network = call({"network", "f.h5", "--format", "text"}, folder.path());
  EXPECT_TRUE(says(network.out, scored)) << network.out;
  const Called trained =
      call({"train", "f.json", "--version", "fixed", "--replicas", "1", "--json"}, folder.path());
  EXPECT_EQ(parse_json(trained.out, "out")["metric"], "mse") << trained.err;
}

TEST(Command, ASearchWithALargerBudgetGoesOn) {
  const Folder folder;
  // So bad a level that every program is a repair.
  const auto search = [&](const std::string& store, const char* budget) {
    return call({"search", "D7", "--store", store, "--ground-truth-metric", "1000", "--replicas",
                 "2", "--budget-evaluations", budget},
                folder.path());
  };
  const Called small = search("a.h5", "10");
  ASSERT_EQ(small.exit, 0) << small.err;
  EXPECT_EQ(small.out.find(" more: "), std::string::npos) << small.out;
  const Called larger = search("a.h5", "40");
  ASSERT_EQ(larger.exit, 0) << larger.err;
  EXPECT_NE(
      larger.err.find("a.h5: goes on with a larger budget: budget_evaluations was 10, now 40"),
      std::string::npos)
      << larger.err;
  ASSERT_EQ(search("b.h5", "40").exit, 0);
  const auto network = [&](const char* store, const char* format) {
    return call({"network", store, "--format", format}, folder.path()).out;
  };
  EXPECT_EQ(network("a.h5", "tsv"), network("b.h5", "tsv"));
  const Called again = search("a.h5", "10");
  EXPECT_EQ(again.exit, 3);
  EXPECT_NE(again.err.find("budget_evaluations was 40, now 10"), std::string::npos) << again.err;

  // The best repairs, and where all are.
  const Json info = parse_json(call({"store", "info", "a.h5", "--json"}, folder.path()).out, "out");
  const auto repairs = info.at("alternatives").get<int>();
  ASSERT_GT(repairs, 20);
  int folded = 0;
  const Json json = parse_json(network("a.h5", "json"), "out");
  for (const Json& node : json["nodes"])
    folded += node["alternative"] == true && !node["within"].is_null();
  ASSERT_GT(folded, 1);
  EXPECT_NE(larger.out.find("and " + std::to_string(repairs - folded - 20) + " more, besides the " +
                            std::to_string(folded) +
                            " that only add changes to one of these: neutra network a.h5 --format "
                            "text --all-repairs lists all\n"),
            std::string::npos)
      << larger.out;
  const std::string all =
      call({"network", "a.h5", "--format", "text", "--all-repairs"}, folder.path()).out;
  EXPECT_EQ(all.find(" more"), all.find(" more changes"));
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(
      lines(all.substr(all.find("Repairs: "), all.find("\nChanged in") - all.find("Repairs: "))),
      3 + repairs);
}

TEST(Command, MinimisesAfterTheSearch) {
  const Folder folder;
  const std::vector<std::string> search = {"search",     "D7",      "--store",
                                           "a.h5",       "--top-k", "2",
                                           "--replicas", "2",       "--budget-evaluations",
                                           "300",        "--json"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Called searched = call(search, folder.path());
  ASSERT_EQ(searched.exit, 0) << searched.err;
  EXPECT_EQ(parse_json(searched.out, "out")["minimising"], nullptr);
  const std::string rows = call({"network", "a.h5"}, folder.path()).out;
  const Json before =
      parse_json(call({"network", "a.h5", "--format", "json"}, folder.path()).out, "out");
  EXPECT_GT(before["minimal"]["unknown"], 0);

  EXPECT_EQ(call(with(search, {"--budget-minimise", "3"}), folder.path()).exit, 2);  // alone
  const Called part = call(with(search, {"--minimise", "--budget-minimise", "1"}), folder.path());
  ASSERT_EQ(part.exit, 0) << part.err;
  EXPECT_EQ(parse_json(part.out, "out")["minimising"]["end"], "evaluation_budget");
  const Called minimised = call(with(search, {"--minimise"}), folder.path());
  ASSERT_EQ(minimised.exit, 0) << minimised.err;
  const Json json = parse_json(minimised.out, "out");
  EXPECT_EQ(json["counters"]["evaluations"], 300);
  EXPECT_EQ(json["minimising"]["end"], "queue_empty");
  EXPECT_EQ(json["was_finished"], false);  // something was trained
  EXPECT_EQ(
      parse_json(call(with(search, {"--minimise"}), folder.path()).out, "out")["was_finished"],
      true);
  EXPECT_EQ(json["minimal"]["unknown"], 0);
  EXPECT_GT(json["minimal"]["minimal"], 0);
  EXPECT_EQ(call({"network", "a.h5"}, folder.path()).out, rows);
  EXPECT_EQ(call({"store", "check", "a.h5"}, folder.path()).exit, 0);

  const Json network =
      parse_json(call({"network", "a.h5", "--format", "json"}, folder.path()).out, "out");
  EXPECT_EQ(network["minimal"], json["minimal"]);
  EXPECT_EQ(network["subpatches"].size(), json["minimising"]["counters"]["evaluations"]);
  const std::string text = call({"network", "a.h5", "--format", "text"}, folder.path()).out;
  const std::string all =
      call({"network", "a.h5", "--format", "text", "--all-repairs"}, folder.path()).out;
  EXPECT_NE(text.find(" that add"), std::string::npos) << text;
  EXPECT_NE(text.find("--all-repairs lists all"), std::string::npos) << text;
  EXPECT_NE(all.find("adds to "), std::string::npos) << all;

  folder.write("answers.csv", "fault,tool,answer\nD7,tool,HLR\n");
  const auto score = [&](const std::vector<std::string>& more) {
    return parse_json(
        call(with({"score", "--network", "a.h5", "--answers", "answers.csv", "--format", "json"},
                  more),
             folder.path())
            .out,
        "out");
  };
  const Json every = score({}), minimal = score({"--minimal"});
  const auto counted = [](const Json& sheet) {
    return std::count_if(sheet["repairs"].begin(), sheet["repairs"].end(),
                         [](const Json& repair) { return repair["counts"] == true; });
  };
  // Those of the search, without what minimising found.
  EXPECT_EQ(counted(every), before["minimal"]["unknown"].get<int>() +
                                before["minimal"]["minimal"].get<int>() +
                                before["minimal"]["not_minimal"].get<int>());
  EXPECT_EQ(counted(minimal), network["minimal"]["minimal"]);
  EXPECT_EQ(minimal["minimal"], true);
}

TEST(Command, FilesOfAnotherKindAreNamed) {
  const Folder folder;
  ASSERT_EQ(
      call({"search", "D7", "--store", "a.h5", "--replicas", "2", "--budget-evaluations", "2"},
           folder.path())
          .exit,
      0);
  ASSERT_EQ(call({"mutate", "D7", "--kill", "--operator", "missing_zero_grad", "--runs", "2",
                  "--store", "m.runs"},
                 folder.path())
                .exit,
            0);
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"import", "a.h5", "-o", "p.json"},
            "a.h5: found the store of a search; allowed: a Keras"},
           {{"evaluate", "a.h5"}, "a.h5: found the store of a search; allowed: a Keras"},
           {{"show", "a.h5"}, "a.h5: found the store of a search; allowed: a JSON file"},
           {{"bench", "info", "a.h5"}, "a.h5: found the store of a search; allowed: a benchmark"},
           {{"store", "info", "m.runs"}, "m.runs: found the runs of neutra mutate --kill"},
           {{"store", "repair", "m.runs"}, "m.runs: found the runs of neutra mutate --kill"}}) {
    const Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, 3);
    EXPECT_NE(called.err.find(message), std::string::npos) << called.err;
    EXPECT_EQ(called.err.find("still free"), std::string::npos) << called.err;
  }
  const Called copied = call({"store", "repair", "a.h5", "-o", "copy.h5"}, folder.path());
  ASSERT_EQ(copied.exit, 0) << copied.err;
  EXPECT_NE(copied.out.find("its search is finished"), std::string::npos) << copied.out;
  EXPECT_EQ(call({"network", "copy.h5"}, folder.path()).out,
            call({"network", "a.h5"}, folder.path()).out);
}

TEST(Command, KilledSearchesGoOnToTheSameNetwork) {
  const Folder folder;
  const auto search = [](const std::string& store) {
    return std::vector<std::string>{"search", "D7", "--store", store, "--budget-evaluations",
                                    "40",     "-n", "2",       "-q",  "--backend",
                                    "eager"};
  };
  ASSERT_EQ(call(search("whole.h5"), folder.path(), 300).exit, 0);
  const auto results = [&] { return count(folder.read("killed.h5.journal"), "\"finished\""); };
  int killed = 0;
  // Each life ends with SIGKILL once it has trained more than the one before.
  for (std::size_t life = 1;; ++life) {
    std::vector<std::string> words = search("killed.h5");
    words.insert(words.begin(), NEUTRA_COMMAND);
    Running running(words, folder.path());
    const std::size_t before = results();
    running.wait_until([&] { return results() >= before + life; });
    kill(running.pid(), SIGKILL);
    const Called called = running.wait(300);
    if (called.exit == 0) break;
    ASSERT_EQ(called.exit, 128 + SIGKILL) << called.err;
    ++killed;
  }
  EXPECT_GT(killed, 0);
  EXPECT_EQ(call({"network", "killed.h5"}, folder.path()).out,
            call({"network", "whole.h5"}, folder.path()).out);
}

TEST(Command, ReportsOfSearchesAndRecordedNetworks) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "a.h5", "--budget-evaluations", "80", "-n", "3", "-q"},
                 folder.path(), 300)
                .exit,
            0);
  const std::string network = call({"network", "a.h5"}, folder.path()).out;
  folder.write("a.tsv", network);
  folder.write("a.csv", "fault,tool,answer,seconds\nD7,one,HLR,2\nD4,one,-,\n");
  const auto report = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "report");
    return call(words, folder.path());
  };
  const Called made = report({"a.h5", "-o", "a.html", "--answers", "a.csv"});
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.out + made.err, "");
  EXPECT_NE(folder.read("a.html").find("<!DOCTYPE html>"), std::string::npos);
  EXPECT_EQ(report({"a.h5", "--answers", "a.csv"}).out, folder.read("a.html"));

  const Json json = parse_json(report({"a.h5", "--answers", "a.csv", "--json"}).out, "out");
  EXPECT_EQ(json["format"], "neutra-report");
  EXPECT_EQ(json["fault"]["id"], "D7");
  EXPECT_GE(json["generated"].get<int>(), 80);
  EXPECT_EQ(json["scores"]["tools"][0]["before"]["recall"], 1);
  EXPECT_EQ(json["provenance"]["search"]["seed"], 0);
  EXPECT_EQ(json["network"]["links"].size() + 1,
            static_cast<std::size_t>(std::count(network.begin(), network.end(), '\n')));
  const Json recorded = parse_json(report({"a.tsv", "--json"}).out, "out");
  EXPECT_EQ(recorded["known"], "HLR");
  EXPECT_EQ(recorded["generated"], nullptr);
  EXPECT_EQ(recorded["network"]["nodes"][1]["difference"],
            json["network"]["nodes"][1]["difference"]);

  // Mistakes; what is there stays as it is.
  const Called other = report({"a.h5", "--fault", "D4"});
  EXPECT_EQ(other.exit, 3);
  EXPECT_NE(other.err.find("the buggy program of D4"), std::string::npos) << other.err;
  folder.write("b.csv", "fault,tool,answer\nD4,one,-\n");
  const Called none = report({"a.h5", "--answers", "b.csv"});
  EXPECT_EQ(none.exit, 3);
  EXPECT_NE(none.err.find("no answer on D7"), std::string::npos) << none.err;
  EXPECT_EQ(report({"a.h5", "-o", "a.h5"}).exit, 2);
  EXPECT_EQ(report({"a.tsv", "-o", "a.tsv"}).exit, 2);
  EXPECT_EQ(report({"a.tsv", "-o", "a.csv", "--answers", "a.csv"}).exit, 2);
  EXPECT_EQ(folder.read("a.tsv"), network);
  EXPECT_EQ(report({"a.h5", "-o", "missing/a.html"}).exit, 3);
  EXPECT_EQ(report({"a.h5", "--study", "."}).exit, 3);
  EXPECT_EQ(report({"a.h5", "--format", "dot"}).exit, 2);

  // A network of no bundled fault, with names of any kind.
  folder.write("mine.tsv",
               "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
               "parent_node_param_string\tcurrent_node_param_string\tis_gt\n"
               "0\t1\t[0.1]\t[nan]\tlr=1\tlr=</script>\tTrue\n");
  const Called mine = report({"mine.tsv"});
  ASSERT_EQ(mine.exit, 0) << mine.err;
  EXPECT_NE(mine.out.find("\"lr\":\"\\u003c/script\\u003e\""), std::string::npos);
  EXPECT_EQ(mine.out.find("lr=</script>"), std::string::npos);
  EXPECT_EQ(report({"mine.tsv", "--answers", "a.csv"}).exit, 3);
}

TEST(Command, VerifyNamesAStore) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "1", "--quiet"},
                 folder.path())
                .exit,
            0);
  const Called called = call({"verify", "D7.h5", "--fault", "D7"}, folder.path());
  EXPECT_EQ(called.exit, 3);
  EXPECT_NE(called.err.find("D7.h5: found the store of a search; allowed: a network in TSV form"),
            std::string::npos)
      << called.err;
}

TEST(Command, VerifyNeedsEnoughMetricsToTell) {
  const Folder folder;
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,"
      "optimizer=rmsprop,unit1=1";
  for (const std::string metrics : {"[123]", "[123, 456]"}) {
    folder.write("n.tsv",
                 "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
                 "parent_node_param_string\tcurrent_node_param_string\tis_gt\n0\t32\t" +
                     metrics + "\t" + metrics + "\t" + d7 + "\t" + d7 + "\tFalse\n");
    const Called called = call({"verify", "n.tsv", "--fault", "D7"}, folder.path());
    EXPECT_EQ(called.exit, 1) << called.out << called.err;
    EXPECT_NE(called.out.find("at least 7"), std::string::npos) << called.out;
  }
}

TEST(Command, NetworkOfATsvReadsBack) {
  const Folder folder;
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,"
      "optimizer=rmsprop,unit1=1";
  std::string child = d7;
  child.replace(child.find("lr=0.001"), 8, "lr=0.01");
  const std::string text =
      "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\tparent_node_param_string\t"
      "current_node_param_string\tis_gt\n0\t32\t[5.18, 7.63]\t[0.5, 0.6]\t" +
      d7 + "\t" + child + "\tFalse\n";
  folder.write("n.tsv", text);
  const Called called = call({"network", "n.tsv"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(called.out, text);
}

TEST(Command, ScoreAgainstARecordedNetwork) {
  const Folder folder;
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,"
      "optimizer=rmsprop,unit1=1";
  std::string child = d7;
  child.replace(child.find("epochs=200"), 10, "epochs=400");
  folder.write(
      "n.tsv",
      "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\tparent_node_param_string\t"
      "current_node_param_string\tis_gt\n0\t34\t[5.18, 7.63]\t[0.1, 0.1]\t" +
          d7 + "\t" + child + "\tTrue\n");
  folder.write("a.csv",
               "fault,tool,answer\nD7,one,HNE\nD7,two,\"HLR, LCH\"\nD4,one,ACH(1)\nD4,two,-\n");
  const std::vector<std::string> score{"score", "--network", "n.tsv", "--answers", "a.csv"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), score.begin(), score.end());
    return call(more, folder.path());
  };
  const Called json = with({"--json"});
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json rows = parse_json(json.out, "out")["scores"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["tool"], "one");
  EXPECT_EQ(rows[0]["before_recall"], 0);
  EXPECT_EQ(rows[0]["after_recall"], 1);
  EXPECT_EQ(rows[0]["ground_truths"], 2);
  EXPECT_EQ(rows[0]["attaining"], 1);
  EXPECT_EQ(rows[1]["after_precision"], 0.5);
  EXPECT_EQ(with({"--format", "csv"}).out,
            "fault,origin,tool,answer,before_recall,before_precision,before_f3,after_recall,"
            "after_precision,after_f3,ground_truths,attaining\n"
            "D7,real,one,HNE,0,0,0,1,1,1,2,1\n"
            "D7,real,two,\"HLR, LCH\",1,0.5,0.9090909090909091,1,0.5,0.9090909090909091,2,1\n");
  EXPECT_NE(with({"--format", "latex"}).out.find("\\toprule"), std::string::npos);
  EXPECT_NE(with({}).out.find("D7   2  1.00  1.00  1.00"), std::string::npos) << with({}).out;

  // Without a network: the known fixes of all faults in the file, and averages.
  const Called known = call({"score", "--answers", "a.csv", "--json"}, folder.path());
  ASSERT_EQ(known.exit, 0) << known.err;
  EXPECT_EQ(parse_json(known.out, "out")["averages"].size(), 4u);

  // A network of another fault is an error, unless the study's numbers are asked for.
  EXPECT_EQ(with({"--fault", "D4"}).exit, 3);
  EXPECT_EQ(with({"--format", "dot"}).exit, 2);
  EXPECT_EQ(with({"--network", "n.tsv"}).exit, 2);
  EXPECT_EQ(with({"--network", "n.tsv", "--fault", "D7"}).exit, 2);
  EXPECT_EQ(call({"score", "--network", "n.tsv"}, folder.path()).exit, 2);
  folder.write("b.csv", "fault,tool,answer\nD1,one,HNE\n");
  EXPECT_EQ(call({"score", "--network", "n.tsv", "--answers", "b.csv"}, folder.path()).exit, 3);
  folder.write("c.csv", "fault,tool,answer\nD7,one,XYZ\n");
  const Called wrong = call({"score", "--answers", "c.csv"}, folder.path());
  EXPECT_EQ(wrong.exit, 3);
  EXPECT_NE(wrong.err.find("c.csv: line 2, answer"), std::string::npos) << wrong.err;
}

TEST(Command, ScoreOfRankings) {
  const Folder folder;
  folder.write("a.csv",
               "fault,tool,answer,ranking,seconds\nD7,places,-,(0:2) > (0:0),3\n"
               "D4,places,-,(1) > (0),5\nD4,wise,HLR,HLR > OCH > ACH(1) = ACH(5),\nD7,wise,-,,\n");
  const std::vector<std::string> score{"score", "--answers", "a.csv"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), score.begin(), score.end());
    return call(more, folder.path());
  };
  const Called json = with({"--json"});
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json out = parse_json(json.out, "out");
  ASSERT_EQ(out["scores"].size(), 4u);
  const Json& places = out["scores"][2];  // on D4: ACH(0,1), HLR, LCH
  EXPECT_EQ(places["answer"], "(1)");
  EXPECT_EQ(places["before_precision"], 1);
  EXPECT_EQ(places["before_first_rank"], 1);
  EXPECT_EQ(places["seconds"], 5);
  EXPECT_NEAR(places["before_average_precision"].get<double>(), 1. / 3, 1e-12);
  const Json& wise = out["scores"][3];
  EXPECT_EQ(wise["answer"], "HLR");
  EXPECT_NEAR(wise["before_average_precision"].get<double>(), (1 + 2. / 4) / 3, 1e-12);
  EXPECT_TRUE(out["scores"][0]["before_first_rank"].is_null());  // a learning rate is in no layer
  const Json& all = out["rank_averages"].back();
  EXPECT_EQ(all["tool"], "wise");
  EXPECT_EQ(all["before_top1"], 0.5);
  EXPECT_EQ(all["before_mrr"], 0.5);
  EXPECT_NE(with({}).out.find("Top@10"), std::string::npos) << with({}).out;
  EXPECT_EQ(with({"--top", "0"}).exit, 2);
  folder.write("b.csv", "fault,tool,answer,ranking\nD7,places,-,(0) > 3\n");
  EXPECT_EQ(call({"score", "--answers", "b.csv"}, folder.path()).exit, 3);
}

}  // namespace
}  // namespace neutra::cli
