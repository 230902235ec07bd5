// Searches over the ranks of real MPI jobs on this machine.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/count.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

#ifndef NEUTRA_OPENMPI_MPIRUN
#define NEUTRA_OPENMPI_MPIRUN ""
#endif
#ifndef NEUTRA_MPICH_MPIRUN
#define NEUTRA_MPICH_MPIRUN ""
#endif

/// What starts the ranks of an MPI family.
struct Launcher {
  std::string program;
  std::vector<std::string> more_ranks_than_cores;
  const char* rank;  ///< the variable that tells a process its own
  const char* package;
};
const Launcher kOpenMpi{NEUTRA_OPENMPI_MPIRUN,
                        {"--oversubscribe"},
                        "OMPI_COMM_WORLD_RANK",
                        "libopenmpi-dev, openmpi-bin"};
const Launcher kMpich{NEUTRA_MPICH_MPIRUN, {}, "PMI_RANK", "libmpich-dev, mpich"};

std::string first_line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return text;
}

/// The value of a variable in another process's environment; empty where there is none.
std::string variable_of(const std::string& process, const std::string& name) {
  std::ifstream in("/proc/" + process + "/environ");
  for (std::string entry; std::getline(in, entry, '\0');) {
    if (entry.rfind(name + "=", 0) == 0) return entry.substr(name.size() + 1);
  }
  return {};
}

class Mpi : public ::testing::Test {
 protected:
  explicit Mpi(const Launcher& launcher = kOpenMpi) : launcher_(launcher) {}
  void SetUp() override {
    if (access(launcher_.program.c_str(), X_OK) != 0) {
      GTEST_SKIP() << "built without this MPI (Debian: " << launcher_.package << ")";
    }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    // The ranks of these jobs, and nobody else's.
    mark_ = folder_.path().filename().string();
    setenv("NEUTRA_TEST_MARK", mark_.c_str(), 1);
  }
  void TearDown() override { EXPECT_TRUE(left_over(10).empty()) << "processes were left behind"; }

  /// Thousands of trainings of a millisecond.
  static std::vector<std::string> search(const std::string& store) {
    return {"search", "D7", "--store", store, "--budget-evaluations", "300", "--quiet"};
  }
  /// Dozens of a tenth of a second.
  static std::vector<std::string> slow_search(const std::string& store) {
    return {"search", "D7",        "--store", store,    "--budget-evaluations", "60", "--replicas",
            "5",      "--backend", "eager",   "--quiet"};
  }
  std::vector<std::string> job(int ranks, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = launcher_.more_ranks_than_cores;
    words.insert(words.begin(), launcher_.program);
    words.insert(words.end(), {"-n", std::to_string(ranks), built_command()});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Called run(int ranks, const std::vector<std::string>& arguments, int seconds = 300) {
    return Running(job(ranks, arguments), folder_.path()).wait(seconds);
  }
  std::string network(const std::string& store) {
    const Called called = call({"network", store, "--format", "tsv"}, folder_.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    return called.out;
  }
  /// The network of a search, made by one thread of one process.
  std::string alone(std::vector<std::string> words) {
    words.insert(words.end(), {"--workers", "1"});
    EXPECT_EQ(call(words, folder_.path(), 300).exit, 0);
    return network(words.at(3));
  }
  /// Results in a store's journal.
  std::size_t journal_results(const std::string& store) const {
    return count(folder_.read(store + ".journal"), "\"finished\"");
  }

  /// By rank: the processes of this test's jobs.
  std::map<int, pid_t> ranks() const {
    std::map<int, pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string process = entry.path().filename().string();
      if (process.find_first_not_of("0123456789") != std::string::npos) continue;
      if (first_line_of(entry.path() / "comm") != "neutra") continue;
      if (variable_of(process, "NEUTRA_TEST_MARK") != mark_) continue;
      const std::string rank = variable_of(process, launcher_.rank);
      found[rank.empty() ? -1 - static_cast<int>(found.size()) : std::stoi(rank)] =
          std::stoi(process);
    }
    return found;
  }
  /// Those that are still there after so many seconds.
  std::map<int, pid_t> left_over(int seconds) const {
    std::map<int, pid_t> found = ranks();
    for (int i = 0; i < 20 * seconds && !found.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      found = ranks();
    }
    return found;
  }
  /// Waits until a search is well under way.
  void wait_for_trainings(const std::string& store) const {
    for (int i = 0; i < 6000; ++i) {
      if (journal_results(store) >= 5) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no search began";
  }
  /// Interrupts a search of three ranks once it is under way.
  Called interrupt(const std::string& store, const std::function<void(pid_t launcher)>& how) {
    Running running(job(3, slow_search(store)), folder_.path());
    wait_for_trainings(store);
    how(running.pid());
    Called called = running.wait(60);
    EXPECT_TRUE(left_over(10).empty());
    return called;
  }
  void expect_rest_gives_the_same(const std::string& store) {
    if (expected_.empty()) expected_ = alone(slow_search("alone.h5"));
    const Called called = run(2, with_json(slow_search(store)));
    ASSERT_EQ(called.exit, 0) << called.err;
    EXPECT_EQ(network(store), expected_);
    // Nothing counts twice, and what had ended is not made again.
    const Json counters = parse_json(called.out, "search")["counters"];
    EXPECT_EQ(counters["evaluations"], 60);
    EXPECT_GT(counters["trainings_from_store"], 0);
    EXPECT_EQ(call({"store", "check", store}, folder_.path()).exit, 0);
  }
  static std::vector<std::string> with_json(std::vector<std::string> words) {
    words.emplace_back("--json");
    return words;
  }

  Folder folder_;

 private:
  const Launcher& launcher_;
  std::string mark_, expected_;
};

class MpiMpich : public Mpi {
 protected:
  MpiMpich() : Mpi(kMpich) {}
};

TEST_F(Mpi, AnyNumberOfThreadsAndRanksGivesTheSameNetwork) {
  const std::string expected = alone(search("alone.h5"));
  std::vector<std::string> four = search("four.h5");
  four.insert(four.end(), {"--workers", "4"});
  ASSERT_EQ(call(four, folder_.path(), 300).exit, 0);
  EXPECT_EQ(network("four.h5"), expected);
  for (const int ranks : {1, 2, 4}) {
    const std::string store = std::to_string(ranks) + ".h5";
    const Called called = run(ranks, search(store));
    ASSERT_EQ(called.exit, 0) << called.err;
    EXPECT_EQ(network(store), expected) << ranks;
    EXPECT_EQ(count(called.out, "end: "), 1U) << "one rank prints";
  }
  std::vector<std::string> threads = search("threads.h5");
  threads.insert(threads.end(), {"--workers", "2"});
  ASSERT_EQ(run(2, threads).exit, 0);
  EXPECT_EQ(network("threads.h5"), expected);
  // A finished search is read, also here.
  const Called again = run(2, with_json(search("2.h5")));
  EXPECT_EQ(again.exit, 0);
  EXPECT_EQ(parse_json(again.out, "search")["was_finished"], true);
}

TEST_F(Mpi, ErrorsAreSaidOnceAndEndAllRanks) {
  const Called missing = run(3, {"search", "nothing.json"}, 60);
  EXPECT_EQ(missing.exit, 3);
  EXPECT_EQ(count(missing.err, "nothing.json"), 1U) << missing.err;
  const Called usage = run(3, {"search", "D7", "--top-k", "many"}, 60);
  EXPECT_EQ(usage.exit, 2);
  EXPECT_EQ(count(usage.err, "usage: neutra search"), 1U) << usage.err;
  const Called help = run(2, {"search", "--help"}, 60);
  EXPECT_EQ(help.exit, 0);
  EXPECT_EQ(count(help.out, "neutra search FAULT"), 1U) << help.out;
}

TEST_F(Mpi, RanksThatTrainOtherwiseAreRefused) {
  if (first_line_of("/proc/cpuinfo").empty()) GTEST_SKIP() << "no x86";
  std::vector<std::string> words = job(1, search("isa.h5"));
  for (const std::string& word :
       std::vector<std::string>{":", "-n", "1", "env", "NEUTRA_ISA=avx2", built_command()}) {
    words.emplace_back(word);
  }
  for (const auto& word : search("isa.h5")) words.push_back(word);
  const Called called = Running(words, folder_.path()).wait(120);
  if (called.exit == 0) GTEST_SKIP() << "this processor has no other instruction set than avx2";
  EXPECT_EQ(called.exit, 1);
  EXPECT_TRUE(has(called.err, {"rank 1 on ", "NEUTRA_ISA=avx2"}));
  // Pinned for rank 0, all train with it.
  setenv("NEUTRA_ISA", "avx2", 1);
  const Called pinned = run(2, search("pinned.h5"));
  unsetenv("NEUTRA_ISA");
  EXPECT_EQ(pinned.exit, 0) << pinned.err;
}

TEST_F(Mpi, ASignalToTheJobSavesAndTheSameCommandGoesOn) {
  for (const int signal : {SIGUSR2, SIGTERM}) {
    const std::string store = "signal" + std::to_string(signal) + ".h5";
    const Called called = interrupt(store, [&](pid_t launcher) { kill(launcher, signal); });
    // Open MPI's own code after a SIGTERM is 1, whatever the ranks say.
    EXPECT_EQ(called.exit, signal == SIGTERM ? 1 : 75) << called.err;
    EXPECT_FALSE(fs::exists(folder_.path() / (store + ".journal"))) << "saved";
    expect_rest_gives_the_same(store);
  }
  // To one rank only.
  for (const auto& [rank, signal] : {std::pair(0, SIGTERM), {1, SIGTERM}, {1, SIGUSR2}}) {
    const std::string store = std::to_string(rank) + std::to_string(signal) + ".h5";
    const Called called =
        interrupt(store, [&, r = rank, s = signal](pid_t) { kill(ranks().at(r), s); });
    EXPECT_EQ(called.exit, 75) << rank << "\n" << called.err;
    expect_rest_gives_the_same(store);
  }
}

TEST_F(Mpi, KilledAnywhereItGoesOn) {
  for (const char* victim : {"rank 1", "rank 0", "mpirun"}) {
    const std::string store = std::string(victim) + ".h5";
    interrupt(store, [&](pid_t launcher) {
      const std::string name = victim;
      kill(name == "mpirun" ? launcher : ranks().at(name.back() - '0'), SIGKILL);
    });
    expect_rest_gives_the_same(store);
  }
}

TEST_F(MpiMpich, AnyNumberOfRanksGivesTheSameNetwork) {
  const std::string expected = alone(search("alone.h5"));
  for (const int ranks : {1, 3}) {
    const std::string store = std::to_string(ranks) + ".h5";
    const Called called = run(ranks, search(store));
    ASSERT_EQ(called.exit, 0) << called.err;
    EXPECT_EQ(network(store), expected) << ranks;
    EXPECT_EQ(called.out.find("end: "), called.out.rfind("end: ")) << "one rank prints";
  }
  EXPECT_EQ(run(3, {"search", "nothing.json"}, 60).exit, 3);
}

TEST_F(MpiMpich, ASignalOrADeathAndTheSameCommandGoesOn) {
  const Called called = interrupt("signal.h5", [&](pid_t) { kill(ranks().at(0), SIGUSR2); });
  EXPECT_EQ(called.exit, 75) << called.err;
  expect_rest_gives_the_same("signal.h5");
  for (const int victim : {0, 1}) {
    const std::string store = std::to_string(victim) + ".h5";
    interrupt(store, [&](pid_t) { kill(ranks().at(victim), SIGKILL); });
    expect_rest_gives_the_same(store);
  }
}

/// Variables of an mpirun.
class MpiLibrary : public ::testing::Test {
 protected:
  void SetUp() override { set("0", "2"); }
  void TearDown() override {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "NEUTRA_MPI"}) {
      unsetenv(name);
    }
  }
  static void set(const char* rank, const char* size) {
    setenv("OMPI_COMM_WORLD_RANK", rank, 1);
    setenv("OMPI_COMM_WORLD_SIZE", size, 1);
    setenv("NEUTRA_MPI", "/nothing/libmpi.so.40", 1);
  }
  Called search() {
    return call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "5", "--quiet"},
                folder_.path());
  }
  Folder folder_;
};

TEST_F(MpiLibrary, OneThatIsMissingIsSaidWithWhatHelps) {
  const Called first = search();
  EXPECT_EQ(first.exit, 1);
  for (const char* part : {"started as 2 MPI ranks, but no MPI library can be used: NEUTRA_MPI: "
                           "/nothing/libmpi.so.40: ",
                           "LD_LIBRARY_PATH", "NEUTRA_MPI=FILE", "-DMPI_HOME=FOLDER"}) {
    EXPECT_NE(first.err.find(part), std::string::npos) << part << "\n" << first.err;
  }
  EXPECT_EQ(std::count(first.err.begin(), first.err.end(), '\n'), 1) << first.err;
  // Where its machine alone lacks the library, rank 1 has to say so, and has the job end.
  set("1", "2");
  const Called second = search();
  EXPECT_EQ(second.exit, 1);
  EXPECT_NE(second.err.find("rank 1 on "), std::string::npos) << second.err;
  EXPECT_FALSE(fs::exists(folder_.path() / "D7.h5"));
}

TEST_F(MpiLibrary, OneRankNeedsNone) {
  set("0", "1");
  EXPECT_EQ(search().exit, 0);
  EXPECT_TRUE(fs::exists(folder_.path() / "D7.h5"));
}

TEST_F(MpiLibrary, ALibraryThatIsNoMpiIsRefused) {
  setenv("NEUTRA_MPI", "libm.so.6", 1);
  const Called called = search();
  EXPECT_EQ(called.exit, 1);
  EXPECT_NE(called.err.find("libm.so.6: found no MPI library of Open MPI or MPICH"),
            std::string::npos)
      << called.err;
  EXPECT_NE(call({"--version"}, folder_.path()).out.find("MPI: none"), std::string::npos);
}

}  // namespace
}  // namespace neutra::cli
