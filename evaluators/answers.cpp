#include "evaluators/answers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/parse_number.h"
#include "base/strings.h"

namespace neutra::evaluators {
namespace {

/// A number from 0 on.
template <typename Number>
Number number_of(const std::string& text, const std::string& file, const std::string& place,
                 const std::string& allowed) {
  const std::optional<Number> value = parse_number<Number>(text);
  if (!value || !(*value >= 0) || !std::isfinite(static_cast<double>(*value))) {
    throw input_error(describe(file, place, "'" + text + "'", allowed));
  }
  return *value;
}

/// "train.py:30-31", "40".
CodeLines code_lines_of(std::string_view text, const std::string& where) {
  const auto fail = [&] {
    return input_error(describe(where, "", "'" + std::string(text) + "'",
                                "FILE:LINE, FILE:FIRST-LAST or LINE, with ';' between several"));
  };
  CodeLines lines;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) lines.file = text.substr(0, colon);
  const std::string_view numbers = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const std::size_t dash = numbers.find('-');
  const auto first = parse_number<int>(numbers.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_number<int>(numbers.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first) throw fail();
  lines.first = *first;
  lines.last = *last;
  return lines;
}

}  // namespace

std::string to_string(const std::vector<CodeLines>& lines) {
  std::string text;
  for (const CodeLines& one : lines) {
    if (!text.empty()) text += "; ";
    if (!one.file.empty()) text += one.file + ":";
    text += std::to_string(one.first);
    if (one.last != one.first) text += "-" + std::to_string(one.last);
  }
  return text;
}

std::vector<CodeLines> parse_code_lines(std::string_view text, const std::string& where) {
  std::vector<CodeLines> lines;
  while (!trimmed(text).empty()) {
    const std::size_t end = text.find(';');
    lines.push_back(code_lines_of(trimmed(text.substr(0, end)), where));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

constexpr std::size_t kLongestName = 200;

std::vector<Answer> parse_answers(std::string_view text, const std::string& file) {
  const CsvTable table = parse_csv_table(text, file);
  for (const char* name : {"fault", "tool", "answer"}) {
    if (table.column(name) == table.header.size()) {
      throw input_error(describe(file, "header", "no column " + std::string(name),
                                 "fault,tool,answer and, if wanted, version, runs, seconds, "
                                 "ranking, stability, status, lines"));
    }
  }
  std::map<std::string_view, std::size_t> columns;
  for (std::size_t i = 0; i < table.header.size(); ++i) columns[table.header[i]] = i;
  std::vector<Answer> answers;
  std::map<std::pair<std::string, std::string>, std::size_t> lines;
  for (const auto& row : table.rows) {
    const std::string place = "line " + std::to_string(row.line);
    const auto cell = [&](const char* name) {
      const auto column = columns.find(name);
      return column != columns.end() ? row.cells[column->second] : "";
    };
    Answer answer;
    answer.fault = cell("fault");
    answer.tool = cell("tool");
    answer.version = cell("version");
    for (const char* name : {"fault", "tool"}) {
      if (cell(name).empty()) {
        throw input_error(describe(file, place, "no " + std::string(name), "a name"));
      }
      const std::string text = cell(name);
      const bool printable = std::none_of(text.begin(), text.end(),
                                          [](unsigned char c) { return c < 0x20 || c == 0x7f; });
      if (!printable || text.size() > kLongestName) {
        throw input_error(describe(file, place + ", " + name, text.substr(0, kLongestName),
                                   "a name of at most " + std::to_string(kLongestName) +
                                       " bytes without control characters"));
      }
    }
    answer.faults = program::parse_fault_set(cell("answer"), file + ": " + place + ", answer");
    if (const std::string runs = cell("runs"); !runs.empty()) {
      answer.runs = number_of<int>(runs, file, place + ", runs", "a whole number");
    }
    if (const std::string seconds = cell("seconds"); !seconds.empty()) {
      answer.seconds =
          number_of<double>(seconds, file, place + ", seconds", "a number of at least 0");
    }
    answer.ranking = parse_ranking(cell("ranking"), file + ": " + place + ", ranking");
    const std::string share = cell("stability");
    if (!share.empty()) {
      answer.stability =
          number_of<double>(share, file, place + ", stability", "a number from 0 to 1");
      if (*answer.stability > 1) {
        throw input_error(
            describe(file, place + ", stability", "'" + share + "'", "a number from 0 to 1"));
      }
    }
    answer.status = cell("status");
    answer.lines = parse_code_lines(cell("lines"), file + ": " + place + ", lines");
    const auto [first, is_new] = lines.try_emplace({answer.fault, answer.tool}, row.line);
    if (!is_new) {
      throw input_error(describe(file, place,
                                 "a second answer of " + answer.tool + " on " + answer.fault +
                                     " (the first is in line " + std::to_string(first->second) +
                                     ")",
                                 "one"));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Answer> read_answers(const std::filesystem::path& file) {
  return parse_answers(read_file(file, "a CSV file of answers (docs/formats/answers.md)"),
                       file.string());
}

std::string to_csv(const std::vector<Answer>& answers) {
  struct Column {
    const char* name;
    std::function<std::string(const Answer&)> text;
    bool always = false;
  };
  const std::vector<Column> columns = {
      {"fault", [](const Answer& answer) { return answer.fault; }, true},
      {"tool", [](const Answer& answer) { return answer.tool; }, true},
      {"answer", [](const Answer& answer) { return to_string(answer.faults); }, true},
      {"version", [](const Answer& answer) { return answer.version; }},
      {"runs",
       [](const Answer& answer) { return answer.runs ? std::to_string(*answer.runs) : ""; }},
      {"seconds",
       [](const Answer& answer) { return answer.seconds ? shortest(*answer.seconds) : ""; }},
      {"stability",
       [](const Answer& answer) { return answer.stability ? shortest(*answer.stability) : ""; }},
      {"status", [](const Answer& answer) { return answer.status; }},
      {"ranking", [](const Answer& answer) { return to_string(answer.ranking); }},
      {"lines", [](const Answer& answer) { return to_string(answer.lines); }}};
  std::vector<std::string> lines(answers.size() + 1);
  for (const Column& column : columns) {
    const bool filled = std::any_of(answers.begin(), answers.end(), [&](const Answer& answer) {
      return !column.text(answer).empty();
    });
    if (!column.always && !filled) continue;
    const auto add = [](std::string& line, const std::string& field) {
      line += (line.empty() ? "" : ",") + csv_field(field);
    };
    add(lines.front(), column.name);
    for (std::size_t i = 0; i < answers.size(); ++i) add(lines[i + 1], column.text(answers[i]));
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace neutra::evaluators
