#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/strings.h"
#include "graphs/proto_message.h"

namespace neutra::graphs {
namespace {

constexpr int kMostLevels = 100;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+';
}

/// Reads the messages of one text.
class TextReader {
 public:
  TextReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Message read(const MessageRule& rule) {
    Message result;
    fields(result, &rule, '\0', 0);
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& allowed) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n');
    throw input_error(describe(file_, "line " + std::to_string(line), found, allowed));
  }

  /// The next character that is neither blank nor in a comment; '\0' at the end.
  char peek() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (is_blank(text_[at_])) {
        ++at_;
      } else {
        return text_[at_];
      }
    }
    return '\0';
  }

  std::string found() {
    const char next = peek();
    return next == '\0' ? "the end of the file" : "'" + std::string(1, next) + "'";
  }

  std::string word(const std::string& what) {
    peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) fail(found(), what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  /// Fields up to the bracket that closes them, or to the end of the text. `rule` nullptr: skipped.
  void fields(Message& result, const MessageRule* rule, char close, int level) {
    if (level > kMostLevels) fail("more than 100 levels of messages", "100 at most");
    while (true) {
      if (close == '\0' ? peek() == '\0' : take(close)) return;
      const std::string name = word("the name of a field");
      const FieldRule* field = nullptr;
      if (rule)
        for (const FieldRule& each : rule->fields)
          if (each.name == name) field = &each;
      const bool colon = take(':');
      if (take('[')) {
        while (!take(']')) {
          value(result, field, level);
          take(',');
        }
      } else {
        if (!colon && peek() != '{' && peek() != '<') fail(found(), "':' behind " + name);
        value(result, field, level);
      }
      if (!take(',')) take(';');
    }
  }

  void value(Message& result, const FieldRule* field, int level) {
    const char next = peek();
    if (next == '{' || next == '<') {
      ++at_;
      if (field && field->kind != FieldKind::kMessage)
        fail("a message", "a value of " + field->name);
      Message inner;
      fields(inner, field ? field->message : nullptr, next == '{' ? '}' : '>', level + 1);
      if (field) result.at(field->number).messages.push_back(std::move(inner));
      return;
    }
    if (field && field->kind == FieldKind::kMessage) fail(found(), "'{' behind " + field->name);
    if (next == '"' || next == '\'') {
      std::string bytes = quoted();
      while (peek() == '"' || peek() == '\'') bytes += quoted();
      if (!field) return;
      if (field->kind != FieldKind::kBytes) fail("a text", "a number behind " + field->name);
      result.at(field->number).texts.push_back(std::move(bytes));
      return;
    }
    const std::string text = word("a value");
    if (field) scalar(result.at(field->number), *field, text);
  }

  void scalar(Message::Field& into, const FieldRule& field, const std::string& text) {
    if (field.kind == FieldKind::kBytes) fail("'" + text + "'", "a text in quotes");
    if (field.kind == FieldKind::kInteger) {
      if (text == "true" || text == "false") {
        into.integers.push_back(text == "true" ? 1 : 0);
        return;
      }
      if (const auto whole = parse_number<std::int64_t>(text)) {
        into.integers.push_back(*whole);
        return;
      }
      if (field.words)
        for (const auto& [word, number] : *field.words)
          if (word == text) {
            into.integers.push_back(number);
            return;
          }
      fail("'" + text + "'", "a whole number behind " + field.name);
    }
    into.numbers.push_back(number_of(field, text));
  }

  double number_of(const FieldRule& field, std::string text) {
    const bool negative = text.starts_with('-');
    if (negative) text.erase(0, 1);
    const std::string small = lower(text);
    double number = 0;
    if (small == "inf" || small == "infinity") {
      number = std::numeric_limits<double>::infinity();
    } else if (small == "nan") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else {
      if (small.ends_with('f')) text.pop_back();
      const auto read = parse_number<double>(text);
      if (!read) fail("'" + text + "'", "a number behind " + field.name);
      number = *read;
    }
    return negative ? -number : number;
  }

  static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
  }

  /// The byte that up to `most` digits of a base spell.
  char spelt(int base, int most) {
    int value = 0;
    for (int i = 0; i < most && at_ < text_.size() && digit_of(text_[at_]) < base; ++i)
      value = value * base + digit_of(text_[at_++]);
    return static_cast<char>(value);
  }

  std::string quoted() {
    const char quote = text_[at_++];
    std::string bytes;
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n') fail("a text without its end", "a quote");
      const char c = text_[at_++];
      if (c == quote) return bytes;
      if (c != '\\') {
        bytes += c;
        continue;
      }
      if (at_ >= text_.size()) continue;
      const char escape = text_[at_];
      if (escape >= '0' && escape <= '7') {
        bytes += spelt(8, 3);
        continue;
      }
      ++at_;
      if (escape == 'x' || escape == 'X') {
        bytes += spelt(16, 2);
        continue;
      }
      static constexpr std::string_view kLetters = "abfnrtv", kBytes = "\a\b\f\n\r\t\v";
      const std::size_t at = kLetters.find(escape);
      bytes += at == std::string_view::npos ? escape : kBytes[at];
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

Message read_proto_text(std::string_view text, const MessageRule& rule, const std::string& file) {
  return TextReader(text, file).read(rule);
}

}  // namespace neutra::graphs
