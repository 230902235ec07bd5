#include "cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "base/environment.h"
#include "base/printable.h"
#include "base/text_layout.h"
#include "cli/texts.h"
#include "search/options.h"

namespace neutra::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWidestBar = 24, kNarrowestBar = 8;
constexpr auto kFrame = std::chrono::milliseconds(200);
constexpr auto kHeartbeat = std::chrono::seconds(10), kLaterHeartbeat = std::chrono::seconds(60);
constexpr auto kEarly = std::chrono::seconds(120);  ///< until then the first, then the other
constexpr const char* kErase = "\r\033[K";

int columns_of(const std::string& text) { return static_cast<int>(text_columns(text)); }

/// The first `columns` of a text.
std::string cut(std::string text, int columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if ((text[at] & 0xC0) != 0x80 && columns-- == 0) break;
  text.resize(at);
  return text;
}

double fraction_of(const ProgressState& state) {
  if (state.fraction >= 0) return std::min(state.fraction, 1.0);
  if (state.done < 0 || state.total <= 0) return -1;
  if (state.growing && state.done == state.total) return -1;  // what follows isn't known yet
  return std::min(static_cast<double>(state.done) / static_cast<double>(state.total), 1.0);
}

/// In whole seconds.
std::string time_text(double seconds) {
  return seconds < 60 ? std::to_string(static_cast<int>(seconds)) + " s" : duration_text(seconds);
}

/// By what was done since `first`; 0 where too little was to tell.
double seconds_left(const ProgressState& state, const ProgressState& first, double seconds) {
  if (state.fraction < 0 && state.total > 0) {
    const auto done = static_cast<double>(state.done - std::max<std::int64_t>(first.done, 0));
    return done > 0 ? seconds / done * static_cast<double>(state.total - state.done) : 0;
  }
  const double gained = state.fraction - std::max(first.fraction, 0.0);
  return gained > 0.01 ? seconds / gained * (1 - state.fraction) : 0;
}

/// A part of the line; the larger `rank`, the sooner it goes where there is no room.
struct Part {
  std::string text;
  int rank = 0;
  bool bad = false;
};

std::vector<Part> parts_of(const ProgressState& state, const ProgressState& first, double seconds) {
  std::vector<Part> parts;
  const double fraction = fraction_of(state);
  if (fraction >= 0) parts.push_back({std::to_string(static_cast<int>(fraction * 100)) + " %", 0});
  if (state.done >= 0) {
    std::string counts = std::to_string(state.done);
    if (state.total >= 0) counts += "/" + std::to_string(state.total) + (state.growing ? "+" : "");
    parts.push_back({counts + (state.unit.empty() ? "" : " " + state.unit), 1});
  }
  const bool settled = seconds > 1;
  if (const auto done = state.done - std::max<std::int64_t>(first.done, 0); settled && done > 0)
    parts.push_back({rate_text(static_cast<double>(done) / seconds), 4});
  if (state.failed >= 0 && state.done > 0) {
    parts.push_back({std::to_string(state.done - state.failed - state.invalid) + " ok", 6});
    if (state.invalid > 0) parts.push_back({std::to_string(state.invalid) + " invalid", 6});
    if (state.failed > 0) parts.push_back({std::to_string(state.failed) + " failed", 2, true});
  }
  if (!state.text.empty()) parts.push_back({state.text, 5});
  parts.push_back({time_text(seconds), 7});
  const double left = seconds_left(state, first, seconds);
  if (settled && left > 0)
    parts.push_back({(state.growing ? "at least " : "") + time_text(std::ceil(left)) + " left", 3});
  return parts;
}

int length_of(const std::vector<Part>& parts) {
  int length = 0;
  for (const Part& part : parts) length += (length > 0 ? 2 : 0) + columns_of(part.text);
  return length;
}

}  // namespace

ProgressState progress_of(const Tally& tally, const std::string& unit, bool growing) {
  return {static_cast<std::int64_t>(tally.done), static_cast<std::int64_t>(tally.total), unit,
          growing, static_cast<std::int64_t>(tally.failed)};
}

ProgressState progress_of(const search::Progress& progress, std::optional<std::int64_t> budget) {
  const search::SearchCounters& counters = progress.counters;
  ProgressState state{counters.evaluations, budget.value_or(-1), "evaluations"};
  state.invalid = counters.invalid;
  state.failed = counters.failed;
  state.fraction = progress.fraction.value_or(-1);
  state.text = std::to_string(progress.alternatives) + " repairs, " +
               std::to_string(progress.queue) + " queued";
  return state;
}

std::optional<TerminalStyle> terminal_style() {
  const std::string terminal = environment("TERM");
  if (isatty(STDERR_FILENO) != 1 || terminal.empty() || terminal == "dumb") return std::nullopt;
  TerminalStyle style;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.columns = size.ws_col;
  style.colour = environment("NO_COLOR").empty();
  return style;
}

std::string rate_text(double per_second) {
  const auto digits = [](double rate) {
    char text[32];
    std::snprintf(text, sizeof text, rate < 10 ? "%.1f" : "%.0f", rate);
    return std::string(text);
  };
  if (per_second >= 1) return digits(per_second) + "/s";
  if (per_second * 60 >= 1) return digits(per_second * 60) + "/min";
  return digits(per_second * 3600) + "/h";
}

std::string progress_text(const std::string& what, const ProgressState& state,
                          const ProgressState& first, double seconds,
                          const std::optional<TerminalStyle>& style) {
  std::vector<Part> parts = parts_of(state, first, seconds);
  std::string line = printable(what) + ": ";
  const auto append_parts = [&] {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool red = parts[i].bad && style && style->colour;
      line += (i > 0 ? ", " : "") + std::string(red ? "\033[31m" : "") + printable(parts[i].text) +
              (red ? "\033[0m" : "");
    }
    return line;
  };
  if (!style) return append_parts();

  const int room = style->columns - 1;  // in the last column the cursor may go to the next line
  const double fraction = fraction_of(state);
  int bar = fraction < 0 ? 0 : kNarrowestBar + 3;
  const auto fits = [&] { return columns_of(line) + bar + length_of(parts) <= room; };
  while (!fits() && parts.size() > 1) {
    parts.erase(std::max_element(parts.begin(), parts.end(),
                                 [](const Part& a, const Part& b) { return a.rank < b.rank; }));
  }
  if (!fits()) bar = 0;
  if (!fits()) return cut(line + parts.front().text, std::max(room, 0));
  if (bar > 0) {
    const int width =
        std::min(kWidestBar, bar - 3 + room - columns_of(line) - bar - length_of(parts));
    const auto full = static_cast<std::size_t>(fraction * width);
    line += '[';
    line += style->colour ? "\033[32m" : "";
    line += std::string(full, '#');
    line += style->colour ? "\033[0m" : "";
    line += std::string(static_cast<std::size_t>(width) - full, '.') + "] ";
  }
  return append_parts();
}

class ProgressLine::Painter {
 public:
  explicit Painter(std::string what) : what_(std::move(what)), thread_([this] { paint(); }) {}
  ~Painter() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
    erase_progress();
  }

  void update(ProgressState state) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = state;
    state_ = std::move(state);
  }

 private:
  void paint() {
    const bool terminal = terminal_style().has_value();
    auto next = started_ + (terminal ? Clock::duration(kFrame) : kHeartbeat);
    std::unique_lock lock(mutex_);
    while (!wake_.wait_until(lock, next, [&] { return ended_; })) {
      const auto now = Clock::now();
      const double seconds = std::chrono::duration<double>(now - started_).count();
      const ProgressState first = first_.value_or(ProgressState{});
      const ProgressState state = state_;
      const auto style = terminal ? terminal_style() : std::nullopt;  // windows change
      lock.unlock();
      show(progress_text(what_, state, first, seconds, style), terminal);
      lock.lock();
      next = now + (terminal                  ? Clock::duration(kFrame)
                    : now - started_ < kEarly ? kHeartbeat
                                              : kLaterHeartbeat);
    }
  }

  static void show(const std::string& line, bool terminal);

  const std::string what_;
  const Clock::time_point started_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::optional<ProgressState> first_;
  ProgressState state_;
  std::thread thread_;  ///< the last: it begins when all else is there
};

namespace {

std::mutex g_terminal;  ///< whoever writes to standard error while a line may be drawn
bool g_drawn = false;

}  // namespace

void ProgressLine::Painter::show(const std::string& line, bool terminal) {
  const std::lock_guard lock(g_terminal);
  if (terminal) {
    std::fprintf(stderr, "%s%s", kErase, line.c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
  g_drawn = terminal;
}

void erase_progress() {
  const std::lock_guard lock(g_terminal);
  if (!g_drawn) return;
  std::fputs(kErase, stderr);
  std::fflush(stderr);
  g_drawn = false;
}

ProgressLine::ProgressLine(bool quiet, std::string what)
    : painter_(quiet ? nullptr : std::make_unique<Painter>(std::move(what))) {}

ProgressLine::~ProgressLine() = default;

void ProgressLine::update(ProgressState state) {
  if (painter_) painter_->update(std::move(state));
}

}  // namespace neutra::cli
