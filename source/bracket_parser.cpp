// Expressions in brackets, and strings: what they have inside.

#include <algorithm>

#include "source/expression_parser.h"

namespace neutra::source {

NodeId ExpressionParser::brackets() {
  const bool no_in = no_in_;
  no_in_ = false;
  const std::uint32_t begin = token().begin;
  advance();
  NodeId inner = expression();
  bool tuple = inner == kNoNode;
  NodeId node = kNoNode;
  if (inner != kNoNode && (is_word("for") || is_word("async"))) {
    node = builder_.make(NodeKind::kComprehension, begin, begin);
    comprehension(node);
    builder_.add(node, inner);
    inner = node;
  }
  if (is_op(",")) {
    node = builder_.make(NodeKind::kTuple, begin, begin);
    builder_.add(node, inner);
    inner = node;
    tuple = true;
  }
  if (inner == kNoNode) inner = builder_.make(NodeKind::kTuple, begin, begin);
  while (!closes(')')) {
    if (take_op(",")) continue;
    if (is_op("]") || is_op("}")) continue;
    const NodeId next = expression();
    if (next == kNoNode) {
      fail();
      advance();
    } else if (tuple) {
      builder_.add(inner, next);
    } else {  // two expressions without a comma between them
      fail();
      node = builder_.wrap(NodeKind::kError, inner);
      builder_.add(node, next);
      inner = node;
      tuple = true;
    }
  }
  // The brackets belong to the expression, so that two neighbours never overlap.
  builder_.node(inner).begin = std::min(builder_.node(inner).begin, begin);
  builder_.node(inner).end = std::max(builder_.node(inner).end, last_end());
  no_in_ = no_in;
  return inner;
}

NodeId ExpressionParser::list_brackets() {
  const bool no_in = no_in_;
  no_in_ = false;
  const std::uint32_t begin = token().begin;
  advance();
  NodeId node = builder_.make(NodeKind::kList, begin, begin);
  const NodeId first = expression();
  if (first != kNoNode && (is_word("for") || is_word("async"))) {
    builder_.node(node).kind = NodeKind::kComprehension;
    comprehension(node);
  }
  builder_.add(node, first);
  while (!closes(']')) {
    if (take_op(",")) continue;
    if (is_op(")") || is_op("}")) continue;
    const NodeId next = expression();
    builder_.add(node, next);
    if (next == kNoNode) {
      fail();
      advance();
    }
  }
  builder_.node(node).end = std::max(builder_.node(node).end, last_end());
  no_in_ = no_in;
  return node;
}

NodeId ExpressionParser::braces() {
  const bool no_in = no_in_;
  no_in_ = false;
  const NodeId node = make_here(NodeKind::kSet);
  advance();
  while (!closes('}')) {
    if (take_op(",")) {
      if (builder_.node(node).first == kNoNode) fail();
      continue;
    }
    if (is_op(")") || is_op("]")) continue;
    const NodeId key = expression();
    NodeId value = kNoNode;
    bool pair = key != kNoNode && builder_.node(key).kind == NodeKind::kStarred &&
                builder_.node(key).stars == 2;
    if (key != kNoNode && take_op(":")) {
      value = expression();
      pair = true;
      // Pairs stay pairs: what is missing is an error, which is a node.
      if (value == kNoNode) {
        fail();
        value = make_here(NodeKind::kError);
      }
    }
    if (key != kNoNode && (is_word("for") || is_word("async"))) {
      builder_.node(node).kind = NodeKind::kComprehension;
      comprehension(node);
    } else if (pair && builder_.node(node).kind == NodeKind::kSet) {
      builder_.node(node).kind = NodeKind::kDict;
    }
    builder_.add(node, key);
    builder_.add(node, value);
    if (key == kNoNode) {
      fail();
      advance();
    }
  }
  if (builder_.node(node).first == kNoNode) builder_.node(node).kind = NodeKind::kDict;
  builder_.node(node).end = std::max(builder_.node(node).end, last_end());
  no_in_ = no_in;
  return node;
}

NodeId ExpressionParser::strings() {
  const NodeId node = make_here(NodeKind::kString);
  while (token().kind == TokenKind::kString) {
    const Token part = token();
    builder_.node(node).end = part.end;
    advance();
    const std::string_view text = text_.substr(part.begin, part.end - part.begin);
    const std::size_t quote = text.find_first_of("\"'");
    if (quote != std::string_view::npos &&
        text.substr(0, quote).find_first_of("fF") != std::string_view::npos)
      format_expressions(node, part.begin + static_cast<std::uint32_t>(quote) + 1, part.end);
  }
  return node;
}

void ExpressionParser::format_expressions(NodeId parent, std::uint32_t begin, std::uint32_t end) {
  if (++depth_ > kDeepestExpression) {
    --depth_;
    return fail();
  }
  for (std::uint32_t at = begin; at < end; ++at) {
    if (text_[at] != '{') continue;
    if (at + 1 < end && text_[at + 1] == '{') {
      ++at;
      continue;
    }
    const std::uint32_t from = at + 1;
    std::uint32_t format = 0;  // where a conversion or format begins
    int open = 0;
    char quote = 0;
    for (++at; at < end; ++at) {
      const char c = text_[at];
      if (quote != 0) {
        if (c == quote) quote = 0;
        continue;
      }
      if (format == 0 && (c == '"' || c == '\'')) quote = c;
      if (c == '(' || c == '[' || c == '{') ++open;
      if (c == ')' || c == ']') --open;
      if (c == '}' && open-- == 0) break;
      const bool conversion = c == '!' && at + 1 < end && text_[at + 1] != '=';
      if (open == 0 && format == 0 && (c == ':' || conversion)) format = at;
    }
    std::uint32_t to = format != 0 ? format : at;
    while (to > from && (text_[to - 1] == '=' || text_[to - 1] == ' ')) --to;  // {name=}
    const Tokens inner = expression_tokens(text_, from, std::min(to, end));
    const std::vector<Token>* const tokens = tokens_;
    const std::size_t before = at_;
    tokens_ = &inner.list;
    at_ = 1;
    builder_.add(parent, yield_or_list());
    tokens_ = tokens;
    at_ = before;
    if (format != 0) format_expressions(parent, format, std::min(at, end));
  }
  --depth_;
}

}  // namespace neutra::source
