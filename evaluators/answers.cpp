#include "evaluators/answers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "evaluators/csv_table.h"
#include "program/error.h"
#include "program/json.h"

namespace neutra {
namespace {

template <typename Number>
Number parse_number(const std::string& text, const std::string& file, const std::string& place,
                    const std::string& allowed) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0) ||
      !std::isfinite(static_cast<double>(value))) {
    throw input_error(describe(file, place, "'" + text + "'", allowed));
  }
  return value;
}

}  // namespace

constexpr std::size_t kLongestName = 200;

std::vector<Answer> parse_answers(std::string_view text, const std::string& file) {
  const CsvTable table = parse_csv_table(text, file);
  for (const char* name : {"fault", "tool", "answer"}) {
    if (table.column(name) == table.header.size()) {
      throw input_error(describe(file, "header", "no column " + std::string(name),
                                 "fault,tool,answer and, if wanted, version,runs,seconds"));
    }
  }
  std::vector<Answer> answers;
  std::map<std::pair<std::string, std::string>, std::size_t> lines;
  for (const auto& row : table.rows) {
    const std::string place = "line " + std::to_string(row.line);
    const auto cell = [&](const char* name) {
      const std::size_t column = table.column(name);
      return column < row.cells.size() ? row.cells[column] : "";
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
    answer.faults = parse_fault_set(cell("answer"), file + ": " + place + ", answer");
    if (const std::string runs = cell("runs"); !runs.empty()) {
      answer.runs = parse_number<int>(runs, file, place + ", runs", "a whole number");
    }
    if (const std::string seconds = cell("seconds"); !seconds.empty()) {
      answer.seconds =
          parse_number<double>(seconds, file, place + ", seconds", "a number of at least 0");
    }
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
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    throw input_error(describe(file.string(), "", "no readable file or an empty one",
                               "a CSV file of answers (docs/formats/answers.md)"));
  }
  return parse_answers(text.str(), file.string());
}

std::string to_csv(const std::vector<Answer>& answers) {
  const auto any = [&](auto has) { return std::any_of(answers.begin(), answers.end(), has); };
  const bool version = any([](const Answer& answer) { return !answer.version.empty(); });
  const bool runs = any([](const Answer& answer) { return answer.runs.has_value(); });
  const bool seconds = any([](const Answer& answer) { return answer.seconds.has_value(); });
  std::string text = "fault,tool,answer";
  if (version) text += ",version";
  if (runs) text += ",runs";
  if (seconds) text += ",seconds";
  text += '\n';
  for (const Answer& answer : answers) {
    text += csv_field(answer.fault) + ',' + csv_field(answer.tool) + ',' +
            csv_field(to_string(answer.faults));
    if (version) text += ',' + csv_field(answer.version);
    if (runs) text += ',' + (answer.runs ? std::to_string(*answer.runs) : "");
    if (seconds) text += ',' + (answer.seconds ? shortest(*answer.seconds) : "");
    text += '\n';
  }
  return text;
}

}  // namespace neutra
