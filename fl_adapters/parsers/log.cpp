#include "fl_adapters/parsers/log.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "base/utf8.h"

namespace neutra::fl_adapters::parsers {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// UTF-16 as UTF-8, what lies beyond ASCII as '?': messages are ASCII.
std::string narrowed(std::string_view bytes, bool little) {
  std::string text;
  for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
    const char low = bytes[little ? i : i + 1];
    const char high = bytes[little ? i + 1 : i];
    text += high == 0 && static_cast<unsigned char>(low) < 0x80 ? low : '?';
  }
  return text;
}

/// Length of the escape sequence at the start of `text` (which starts with ESC).
std::size_t escape_length(std::string_view text) {
  if (text.size() > 1 && text[1] == '[') {
    std::size_t end = 2;
    while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3f) ++end;
    // A list of messages may follow an ESC that lost its code: "ESC[<Critical".
    if (end < text.size() && text[end] >= 0x40 && text[end] <= 0x7e && text[2] != '<') {
      return end + 1;
    }
    return 1;
  }
  if (text.size() > 1 && text[1] == ']') {
    const std::size_t bell = text.substr(0, 256).find('\a');  // a title
    return bell == std::string_view::npos ? 1 : bell + 1;
  }
  return 1;
}

/// Drops an ESC that is spelled out before a colour code.
void drop_spelled_escape(std::string& text) {
  for (const std::string_view spelled :
       {"ESC", "<ESC>", "\\x1b", "\\x1B", "\\033", "\\e", "\\u001b", "\\u001B", "^[",
        "\xe2\x90\x9b", "\xe2\x86\x90"}) {
    if (std::string_view(text).ends_with(spelled)) text.resize(text.size() - spelled.size());
  }
}

/// Length of a colour code that lost its ESC, "[31m"; 0: none starts here.
std::size_t bare_colour_length(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && end < 12 && (is_digit(text[end]) || text[end] == ';')) ++end;
  return end > 1 && end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::string_view trimmed(std::string_view text) { return neutra::trimmed(text, " \t\r\n\""); }

std::string unspaced(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_blank(c)) result += c;
  }
  return result;
}

std::vector<LogLine> log_lines(std::string_view bytes) {
  std::string decoded;
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    decoded = narrowed(bytes, bytes[0] == '\xff');
    bytes = decoded;
  } else if (bytes.starts_with("\xef\xbb\xbf")) {
    bytes.remove_prefix(3);
  }
  std::vector<LogLine> lines;
  LogLine line{1, "", false};
  bool any = false;  // has the physical line given a piece already?
  const auto piece = [&] {
    if (!line.text.empty() || line.garbled) {
      lines.push_back(line);
      any = true;
    }
    line.text.clear();
    line.garbled = false;
  };
  for (std::size_t i = 0; i < bytes.size();) {
    const std::string_view rest = bytes.substr(i);
    const char c = rest.front();
    std::size_t length = 1;
    if (c == '\n') {
      piece();
      if (!any) lines.push_back({line.number, "", false});
      any = false;
      ++line.number;
    } else if (c == '\r' || c == '\b') {
      piece();
    } else if (c == '\x1b') {
      length = escape_length(rest);
    } else if (const std::size_t colour = c == '[' ? bare_colour_length(rest) : 0; colour > 0) {
      length = colour;
      drop_spelled_escape(line.text);
    } else if ((c >= 0 && c < 0x20 && c != '\t') || c == 0x7f) {
      line.garbled = true;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      line.text += c;
    } else if (const std::size_t bytes = first_character(rest).bytes; bytes > 0) {
      length = bytes;
      line.text += rest.substr(0, length);
    } else {
      line.garbled = true;
      line.text += '?';
    }
    i += length;
  }
  piece();
  return lines;
}

namespace {

/// Does a record without quotes start like this? Words that only these tools print.
bool is_report(std::string_view text) {
  const auto starts = [&](std::string_view word) { return text.starts_with(word); };
  const std::size_t mark = text.substr(0, 10).find('<');
  if (mark != std::string_view::npos) {
    const std::string_view message = text.substr(mark + 1);
    return message.starts_with("Critical:") || message.starts_with("Error:") ||
           message.starts_with("Warning:");
  }
  return (starts("Batch ") && text.size() > 6 && is_digit(text[6])) || starts("Learner ==>") ||
         starts("Architecture ==>") || (starts("Layer ") && contains(text, " ==> ")) ||
         starts("There is no identified fault") || starts("Error: input file") ||
         (text.ends_with(".py") && text.find_first_of(" \t") == std::string_view::npos);
}

/// A record of a table.
struct Record {
  std::string id;
  std::string_view text;
  bool quoted = false;
  bool not_applicable = false;
};

/// `id,"text"`, `id,N/A` or, where quotes were lost, `id,text`.
std::optional<Record> record_of(std::string_view line) {
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos || comma == 0) return std::nullopt;
  for (const char c : line.substr(0, comma)) {
    if (!(is_digit(c) || is_letter(c) || c == '_' || c == '-' || c == '.')) {
      return std::nullopt;
    }
  }
  Record record{std::string(line.substr(0, comma)), line.substr(comma + 1)};
  record.not_applicable = trimmed(record.text) == "N/A";
  record.quoted = record.text.starts_with('"');
  if (!record.not_applicable && !record.quoted && !is_report(trimmed(record.text))) {
    return std::nullopt;
  }
  return record;
}

}  // namespace

std::vector<Section> sections(std::vector<LogLine> lines, std::vector<ParseWarning>& warnings) {
  constexpr std::ptrdiff_t kTable = 3;  // so many records are no chance
  const auto is_record = [](const LogLine& line) { return record_of(line.text).has_value(); };
  const auto begin = std::find_if(lines.begin(), lines.end(), is_record);
  const auto before = std::count_if(
      lines.begin(), begin, [](const LogLine& line) { return !trimmed(line.text).empty(); });
  // A header line may come first, or the rest of a record whose start was cut off.
  if (begin == lines.end() ||
      (before > 1 && std::count_if(begin, lines.end(), is_record) < kTable)) {
    std::vector<Section> whole(1);
    whole.front().lines = std::move(lines);
    return whole;
  }
  if (before > 1) warnings.push_back({lines.front().number, "no record's start; left out"});
  const auto first = static_cast<std::size_t>(begin - lines.begin());
  std::vector<Section> result;
  bool open = false;      // a record that a quote closes
  bool unquoted = false;  // one that the next record ends
  std::size_t opened = 0;
  for (std::size_t i = first; i < lines.size(); ++i) {
    LogLine line = lines[i];
    const auto record = record_of(line.text);
    if (record) {
      if (open) warnings.push_back({opened, "the record's closing quote is missing"});
      result.push_back({record->id, record->not_applicable, {}});
      open = record->quoted && !record->not_applicable;
      unquoted = !record->quoted && !record->not_applicable;
      if (result.back().not_applicable) continue;
      line.text = std::string(record->text.substr(record->quoted ? 1 : 0));
      opened = line.number;
    }
    if (unquoted) {
      result.back().lines.push_back(std::move(line));
      continue;
    }
    if (!open) {
      if (!trimmed(line.text).empty()) {
        warnings.push_back({line.number, "neither a record nor part of one"});
      }
      continue;
    }
    // A quote closes the record unless it is doubled.
    std::string text;
    for (std::size_t k = 0; k < line.text.size() && open; ++k) {
      if (line.text[k] != '"') {
        text += line.text[k];
      } else if (k + 1 < line.text.size() && line.text[k + 1] == '"') {
        text += '"';
        ++k;
      } else {
        open = false;
      }
    }
    line.text = std::move(text);
    result.back().lines.push_back(std::move(line));
  }
  if (open) warnings.push_back({opened, "the record's closing quote is missing"});
  return result;
}

void Scanner::skip_blanks() {
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
}

bool Scanner::word(std::string_view wanted) {
  const std::string_view before = rest_;
  skip_blanks();
  if (lower(rest_.substr(0, wanted.size())) == lower(wanted)) {
    rest_.remove_prefix(wanted.size());
    return true;
  }
  rest_ = before;
  return false;
}

std::optional<std::int64_t> Scanner::integer() {
  const std::string_view before = rest_;
  skip_blanks();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc() || value < 0 || value > 1'000'000'000) {
    rest_ = before;
    return std::nullopt;
  }
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::optional<double> Scanner::number() {
  const std::string_view before = rest_;
  skip_blanks();
  double value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc() || !(value >= 0 && value < 1e12)) {
    rest_ = before;
    return std::nullopt;
  }
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

bool Scanner::skip_past(std::string_view wanted) {
  const std::size_t at = rest_.find(wanted);
  if (at == std::string_view::npos) return false;
  rest_.remove_prefix(at + wanted.size());
  return true;
}

std::optional<double> take_seconds(std::string& text) {
  const std::size_t begin = text.find("---");
  if (begin == std::string::npos) return std::nullopt;
  Scanner scanner(std::string_view(text).substr(begin + 3));
  const auto seconds = scanner.number();
  if (!seconds || !scanner.word("seconds") || !scanner.word("---")) return std::nullopt;
  text.erase(begin, text.size() - begin - scanner.rest().size());
  return seconds;
}

std::string program_name(std::string_view text) {
  text = trimmed(text);
  while (text.ends_with('/') || text.ends_with('\\')) text.remove_suffix(1);
  const std::size_t folder = text.find_last_of("/\\");
  if (folder != std::string_view::npos) text.remove_prefix(folder + 1);
  if (text.ends_with(".py")) text.remove_suffix(3);
  return std::string(text);
}

std::optional<std::string> command_of(std::string_view line) {
  line = trimmed(line);
  if (!line.ends_with(".py") || contains(line, ".py:")) return std::nullopt;
  const std::size_t blank = line.find_last_of(" \t");
  if (blank == std::string_view::npos || !contains(line.substr(0, blank), "python")) {
    return std::nullopt;
  }
  return program_name(line.substr(blank + 1));
}

std::optional<IssueLine> issue_of(std::string_view line) {
  Scanner scanner(trimmed(line));
  if (!scanner.rest().starts_with("Issue") || !scanner.word("Issue")) return std::nullopt;
  if (scanner.rest().empty() || !is_blank(scanner.rest().front())) return std::nullopt;
  scanner.skip_blanks();
  const std::string_view rest = scanner.rest();
  const std::size_t blank = rest.find_first_of(" \t");
  IssueLine issue;
  issue.name = program_name(rest.substr(0, blank));
  if (issue.name.empty()) return std::nullopt;
  Scanner tail(blank == std::string_view::npos ? std::string_view() : rest.substr(blank));
  if (!tail.word("start")) issue.ends = tail.word("end");
  issue.seconds = tail.number();
  tail.skip_blanks();
  if (!tail.rest().empty()) return std::nullopt;
  issue.ends = issue.ends || issue.seconds.has_value();
  return issue;
}

std::string_view noise_kind(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return "blank";
  if (text.starts_with("Epoch ") && contains(text, "/")) return "epoch header";
  // 1568/2000 [======>.......] - ETA: 0s
  Scanner scanner(text);
  if (scanner.integer() && scanner.rest().starts_with("/")) {
    scanner.word("/");
    const bool counted = scanner.integer().has_value() || scanner.word("Unknown");
    if (counted && scanner.word("[")) return "progress bar";
  }
  if (contains(text, "loss: ") && (text.starts_with("- ") || contains(text, " - "))) {
    return "metrics";
  }
  const auto starts = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.starts_with(word); });
  };
  if (starts({"Test loss", "Test accuracy", "Test score", "Loss: ", "Score [", "loss:", "acc"})) {
    return "metrics";
  }
  if (starts({"Train on ", "WARNING:tensorflow", "Using TensorFlow backend", "Using Theano backend",
              "pciBusID", "coreClock", "Relying on driver", "I tensorflow", "W tensorflow",
              "E tensorflow"})) {
    return "library";
  }
  // 2023-03-19 16:54:35.600327: I tensorflow/...
  if (text.size() > 20 && text[4] == '-' && text[7] == '-' && text[13] == ':' &&
      std::all_of(text.begin(), text.begin() + 4, is_digit)) {
    return "library";
  }
  if (starts({"Model: \"", "Layer (type)", "Total params", "Trainable params",
              "Non-trainable params"}) ||
      contains(text, "(None, ") || text.find_first_not_of("_=-") == std::string_view::npos) {
    return "model summary";
  }
  if (text.find_first_not_of("0123456789.,+-eE[]() \tnaif") == std::string_view::npos) {
    return "numbers";
  }
  if ((contains(text, ".py:") || contains(text, ".pyc:")) && contains(text, "Warning: ")) {
    return "Python warning";
  }
  if (starts({"Process finished with exit code"})) return "end of the process";
  if (starts({"Traceback (most recent call last)", "File \""})) return "Python error";
  if (command_of(text)) return "command";
  return "";
}

}  // namespace neutra::fl_adapters::parsers
