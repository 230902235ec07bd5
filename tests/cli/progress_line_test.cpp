#include "cli/progress_line.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/has.h"

namespace neutra::cli {
namespace {

using tests::has;

ProgressState state(std::int64_t done, std::int64_t failed = -1) {
  ProgressState state{done, 150, "evaluations"};
  state.failed = failed;
  state.text = "12 repairs, 4 queued";
  return state;
}

std::string on_terminal(int columns, bool colour = false) {
  return progress_text("search D7", state(75, 5), state(25), 10, TerminalStyle{columns, colour});
}

TEST(ProgressText, CountsRateAndTimeLeftAreThoseOfThisProcess) {
  EXPECT_EQ(
      progress_text("search D7", state(75, 5), state(25), 10, std::nullopt),
      "search D7: 50 %, 75/150 evaluations, 5.0/s, 70 ok, 5 failed, 12 repairs, 4 queued, 10 s, "
      "15 s left");
  EXPECT_EQ(progress_text("x", {}, {}, 3, std::nullopt), "x: 3 s");
  EXPECT_EQ(progress_text("x", {3, -1, "runs"}, {0, -1, "runs"}, 60, std::nullopt),
            "x: 3 runs, 3.0/min, 1 min 00 s");
  EXPECT_EQ(progress_text("x", {20, 40, "trainings", true}, {0, 40}, 10, std::nullopt),
            "x: 50 %, 20/40+ trainings, 2.0/s, 10 s, at least 10 s left");
  EXPECT_EQ(progress_text("x", {40, 40, "trainings", false, 0}, {0, 40}, 10, std::nullopt),
            "x: 100 %, 40/40 trainings, 4.0/s, 40 ok, 10 s");
  EXPECT_EQ(progress_text("x", {40, 40, "trainings", true}, {0, 20}, 10, std::nullopt),
            "x: 40/40+ trainings, 4.0/s, 10 s");
  EXPECT_EQ(progress_text("x", {40, 80, "trainings", true}, {20, 20}, 10, std::nullopt),
            "x: 50 %, 40/80+ trainings, 2.0/s, 10 s, at least 20 s left");
}

TEST(ProgressText, TellsInvalidProgramsFromFailedOnes) {
  ProgressState now = state(75, 5);
  now.invalid = 3;
  EXPECT_EQ(progress_text("x", now, state(25), 10, std::nullopt),
            "x: 50 %, 75/150 evaluations, 5.0/s, 67 ok, 3 invalid, 5 failed, 12 repairs, 4 queued, "
            "10 s, 15 s left");
}

TEST(ProgressText, FitsTheTerminal) {
  EXPECT_EQ(on_terminal(200).substr(0, 38), "search D7: [############............] ");
  for (int columns = 12; columns < 130; ++columns) {
    EXPECT_LT(on_terminal(columns).size(), static_cast<std::size_t>(columns));
    EXPECT_EQ(on_terminal(columns).rfind("search D7: ", 0), 0u);
  }
  EXPECT_EQ(on_terminal(5), "sear");
  EXPECT_EQ(on_terminal(60), "search D7: [#####......] 50 %, 75/150 evaluations, 5 failed");
}

TEST(ProgressText, ColoursTakeNoRoom) {
  const std::string plain = on_terminal(90), coloured = on_terminal(90, true);
  EXPECT_TRUE(has(coloured, {"\033[31m5 failed\033[0m"}));
  EXPECT_EQ(std::count(plain.begin(), plain.end(), '\033'), 0);
  EXPECT_EQ(coloured.size(), plain.size() + 2 * (5 + 4));
}

TEST(ProgressText, NamesCannotSteerTheTerminal) {
  EXPECT_EQ(progress_text("a\x1b[2J", {}, {}, 0, TerminalStyle{}), "a\\x1b[2J: 0 s");
}

}  // namespace
}  // namespace neutra::cli
