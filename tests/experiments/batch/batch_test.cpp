#include "experiments/batch/batch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "experiments/batch/scripts.h"
#include "experiments/batch/states.h"
#include "tests/search/fakes.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  fs::permissions(file, fs::perms::owner_all);
}

/// A search that is interrupted twice before it ends; "bad" fails at once, "dead" is killed always.
constexpr const char* kSearch = R"sh(#!/bin/bash
cd "$(dirname "$0")"
fault="${@: -1}"
echo "$@" >> calls
count=$(grep -c -- "--only $fault" calls)
[[ $fault == bad ]] && exit 3
[[ $fault == dead ]] && kill -9 $$
(( count < 3 )) && exit 75
echo "network $count" > "$fault.tsv"
exit 0
)sh";

SearchBatch batch_in(const fs::path& folder) {
  SearchBatch batch;
  batch.name = "two words; rm";
  batch.faults = {"D6", "bad", "it's"};
  batch.command = {(folder / "search").string(), "study", "a b", "--quiet"};
  batch.folder = folder;
  batch.attempts = 5;
  put(folder / "search", kSearch);
  fs::create_directory(folder / "logs");
  return batch;
}

TEST(SearchBatch, WordsComeBackFromTheShell) {
  for (const std::string word :
       {"plain", "", "two words", "it's", "$HOME `x` \"y\" \\", "*", "a\nb", "--x=1", "ä"}) {
    const ProcessResult result =
        run_process({{"sh", "-c", "printf %s " + shell_quoted(word)}, fs::current_path()});
    EXPECT_EQ(result.out, word);
  }
}

TEST(SearchBatch, HereSearchesGoOnUntilTheyAreThrough) {
  search::tests::TemporaryFolder folder;
  SearchBatch batch = batch_in((folder / ""));
  put((folder / "") / "batch.sh", local_script(batch));
  const ProcessResult result = run_process({{"bash", "batch.sh"}, (folder / "")});
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.code, 1) << result.err;  // one failed
  EXPECT_EQ(
      folder.read("calls"),
      "study a b --quiet --only D6\nstudy a b --quiet --only D6\nstudy a b --quiet --only D6\n"
      "study a b --quiet --only bad\n"
      "study a b --quiet --only it's\nstudy a b --quiet --only it's\n"
      "study a b --quiet --only it's\n");
  EXPECT_NE(folder.read("logs/D6.log").find("attempt 3 of 5"), std::string::npos);
  EXPECT_NE(folder.read("logs/bad.log").find("exit 3"), std::string::npos);

  // What gave up leaves its reason to `neutra status`; a later success takes it away.
  put((folder / "") / "batch.json", to_text(to_json(batch)));
  const auto note_of = [&](const std::string& fault) {
    for (const BatchState& state : batch_states({(folder / "")})) {
      if (state.fault == fault) return state.note;
    }
    return std::string("not listed");
  };
  EXPECT_EQ(note_of("bad"),
            "exit 3 at attempt 1 of 5: logs/bad.log; mend what it says, then submit again");
  EXPECT_EQ(note_of("D6"), "");

  fs::remove((folder / "") / "calls");
  batch.faults = {"dead", "D6"};
  put((folder / "") / "batch.sh", local_script(batch));
  EXPECT_EQ(run_process({{"bash", "batch.sh"}, (folder / "")}).code, 1);
  const std::string calls = folder.read("calls");
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 5 + 3);
  EXPECT_TRUE(folder.read("logs/dead.end").starts_with("exit 137 at attempt 5 of 5: "));
}

TEST(SearchBatch, AStopEndsTheSearchAndTheScript) {
  search::tests::TemporaryFolder folder;
  SearchBatch batch = batch_in((folder / ""));
  put((folder / "") / "search",
      "#!/bin/bash\ntrap 'echo saved >> \"$(dirname \"$0\")/saved\"; exit 75' USR2\n"
      "kill -INT $PPID; kill -TERM $PPID\nwhile :; do sleep 0.01; done\n");
  put((folder / "") / "batch.sh", local_script(batch));
  const ProcessResult result = run_process({{"bash", "batch.sh"}, (folder / ""), 20});
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.code, 75);
  EXPECT_EQ(folder.read("saved"), "saved\n");
}

TEST(SearchBatch, AKilledScriptTakesItsSearchAlong) {
  search::tests::TemporaryFolder folder;
  SearchBatch batch = batch_in((folder / ""));
  put((folder / "") / "search",
      "#!/bin/bash\nfile=$(dirname \"$0\")/ended\n"
      "trap 'echo saved > $file.new; mv $file.new $file; exit 75' TERM\n"
      "kill -KILL $PPID\nfor (( i = 0; i < 3000; i++ )); do sleep 0.02; done\n"
      "echo alone > $file.new; mv $file.new $file\n");
  const fs::path script = (folder / "") / "batch.sh", ended = (folder / "") / "ended";
  put(script, local_script(batch));
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/bash", "bash", script.c_str(), nullptr);
    _exit(99);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  while (!fs::exists(ended)) usleep(10'000);
  EXPECT_EQ(read_file(ended, "a file"), "saved\n");
}

TEST(SearchBatch, SlurmRequeuesWhatWasSavedOrKilled) {
  search::tests::TemporaryFolder folder;
  const fs::path tools = (folder / "") / "tools";
  fs::create_directory(tools);
  put(tools / "srun",
      "#!/bin/bash\necho \"srun $*\" >> \"$LOG\"\nwhile [[ $1 == --* ]]; do shift; done\n\"$@\"\n");
  put(tools / "scontrol", "#!/bin/bash\necho \"scontrol $*\" >> \"$LOG\"\nkill -TERM $PPID\n");
  SearchBatch batch = batch_in((folder / ""));
  batch.faults = {"D6", "bad", "dead"};
  batch.ranks = 4;
  batch.workers = 2;
  const std::string script = slurm_script(batch);
  for (const char* line :
       {"#SBATCH --array=0-2\n", "#SBATCH --ntasks=4\n", "#SBATCH --cpus-per-task=2\n",
        "#SBATCH --requeue\n", "#SBATCH --signal=USR2@90\n", "%A_%a.log\n",
        "#SBATCH --job-name=neutra-two_words__rm\n"}) {
    EXPECT_NE(script.find(line), std::string::npos) << line << script;
  }
  put((folder / "") / "batch.sh", script);
  const auto run = [&](int element, int restarts) {
    return run_process({{"env", "PATH=" + tools.string() + ":" + std::getenv("PATH"),
                         "LOG=" + ((folder / "") / "log").string(), "SLURM_ARRAY_JOB_ID=7",
                         "SLURM_ARRAY_TASK_ID=" + std::to_string(element),
                         "SLURM_RESTART_COUNT=" + std::to_string(restarts), "bash", "batch.sh"},
                        (folder / ""),
                        20});
  };
  const std::string step = "srun --export=ALL --mpi=pmix --kill-on-bad-exit=1 " +
                           ((folder / "") / "search").string() + " study a b --quiet --only ";
  ProcessResult result = run(0, 0);
  EXPECT_EQ(result.end, ProcessEnd::kSignalled);  // as Slurm does
  EXPECT_EQ(folder.read("log"), step + "D6\nscontrol requeue 7_0\n");
  EXPECT_EQ(run(0, 1).end, ProcessEnd::kSignalled);
  fs::remove((folder / "") / "log");
  result = run(0, 2);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(folder.read("log"), step + "D6\n");
  EXPECT_EQ(run(1, 0).code, 3);
  fs::remove((folder / "") / "log");
  EXPECT_EQ(run(2, 3).end, ProcessEnd::kSignalled);
  EXPECT_EQ(folder.read("log"), step + "dead\nscontrol requeue 7_2\n");
  fs::remove((folder / "") / "log");
  result = run(2, 4);  // the last of its attempts
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.code, 137);
  EXPECT_EQ(folder.read("log"), step + "dead\n");

  EXPECT_EQ(folder.read("logs/dead.end"),
            "exit 137 at attempt 5 of 5: logs/7_2.log; the same neutra submit goes on\n");
  EXPECT_FALSE(fs::exists((folder / "") / "logs/D6.end"));

  // srun may say 0 without having started anything, here with the network of an earlier search.
  fs::remove((folder / "") / "log");
  put(tools / "srun", "#!/bin/bash\nexit 0\n");
  EXPECT_TRUE(fs::exists((folder / "") / "D6.tsv"));
  EXPECT_EQ(run(0, 3).end, ProcessEnd::kSignalled);
  EXPECT_EQ(folder.read("log"), "scontrol requeue 7_0\n");
  result = run(0, 4);
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.code, 255);
  EXPECT_NE(result.out.find("no network was written"), std::string::npos) << result.out;
}

TEST(SearchBatch, JoinsTheEarlierOneOfItsStudy) {
  search::tests::TemporaryFolder folder;
  SearchBatch earlier = batch_in(folder / "");
  earlier.jobs = {{"13", {"D6", "it's"}}};
  put((folder / "") / "batch.json", to_text(to_json(earlier)));
  SearchBatch batch = earlier;
  batch.faults = {"D8", "D6"};
  put((folder / "") / "logs/D8.end", "exit 137");
  {
    Submission submission(folder / "", batch.name);
    ASSERT_EQ(submission.earlier_jobs().size(), 1U);
    EXPECT_EQ(submission.earlier_jobs()[0].id, "13");
    submission.write(batch, "the script");
    EXPECT_EQ(read_file(batch_script(folder / ""), "a file"), "the script");
    submission.took({"14", batch.faults});
    EXPECT_FALSE(fs::exists((folder / "") / "logs/D8.end"));
  }
  const SearchBatch joined = read_batch(folder / "").value();
  EXPECT_EQ(joined.faults, (std::vector<std::string>{"D6", "bad", "it's", "D8"}));
  ASSERT_EQ(joined.jobs.size(), 2U);
  EXPECT_EQ(joined.jobs[0].id, "13");
  EXPECT_EQ(joined.jobs[0].faults, (std::vector<std::string>{"D6", "it's"}));
  EXPECT_EQ(joined.jobs[1].id, "14");
  EXPECT_THROW(Submission(folder / "", "another"), Error);
  // A user's file of the script's name.
  fs::remove((folder / "") / "batch.json");
  EXPECT_THROW(Submission(folder / "", batch.name), Error);
  fs::remove(batch_script(folder / ""));
  EXPECT_TRUE(Submission(folder / "", "another").earlier_jobs().empty());
}

TEST(SearchBatch, NamesOfLogsAreTakenAsTheyAre) {
  SearchBatch batch;
  batch.name = "n";
  batch.faults = {"D6"};
  batch.folder = "/of 50%a";
  EXPECT_NE(slurm_script(batch).find("#SBATCH --output='/of 50%%a/logs/%A_%a.log'\n"),
            std::string::npos)
      << slurm_script(batch);
}

TEST(SearchBatch, AFolderOfAnotherKindIsRefused) {
  search::tests::TemporaryFolder folder;
  EXPECT_THROW(batch_states({(folder / "")}), Error);
  EXPECT_FALSE(read_batch(folder / ""));
  const SearchBatch batch = batch_in((folder / ""));
  put((folder / "") / "batch.json", to_text(to_json(batch)));
  EXPECT_EQ(read_batch(folder / "").value().faults, batch.faults);
  const std::vector<BatchState> states = batch_states({(folder / "")});
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0].fault, "D6");
  EXPECT_EQ(states[0].state, "waiting");
  put((folder / "") / "batch.json", "{\"my\": \"file\"}");
  EXPECT_THROW(read_batch(folder / ""), Error);
  Json newer = to_json(batch);
  newer["version"] = 2;
  put((folder / "") / "batch.json", to_text(newer));
  EXPECT_THROW(read_batch(folder / ""), Error);
  put((folder / "") / "D6.h5", "neutra-store version 1 and rubbish");
  fs::remove((folder / "") / "batch.json");
  EXPECT_THROW(batch_states({(folder / "")}), Error);
  EXPECT_THROW(batch_states({(folder / "") / "D6.h5"}), Error);  // it never was a store
  // What the batch names should be one, and so should what has its user block or journal.
  put((folder / "") / "batch.json", to_text(to_json(batch)));
  EXPECT_EQ(batch_states({(folder / ""), folder / "."})[0].state, "damaged");
  EXPECT_EQ(batch_states({(folder / ""), folder / "."}).size(), 3U);
  fs::remove((folder / "") / "batch.json");
  put((folder / "") / "D6.h5", "X" + std::string(511, ' ') + "\x89HDF\r\n\x1a\n...");
  for (const char* path : {"", "D6.h5"}) {
    ASSERT_EQ(batch_states({folder / path}).size(), 1U);
    EXPECT_EQ(batch_states({folder / path})[0].state, "damaged");
  }
}

}  // namespace
}  // namespace neutra::experiments
