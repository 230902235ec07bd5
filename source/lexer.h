#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace neutra::source {

enum class TokenKind : std::uint8_t {
  kLine,    ///< a logical line begins; `width` is that of its indentation
  kName,    ///< a name or keyword
  kNumber,  ///<
  kString,  ///< with its prefix and quotes
  kOp,      ///< an operator or bracket; punctuation of other scripts as its ASCII form
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t begin = 0, end = 0;  ///< bytes of the text
  std::uint32_t width = 0;           ///< of kLine: columns of indentation, tabs to multiples of 8
  char op[3] = {0, 0, 0};            ///< of kOp: its first three characters, in ASCII
};

/// From a number sign to the line's end.
struct Comment {
  std::uint32_t begin = 0, end = 0;
};

struct Tokens {
  std::vector<Token> list;  ///< ends with kEnd
  std::vector<Comment> comments;
};

/// The tokens of a text of Python 2 or 3, whole or broken: never fails. A bracket that nothing
/// closes ends at the next line that begins as only a statement can, or else at the end of its own
/// line; so does a string of three quotes that nothing closes. Between two tokens there are only
/// blanks, comments, line ends and characters that Python doesn't know.
Tokens tokens_of(std::string_view text);

/// The tokens of an expression within brackets, bytes `begin` to `end` of `text`: line ends don't
/// count.
Tokens expression_tokens(std::string_view text, std::uint32_t begin, std::uint32_t end);

}  // namespace neutra::source
