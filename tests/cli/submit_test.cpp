// `neutra submit` and `neutra status`, with a batch system that is none.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "base/strings.h"
#include "tests/cli/command.h"
#include "tests/count.h"

namespace neutra::cli {
namespace {

/// A script that stands for a program of that name in commands of `with_tools`.
void write_tool(const Folder& folder, const std::string& name, const std::string& script) {
  std::filesystem::permissions(folder.write(name, "#!/bin/sh\n" + script),
                               std::filesystem::perms::owner_all);
}

std::vector<std::string> with_tools(const Folder& folder, const std::string& words) {
  return {"sh", "-c",
          "PATH=" + folder.path().string() + ":$PATH exec '" + built_command() + "' " + words};
}

TEST(Submit, SubmitKnowsItsJobs) {
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
  EXPECT_TRUE(has(called.out, {"13_1", "(Priority, x)"}));
  EXPECT_FALSE(contains(called.out, "14_0")) << called.out;
  EXPECT_EQ(submit("status out out/ ./out --format json").out,
            submit("status out --format json").out);
  for (const char* executor : {"slurm", "local"}) {
    called = submit("submit study.json --folder out --only D7 --executor " + std::string(executor));
    EXPECT_TRUE(refused(called, 3, {"D7 (job 13_1, PENDING)"}));
  }
  // Who can't ask the queue doesn't submit a second time.
  const std::string queue = folder.read("squeue");
  tool("squeue", "exit 1\n");
  called = submit("submit study.json --folder out --only D7");
  EXPECT_TRUE(refused(called, 1, {"squeue"}));
  EXPECT_EQ(submit("status out").exit, 0);
  folder.write("squeue", queue);
  // Of these, D7 is queued and left out.
  tool("sbatch", "echo 15\n");
  folder.write("out/logs/D8.end", "exit 137 at attempt 20 of 20");
  called = submit("submit study.json --folder out --only D7 --only D8");
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_TRUE(has(called.err, {"left out", "D7 (job 13_1, PENDING)"}));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/logs/D8.end"));
  // What was submitted earlier is not forgotten.
  const Json batch = parse_json(folder.read("out/batch.json"), "batch.json");
  EXPECT_EQ(batch["faults"], Json::parse(R"(["D6", "D7", "D8"])"));
  EXPECT_EQ(batch["jobs"], Json::parse(R"([{"id": "13", "faults": ["D6", "D7"]},
                                           {"id": "15", "faults": ["D8"]}])"));
  study("second");
  called = submit("submit study.json --folder out --only D8");
  EXPECT_TRUE(refused(called, 3, {"out", "\"first\""}));
  tool("sbatch", "echo no partition >&2; exit 1\n");
  called = submit("submit study.json --folder new");
  EXPECT_EQ(called.exit, 1);
  EXPECT_EQ(count(called.err, "no partition"), 1u) << called.err;
  tool("sbatch", "echo would start soon >&2\n");
  called = submit("submit study.json --folder new");
  EXPECT_TRUE(refused(called, 1, {"would start soon"}));
  // The corrected command goes through, in the folder where it is called.
  tool("sbatch", "pwd > where; echo 16\n");
  called = submit("submit study.json --folder new");
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(parse_json(folder.read("new/batch.json"), "batch.json")["jobs"].size(), 1U);
  EXPECT_EQ(folder.read("where"), folder.path().string() + "\n");
}

TEST(Submit, AJobHasWhatTheEnvironmentSaid) {
  const Folder folder;
  // A cluster on which jobs get nothing of the user's environment.
  write_tool(
      folder, "sbatch",
      "shift\nexec env -i PATH=\"$PATH\" SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_ID=0 bash \"$1\"\n");
  write_tool(folder, "srun", "env > seen\nexit 3\n");
  folder.write("study.json", R"({"format": "neutra-study", "version": 1, "name": "s",
                                 "faults": ["D6"]})");
  std::vector<std::string> words = with_tools(folder, "submit study.json --folder out --only D6");
  words.insert(words.begin(), {"env", "NEUTRA_SHARED=/of \"all\" $us", "KERAS_HOME=/k", "OTHER=1"});
  Running(words, folder.path()).wait(120);
  const std::string seen = "\n" + folder.read("seen");
  EXPECT_EQ(count(seen, "\nNEUTRA_SHARED=/of \"all\" $us\n"), 1u) << seen;
  EXPECT_EQ(count(seen, "\nKERAS_HOME=/k\n"), 1u) << seen;
  EXPECT_EQ(count(seen, "\nOTHER="), 0u) << seen;
}

TEST(Submit, OneSubmitAtATime) {
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
  EXPECT_TRUE(refused(second, 1, {"out", "another neutra submit"}));
  EXPECT_EQ(first.wait(120).exit, 0);
  EXPECT_EQ(parse_json(folder.read("out/batch.json"), "batch.json")["jobs"],
            Json::parse(R"([{"id": "1", "faults": ["D6"]}])"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/batch.lock"));
}

TEST(Submit, AStoreHasAStatusWhateverLiesBesideIt) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "3", "--quiet"},
                 folder.path())
                .exit,
            0);
  folder.write("batch.json", "{\"my\": \"file\"}");
  const Called called = call({"status", "D7.h5"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_TRUE(has(called.out, {"finished"}));
  // What it found so far.
  const Json listed = parse_json(call({"status", "D7.h5", "--json"}, folder.path()).out, "out");
  const Json& row = listed.at("searches").front();
  EXPECT_TRUE(row.at("buggy").is_number()) << listed;
  EXPECT_EQ(row.at("best").is_null(), row.at("alternatives") == 0) << listed;
}

}  // namespace
}  // namespace neutra::cli
