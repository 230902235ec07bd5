#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <sstream>

#include "base/strings.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

/// How a verb reads a file. A text is read once, so it may come through a pipe; what is read more
/// than once, or in no order, refuses pipes.
enum class Reads { kOnce, kMoreThanOnce };

struct Case {
  std::string words;  ///< "@" stands for the file
  std::string file;   ///< of Fixture
  Reads reads;
};

const std::vector<Case> kCases = {
    {"bench create @ -o tiny.h5", "plan.json", Reads::kOnce},
    {"bench list @", "tiny.h5", Reads::kMoreThanOnce},
    {"bench validate @", "tiny.h5", Reads::kMoreThanOnce},
    {"check @", "train.py", Reads::kOnce},
    {"check-graph @", "graph.pb", Reads::kOnce},
    {"collect @", "store.h5", Reads::kMoreThanOnce},
    {"config show --json --config @", "options.conf", Reads::kOnce},
    {"deepfd-train --evaluate @", "broken.json", Reads::kOnce},
    {"evaluate D6 --weights @", "model.h5", Reads::kMoreThanOnce},
    {"export @ --format keras", "fault.json", Reads::kOnce},
    {"import @ -o out.json", "model.h5", Reads::kMoreThanOnce},
    {"import model.h5 --training @ -o out.json", "model.neutra.json", Reads::kOnce},
    {"import model.h5 --data @ -o out.json", "rows.csv", Reads::kMoreThanOnce},
    {"localise @ --tool neuralint --runs 1", "fault.json", Reads::kOnce},
    {"localise D6 --tool deepfd --runs 1 --deepfd-model @", "broken.json", Reads::kOnce},
    {"mutate @ --operator change_learning_rate", "fault.json", Reads::kOnce},
    {"network @", "network.tsv", Reads::kOnce},
    {"network @", "store.h5", Reads::kMoreThanOnce},
    {"network network.tsv --compare @ --format text", "network.tsv", Reads::kOnce},
    {"parse --tool neuralint @", "log.txt", Reads::kOnce},
    {"patch @", "fault.json", Reads::kMoreThanOnce},
    {"report @ --format json", "store.h5", Reads::kMoreThanOnce},
    {"report network.tsv --fault D6 --answers @ --format json", "answers.csv", Reads::kOnce},
    {"score --answers @", "answers.csv", Reads::kOnce},
    {"score --answers answers.csv --fault @", "fault.json", Reads::kOnce},
    {"score --answers answers.csv --network @", "network.tsv", Reads::kOnce},
    {"score --answers answers.csv --network @", "store.h5", Reads::kMoreThanOnce},
    {"search @ --store new.h5 --fresh --replicas 1 --budget-evaluations 2 --json", "fault.json",
     Reads::kOnce},
    {"search D6 --store new.h5 --fresh --replicas 1 --budget-evaluations 2 --reuse @", "store.h5",
     Reads::kMoreThanOnce},
    {"show @", "fault.json", Reads::kOnce},
    {"simulate @", "store.h5", Reads::kMoreThanOnce},
    {"status @", "store.h5", Reads::kMoreThanOnce},
    {"store check @", "store.h5", Reads::kMoreThanOnce},
    {"store info @", "store.h5", Reads::kMoreThanOnce},
    {"store merge @ store.h5 -o merged.h5", "store.h5", Reads::kMoreThanOnce},
    {"store repair @ -o repaired.h5", "store.h5", Reads::kMoreThanOnce},
    {"study @", "broken.json", Reads::kOnce},
    {"submit @ --dry-run", "broken.json", Reads::kMoreThanOnce},
    {"symptoms @", "monitor.h5", Reads::kMoreThanOnce},
    {"symptoms monitor.h5 --rules @", "broken.json", Reads::kOnce},
    {"train @ --replicas 1 --json", "fault.json", Reads::kOnce},
    {"verify @ --fault D6 --rows 1", "network.tsv", Reads::kOnce},
};

/// Verbs that read no file of the user; capture and fix leave the script to Python.
const std::set<std::string> kWithoutFiles = {"capture", "completion", "doctor", "faults",
                                             "fix",     "man",        "serve",  "subjects"};

/// Files of each kind, made by the command itself.
class Pipes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    const auto make = [](const std::string& words) {
      const Called called = in_shell(words);
      ASSERT_EQ(called.exit, 0) << words << called.err;
    };
    make("search D6 --store store.h5 --replicas 1 --budget-evaluations 3 -q");
    make("network store.h5 -o network.tsv");
    folder_->write("graph.pb", "\x0a\x10\x0a\x01x\x12\x0bPlaceholder");
    make("export D6 --format h5 -o model.h5");
    make("train D6 --replicas 1 --monitor monitor.h5 -q");
    make("show D6 --json >shown.json");
    folder_->write("fault.json",
                   R"({"format": "neutra-fault", "version": 1, "id": "mine", "subject": "iris",)"
                   R"( "buggy": {"parameters": {"epochs": 2}}, "fixed": {"parameters": {}}})");
    folder_->write("answers.csv", "fault,tool,answer\nD6,a,LCH\nD6,b,-\nmine,a,HNE\n");
    folder_->write("options.conf", "seed = 3\n");
    folder_->write("broken.json", "{\"format\": 3}");
    folder_->write("train.py", "for x, y in loader:\n    loss(model(x), y).backward()\n");
    folder_->write("log.txt", "nothing of a tool\n");
    folder_->write("rows.csv", "a,b,label\n1,2,0\n3,4,1\n");
    folder_->write("plan.json",
                   R"({"format": "neutra-benchmark-plan", "version": 1, "name": "tiny", "runs": 2,)"
                   R"( "operators": ["change_epochs"], "effect": 0, "subjects": ["line"]})");
    make("bench create plan.json -o tiny.h5 -q");
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  /// `words` behind the command; what a case made before is away.
  static Called in_shell(const std::string& words, const std::string& before = "",
                         const std::string& behind = "") {
    return Running({"sh", "-c", before + built_command() + " " + words + behind}, folder_->path())
        .wait(60);
  }

  static Folder* folder_;
};

Folder* Pipes::folder_ = nullptr;

std::string with(std::string words, const std::string& file) {
  words.replace(words.find('@'), 1, file);
  return words;
}

/// Without what tells files and times apart.
std::string comparable(std::string text, const std::string& file) {
  for (std::size_t at = 0; (at = text.find(file, at)) != std::string::npos;)
    text.replace(at, file.size(), "@");
  return text;
}

TEST_F(Pipes, EachVerbReadsThemOnceOrRefusesThem) {
  for (const auto& [words, file, reads] : kCases) {
    const std::string fresh = " rm -rf out.json merged.h5 repaired.h5 new.h5 new.h5.* pipe;";
    const std::string keep = words.starts_with("bench create") ? " --fresh" : "";
    const Called plain = in_shell(with(words, file) + keep, fresh);
    const Called input = in_shell(with(words, "/dev/stdin") + keep, fresh + " cat " + file + " | ");
    const Called pipe =
        in_shell(with(words, "pipe") + keep, fresh + " mkfifo pipe; cat " + file + " >pipe & ",
                 " </dev/null; code=$?; kill $! 2>/dev/null; exit $code");
    ASSERT_NE(plain.exit, 124) << words;
    for (const auto& [called, name] : {std::pair(&input, "/dev/stdin"), {&pipe, "pipe"}}) {
      SCOPED_TRACE(with(words, name));
      if (reads == Reads::kMoreThanOnce) {
        EXPECT_TRUE(refused(*called, 3, {name + std::string(": found a pipe or device")}));
      } else {
        EXPECT_EQ(called->exit, plain.exit) << called->err << plain.err;
        EXPECT_FALSE(contains(called->err, "a pipe or device")) << called->err;
        if (words.starts_with("network") || words.starts_with("score") ||
            words.starts_with("parse") || words.starts_with("config")) {
          EXPECT_EQ(comparable(called->out, name), comparable(plain.out, file));
        }
      }
    }
  }
}

TEST_F(Pipes, NoVerbIsLeftOut) {
  std::set<std::string> known = kWithoutFiles;
  for (const Case& each : kCases) known.insert(each.words.substr(0, each.words.find(' ')));
  std::istringstream help(in_shell("help").out);
  bool verbs = false;
  std::size_t count = 0;
  for (std::string line; std::getline(help, line);) {
    if (line == "verbs:") {
      verbs = true;
    } else if (verbs && line.empty()) {
      break;
    } else if (verbs) {
      const std::string verb = line.substr(2, line.find(' ', 2) - 2);
      EXPECT_TRUE(known.contains(verb)) << verb << ": a row of kCases, or kWithoutFiles";
      ++count;
    }
  }
  EXPECT_GT(count, 20U);
}

TEST_F(Pipes, EndlessOnesAreReadToALimit) {
  for (const char* words :
       {"parse --tool umlaut /dev/zero", "show /dev/zero", "score --answers /dev/zero",
        "network /dev/zero", "config show --config /dev/zero"}) {
    const Called called = in_shell(words);
    EXPECT_TRUE(refused(called, 3, {"/dev/zero", "64 MiB"})) << words;
  }
  const Called endless = in_shell("parse --tool umlaut /dev/stdin", "yes | ");
  EXPECT_TRUE(has(endless.err, {"/dev/stdin", "64 MiB"}));
}

/// `| head`
TEST_F(Pipes, AReaderThatLeavesIsNoError) {
  for (const char* words : {"subjects",
                            "faults",
                            "faults --json",
                            "help",
                            "help search",
                            "--version",
                            "localise --list",
                            "mutate --list",
                            "show D7 --json",
                            "config show",
                            "config schema",
                            "man search",
                            "completion bash",
                            "network network.tsv",
                            "score --answers answers.csv",
                            "bench list tiny.h5",
                            "store info store.h5",
                            "status store.h5",
                            "symptoms monitor.h5",
                            "train D6 --replicas 1 -q",
                            "localise D6 --tool neuralint --runs 1",
                            "export D7 --format pytorch",
                            "network network.tsv -o /dev/stdout",
                            "report network.tsv --fault D6 -o /dev/stdout"}) {
    const Called called = in_shell(words, "{ sleep 0.3; ",
                                   " 2>err; echo $? >code; } | true; "
                                   "cat err >&2; exit $(cat code)");
    EXPECT_EQ(called.exit, 141) << words << called.err;
    EXPECT_FALSE(contains(called.err, "cannot be written")) << words << called.err;
    EXPECT_FALSE(contains(called.err, "error")) << words << called.err;
  }
  // What the verb found comes before.
  EXPECT_EQ(
      in_shell("show none", "{ sleep 0.3; ", "; echo $? >code; } | true; exit $(cat code)").exit,
      3);
}

}  // namespace
}  // namespace neutra::cli
