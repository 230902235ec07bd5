#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/processes.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

const std::string kExamples = source_file("docs/examples/");

/// A number that no other process has in its command line.
std::string mark() {
  static int marks = 0;
  return std::to_string(300000000 + getpid()) + "." + std::to_string(100000 + ++marks);
}

/// Writes the description of a tool that is a shell script.
void write_tool(const Folder& folder, const std::string& name, const std::string& script) {
  folder.write(name + ".json", to_text({{"format", "neutra-tool"},
                                        {"version", 1},
                                        {"name", name},
                                        {"tool_version", "1"},
                                        {"description", "d"},
                                        {"source", "s"},
                                        {"needs", {"script", "data"}},
                                        {"command", {"sh", "-c", script}}}));
}

TEST(ExternalTool, LocalisesBesideNativeOnes) {
  const Folder folder;
  const Called called =
      call({"localise", "D6", "--tool", "umlaut", "--tool", kExamples + "rate.json", "--tool",
            kExamples + "simple_checks.json", "--runs", "2", "--json", "--keep", "kept"},
           folder.path());
  ASSERT_EQ(called.exit, 0) << called.out << called.err;
  const Json tools = parse_json(called.out, "out")["tools"];
  ASSERT_EQ(tools.size(), 3u);
  EXPECT_EQ(tools[1]["tool"], "rate");
  EXPECT_EQ(tools[1]["kind"], "external");
  EXPECT_EQ(tools[1]["answer"], "-");
  EXPECT_EQ(tools[1]["runs"].size(), 1u);  // it gets no data
  EXPECT_EQ(tools[2]["runs"].size(), 2u);
  for (const char* run : {"kept/D6-rate-0", "kept/D6-simple_checks-0", "kept/D6-simple_checks-1"}) {
    const Json about = parse_json(folder.read(std::string(run) + "/run.json"), "run.json");
    EXPECT_EQ(about["status"], "ok") << run;
  }
}

TEST(ExternalTool, OneThatFailsSpoilsNoOther) {
  const Folder folder;
  write_tool(folder, "broken", "echo '{' > answer.json");
  write_tool(folder, "loud", "yes");
  const Called called = call({"localise", "D6", "--tool", "broken.json", "--tool", "loud.json",
                              "--tool", kExamples + "rate.json", "--runs", "2", "--json"},
                             folder.path());
  EXPECT_EQ(called.exit, 1) << called.err;
  const Json tools = parse_json(called.out, "out")["tools"];
  ASSERT_EQ(tools.size(), 3u);
  for (const auto& [tool, reason] : {std::pair(0, "answer.json"), {1, "16777216 bytes"}}) {
    for (const Json& run : tools[static_cast<std::size_t>(tool)]["runs"]) {
      EXPECT_EQ(run["status"], "failed");
      EXPECT_TRUE(has(run["reason"], {reason}));
    }
  }
  EXPECT_EQ(tools[2]["answer"], "-");
  EXPECT_EQ(tools[2]["runs"].size(), 1u);
}

TEST(ExternalTool, WhatItSaysCannotSteerATerminal) {
  const Folder folder;
  write_tool(
      folder, "red",
      "cat > answer.json <<'END'\n" +
          Json{{"format", "neutra-answer"},
               {"version", 1},
               {"messages",
                {{{"text", "\x1b[31mred\r\nneutra: error"}, {"severity", "\x1b]0;title\x07"}}}},
               {"reason", "be\bll\x07"}}
              .dump() +
          "\nEND");
  const std::vector<std::string> arguments{"localise", "D6", "--tool", "red.json", "--runs", "1"};
  const Called text = call(arguments, folder.path());
  ASSERT_EQ(text.exit, 0) << text.err;
  for (const char c : text.out + text.err) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << static_cast<int>(c);
  }
  EXPECT_TRUE(
      has(text.out, {"\\x1b]0;title\\x07: \\x1b[31mred\\x0d\\x0aneutra: error", "be\\x08ll\\x07"}));
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const Called json = call(as_json, folder.path());
  ASSERT_EQ(json.exit, 0) << json.err;
  EXPECT_EQ(parse_json(json.out, "out")["tools"][0]["runs"][0]["messages"][0]["text"],
            "\x1b[31mred\r\nneutra: error");

  const Called error = call({"show", "\x1b[31m.json"}, folder.path());
  EXPECT_TRUE(refused(error, 3, {"\\x1b[31m.json: "}));
}

TEST(ExternalTool, InterruptedNothingIsLeft) {
  const Folder folder;
  const std::string own = mark();
  // Its supervisor's parent is the command: Ctrl-C once it runs. One at a time: a second Ctrl-C
  // ends the command at once.
  write_tool(folder, "slow",
             "trap '' TERM; (setsid sleep " + own +
                 " &); kill -INT $(awk '{print $4}' /proc/$PPID/stat); sleep " + own);
  const Called called =
      call({"localise", "D6", "--tool", "slow.json", "--workers", "1"}, folder.path());
  EXPECT_EQ(called.exit, 75) << called.out << called.err;
  EXPECT_EQ(processes_with(own), 0);
}

TEST(ExternalTool, KilledNothingIsLeft) {
  const Folder folder;
  const std::string own = mark();
  write_tool(folder, "slow",
             "trap '' TERM; (setsid sleep " + own +
                 " &); kill -KILL $(awk '{print $4}' /proc/$PPID/stat); sleep " + own);
  const Called called =
      call({"localise", "D6", "--tool", "slow.json", "--workers", "1"}, folder.path());
  EXPECT_EQ(called.exit, 128 + SIGKILL);
  for (int i = 0; i < 500 && processes_with(own) > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(processes_with(own), 0);
}

TEST(ExternalTool, Check) {
  const Folder folder;
  for (const char* name : {"rate", "simple_checks"}) {
    const Called called =
        call({"localise", "--check-tool", kExamples + std::string(name) + ".json", "--json"},
             folder.path());
    EXPECT_EQ(called.exit, 0) << called.out << called.err;
    EXPECT_EQ(parse_json(called.out, "out")["conforms"], true);
  }
  write_tool(folder, "broken", "exit 4");
  const Called broken = call({"localise", "--check-tool", "broken.json", "--json"}, folder.path());
  EXPECT_EQ(broken.exit, 1);
  const Json json = parse_json(broken.out, "out");
  EXPECT_EQ(json["conforms"], false);
  EXPECT_EQ(json["steps"].back()["detail"], "exit code 4");
  EXPECT_EQ(call({"localise", "D6", "--tool", "none.json"}, folder.path()).exit, 3);
  folder.write("wrong.json", "{}");
  EXPECT_EQ(call({"localise", "D6", "--tool", "wrong.json"}, folder.path()).exit, 3);
  EXPECT_EQ(call({"localise", "--check-tool", "wrong.json"}, folder.path()).exit, 1);
}

}  // namespace
}  // namespace neutra::cli
