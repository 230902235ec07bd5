#include "fl_adapters/parsers/stop_line.h"

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "program/document.h"

namespace neutra::fl_adapters::parsers {

int layer_of(Recorder& recorder, std::int64_t number) {
  const program::Program* program = recorder.known();
  const Json* layers = program != nullptr ? program::find_layers(program->document) : nullptr;
  const Json* first =
      layers != nullptr && !layers->empty() ? member(layers->front(), "class_name") : nullptr;
  const bool counted = first == nullptr || *first != "InputLayer";
  return static_cast<int>(number) + (counted ? 0 : 1);
}

std::optional<StopLine> stop_line(std::string_view line, std::string& problem) {
  constexpr std::string_view kEnd = "terminating training";
  const std::size_t at = line.find("Batch ");
  if (at == std::string_view::npos) return std::nullopt;
  Scanner scanner(line.substr(at + 6));
  if (!scanner.integer()) return std::nullopt;
  if (scanner.word("layer") && !scanner.integer()) return std::nullopt;
  if (!scanner.word(":")) return std::nullopt;
  StopLine stop;
  stop.before = std::string(trimmed(line.substr(0, at)));
  const std::size_t end = line.find(kEnd, at);
  if (end == std::string_view::npos) {
    problem = "the message is cut off: " + in_quotes(line.substr(at));
    return stop;
  }
  stop.message = std::string(line.substr(at, end + kEnd.size() - at));
  std::string tail(line.substr(end + kEnd.size()));
  stop.seconds = take_seconds(tail);
  if (contains(tail, "---")) {
    problem = "the time can't be read: " + in_quotes(tail);
    tail.clear();
  }
  stop.suggestion = std::string(trimmed(tail));
  return stop;
}

bool like_stop_line(std::string_view line) {
  return contains(line, "terminating") || contains(line, "Batch ") || contains(line, "seconds -") ||
         trimmed(line).starts_with("Issue");
}

void read_stop_lines(const Section& section, Recorder& recorder,
                     const std::function<void(const LogLine&, const StopLine&)>& stopped,
                     const std::function<bool(const LogLine&)>& continued) {
  bool behind = false;  // has the run stopped?
  // In a list of issues, a message without its issue is one whose start was cut off.
  const bool issues =
      std::any_of(section.lines.begin(), section.lines.end(),
                  [](const LogLine& line) { return issue_of(line.text).has_value(); });
  for (const LogLine& line : section.lines) {
    std::string problem;
    if (const auto issue = issue_of(line.text)) {
      recorder.understood();
      if (issue->ends) {
        if (issue->seconds) recorder.run().seconds = *issue->seconds;
        recorder.end_run();
      } else {
        recorder.program(issue->name);
        recorder.start_run();
      }
      behind = false;
    } else if (const auto command = command_of(line.text)) {
      recorder.other(line, false);
      recorder.program(*command);
      behind = false;
    } else if (const auto stop = stop_line(line.text, problem)) {
      recorder.understood();
      if (!problem.empty()) recorder.warn(line.number, problem);
      if (!stop->before.empty()) recorder.program(program_name(stop->before));
      const bool lost = issues && stop->before.empty() && (behind || !recorder.in_run());
      // A training ends with its first message.
      if (behind || !stop->before.empty()) recorder.start_run();
      if (lost) {
        recorder.warn(line.number, "a message without its issue; left out");
        recorder.lose();
      }
      if (!problem.empty()) recorder.cut();
      if (stop->seconds) recorder.run().seconds = *stop->seconds;
      stopped(line, *stop);
      behind = true;
    } else if (behind && continued(line)) {
      recorder.understood();
    } else if (const std::string_view text = trimmed(line.text);
               text.ends_with('/') && !text.starts_with("http") &&
               text.find_first_of(" \t") == std::string_view::npos) {
      // A model of a collection about which nothing was said.
      recorder.understood();
      recorder.program(program_name(text));
      recorder.start_run();
      recorder.end_run();
      behind = false;
    } else {
      recorder.other(line, like_stop_line(line.text));
    }
  }
}

}  // namespace neutra::fl_adapters::parsers
