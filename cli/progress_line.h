#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/parallel.h"

namespace neutra::search {
struct Progress;
}

namespace neutra::cli {

/// How far a verb is. What isn't known stays as it is.
struct ProgressState {
  std::int64_t done = -1, total = -1;  ///< -1: not known
  std::string unit = {};               ///< of them: "trainings"
  bool growing = false;                ///< more than `total` may be needed
  std::int64_t failed = -1;            ///< of those done: ended without a result
  std::int64_t invalid = 0;            ///< of those done: programs that Keras would refuse
  double fraction = -1;                ///< in [0, 1], where it isn't done / total
  std::string text = {};               ///< whatever else there is to say
};

/// `growing`: more than the total may be needed.
ProgressState progress_of(const Tally& tally, const std::string& unit, bool growing = false);
/// What a search's line of progress says; `budget`: of --budget-evaluations.
ProgressState progress_of(const search::Progress& progress,
                          std::optional<std::int64_t> budget = {});

/// How a terminal is written to.
struct TerminalStyle {
  int columns = 80;     ///< its width
  bool colour = false;  ///< does it show colours?
};
/// Of standard error; nullopt where it is no terminal, or one that can't go back in a line
/// (TERM=dumb). Colours unless NO_COLOR says no (no-color.org).
std::optional<TerminalStyle> terminal_style();

/// "search D7: [####......] 34 %, 51/150 evaluations, 12/s, 47 ok, 2 invalid, 2 failed, 12 repairs,
/// 4 s, 8 s left", to fit the terminal: the bar shrinks, then what is least needed goes. Without a
/// terminal a line of any length without a bar. Rate and time left are those since `first`, the
/// state that this process began with, `seconds` ago.
std::string progress_text(const std::string& what, const ProgressState& state,
                          const ProgressState& first, double seconds,
                          const std::optional<TerminalStyle>& style);

/// "12/s", "4.2/min", "1.5/h"
std::string rate_text(double per_second);

/// Progress on standard error while it lives: one line that is drawn anew on a terminal; elsewhere
/// a line every ten seconds, after two minutes every minute. Both go on when nothing happens. One
/// at a time.
class ProgressLine {
 public:
  /// `what` begins the line: "search D7"; quiet: nothing is shown.
  ProgressLine(bool quiet, std::string what);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  /// From any thread.
  void update(ProgressState state);

 private:
  class Painter;
  std::unique_ptr<Painter> painter_;  ///< null: quiet
};

/// Takes the line off the terminal, for a message to come in its place; it is drawn anew behind
/// that.
void erase_progress();

}  // namespace neutra::cli
