#include <algorithm>
#include <utility>

#include "base/parse_number.h"
#include "fl_adapters/parsers/parser.h"

namespace neutra::fl_adapters::parsers {
namespace {

const MessageTable& table() {
  static const MessageTable table = table_of_recordings("deepfd");
  return table;
}

/// "[lr, act]" -> {"lr", "act"}; nullopt: no closed list comes.
std::optional<std::vector<std::string>> list_of(Scanner& scanner) {
  if (!scanner.word("[")) return std::nullopt;
  const std::string_view rest = scanner.rest();
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view inside = rest.substr(0, end);
  scanner.skip_past("]");
  std::vector<std::string> items;
  while (!inside.empty()) {
    const std::size_t comma = inside.find(',');
    std::string item(trimmed(inside.substr(0, comma)));
    while (!item.empty() && item.front() == '\'') item.erase(0, 1);
    while (!item.empty() && item.back() == '\'') item.pop_back();
    if (!item.empty()) items.push_back(std::move(item));
    inside = comma == std::string_view::npos ? std::string_view() : inside.substr(comma + 1);
  }
  return items;
}

/// "1: [lr], Lines: [27]" behind "Fault".
bool read_fault(Scanner scanner, std::int64_t& expected, const LogLine& line, Recorder& recorder) {
  const auto number = scanner.integer();
  if (!number || !scanner.word(":")) return false;
  const auto labels = list_of(scanner);
  if (!labels) return false;
  std::string lines;
  std::vector<evaluators::CodeLines> numbers;
  if (scanner.word(",") && scanner.word("Lines") && scanner.word(":")) {
    const auto list = list_of(scanner);
    for (const std::string& item : list.value_or(std::vector<std::string>{})) {
      lines += (lines.empty() ? "line " : ", ") + item;
      if (const auto named = parse_number<int>(item); named && *named > 0) {
        numbers.push_back({"", *named, *named});
      } else {
        recorder.warn(line.number, "no number of a line: " + in_quotes(item));
      }
    }
    if (!list) {
      recorder.warn(line.number, "the list of lines is cut off");
      recorder.cut();
    }
  } else {
    recorder.warn(line.number, "the list of lines is missing");
  }
  if (*number != expected) {
    recorder.warn(line.number, "fault " + std::to_string(*number) + " where fault " +
                                   std::to_string(expected) + " was expected");
    recorder.cut();
  }
  expected = *number + 1;
  for (const std::string& label : *labels) {
    if (const auto match = match_text(table(), "[" + label + "]")) {
      ToolMessage message = table().message(match->code, {}, lines);
      message.lines = numbers;
      record(recorder.run().messages, std::move(message));
    } else {
      recorder.warn(line.number, "unknown fault " + in_quotes(label));
    }
  }
  return true;
}

void read(const Section& section, Recorder& recorder) {
  std::int64_t expected = 1;
  std::size_t opened = 0;  // line of the case that isn't closed yet
  const auto close = [&](bool finished) {
    if (opened != 0 && !finished) {
      recorder.warn(opened, "the case has no end");
      recorder.cut();
    }
    recorder.end_run();
    opened = 0;
    expected = 1;
  };
  for (const LogLine& line : section.lines) {
    Scanner scanner(trimmed(line.text));
    const std::string_view text = scanner.rest();
    if (scanner.word("working on subject:")) {
      const std::string name = program_name(scanner.rest());
      if (recorder.in_run()) close(false);
      recorder.understood();
      if (name.empty()) {
        recorder.warn(line.number, "the subject has no name");
        continue;
      }
      recorder.program(name);
      recorder.start_run();
      opened = line.number;
    } else if (scanner.word("working on case")) {
      close(false);
      recorder.understood();
    } else if (scanner.word("case end")) {
      recorder.understood();
      close(true);
    } else if (text.starts_with("The ground truth faults:") ||
               text.starts_with("Diagnosed / Localized by DeepFD")) {
      recorder.understood();
    } else if (!text.empty() && text.find_first_not_of('=') == std::string_view::npos) {
      recorder.understood();
    } else if (scanner.word("Fault ") && read_fault(scanner, expected, line, recorder)) {
      recorder.understood();
      if (opened == 0) {
        recorder.warn(line.number, "a fault without its case; left out");
        recorder.lose();
      }
    } else {
      recorder.foreign(line);
    }
  }
  close(false);
}

}  // namespace

extern const LogParser deepfd_parser{"deepfd", "the report of each case", read};

}  // namespace neutra::fl_adapters::parsers
