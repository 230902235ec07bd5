#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "tests/cli/command.h"
#include "tests/schema.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// `words` are for the shell, behind the command.
Called in_shell(const std::string& words, const Folder& folder) {
  return Running({"sh", "-c", built_command() + " " + words}, folder.path()).wait(120);
}

TEST(Terminal, ResultsThatCannotBeWrittenAreAnError) {
  const Folder folder;
  for (const char* verb : {"subjects", "faults --json", "--version", "help", "serve .",
                           "completion bash", "config schema", "export D7 --format pytorch"})
    for (const char* output : {" >&-", " >/dev/full"}) {
      const Called called = in_shell(std::string(verb) + output, folder);
      EXPECT_TRUE(refused(called, 1, {"standard output"})) << verb << output;
    }
  // Nothing is lost where nothing is said.
  EXPECT_EQ(in_shell("export D7 --format h5 -o m.h5 >&-", folder).exit, 0);
}

TEST(Terminal, AnInterruptedVerbEndsWith75) {
  const Folder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Running running({built_command(), "config", "show", "--config", "pipe"}, folder.path());
    const int writer = open(pipe.c_str(), O_WRONLY);  // when the command has opened it
    kill(running.pid(), signal);
    const Called called = running.wait(120);
    close(writer);
    EXPECT_EQ(called.exit, 75);
    EXPECT_EQ(called.err, "neutra: interrupted\n");
    EXPECT_EQ(called.out, "");
  }
}

TEST(Terminal, ConfigShowSaysWhereValuesComeFrom) {
  const Folder folder;
  folder.write("lines.conf", "replicas = 4\ntool = umlaut\n");
  folder.write("object.json", R"({"replicas": 4, "tool": ["umlaut"], "quiet": true})");
  for (const char* file : {"lines.conf", "object.json"}) {
    const Called called =
        in_shell("config show search --json --config " + std::string(file), folder);
    ASSERT_EQ(called.exit, 0) << called.err;
    std::map<std::string, Json> options;
    const Json result = parse_json(called.out, "out");
    EXPECT_EQ(result["file"], file);
    EXPECT_EQ(result["verb"], "search");
    for (const Json& option : result["options"])
      options[option["option"].get<std::string>()] = option;
    EXPECT_EQ(options["replicas"]["value"], 4);
    EXPECT_EQ(options["replicas"]["from"], "file");
    EXPECT_EQ(options["rule"]["value"], "algorithm1");
    EXPECT_EQ(options["rule"]["from"], "default");
    EXPECT_TRUE(options["preset"]["value"].is_null());  // it depends on the fault
    EXPECT_TRUE(options["workers"]["value"].is_null());
    EXPECT_FALSE(options.contains("tool"));  // of another verb
  }
  const Called environment =
      Running({"sh", "-c",
               "NEUTRA_SEED=7 NEUTRA_CONFIG=lines.conf " + built_command() + " config show"},
              folder.path())
          .wait(120);
  ASSERT_EQ(environment.exit, 0) << environment.err;
  EXPECT_TRUE(has(environment.out, {"NEUTRA_SEED", "lines.conf: replicas", "lines.conf: tool"}));

  folder.write("wrong.json", R"({"replicas": "many"})");
  const Called wrong = in_shell("config show --config wrong.json", folder);
  EXPECT_TRUE(refused(wrong, 3, {"wrong.json: /replicas"}));
  folder.write("unknown.json", R"({"replicats": 3})");
  const Called unknown = in_shell("subjects --config unknown.json", folder);
  EXPECT_TRUE(refused(unknown, 3, {"did you mean replicas?"}));
}

TEST(Terminal, ConfigurationSchemaIsTheDocumentedOne) {
  const Folder folder;
  const Called called = call({"config", "schema"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const fs::path documented = source_file("docs/schemas/config.schema.json");
  EXPECT_EQ(called.out, read_file(documented, "a schema")) << "run scripts/update_docs";
  const Schema schema(documented);
  // What the command takes, the schema takes, and the other way round.
  for (const char* text :
       {R"({})", R"({"seed": 3, "workers": 2, "quiet": false, "preset": "keras"})",
        R"({"budget-time": "1h30m", "time-limit": 30, "memory": "1.5G", "memory-limit": 4096})",
        R"({"tool": ["umlaut", "deepfd"], "network": "a.h5"})", R"({"$schema": "x"})"}) {
    folder.write("c.json", text);
    EXPECT_EQ(schema.problem(parse_json(text, "text")), "") << text;
    EXPECT_EQ(call({"config", "show", "--config", "c.json"}, folder.path()).exit, 0) << text;
  }
  for (const char* text :
       {R"({"seeds": 3})", R"({"replicas": 0})", R"({"replicas": "many"})", R"({"preset": "papr"})",
        R"({"budget-time": "2 weeks"})", R"({"memory": "1X"})", R"({"quiet": "perhaps"})",
        R"({"config": "x"})", R"({"store": ""})", R"({"min-pass": 2})"}) {
    folder.write("c.json", text);
    EXPECT_NE(schema.problem(parse_json(text, "text")), "") << text;
    EXPECT_EQ(call({"config", "show", "--config", "c.json"}, folder.path()).exit, 3) << text;
  }
}

TEST(Terminal, MistakesAreToldTheNearestWord) {
  const Folder folder;
  folder.write("log", "");
  for (const auto& [words, nearest] : std::vector<std::pair<std::string, std::string>>{
           {"serach D7", "search"},
           {"help serach", "search"},
           {"search D7 --repliks 3", "--replicas"},
           {"search D7 --preset kears", "keras"},
           {"search iriss", "iris"},
           {"train mnist_cn", "mnist_cnn"},
           {"bench creat small -o x.h5", "create"},
           {"bench create smal -o x.h5", "small"},
           {"store chek x.h5", "check"},
           {"config shwo", "show"},
           {"config show serach", "search"},
           {"completion zhs", "zsh"},
           {"man serach", "search"},
           {"study quikstart", "quickstart"},
           {"study quickstart --only D17", "D1 or D7"},
           {"localise D7 --tool umlat", "umlaut"},
           {"parse log --tool umlat", "umlaut"},
           {"mutate iris --operator chnge_label", "change_label"},
           {"mutate iris --all --kill --test-set tets", "test"},
           {"export D7 --format kears -o x", "keras"},
           {"train D7 --backend egaer", "eager"},
           {"mutate D7 --apply chnge_epochs=3", "change_epochs"},
           {"mutate D7 --apply change_loss_function=mae_squared_error", "mean_squared_error"},
           {"localise D7 --tool muse", "deepmufl-muse"},
           {"search D7 --rule recoreded", "recorded"}}) {
    const Called called = in_shell(words, folder);
    EXPECT_TRUE(called.exit == 2 || called.exit == 3) << words << called.exit;
    EXPECT_TRUE(has(called.err, {"did you mean " + nearest + "?"})) << words;
    // The nearest few, not every word there is.
    EXPECT_LT(called.err.find('\n'), 300U) << words << ": " << called.err;
  }
}

/// Answers of eight tools on three faults; two formulas of one can't be told apart.
std::string many_answers() {
  std::string text = "fault,tool,answer\n";
  for (const char* fault : {"D6", "D7", "D8"}) {
    int i = 0;
    for (const char* tool : {"autotrainer", "deepfd", "deeplocalize", "neuralint", "umlaut",
                             "deepmufl-muse", "deepmufl-sbi-average", "deepmufl-sbi-maximum"}) {
      const char* answers[] = {"LCH",
                               "\"ACH(1), HLR\"",
                               "-",
                               "N/A",
                               "HNE",
                               "HLR",
                               "ACH(0)|BCI(0)|LAD(0)|LCF(0)",
                               "ACH(0)|BCI(0)|LAD(0)|LCF(0)"};
      text += std::string(fault) + "," + tool + "," + answers[i++] + "\n";
    }
  }
  return text;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(Terminal, TablesFitItsColumns) {
  const Folder folder;
  folder.write("many.csv", many_answers());
  for (const char* words :
       {"faults", "subjects", "localise --list", "score --answers many.csv", "config show",
        "localise D6 --tool deepfault --tool neuralint --runs 1"}) {
    const auto shown = [&](const std::string& columns) {
      const Called called =
          Running({"sh", "-c", columns + " " + built_command() + " " + words}, folder.path())
              .wait(120);
      EXPECT_EQ(called.exit, 0) << words << called.err;
      return called.out;
    };
    const std::string whole = shown("");
    for (const std::size_t columns : {60U, 80U, 120U, 200U}) {
      const std::string text = shown("COLUMNS=" + std::to_string(columns));
      EXPECT_LE(widest_line(text), columns) << words << "\n" << text;
      // Nothing is cut: every word that is not broken is there.
      std::istringstream all(whole);
      for (std::string word; all >> word;) {
        if (word.size() > 8 || word.find_first_of("-/|,_=") != std::string::npos) continue;
        EXPECT_TRUE(has(text, {word})) << words << ", " << columns << ": " << word;
      }
    }
    EXPECT_EQ(shown("COLUMNS=wide"), whole) << words;  // no number: as if it were not set
    EXPECT_EQ(shown("COLUMNS=10000"), whole) << words;
  }
  EXPECT_GT(widest_line(in_shell("faults", folder).out), 120U);  // a pipe has no width
  const std::string file = "COLUMNS=60 " + built_command() + " localise --list -o list.txt";
  ASSERT_EQ(Running({"sh", "-c", file}, folder.path()).wait(120).exit, 0);
  EXPECT_EQ(folder.read("list.txt"), in_shell("localise --list", folder).out);
}

TEST(Terminal, ManyToolsHaveARowEachAndThoseAlikeShareIt) {
  const Folder folder;
  folder.write("many.csv", many_answers());
  const std::string all = in_shell("score --answers many.csv", folder).out;
  EXPECT_TRUE(
      has(all, {"deepmufl-sbi-average (+1)", "the same of deepmufl-sbi-maximum", "\nD6  umlaut "}));
  const auto tools = [&](const std::string& words) {
    const Called called = in_shell("score --answers many.csv --json " + words, folder);
    EXPECT_EQ(called.exit, 0) << called.err;
    std::set<std::string> names;
    const Json sheet = parse_json(called.out, "out");
    for (const Json& row : sheet["scores"]) names.insert(row["tool"]);
    return names;
  };
  EXPECT_EQ(tools("").size(), 8U);  // for machines each is there
  EXPECT_EQ(tools("--tool all"), tools(""));
  EXPECT_EQ(tools("--tool deepmufl --tool umlaut"),
            (std::set<std::string>{"deepmufl-muse", "deepmufl-sbi-average", "deepmufl-sbi-maximum",
                                   "umlaut"}));
  const Called unknown = in_shell("score --answers many.csv --tool umlat", folder);
  EXPECT_TRUE(refused(unknown, 2, {"did you mean umlaut?"}));
  // Few tools have columns, as in the study.
  EXPECT_TRUE(has(in_shell("score --answers many.csv --tool umlaut --tool deepfd", folder).out,
                  {"Id    #F"}));
}

TEST(Terminal, LocaliseAsksAllToolsAndFoldsThoseThatSayTheSame) {
  const Folder folder;
  EXPECT_EQ(in_shell("localise --list --tool all", folder).out,
            in_shell("localise --list", folder).out);
  const Called called = in_shell("localise D6 --tool deepfault --runs 1", folder);
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_TRUE(has(called.out, {"deepfault-dstar (+1) 2021-04", "the same of deepfault-tarantula",
                               "\ndeepfault-ochiai 2021-04"}));
  const Called json = in_shell("localise D6 --tool deepfault --runs 1 --json", folder);
  EXPECT_EQ(parse_json(json.out, "out")["tools"].size(), 3U);
}

TEST(Terminal, SizesAndPlacesAreSaidWhereTheyAreWrong) {
  const Folder folder;
  const Called little =
      in_shell("search D6 --store m.h5 --replicas 1 --budget-evaluations 2 --memory 1 -q", folder);
  EXPECT_TRUE(refused(little, 1, {"--memory: found 1 byte"}));
  EXPECT_FALSE(contains(little.err, "0 MiB")) << little.err;
  folder.write("plan.json",
               R"({"format": "neutra-benchmark-plan", "version": 1, "name": "tiny", "runs": 2,)"
               R"( "core_seconds": 90, "operators": ["change_epochs"], "effect": 0,)"
               R"( "subjects": ["line"]})");
  const Called made = in_shell("bench create plan.json -o tiny.h5 --workers 1", folder);
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_TRUE(made.err.starts_with("tiny: 1 subject, about 1 min 30 s with 1 worker")) << made.err;
  const std::string test = "TMPDIR=/nonexistent/place " + built_command() + " bench test tiny.h5";
  const Called nowhere = Running({"sh", "-c", test}, folder.path()).wait(120);
  EXPECT_TRUE(refused(nowhere, 3, {"TMPDIR: found /nonexistent/place"}));
}

TEST(Terminal, ExportsSayWhatTheyWrote) {
  const Folder folder;
  const auto exported = [&](const std::string& words) {
    const Called called = in_shell("export D7 --json " + words, folder);
    EXPECT_EQ(called.exit, 0) << called.err;
    return parse_json(called.out, "out");
  };
  const Json directory = exported("--format pytorch -o folder");
  EXPECT_EQ(directory["output"], "folder");
  EXPECT_EQ(directory["files"], Json::parse(R"(["requirements.txt", "train.py", "x_test.npy",
                                               "x_train.npy", "y_test.npy", "y_train.npy"])"));
  EXPECT_EQ(exported("--format h5 -o m.h5")["files"], Json::parse(R"(["m.h5", "m.neutra.json"])"));
  EXPECT_EQ(exported("--format keras -o train.py")["files"], Json::parse(R"(["train.py"])"));
  EXPECT_TRUE(has(exported("--format keras")["text"].get<std::string>(), {"import"}));

  ASSERT_EQ(call({"search", "D7", "--budget-evaluations", "2", "-n", "2"}, folder.path()).exit, 0);
  const Called report = call({"report", "D7.h5", "-o", "D7.html", "--json"}, folder.path());
  ASSERT_EQ(report.exit, 0) << report.err;
  const Json written = parse_json(report.out, "out");
  EXPECT_EQ(written["output"], "D7.html");
  EXPECT_EQ(written["form"], "html");
  EXPECT_TRUE(has(folder.read("D7.html"), {"<html"}));
  ASSERT_EQ(call({"report", "D7.h5", "-o", "D7.json", "--format", "json"}, folder.path()).exit, 0);
  EXPECT_EQ(parse_json(folder.read("D7.json"), "D7.json")["format"], "neutra-report");
}

TEST(Terminal, WhatKilledExportsLeftGoesWithTheNext) {
  const Folder folder;
  fs::create_directories(folder.path() / ".export-abcdef");
  fs::create_directories(folder.path() / ".export-inuse1");
  fs::create_directories(folder.path() / ".export-of-mine");
  folder.write(".export-abcdef/train.py", "half");
  const int used =
      open((folder.path() / ".export-inuse1").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(used, LOCK_EX), 0);
  ASSERT_EQ(call({"export", "D7", "--format", "keras", "-o", "D7"}, folder.path()).exit, 0);
  close(used);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{".export-inuse1", ".export-of-mine", "D7"}));
}

TEST(Terminal, ASearchLeavesTheModelBesideItsProgramAlone) {
  const Folder folder;
  ASSERT_EQ(call({"export", "D7", "--format", "h5", "-o", "model.h5"}, folder.path()).exit, 0);
  const std::string model = folder.read("model.h5");
  ASSERT_EQ(
      call({"mutate", "D7", "--apply", "change_epochs=1", "-o", "model.json"}, folder.path()).exit,
      0);
  const std::vector<std::string> search{
      "search", "model.json", "--ground-truth-metric", "0.5", "--budget-evaluations", "1",
      "-n",     "2"};
  for (int i = 0; i < 2; ++i) {
    const Called called = call(search, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    EXPECT_TRUE(has(called.out, {"store: model.store.h5"}));
  }
  EXPECT_EQ(folder.read("model.h5"), model);
}

}  // namespace
}  // namespace neutra::cli
