#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "source/lexer.h"
#include "source/tree_builder.h"

namespace neutra::source {

/// The part of the parser that reads expressions, and the tokens that both parts read.
class ExpressionParser {
 public:
  ExpressionParser(TreeBuilder& builder, const std::vector<Token>& tokens)
      : builder_(builder), text_(builder.tree().text()), tokens_(&tokens) {}

  // Tokens. Expressions end at a kLine or kEnd token.
  const Token& token(std::size_t ahead = 0) const {
    return (*tokens_)[at_ + ahead < tokens_->size() ? at_ + ahead : tokens_->size() - 1];
  }
  bool at_end() const {
    return token().kind == TokenKind::kLine || token().kind == TokenKind::kEnd;
  }
  std::string_view word(std::size_t ahead = 0) const;  ///< of a name or keyword, else ""
  bool is_word(std::string_view expected) const { return word() == expected; }
  bool is_op(std::string_view expected, std::size_t ahead = 0) const;
  void advance() {
    if (at_ + 1 < tokens_->size()) ++at_;
  }
  bool take_word(std::string_view expected);
  bool take_op(std::string_view expected);
  std::uint32_t last_end() const { return at_ == 0 ? 0 : (*tokens_)[at_ - 1].end; }

  // Each of these gives kNoNode where there is no expression, without reading a token.
  NodeId expression();       ///< also a starred one, and `name := value`
  NodeId expression_list();  ///< expressions with commas between them are a kTuple
  NodeId target_list();      ///< in front of `in`
  NodeId yield_or_list();
  NodeId identifier();  ///< kIdentifier
  NodeId dotted_name();

  /// `(...)` of a call or class, at the opening bracket.
  void arguments(NodeId parent);
  /// Parameters up to `)` or `:`, whichever `end` is, without reading it.
  NodeId parameters(std::string_view end);
  /// Reads up to the closing bracket of one that was read, and that, too.
  void skip_brackets();

  void fail() { builder_.count_error(); }
  void set_in_pattern(bool value) { in_pattern_ = value; }

 protected:
  TreeBuilder& builder_;
  std::string_view text_;
  const std::vector<Token>* tokens_;
  std::size_t at_ = 0;

 private:
  NodeId single();  ///< without star and `:=`
  NodeId disjunction();
  NodeId conjunction();
  NodeId inversion();
  NodeId comparison();
  NodeId binary(int level);
  NodeId unary();
  NodeId power();
  NodeId primary();
  NodeId trailers(NodeId node);
  NodeId atom();
  NodeId lambda();
  NodeId starred();
  NodeId brackets();
  NodeId braces();
  NodeId list_brackets();
  NodeId strings();
  NodeId too_deep();
  void subscript(NodeId parent);
  void format_expressions(NodeId parent, std::uint32_t begin, std::uint32_t end);
  void comprehension(NodeId node);
  bool compares() const;
  bool closes(char bracket);
  NodeId make_here(NodeKind kind) { return builder_.make(kind, token().begin, token().begin); }

  int depth_ = 0;
  bool in_pattern_ = false;
  bool no_in_ = false;  ///< `in` ends an expression: a target of `for`
};

/// May an expression begin with this word?
bool is_reserved(std::string_view word);

}  // namespace neutra::source
