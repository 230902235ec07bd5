#include "source/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/utf8.h"

namespace neutra::source {
namespace {

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return begins_name(c) || is_digit(c); }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/// Punctuation that editors and chats put in the place of Python's, and what it stands for.
struct Foreign {
  std::string_view character;
  char meaning;
};
constexpr std::array<Foreign, 11> kForeign = {{{"\xEF\xBC\x9A", ':'},
                                               {"\xEF\xBC\x8C", ','},
                                               {"\xEF\xBC\x88", '('},
                                               {"\xEF\xBC\x89", ')'},
                                               {"\xEF\xBC\x9B", ';'},
                                               {"\xE2\x80\x98", '\''},
                                               {"\xE2\x80\x99", '\''},
                                               {"\xE2\x80\x9C", '"'},
                                               {"\xE2\x80\x9D", '"'},
                                               {"\xEF\xBC\x9D", '='},
                                               {"\xC2\xA0", ' '}}};

constexpr std::array<std::string_view, 22> kOperators = {
    "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=",
    "==",  "!=",  "<>",  "->",  ":=",  "+=", "-=", "*=", "/=", "%=", "&="};
constexpr std::array<std::string_view, 3> kMoreOperators = {"|=", "^=", "@="};

/// Words that begin a statement and nothing else, also within brackets that somebody forgot to
/// close.
constexpr std::array<std::string_view, 10> kStatementWords = {
    "def", "class", "return", "import", "while", "with", "try", "del", "raise", "global"};

class Lexer {
 public:
  Lexer(std::string_view text, std::uint32_t begin, std::uint32_t end, bool expression)
      : text_(text.substr(0, end)), at_(begin), expression_(expression) {
    tokens_.list.reserve((end - begin) / 4 + 4);
  }

  Tokens run() {
    if (expression_) push(TokenKind::kLine, at_, at_);
    bool line_begins = !expression_;
    while (true) {
      if (line_begins && depth_ == 0) {
        if (!begin_line()) break;
        line_begins = false;
        continue;
      }
      skip_blanks();
      if (at_ >= text_.size()) {
        if (depth_ > 0 && !expression_ && rewind()) {
          line_begins = true;
          continue;
        }
        break;
      }
      if (is_line_end(text_[at_])) {
        end_line();
        if (depth_ > 0 && !expression_ && forgotten_bracket()) depth_ = 0;
        line_begins = depth_ == 0 && !expression_;
        continue;
      }
      token();
    }
    push(TokenKind::kEnd, text_.size(), text_.size());
    return std::move(tokens_);
  }

 private:
  void push(TokenKind kind, std::size_t begin, std::size_t end) {
    Token token;
    token.kind = kind;
    token.begin = static_cast<std::uint32_t>(begin);
    token.end = static_cast<std::uint32_t>(end);
    tokens_.list.push_back(token);
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  /// Blanks, comments, line continuations, and characters that nothing is known of.
  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '#') {
        const std::size_t begin = at_;
        while (at_ < text_.size() && !is_line_end(text_[at_])) ++at_;
        tokens_.comments.push_back(
            {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)});
      } else if (c == '\\' && (at_ + 1 == text_.size() || is_line_end(text_[at_ + 1]))) {
        ++at_;
        end_line();
      } else if (static_cast<unsigned char>(c) >= 0x80 && foreign() == ' ') {
        at_ += 2;
      } else if (c == '\\' || c == '$' || c == '?' || (c < ' ' && c >= 0 && !is_line_end(c)) ||
                 c == 0x7F) {
        ++at_;
      } else {
        return;
      }
    }
  }

  /// What the punctuation at this place stands for; 0: it is none that is known.
  char foreign() const {
    for (const Foreign& one : kForeign)
      if (text_.substr(at_).starts_with(one.character)) return one.meaning;
    return 0;
  }
  std::size_t foreign_bytes() const { return static_cast<unsigned char>(peek()) == 0xC2 ? 2 : 3; }

  void end_line() {
    if (at_ >= text_.size()) return;
    if (text_[at_] == '\r' && peek(1) == '\n') ++at_;
    ++at_;
  }

  /// Goes to the first token of the next line that has one; false: there is none.
  bool begin_line() {
    while (true) {
      const std::size_t begin = at_;
      std::uint32_t width = 0;
      for (; at_ < text_.size(); ++at_) {
        if (text_[at_] == ' ')
          ++width;
        else if (text_[at_] == '\t')
          width = (width / 8 + 1) * 8;
        else if (text_[at_] == '\f')
          width = 0;
        else if (static_cast<unsigned char>(text_[at_]) == 0xC2 && foreign() == ' ')
          ++at_, ++width;
        else
          break;
      }
      // What is typed at a prompt: of Python, and of notebooks for other programs.
      if (text_.substr(at_).starts_with(">>> ") || text_.substr(at_).starts_with("... ")) {
        at_ += 4;
        continue;
      }
      if (peek() == '%' || peek() == '!')
        while (at_ < text_.size() && !is_line_end(text_[at_])) ++at_;
      skip_blanks();
      if (at_ >= text_.size()) return false;
      if (is_line_end(text_[at_])) {
        end_line();
        continue;
      }
      push(TokenKind::kLine, begin, at_);
      tokens_.list.back().width = width;
      return true;
    }
  }

  void token() {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const char meaning = foreign();
      if (meaning == '"' || meaning == '\'') return foreign_string();
      if (meaning != 0) {
        const std::size_t begin = at_;
        at_ += foreign_bytes();
        return push_op(begin, std::string_view(&meaning, 1));
      }
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return string(at_);
    if (begins_name(c)) return name();
    op();
  }

  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) {
      if (static_cast<unsigned char>(text_[at_]) >= 0x80 && foreign() != 0) break;
      ++at_;
    }
    const bool quote = peek() == '"' || peek() == '\'';
    if (quote && at_ - begin <= 2 &&
        text_.substr(begin, at_ - begin).find_first_not_of("rRbBuUfFtT") == std::string_view::npos)
      return string(begin);
    push(TokenKind::kName, begin, at_);
  }

  void number() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign =
          (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') &&
          !(text_[begin] == '0' && begin + 1 < at_ && (text_[begin + 1] | 0x20) == 'x');
      if (!is_digit(c) && c != '.' && c != '_' && !(c >= 'a' && c <= 'z') &&
          !(c >= 'A' && c <= 'Z') && !exponent_sign)
        break;
      // `1if x else 2`, `0or 1`: what follows is a word.
      if ((c == 'i' && peek(1) == 'f') || (c == 'o' && peek(1) == 'r') ||
          (c == 'i' && peek(1) == 'n') || (c == 'a' && peek(1) == 'n') ||
          (c == 'e' && peek(1) == 'l'))
        break;
      ++at_;
    }
    push(TokenKind::kNumber, begin, at_);
  }

  /// A string whose quotes begin at this place and whose prefix begins at `begin`.
  void string(std::size_t begin) {
    const char quote = text_[at_];
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    const std::size_t content = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        const bool line = is_line_end(peek(1));
        ++at_;
        if (line)
          end_line();
        else if (at_ < text_.size())
          ++at_;
        continue;
      }
      if (!triple && is_line_end(c)) break;  // nothing closes it
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        return push(TokenKind::kString, begin, at_);
      }
      ++at_;
    }
    if (triple && rewinds_ < kMostRewinds) {
      ++rewinds_;
      at_ = content;
      while (at_ < text_.size() && !is_line_end(text_[at_])) ++at_;
    }
    push(TokenKind::kString, begin, std::min(at_, text_.size()));
  }

  /// A string in typographic quotes, to the next of them in the line.
  void foreign_string() {
    const std::size_t begin = at_;
    at_ += 3;
    while (at_ < text_.size() && !is_line_end(text_[at_])) {
      const char meaning = static_cast<unsigned char>(text_[at_]) >= 0x80 ? foreign() : '\0';
      if (meaning == '"' || meaning == '\'') {
        at_ += 3;
        break;
      }
      ++at_;
    }
    push(TokenKind::kString, begin, at_);
  }

  void push_op(std::size_t begin, std::string_view op) {
    const char c = op[0];
    if (op.size() == 1 && (c == '(' || c == '[' || c == '{')) {
      if (depth_++ == 0) {
        opener_ = tokens_.list.size();
        opener_end_ = at_;
      }
    } else if (op.size() == 1 && (c == ')' || c == ']' || c == '}')) {
      if (depth_ > 0) --depth_;
    }
    push(TokenKind::kOp, begin, at_);
    std::memcpy(tokens_.list.back().op, op.data(), op.size());
  }

  void op() {
    const std::string_view rest = text_.substr(at_, 3);
    for (const auto& [first, last] : {std::pair(kOperators.begin(), kOperators.end()),
                                      std::pair(kMoreOperators.begin(), kMoreOperators.end())}) {
      for (auto known = first; known != last; ++known) {
        if (!rest.starts_with(*known)) continue;
        const std::size_t begin = at_;
        at_ += known->size();
        return push_op(begin, *known);
      }
    }
    const std::size_t begin = at_++;
    push_op(begin, rest.substr(0, 1));
  }

  /// Within brackets, at the beginning of a line: is it one that only a statement begins with?
  bool forgotten_bracket() {
    std::size_t at = at_;
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    std::size_t end = at;
    while (end < text_.size() && in_name(text_[end])) ++end;
    if (end >= text_.size() || (text_[end] != ' ' && text_[end] != ':')) return false;
    const std::string_view word = text_.substr(at, end - at);
    return std::find(kStatementWords.begin(), kStatementWords.end(), word) != kStatementWords.end();
  }

  /// Back to the line of a bracket that nothing closes, which ends there; false where that has been
  /// done often enough: then it goes on to the text's end.
  bool rewind() {
    if (rewinds_ >= kMostRewinds) return false;
    ++rewinds_;
    std::size_t at = opener_end_;
    while (at < text_.size() && !is_line_end(text_[at])) ++at;
    while (tokens_.list.size() > opener_ + 1 && tokens_.list.back().begin >= at)
      tokens_.list.pop_back();
    while (!tokens_.comments.empty() && tokens_.comments.back().begin >= at)
      tokens_.comments.pop_back();
    at_ = at;
    end_line();
    depth_ = 0;
    return true;
  }

  static constexpr int kMostRewinds = 8;  // so that the time stays linear

  std::string_view text_;
  std::size_t at_;
  bool expression_;
  int depth_ = 0;
  std::size_t opener_ = 0, opener_end_ = 0;  ///< the outermost open bracket: token, offset
  int rewinds_ = 0;
  Tokens tokens_;
};

}  // namespace

Tokens tokens_of(std::string_view text) {
  return Lexer(text, 0, static_cast<std::uint32_t>(text.size()), false).run();
}

Tokens expression_tokens(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  return Lexer(text, begin, end, true).run();
}

}  // namespace neutra::source
