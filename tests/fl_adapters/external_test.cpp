#include "fl_adapters/external.h"
#include "base/files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "fl_adapters/localise_runs.h"
#include "program/formats/program_for_tools.h"
#include "tests/processes.h"
#include "tests/test_folder.h"

namespace neutra::fl_adapters {
namespace {

using tests::TestFolder;

FaultyProgram line() {
  return {"L1", {Json::parse(R"({
    "format": "neutra-program", "version": 1, "task": "regression",
    "model": {"class_name": "Sequential", "config": {"layers": [
      {"class_name": "Dense", "config": {"units": 2, "activation": "relu"}},
      {"class_name": "Dense", "config": {"units": 1}}]}},
    "compile": {"optimizer": "sgd", "loss": "mse", "metrics": ["mae"]},
    "data": {"source": "generator", "arguments": {"name": "linear"}}})")}};
}

/// Three training rows and two test rows.
class Rows : public training::LocalTrainer {
 public:
  training::ReplicaResult train(const training::TrainingJob&) override { return {}; }
  training::ReplicaResult train(const training::TrainingJob&, training::Observer*) override {
    return {};
  }
  std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  std::string fingerprint(const program::Program&) override { return "rows"; }
  std::shared_ptr<const training::Dataset> dataset(const program::Program&) override {
    auto data = std::make_shared<training::Dataset>();
    data->x_train = {{3, 1}, {1, 2, 3}};
    data->y_train = {{3}, {10, 20, 30}};
    data->x_test = {{2, 1}, {4, 5}};
    data->y_test = {{2}, {40, 50}};
    return data;
  }
};

constexpr const char* kAnswer = R"({"format": "neutra-answer", "version": 1, "faults": "HLR"})";

/// A tool that is a shell script. "MARK" in it becomes a number that only its processes have.
struct Shell {
  explicit Shell(std::string script) {
    static int calls = 0;
    mark = std::to_string(200000000 + getpid()) + "." + std::to_string(100000 + ++calls);
    for (std::size_t at = 0; (at = script.find("MARK", at)) != std::string::npos;) {
      script.replace(at, 4, mark);
    }
    description.name = "shell";
    description.version = "1";
    description.command = {"/bin/sh", "-c", script};
    description.inputs = {ToolInput::kScript};
    description.time_limit = 60;
  }
  Localisation run() {
    ExternalTool tool(description);
    context.trainer = &trainer;
    const Localisation answer = tool.run(line(), context).answer;
    EXPECT_EQ(processes_with(mark), 0);
    return answer;
  }
  std::string mark;
  Rows trainer;
  ToolDescription description;
  LocaliseContext context;
};

/// The script's lines that answer.
std::string answering(const std::string& text) {
  return "cat > answer.json <<'END'\n" + text + "\nEND\n";
}

TEST(External, AnswersInAFileOrOnStandardOutput) {
  for (const std::string& script : {answering(kAnswer), "echo '" + std::string(kAnswer) + "'",
                                    answering(kAnswer) + "echo some words that are no answer"}) {
    const Localisation answer = Shell(script).run();
    EXPECT_EQ(answer.status, LocalisationStatus::kOk) << answer.reason;
    EXPECT_EQ(to_string(answer.faults), "HLR");
    EXPECT_EQ(answer.reason, "");
    EXPECT_GT(answer.seconds, 0);
  }
}

TEST(External, FindsItsFiles) {
  Shell shell("ls | tr '\\n' ' ' >&2; exit 1");
  EXPECT_EQ(shell.run().reason, "exit code 1: program.json request.json train.py");
  shell.description.inputs = {};
  EXPECT_EQ(shell.run().reason, "exit code 1: program.json request.json");
  shell.description.inputs = {ToolInput::kData};
  EXPECT_EQ(shell.run().reason,
            "exit code 1: data.h5 program.json request.json x_test.npy x_train.npy y_test.npy "
            "y_train.npy");
}

TEST(External, KeepsItsFolder) {
  const TestFolder folder;
  Shell shell("echo out; echo err >&2; pwd -P > where; " + answering(kAnswer));
  shell.description.inputs = {ToolInput::kData, ToolInput::kScript};
  shell.description.command.push_back("{folder}:{folder}");
  shell.context.keep = folder.path();
  shell.context.run = 4;
  shell.context.seed = 7;
  shell.context.time_limit = 30;
  EXPECT_EQ(shell.run().status, LocalisationStatus::kOk);
  const std::string run = "L1-shell-4/";
  EXPECT_EQ(folder.read(run + "stdout.txt"), "out\n");
  EXPECT_EQ(folder.read(run + "stderr.txt"), "err\n");
  EXPECT_EQ(
      folder.read(run + "where"),
      std::filesystem::canonical(folder.path() / run.substr(0, run.size() - 1)).string() + "\n");
  const Json about = read_json(folder.path() / run / "run.json");
  EXPECT_EQ(about["end"], "exited");
  EXPECT_EQ(about["code"], 0);
  EXPECT_EQ(about["answer"], "HLR");
  const std::string path = (folder.path() / "L1-shell-4").string();
  EXPECT_EQ(about["command"][3], path + ":" + path);
  const Json request = read_json(folder.path() / run / "request.json");
  EXPECT_EQ(request["seed"], 7004);
  EXPECT_EQ(request["run"], 4);
  EXPECT_EQ(request["time_limit"], 30);
  EXPECT_NE(folder.read(run + "train.py").find("tf.random.set_seed(7004)"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / run / "x_train.npy"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / run / "program.json"));

  EXPECT_EQ(shell.run().status, LocalisationStatus::kOk);  // in place of the first
  folder.write(run + "run.json", "");
  std::filesystem::remove(folder.path() / run / "run.json");
  std::filesystem::remove(folder.path() / run / "request.json");
  EXPECT_THROW(shell.run(), Error);  // somebody else's folder
}

TEST(External, IsToldTheScriptThatTheProgramWasCapturedFrom) {
  const TestFolder folder;
  Shell shell(answering(kAnswer));
  shell.context.keep = folder.path();
  shell.run();
  const std::filesystem::path request = folder.path() / "L1-shell-0" / "request.json";
  EXPECT_FALSE(read_json(request).contains("script"));
  FaultyProgram faulty = line();
  faulty.script = "/home/me/train.py";
  ExternalTool(shell.description).run(faulty, shell.context);
  EXPECT_EQ(read_json(request)["script"], "/home/me/train.py");
}

TEST(External, RunsAtOnceShareTheData) {
  Shell shell("cksum < x_train.npy > sum; ls -l x_train.npy | cut -c1-10 >> sum; " +
              answering(kAnswer));
  shell.description.inputs = {ToolInput::kData};
  const TestFolder folder;
  ExternalTool tool(shell.description);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      LocaliseContext context;
      context.trainer = &shell.trainer;
      context.keep = folder.path();
      context.run = i;
      EXPECT_EQ(tool.run(line(), context).answer.status, LocalisationStatus::kOk);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 6; ++i) {
    const std::string sum = folder.read("L1-shell-" + std::to_string(i) + "/sum");
    EXPECT_EQ(sum, folder.read("L1-shell-0/sum"));
    EXPECT_NE(sum.find("-r--"), std::string::npos) << sum;
  }
}

TEST(External, DataFilesAreSharedByRunsAndGoWithThem) {
  const TestFolder temporary, kept;
  Shell shell("stat -c %i x_train.npy > inode; ls -d " + temporary.path().string() +
              "/neutra-data-* > there; " + answering(kAnswer));
  shell.description.inputs = {ToolInput::kData};
  shell.context.trainer = &shell.trainer;
  shell.context.keep = kept.path();
  const char* before = std::getenv("TMPDIR");
  const std::optional<std::string> saved =
      before ? std::optional<std::string>(before) : std::nullopt;
  setenv("TMPDIR", temporary.path().c_str(), 1);
  const ToolAnswers answers =
      localise_runs(external_tool(shell.description), line(), shell.context, 3, 1);
  EXPECT_EQ(to_string(answers.answer()), "HLR");
  for (const char* run : {"L1-shell-0/", "L1-shell-1/", "L1-shell-2/"}) {
    EXPECT_EQ(kept.read(std::string(run) + "inode"), kept.read("L1-shell-0/inode"));
    EXPECT_EQ(kept.read(std::string(run) + "there"), kept.read("L1-shell-0/there"));
  }
  EXPECT_NE(kept.read("L1-shell-0/there"), "");
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  shell.context.keep.clear();
  EXPECT_EQ(shell.run().status, LocalisationStatus::kOk);  // one run alone
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  saved ? setenv("TMPDIR", saved->c_str(), 1) : unsetenv("TMPDIR");
}

TEST(External, NamedParserReadsStandardOutput) {
  Shell shell("printf 'one\\ntwo \\377\\n'");
  shell.description.parser = [](std::string_view text, const FaultyProgram& faulty) {
    EXPECT_EQ(text, "one\ntwo \377\n");
    EXPECT_EQ(faulty.id, "L1");
    Localisation answer;
    answer.messages.resize(2);
    answer.messages[0].faults = {{"HLR", {}}};
    answer.messages[1].text = "two \377";
    answer.faults = answer_of(answer.messages);
    return answer;
  };
  const Localisation answer = shell.run();
  EXPECT_EQ(to_string(answer.faults), "HLR");
  ASSERT_EQ(answer.messages.size(), 2u);
  EXPECT_EQ(answer.messages[1].text, "two \uFFFD");  // what can't be printed as JSON
}

TEST(External, WrongAnswersAreFailures) {
  const std::string head = R"({"format": "neutra-answer", "version": 1, )";
  for (const auto& [script, part] : {
           std::pair<std::string, const char*>{"true", "answer.json: found no such file"},
           {answering(""), "answer.json"},
           {answering("{"), "answer.json"},
           {answering("[1, 2"), "answer.json"},
           {answering(head + R"("faults": "XYZ"})"), "XYZ"},
           {answering(head + R"~("faults": "ACH(2)"})~"), "/faults: found layer 2"},
           {answering(head + R"("ranking": [{"layer": 0, "suspiciousness": NaN}]})"),
            "answer.json"},
           {answering(head + R"("ranking": [{"layer": 0, "suspiciousness": 1e999}]})"),
            "answer.json"},
           {answering(head + R"("ranking": [{"layer": 9, "suspiciousness": 1}]})"),
            "/ranking/0/layer"},
           {"echo 'Using TensorFlow backend.'", "standard output"},
           {"printf '\\377\\376'", "standard output"},
           {"mkfifo answer.json", "answer.json: found no file of a fitting size"},
           {"mkdir answer.json", "answer.json"},
           {"ln -s /dev/zero answer.json", "answer.json"},
           {"head -c 20000000 /dev/zero > answer.json", "answer.json"},
           {"rm -r ../\"$(basename \"$PWD\")\"", "answer.json: found no such file"},
       }) {
    const Localisation answer = Shell(script).run();
    EXPECT_EQ(answer.status, LocalisationStatus::kFailed) << script;
    EXPECT_FALSE(answer.faults.applicable) << script;
    EXPECT_NE(answer.reason.find(part), std::string::npos) << script << "\n" << answer.reason;
    EXPECT_EQ(answer.reason.find("/tmp"), std::string::npos) << answer.reason;
    EXPECT_NO_THROW(Json(answer.reason).dump());
  }
}

TEST(External, BrokenToolsAreFailures) {
  for (const auto& [script, part] : {
           std::pair<std::string, const char*>{"echo broken >&2; exit 3", "exit code 3: broken"},
           {answering(kAnswer) + "exit 3", "exit code 3"},
           {"kill -SEGV $$", "ended by signal 11 (Segmentation fault)"},
           {"printf 'a\\377\\033[31mb' >&2; exit 1", "exit code 1: a"},
       }) {
    const Localisation answer = Shell(script).run();
    EXPECT_EQ(answer.status, LocalisationStatus::kFailed) << script;
    EXPECT_NE(answer.reason.find(part), std::string::npos) << answer.reason;
    EXPECT_NO_THROW(Json(answer.reason).dump());
  }
  Shell none("");
  none.description.command = {"no-such-tool"};
  EXPECT_EQ(none.run().reason, "'no-such-tool' can't be started: No such file or directory");
}

TEST(External, LimitsAreKept) {
  Shell hanging("trap '' TERM; sleep MARK & sleep MARK");
  hanging.context.time_limit = 0.2;  // the stricter of the two
  Localisation answer = hanging.run();
  EXPECT_EQ(answer.status, LocalisationStatus::kTimeout);
  EXPECT_EQ(answer.reason, "ran longer than 0.2 s");
  EXPECT_EQ(to_string(answer.faults), "-");

  Shell late(answering(kAnswer) + "sleep MARK");
  late.description.time_limit = 0.3;
  answer = late.run();
  EXPECT_EQ(answer.status, LocalisationStatus::kTimeout);
  EXPECT_EQ(to_string(answer.faults), "HLR");  // what it had answered until then

  answer = Shell("yes MARK").run();
  EXPECT_EQ(answer.status, LocalisationStatus::kFailed);
  EXPECT_EQ(answer.reason, "printed more than 16777216 bytes");

  Shell large("x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep MARK");
  large.context.memory_limit = 50000000;
  answer = large.run();
  EXPECT_EQ(answer.status, LocalisationStatus::kFailed);
  EXPECT_EQ(answer.reason, "held more than 50000000 bytes of memory");
}

TEST(External, ChildrenThatOutliveItAreEndedAndNamed) {
  const Localisation answer = Shell(answering(kAnswer) + "(setsid sleep MARK &)").run();
  EXPECT_EQ(answer.status, LocalisationStatus::kOk);
  EXPECT_EQ(to_string(answer.faults), "HLR");
  EXPECT_EQ(answer.reason, "1 process outlived it; ended by neutra");
}

TEST(External, InterruptedIsNoAnswer) {
  std::atomic<bool> stop{true};
  Shell shell("sleep MARK");
  shell.context.stop = &stop;
  try {
    shell.run();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInterrupted);
  }
  EXPECT_EQ(processes_with(shell.mark), 0);
}

TEST(External, InvalidProgramIsNotApplicable) {
  Shell shell(answering(kAnswer));
  FaultyProgram wrong = line();
  wrong.program.document["compile"]["loss"] = "nonsense";
  EXPECT_EQ(ExternalTool(shell.description).run(wrong, {}).answer.status,
            LocalisationStatus::kNotApplicable);
}

TEST(External, ALoopThatNoScriptCanHaveIsNotApplicable) {
  Shell shell(answering(kAnswer));
  FaultyProgram faulty = line();
  faulty.program.document["fit"]["loop"] = {{"zero_grad", "never"}};
  ExternalTool tool(shell.description);
  shell.context.trainer = &shell.trainer;
  const Localisation answer = tool.run(faulty, shell.context).answer;
  EXPECT_EQ(answer.status, LocalisationStatus::kNotApplicable);
  EXPECT_NE(answer.reason.find("/fit/loop/zero_grad"), std::string::npos) << answer.reason;
  // The program alone it can be given.
  shell.description.inputs = {};
  EXPECT_EQ(ExternalTool(shell.description).run(faulty, shell.context).answer.status,
            LocalisationStatus::kOk);
}

TEST(External, AsAToolOfTheRegistrysKind) {
  const TestFolder folder;
  const auto file = folder.write("t.json", to_text(Json::parse(R"({
    "format": "neutra-tool", "version": 1, "name": "t", "tool_version": "9", "description": "d",
    "source": "s", "needs": ["program"], "command": ["sh", "{here}/t.sh"]})")));
  folder.write("t.sh", answering(kAnswer));
  const Tool* tool = load_tool(file);
  EXPECT_EQ(load_tool(folder.path() / "." / "t.json"), tool);
  EXPECT_EQ(tool->kind, ToolKind::kExternal);
  EXPECT_EQ(tool->needs, (std::set{ToolNeed::kProgram, ToolNeed::kCommand}));
  const ToolAnswers answers = localise_runs(*tool, line(), {}, 5, 2);
  ASSERT_EQ(answers.runs.size(), 1u);
  EXPECT_EQ(to_string(answers.answer()), "HLR");

  Shell with_data("");
  with_data.description.inputs = {ToolInput::kData};
  EXPECT_TRUE(external_tool(with_data.description).needs.contains(ToolNeed::kTraining));
}

TEST(ProgramForTools, HasEveryFieldAndTheSameHash) {
  const program::Program program = line().program;
  const program::DataInfo info{{1}, {}, 3};
  const Json document = program::program_for_tools(program, &info);
  EXPECT_EQ(program::program_hash({document}), program::program_hash(program));
  EXPECT_TRUE(program::validate(document).empty());
  const Json& layer = document["model"]["config"]["layers"][0]["config"];
  EXPECT_EQ(layer["batch_input_shape"], Json::parse("[null, 1]"));
  EXPECT_EQ(layer["kernel_initializer"]["class_name"], "GlorotUniform");
  EXPECT_EQ(document["compile"]["optimizer"]["config"]["learning_rate"], 0.01);
  EXPECT_FALSE(
      program::program_for_tools(program, nullptr)["model"]["config"]["layers"][0]["config"]
          .contains("batch_input_shape"));
}

TEST(DataFilesOfTools, HoldTheRows) {
  const TestFolder folder;
  auto data = *Rows().dataset(line().program);
  data.x_validation = {{1, 1}, {7}};
  data.y_validation = {{1}, {70}};
  const auto names = write_data_files(data, folder.path());
  EXPECT_EQ(names,
            (std::vector<std::string>{"data.h5", "x_train.npy", "y_train.npy", "x_test.npy",
                                      "y_test.npy", "x_validation.npy", "y_validation.npy"}));
  const Hdf5File file = Hdf5File::open(folder.path() / "data.h5");
  EXPECT_EQ(file.read_floats("/x_train"), data.x_train.values);
  EXPECT_EQ(file.extents("/x_train"), (std::vector<std::uint64_t>{3, 1}));
  const auto back = training::load_dataset(
      Json::parse(R"({"source": "npy", "arguments": {"x_train": "x_train.npy",
        "y_train": "y_train.npy", "x_test": "x_test.npy", "y_test": "y_test.npy"}})"),
      {folder.path()});
  EXPECT_EQ(back->x_train.values, data.x_train.values);
  EXPECT_EQ(back->x_train.extents, data.x_train.extents);
  EXPECT_EQ(back->y_train.extents, data.y_train.extents);
  EXPECT_EQ(back->y_test.values, data.y_test.values);
  const std::string bytes = folder.read("y_train.npy");
  EXPECT_EQ(bytes.size(), 128u + 12);  // the header fills a multiple of 64 bytes
  EXPECT_NE(bytes.find("'shape': (3, )"), std::string::npos) << bytes;
}

}  // namespace
}  // namespace neutra::fl_adapters
