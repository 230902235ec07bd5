#include "fl_adapters/tools/neuralint/rules.h"

#include <algorithm>

#include "fl_adapters/parsers/parser.h"

namespace neutra::fl_adapters::parsers {
namespace {

constexpr std::string_view kNoFault = "There is no identified fault in the DNN script";
constexpr std::string_view kUnreadable = "Error: input file is not valid";
constexpr std::string_view kArrow = "==>";

/// The part of the program that messages are about.
struct Component {
  std::string name;  ///< "Learner", "Architecture", "Layer"; "" none
  std::int64_t number = 0;
};

/// Reads "Learner ==>" or "Layer 4 ==>" and skips it.
std::optional<Component> component_of(std::string_view& text) {
  Scanner scanner(text);
  for (const char* name : {"Learner", "Architecture", "Layer"}) {
    Scanner attempt = scanner;
    if (!attempt.word(name)) continue;
    Component component{name, 0};
    if (component.name == "Layer") {
      const auto number = attempt.integer();
      if (!number || *number == 0) return std::nullopt;
      component.number = *number;
    }
    if (!attempt.word(kArrow)) return std::nullopt;
    text = attempt.rest();
    return component;
  }
  return std::nullopt;
}

/// The message that `text` starts with, and skips it; "" for none.
std::string take_message(std::string_view& text) {
  std::string best;
  for (const std::string& code : neuralint::message_table().codes()) {
    const std::string& known = neuralint::message_table().kind(code).text;
    if (text.starts_with(known) &&
        (best.empty() || known.size() > neuralint::message_table().kind(best).text.size())) {
      best = code;
    }
  }
  if (!best.empty()) text.remove_prefix(neuralint::message_table().kind(best).text.size());
  return best;
}

/// The message with layers over config.layers, as the study counts it.
ToolMessage message_of(const std::string& code, const Component& about, Recorder& recorder,
                       std::string& problem) {
  const program::Program* program = recorder.known();
  std::set<int> layers;
  const bool about_output = neuralint::asks_for_activation(code);
  if (about.name == "Layer") {
    // Without the program its activations aren't known: the number less one, as in the study.
    const auto position = static_cast<std::size_t>(about.number - 1);
    const bool known =
        program != nullptr && !neuralint::unreadable(*program, ToolVariant::kAsPublished);
    if (!known) {
      layers.insert(static_cast<int>(position));
    } else {
      const auto numbers = neuralint::layer_numbers(*program, ToolVariant::kAsPublished);
      if (position < numbers.size()) {
        layers.insert(numbers[position]);
      } else {
        problem = "layer " + std::to_string(about.number) + "; the program has " +
                  std::to_string(numbers.size()) + " as the tool counts";
      }
    }
  } else if (about_output && program != nullptr) {
    layers.insert(last_layer(*program));
  }
  ToolMessage message = neuralint::message_table().message(
      code, layers, about.name == "Layer" ? "Layer " + std::to_string(about.number) : "");
  if (about_output && program != nullptr && !recorder.keep_misleading() &&
      output_activation(*program) == "softmax") {
    message.faults.clear();
    message.ignored = "the output is a softmax already";
  }
  return message;
}

/// A line of messages; returns false if it is none.
bool read_messages(const LogLine& line, Recorder& recorder) {
  std::string_view text = trimmed(line.text);
  auto about = component_of(text);
  if (!about) return false;
  bool any = false;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(" \t,");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    if (const auto next = component_of(text)) {
      about = next;
      continue;
    }
    const std::string code = take_message(text);
    if (!code.empty()) {
      std::string problem;
      record(recorder.run().messages, message_of(code, *about, recorder, problem));
      if (!problem.empty()) recorder.warn(line.number, problem);
      any = true;
      continue;
    }
    // To the next thing that reads.
    std::size_t skipped = 1;
    for (; skipped < text.size(); ++skipped) {
      std::string_view rest = text.substr(skipped);
      if (component_of(rest) || !take_message(rest).empty()) break;
    }
    recorder.warn(line.number, "unknown message " + in_quotes(text.substr(0, skipped)));
    recorder.cut();
    text.remove_prefix(skipped);
    any = true;
  }
  if (!any) {
    recorder.warn(line.number, "no message follows " + in_quotes(line.text));
    recorder.cut();
  }
  return true;
}

/// What the tool prints while it works.
bool is_progress(std::string_view text) {
  return text.starts_with("Generating model (graph)") ||
         text.starts_with("Running Model Checker (Groove)") || text.starts_with("result is");
}

bool is_script(std::string_view text) {
  return text.size() > 3 && text.ends_with(".py") &&
         text.find_first_of(" \t") == std::string_view::npos;
}

void read(const Section& section, Recorder& recorder) {
  // A script's name comes before its report.
  const bool named = std::any_of(section.lines.begin(), section.lines.end(),
                                 [](const LogLine& line) { return is_script(trimmed(line.text)); });
  bool seen_name = false, reported = false;
  std::size_t begin = section.lines.empty() ? 0 : section.lines.front().number;
  const auto close = [&] {
    if (!recorder.in_run() || reported) return;
    recorder.warn(begin, "no report follows");
    recorder.cut();
  };
  const auto report = [&](const LogLine& line) {
    reported = true;
    if (!named || seen_name) return;
    recorder.warn(line.number, "a report without the name of its script; left out");
    recorder.lose();
    seen_name = true;  // said once
  };
  for (const LogLine& line : section.lines) {
    const std::string_view text = trimmed(line.text);
    if (is_script(text)) {
      // In a table the id is the name.
      if (section.program.empty()) {
        close();
        recorder.program(program_name(text));
        recorder.start_run();
        reported = false;
        begin = line.number;
      }
      seen_name = true;
      recorder.understood();
    } else if (text.starts_with(kNoFault)) {
      recorder.run();
      report(line);
      recorder.understood();
    } else if (text.starts_with(kUnreadable)) {
      recorder.run().status = LocalisationStatus::kNotApplicable;
      recorder.run().reason = std::string(text);
      report(line);
      recorder.understood();
    } else if (is_progress(text)) {
      recorder.understood();
    } else if (read_messages(line, recorder)) {
      report(line);
      recorder.understood();
    } else {
      recorder.foreign(line);
    }
  }
  close();
}

}  // namespace

extern const LogParser neuralint_parser{"neuralint",
                                        "the report of each script, and tables of reports", read};

}  // namespace neutra::fl_adapters::parsers
