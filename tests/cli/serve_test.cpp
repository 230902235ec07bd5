#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/serve/raw_client.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

using serve::tests::body_of;
using serve::tests::get_once;
using serve::tests::raw_answer;
using serve::tests::status_of;

/// The command on a folder of files that an earlier version wrote.
class Serve : public ::testing::Test {
 protected:
  Serve() {
    const fs::path compat = source_file("tests/data/compat/0.1.0");
    fs::create_directory(folder.path() / "in");
    fs::copy(compat / "batch/D6.h5", folder.path() / "in/D6.h5");
    fs::copy(compat / "benchmark.h5", folder.path() / "in/small.h5");
  }
  void start(const std::string& options = "") {
    // Its standard output is read while it runs.
    running = std::make_unique<Running>(
        std::vector<std::string>{"/bin/sh", "-c",
                                 "exec '" + built_command() + "' serve in " + options + " > url"},
        folder.path());
    std::string text;
    while (!text.ends_with("\n")) {
      ASSERT_EQ(kill(running->pid(), 0), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (fs::exists(folder.path() / "url")) text = folder.read("url");
    }
    url = text.substr(0, text.size() - 1);
    const std::string before = "127.0.0.1:";
    port = std::stoi(url.substr(url.find(before) + before.size()));
  }
  Json get(const std::string& target) const {
    const std::string answer = raw_answer(port, get_once(target));
    EXPECT_EQ(status_of(answer), 200) << answer;
    return Json::parse(body_of(answer));
  }
  Json post(const std::string& target, const Json& body) const {
    const std::string text = body.dump();
    return Json::parse(body_of(raw_answer(
        port, "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                  "Content-Type: application/json\r\nContent-Length: " +
                  std::to_string(text.size()) + "\r\n\r\n" + text)));
  }
  Called stop(int signal) {
    kill(running->pid(), signal);
    return running->wait(120);
  }

  Folder folder;
  std::unique_ptr<Running> running;
  std::string url;
  int port = 0;
};

TEST_F(Serve, ShowsAFolderUntilItIsAskedToEnd) {
  for (const int signal : {SIGTERM, SIGINT}) {
    start();
    EXPECT_EQ(url, "http://127.0.0.1:" + std::to_string(port) + "/");
    const Json listing = get("/api/listing");
    EXPECT_EQ(listing["folder"], "in");
    EXPECT_EQ(listing["searches"].size(), 1U);
    EXPECT_EQ(listing["benchmarks"].size(), 1U);
    EXPECT_EQ(status_of(raw_answer(port, get_once("/"))), 200);
    EXPECT_EQ(status_of(raw_answer(port, get_once("/../url"))), 400);
    EXPECT_EQ(status_of(raw_answer(port, get_once("/url"))), 404);
    const Called called = stop(signal);
    EXPECT_EQ(called.exit, 0) << called.err;
    EXPECT_EQ(called.err, "");
    fs::remove(folder.path() / "url");
  }
}

TEST_F(Serve, RunsATool) {
  start();
  const Json asked = post("/api/localise", {{"benchmark", "small.h5"},
                                            {"entry", 1},
                                            {"tool", "neuralint"},
                                            {"runs", 1},
                                            {"program_version", "buggy"}});
  ASSERT_TRUE(asked.contains("job")) << asked;
  Json job = asked;
  while (job["state"] == "waiting" || job["state"] == "running") {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    job = get("/api/job?id=" + std::to_string(asked["job"].get<int>()));
  }
  ASSERT_EQ(job["state"], "done") << job;
  EXPECT_EQ(job["answer"]["format"], "neutra-localise");
  EXPECT_EQ(job["answer"]["tools"][0]["tool"], "neuralint");
  EXPECT_EQ(job["answer"]["tools"][0]["runs"][0]["status"], "ok") << job;
  EXPECT_EQ(stop(SIGTERM).exit, 0);
}

TEST_F(Serve, SaysItsAddressAsJson) {
  start("--json");
  const Json said = Json::parse(folder.read("url"));
  EXPECT_EQ(said["folder"], "in");
  EXPECT_EQ(said["url"], "http://127.0.0.1:" + std::to_string(port) + "/");
  EXPECT_EQ(stop(SIGTERM).exit, 0);
}

TEST_F(Serve, SaysWhatItCannotServe) {
  start();
  const Called taken = call({"serve", "in", "--port", std::to_string(port)}, folder.path());
  EXPECT_TRUE(refused(taken, 1, {"port " + std::to_string(port)}));
  EXPECT_EQ(stop(SIGTERM).exit, 0);
  EXPECT_EQ(call({"serve", "none"}, folder.path()).exit, 3);
  EXPECT_EQ(call({"serve", "url"}, folder.path()).exit, 3);
  EXPECT_EQ(call({"serve"}, folder.path()).exit, 2);
  EXPECT_EQ(call({"serve", "in", "--port", "65536"}, folder.path()).exit, 2);
  EXPECT_EQ(call({"serve", "in", "--host", "192.0.2.1"}, folder.path()).exit, 3);
  EXPECT_EQ(call({"serve", "in", "--host", "no host"}, folder.path()).exit, 3);
}

}  // namespace
}  // namespace neutra::cli
