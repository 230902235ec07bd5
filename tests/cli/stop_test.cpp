#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A program each step of which takes tens of seconds.
std::string long_steps() {
  Json layers = Json::array();
  for (int i = 0; i < 4; ++i) {
    layers.push_back({{"class_name", "Dense"}, {"config", {{"units", 2000}}}});
  }
  layers.front()["config"]["batch_input_shape"] = {nullptr, 2};
  layers.push_back({{"class_name", "Dense"}, {"config", {{"units", 1}}}});
  return to_text({{"format", "neutra-program"},
                  {"version", 1},
                  {"name", "long"},
                  {"task", "regression"},
                  {"model", {{"class_name", "Sequential"}, {"config", {{"layers", layers}}}}},
                  {"compile",
                   {{"optimizer", {{"class_name", "SGD"}, {"config", Json::object()}}},
                    {"loss", "mean_squared_error"},
                    {"metrics", {"mae"}}}},
                  {"fit", {{"batch_size", 30000}, {"epochs", 2}}},
                  {"data",
                   {{"source", "generator"},
                    {"arguments", {{"name", "moons"}, {"rows", 40000}}},
                    {"split", {{"test_size", 0.25}, {"seed", 1}}}}},
                  {"metric", {{"name", "mae"}, {"goal", "minimize"}}}});
}

/// Until the process has used so much processor time: it is in its first step then.
void wait_for_work(const Running& running, double seconds) {
  running.wait_until([&] {
    std::string text;
    try {
      text = Folder().read("/proc/" + std::to_string(running.pid()) + "/stat");
    } catch (const std::exception&) {
    }
    std::istringstream words(text.substr(text.rfind(')') + 1));
    std::string word;
    for (int i = 0; i < 11; ++i) words >> word;
    double user = 0;
    words >> user;
    return user / static_cast<double>(sysconf(_SC_CLK_TCK)) > seconds;
  });
}

class Stop : public testing::Test {
 protected:
  Stop() { folder.write("long.json", long_steps()); }
  /// What becomes of a verb that gets a signal in its first step.
  Called stopped(std::vector<std::string> words, int signal) const {
    words.insert(words.begin(), built_command());
    Running running(words, folder.path());
    wait_for_work(running, 4);
    const auto begin = Clock::now();
    kill(running.pid(), signal);
    Called called = running.wait(120);
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(15));
    return called;
  }
  const Folder folder;
};

TEST_F(Stop, ALongStepIsGivenUp) {
  const Called called =
      stopped({"train", "long.json", "--replicas", "2", "--workers", "1"}, SIGINT);
  EXPECT_EQ(called.exit, 75);
  EXPECT_TRUE(has(called.err, {"stopping", "interrupted"}));
  EXPECT_EQ(called.out, "");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"long.json"});
}

TEST_F(Stop, ASearchInALongStepCanGoOn) {
  const Called called = stopped({"search", "long.json", "--store", "s.h5", "--ground-truth-metric",
                                 "0.1", "--workers", "1", "--quiet"},
                                SIGTERM);
  EXPECT_EQ(called.exit, 75);
  EXPECT_TRUE(has(called.err, {"stopping"}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"long.json"});  // nothing was evaluated
}

}  // namespace
}  // namespace neutra::cli
