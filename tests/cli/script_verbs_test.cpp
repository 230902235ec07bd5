// capture, patch and fix: how they start Python. What Python does then is tested in python/tests.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// Says that it is Python 3.11 and has every module; does `script` for any other call.
std::string stand_in(const std::string& script, const std::string& version = "3 11") {
  return "#!/bin/sh\nif [ \"$1\" = -c ]; then echo " + version + "; echo True; exit; fi\n" + script;
}

class ScriptVerbs : public testing::Test {
 protected:
  /// A stand-in for Python in the folder's bin/.
  void python(const std::string& text, const std::string& name = "python") const {
    fs::create_directories(folder.path() / "bin");
    const fs::path file = folder.path() / "bin" / name;
    folder.write("bin/" + name, text);
    fs::permissions(file, fs::perms::owner_all);
  }
  /// Runs the command in an environment of these variables, PATH and no other.
  Called called(std::vector<std::string> words, std::vector<std::string> variables = {}) const {
    std::vector<std::string> all = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin"};
    all.insert(all.end(), variables.begin(), variables.end());
    all.emplace_back(built_command());
    all.insert(all.end(), words.begin(), words.end());
    return Running(std::move(all), folder.path()).wait(120);
  }
  Called in_environment(std::vector<std::string> words) const {
    return called(std::move(words), {"VIRTUAL_ENV=" + folder.path().string()});
  }

  const Folder folder;
};

constexpr const char* kPrintWords = "printf '%s|' \"$@\"\n";

TEST_F(ScriptVerbs, CapturePassesItsOptionsAndTheScriptsWords) {
  python(stand_in(kPrintWords));
  const Called found =
      in_environment({"capture", "--run", "my train.py", "--lr", "0.1", "-o", "out.json", "--check",
                      "3", "--max-data", "2k", "--weights", "--leave-out", "--json", "--", "-o"});
  EXPECT_EQ(found.exit, 0) << found.err;
  EXPECT_EQ(found.err, "");
  EXPECT_EQ(found.out,
            "-m|neutra.capture|--run|--weights|--leave-out|--json|--output=out.json|--check=3|"
            "--max-data=2048|--|my train.py|--lr|0.1|-o|");
}

TEST_F(ScriptVerbs, FixPassesItsOptionsAndTheScriptsWords) {
  python(stand_in(kPrintWords));
  const Called found = in_environment({"fix", "--seed", "3", "train.py", "--seed", "1",
                                       "--budget-evaluations", "9", "--json", "-o", "to"});
  EXPECT_EQ(found.exit, 0);
  EXPECT_TRUE(has(found.out, {"-m|neutra.fix|--json|--budget-evaluations=9|--output=to|--seed=3|",
                              "|--fault-types={", "\"HLR\":\"wrong learning rate\"",
                              "}|--max-data=1073741824|--|train.py|--seed|1|"}));
  EXPECT_TRUE(has(found.err, {"note: --seed", "train.py"}));
}

TEST_F(ScriptVerbs, TheirPythonHasTheCommandAndItsPackage) {
  python(stand_in("echo \"$NEUTRA\"; echo \"$PYTHONPATH\"\n"));
  const Called found = in_environment({"capture", "train.py"});
  const std::string package = fs::canonical(source_file("python")).string();
  EXPECT_EQ(found.out, fs::canonical(built_command()).string() + "\n" + package + "\n");
  const Called joined = called({"capture", "train.py"},
                               {"VIRTUAL_ENV=" + folder.path().string(), "PYTHONPATH=/somewhere"});
  EXPECT_TRUE(has(joined.out, {package + ":/somewhere"}));
}

TEST_F(ScriptVerbs, TheirPythonIsTheActiveEnvironments) {
  python(stand_in("echo chosen\n"));
  python(stand_in("echo of PATH\n"), "python3");
  const std::string here = folder.path().string(), bin = here + "/bin";
  EXPECT_EQ(called({"capture", "a.py"}, {"CONDA_PREFIX=" + here}).out, "chosen\n");
  EXPECT_EQ(called({"capture", "a.py"}, {"PATH=" + bin + ":/bin"}).out, "of PATH\n");
  EXPECT_EQ(called({"capture", "--python", bin + "/python3", "a.py"}, {"VIRTUAL_ENV=" + here}).out,
            "of PATH\n");
  EXPECT_EQ(called({"capture", "a.py"}, {"NEUTRA_PYTHON=" + bin + "/python"}).out, "chosen\n");
}

TEST_F(ScriptVerbs, APythonThatCannotBeUsedIsNamed) {
  python("#!/bin/sh\necho no Python\n");
  python(stand_in("", "3 8"), "python3.8");
  const std::string here = folder.path().string();
  EXPECT_TRUE(refused(in_environment({"capture", "a.py"}), 3,
                      {"VIRTUAL_ENV", here + "/bin/python", "not work as a Python", "3.9"}));
  EXPECT_TRUE(refused(called({"capture", "--python", "bin/python3.8", "a.py"}), 3,
                      {"--python", "bin/python3.8", "Python 3.8", "3.9 or newer"}));
  EXPECT_TRUE(refused(called({"fix", "--python", "nothing/here", "a.py"}), 3,
                      {"--python", "nothing/here", "cannot be started"}));
  EXPECT_TRUE(refused(called({"fix", "--python", "no-such-python", "a.py"}), 3,
                      {"--python", "no-such-python", "not in PATH"}));
  EXPECT_TRUE(refused(called({"capture", "a.py"}, {"VIRTUAL_ENV=" + here + "/other"}), 3,
                      {"VIRTUAL_ENV", here + "/other", "--python EXE"}));
  EXPECT_TRUE(
      refused(called({"capture", "a.py"}, {"PATH=" + here}), 3, {"no Python", "--python EXE"}));
}

TEST_F(ScriptVerbs, TheExitCodeIsPythons) {
  python(stand_in("exit 5\n"));
  EXPECT_EQ(in_environment({"capture", "a.py"}).exit, 5);
  python(stand_in("kill -KILL $$\n"));
  const Called killed = in_environment({"capture", "a.py"});
  EXPECT_EQ(killed.exit, 137);
  EXPECT_TRUE(has(killed.err, {"neutra: error: ", "/bin/python", "signal 9 (Killed)"}));
}

TEST_F(ScriptVerbs, StreamsArePassedOnAsBytes) {
  python(stand_in("cat; printf '\\377\\033[1m' >&2\n"));
  const std::string script =
      "printf 'a\\000\\377\\033[1m' | '" + built_command() + "' capture a.py";
  const Called found =
      Running({"/usr/bin/env", "VIRTUAL_ENV=" + folder.path().string(), "sh", "-c", script},
              folder.path())
          .wait(120);
  EXPECT_EQ(found.out, std::string("a\0\377\033[1m", 7));
  EXPECT_EQ(found.err, "\377\033[1m");
}

TEST_F(ScriptVerbs, SignalsAreHandedOn) {
  python(stand_in("trap 'echo saved; exit 75' INT TERM\n: >begun\nwhile :; do sleep 0.01; done\n"));
  for (const int signal : {SIGINT, SIGTERM}) {
    fs::remove(folder.path() / "begun");
    Running running(
        {"/usr/bin/env", "VIRTUAL_ENV=" + folder.path().string(), built_command(), "fix", "a.py"},
        folder.path());
    running.wait_until([&] { return fs::exists(folder.path() / "begun"); });
    kill(running.pid(), signal);
    const Called found = running.wait(60);
    EXPECT_EQ(found.exit, 75);
    EXPECT_EQ(found.out, "saved\n");
  }
}

/// Answers as sources --json --diffs FOLDER -- FAULT WANTED... does: the diffs of train.py are
/// comments on the programs that are wanted. `refused`: strings of JSON.
std::string sources(const std::string& refused) {
  return R"sh(to=$5; shift 7; i=0; list=
for file; do
  { echo '--- a/train.py'; echo '+++ b/train.py'; tr -d '\n ' <"$file"; echo; } >"$to/$i.diff"
  list="$list${list:+, }{\"said\": [)sh" +
         refused + R"sh(], \"refused\": [)sh" + refused + R"sh(]}"
  i=$((i + 1))
done
echo "{\"patches\": [$list]}"
)sh";
}

TEST_F(ScriptVerbs, PatchHandsOnTheProgramOfAFault) {
  python(stand_in("echo \"$3 $4\"; for word; do :; done; cat \"$word\"\n"));
  const Called fix = in_environment({"patch", "D7"});
  EXPECT_EQ(fix.exit, 0) << fix.err;
  EXPECT_TRUE(has(fix.out, {"-- ", "faults/D7.json\n", "\"learning_rate\": 0.1"}));
  folder.write("other.json", call({"show", "D7", "--json"}, folder.path()).out);
  const Json shown = parse_json(folder.read("other.json"), "other.json");
  folder.write("other.json", to_text(shown.at("program")));
  const Called other = in_environment({"patch", "D7", "--to", "other.json", "--apply"});
  EXPECT_TRUE(has(other.out, {"--apply ", "\"learning_rate\": 0.001"}));
}

TEST_F(ScriptVerbs, PatchWritesAFileForEachRepair) {
  python(stand_in(sources("")));
  ASSERT_EQ(call({"search", "D7", "--budget-evaluations", "80", "--store", "s.h5", "--quiet"},
                 folder.path())
                .exit,
            0);
  const Called all = in_environment({"patch", "s.h5", "--all-minimal", "-o", "to/patches"});
  EXPECT_EQ(all.exit, 0) << all.err;
  const Json network =
      parse_json(call({"network", "s.h5", "--format", "json"}, folder.path()).out, "network");
  int minimal = 0;
  for (const Json& node : network.at("nodes")) {
    if (!node.contains("minimal") || node["minimal"] != true) continue;
    ++minimal;
    const std::string id = to_text(node["id"]);
    EXPECT_TRUE(has(all.out, {"to/patches/node_" + id.substr(0, id.size() - 1) + "_"}));
  }
  EXPECT_GT(minimal, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "to/patches"), {}), minimal);
  const Called one = in_environment({"patch", "s.h5", "--node", "3", "--json"});
  const Json patch = parse_json(one.out, "out").at("patches").at(0);
  EXPECT_EQ(patch["node"], "3");
  EXPECT_EQ(patch["files"], Json::array({"train.py"}));
  EXPECT_TRUE(patch["whole"].get<bool>());
}

TEST_F(ScriptVerbs, APatchThatIsNotWholeIsNotWritten) {
  python(stand_in(sources(R"(\"train.py:3: cannot be changed\")") + "exit 1\n"));
  const Called file = in_environment({"patch", "D7", "-o", "to"});
  EXPECT_EQ(file.exit, 1);
  EXPECT_EQ(file.out, "");
  EXPECT_TRUE(has(file.err, {"train.py:3: cannot", "is not written"}));
  EXPECT_TRUE(fs::is_empty(folder.path() / "to"));
  const Called json = in_environment({"patch", "D7", "--json"});
  EXPECT_EQ(json.exit, 1);
  const Json patch = parse_json(json.out, "out").at("patches").at(0);
  EXPECT_FALSE(patch["whole"].get<bool>());
  EXPECT_EQ(patch["notes"], Json::array({"train.py:3: cannot be changed"}));
  python(stand_in("echo 'neutra: train.py has changed' >&2; exit 3\n"));
  EXPECT_EQ(in_environment({"patch", "D7", "-o", "to"}).exit, 3);
}

TEST_F(ScriptVerbs, PatchSaysWhatItNeeds) {
  python(stand_in(sources("")));
  ASSERT_EQ(call({"search", "D7", "--budget-evaluations", "5", "--store", "s.h5", "--quiet"},
                 folder.path())
                .exit,
            0);
  EXPECT_TRUE(refused(in_environment({"patch", "s.h5"}), 2, {"--node N", "--all-minimal"}));
  EXPECT_TRUE(refused(in_environment({"patch", "s.h5", "--all-minimal"}), 2, {"-o FOLDER"}));
  EXPECT_TRUE(refused(in_environment({"patch", "s.h5", "--all-minimal", "-o", "x", "--apply"}), 2,
                      {"--apply", "one of them"}));
  EXPECT_TRUE(refused(in_environment({"patch", "s.h5", "--node", "1000000"}), 3,
                      {"s.h5", "1000000", "0 to "}));
  EXPECT_TRUE(refused(in_environment({"patch", "D7", "--node", "3"}), 2, {"D7", "no network"}));
  EXPECT_TRUE(refused(in_environment({"patch", "nothing.h5", "--node", "1"}), 3, {"nothing.h5"}));
}

TEST_F(ScriptVerbs, HelpIsTheVerbsInFrontOfAScriptAlone) {
  python(stand_in(kPrintWords));
  EXPECT_TRUE(has(in_environment({"capture", "--help"}).out, {"neutra capture: ", "--max-data"}));
  EXPECT_TRUE(has(in_environment({"capture", "a.py", "--help"}).out, {"|a.py|--help|"}));
}

}  // namespace
}  // namespace neutra::cli
