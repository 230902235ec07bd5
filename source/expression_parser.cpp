#include "source/expression_parser.h"

#include <algorithm>
#include <array>

namespace neutra::source {
namespace {

constexpr std::array<std::string_view, 29> kReserved = {
    "and",    "as",    "assert", "break",    "class", "continue", "def",    "del",
    "elif",   "else",  "except", "finally",  "for",   "from",     "global", "if",
    "import", "in",    "is",     "nonlocal", "or",    "pass",     "raise",  "return",
    "try",    "while", "with",   "not",      "lambda"};

/// Operators of two operands, from those that bind least.
constexpr std::array<std::array<std::string_view, 5>, 6> kLevels = {
    {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}};

/// Counts a level of recursion while it lives.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

}  // namespace

bool is_reserved(std::string_view word) {
  if (word.size() < 2 || word.size() > 8) return false;
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

std::string_view ExpressionParser::word(std::size_t ahead) const {
  const Token& found = token(ahead);
  if (found.kind != TokenKind::kName) return {};
  return text_.substr(found.begin, found.end - found.begin);
}

bool ExpressionParser::is_op(std::string_view expected, std::size_t ahead) const {
  const Token& found = token(ahead);
  if (found.kind != TokenKind::kOp) return false;
  const std::size_t size = found.op[1] == 0 ? 1 : found.op[2] == 0 ? 2 : 3;
  return std::string_view(found.op, size) == expected;
}

bool ExpressionParser::take_word(std::string_view expected) {
  if (!is_word(expected)) return false;
  advance();
  return true;
}

bool ExpressionParser::take_op(std::string_view expected) {
  if (!is_op(expected)) return false;
  advance();
  return true;
}

NodeId ExpressionParser::identifier() {
  if (word().empty()) return kNoNode;
  const NodeId id = builder_.make(NodeKind::kIdentifier, token().begin, token().end);
  advance();
  return id;
}

NodeId ExpressionParser::dotted_name() {
  const std::uint32_t begin = token().begin;
  std::uint32_t end = begin;
  while (is_op(".") || is_op("...") || (!word().empty() && !is_word("import"))) {
    const bool name = !word().empty();
    end = token().end;
    advance();
    if (name && !is_op(".")) break;
  }
  return end == begin ? kNoNode : builder_.make(NodeKind::kDottedName, begin, end);
}

NodeId ExpressionParser::too_deep() {
  const NodeId error = make_here(NodeKind::kError);
  fail();
  int open = 0;
  while (!at_end()) {
    if (is_op("(") || is_op("[") || is_op("{")) ++open;
    if ((is_op(")") || is_op("]") || is_op("}")) && open-- == 0) break;
    builder_.node(error).end = token().end;
    advance();
  }
  return error;
}

void ExpressionParser::skip_brackets() {
  int open = 1;
  while (!at_end() && open > 0) {
    if (is_op("(") || is_op("[") || is_op("{")) ++open;
    if (is_op(")") || is_op("]") || is_op("}")) --open;
    advance();
  }
}

/// At a closing bracket, also a wrong one, or where nothing closes any more.
bool ExpressionParser::closes(char bracket) {
  if (at_end()) {
    fail();
    return true;
  }
  if (token().kind != TokenKind::kOp || token().op[1] != 0) return false;
  const char op = token().op[0];
  if (op != ')' && op != ']' && op != '}') return false;
  if (op != bracket) fail();
  advance();
  return true;
}

NodeId ExpressionParser::starred() {
  const std::uint8_t stars = is_op("**") ? 2 : 1;
  const NodeId node = make_here(NodeKind::kStarred);
  builder_.node(node).stars = stars;
  builder_.node(node).end = token().end;
  advance();
  builder_.add(node, single());
  return node;
}

NodeId ExpressionParser::expression() {
  if (is_op("*") || is_op("**")) return starred();
  NodeId node = single();
  if (node == kNoNode) return node;
  if (builder_.node(node).kind == NodeKind::kName && take_op(":=")) {
    node = builder_.wrap(NodeKind::kNamed, node);
    builder_.add(node, single());
  }
  if (in_pattern_ && is_word("as") && !word(1).empty()) {
    advance();
    node = builder_.wrap(NodeKind::kList, node);
    builder_.add(node, atom());
  }
  return node;
}

NodeId ExpressionParser::single() {
  const Deeper deeper(depth_);
  if (depth_ > kDeepestExpression) return at_end() ? kNoNode : too_deep();
  if (is_word("lambda")) return lambda();
  NodeId node = disjunction();
  if (node != kNoNode && !in_pattern_ && is_word("if")) {
    // In a comprehension `if` is a condition, unless there is an `else`: single() is not called
    // for what stands in front of such an `if` (disjunction() is).
    advance();
    node = builder_.wrap(NodeKind::kConditional, node);
    builder_.add(node, disjunction());
    if (take_word("else"))
      builder_.add(node, single());
    else
      fail();
  }
  return node;
}

NodeId ExpressionParser::expression_list() {
  NodeId node = expression();
  if (node == kNoNode || !is_op(",")) return node;
  node = builder_.wrap(NodeKind::kTuple, node);
  while (take_op(",")) {
    const NodeId next = expression();
    if (next == kNoNode) break;
    builder_.add(node, next);
  }
  return node;
}

NodeId ExpressionParser::target_list() {
  const bool before = no_in_;
  no_in_ = true;
  const NodeId node = expression_list();
  no_in_ = before;
  return node;
}

NodeId ExpressionParser::yield_or_list() {
  if (!is_word("yield")) return expression_list();
  const NodeId node = make_here(NodeKind::kYield);
  builder_.node(node).end = token().end;
  advance();
  take_word("from");
  builder_.add(node, expression_list());
  return node;
}

NodeId ExpressionParser::lambda() {
  const NodeId node = make_here(NodeKind::kLambda);
  builder_.node(node).end = token().end;
  advance();
  builder_.add(node, parameters(":"));
  if (!take_op(":")) fail();
  builder_.add(node, single());
  return node;
}

NodeId ExpressionParser::parameters(std::string_view end) {
  const NodeId list = make_here(NodeKind::kParameters);
  const bool annotated = end == ")";
  while (!at_end() && !is_op(end)) {
    const NodeId parameter = make_here(NodeKind::kParameter);
    if (is_op("*") || is_op("**")) {
      builder_.node(parameter).stars = is_op("**") ? 2 : 1;
      builder_.node(parameter).end = token().end;
      advance();
    }
    const NodeId name = identifier();
    builder_.add(parameter, name);
    if (name == kNoNode && take_op("(")) skip_brackets();  // a tuple of Python 2
    if (annotated && take_op(":")) {
      if (const NodeId type = expression(); type != kNoNode)
        builder_.add(parameter, builder_.wrap(NodeKind::kAnnotation, type));
    }
    if (take_op("=")) builder_.add(parameter, expression());
    builder_.add(list, parameter);
    if (take_op(",") || take_op("/")) {
      take_op(",");
      continue;
    }
    if (at_end() || is_op(end)) break;
    if (builder_.node(parameter).stars == 1 && name == kNoNode) continue;
    fail();
    advance();
  }
  return list;
}

NodeId ExpressionParser::disjunction() {
  NodeId node = conjunction();
  if (node == kNoNode || !is_word("or")) return node;
  node = builder_.wrap(NodeKind::kOr, node);
  while (take_word("or")) builder_.add(node, conjunction());
  return node;
}

NodeId ExpressionParser::conjunction() {
  NodeId node = inversion();
  if (node == kNoNode || !is_word("and")) return node;
  node = builder_.wrap(NodeKind::kAnd, node);
  while (take_word("and")) builder_.add(node, inversion());
  return node;
}

NodeId ExpressionParser::inversion() {
  if (!is_word("not")) return comparison();
  const Deeper deeper(depth_);
  if (depth_ > kDeepestExpression) return too_deep();
  const NodeId node = make_here(NodeKind::kUnary);
  builder_.node(node).end = token().end;
  advance();
  builder_.add(node, inversion());
  return node;
}

bool ExpressionParser::compares() const {
  if (token().kind == TokenKind::kOp)
    return is_op("<") || is_op(">") || is_op("==") || is_op("!=") || is_op("<=") || is_op(">=") ||
           is_op("<>");
  const std::string_view found = word();
  return found == "is" || (found == "in" && !no_in_) || (found == "not" && word(1) == "in");
}

NodeId ExpressionParser::comparison() {
  NodeId node = binary(0);
  if (node == kNoNode || !compares()) return node;
  node = builder_.wrap(NodeKind::kCompare, node);
  while (compares()) {
    const bool is = is_word("is"), negated = is_word("not");
    advance();
    if (is) take_word("not");
    if (negated) take_word("in");
    builder_.add(node, binary(0));
  }
  return node;
}

NodeId ExpressionParser::binary(int level) {
  if (level == static_cast<int>(kLevels.size())) return unary();
  NodeId node = binary(level + 1);
  if (node == kNoNode || token().kind != TokenKind::kOp) return node;
  const auto& operators = kLevels[static_cast<std::size_t>(level)];
  const auto matches = [&] {
    return std::any_of(operators.begin(), operators.end(),
                       [&](std::string_view op) { return !op.empty() && is_op(op); });
  };
  if (!matches()) return node;
  node = builder_.wrap(NodeKind::kBinary, node);
  while (matches()) {
    advance();
    const NodeId operand = binary(level + 1);
    if (operand == kNoNode) {
      fail();
      break;
    }
    builder_.add(node, operand);
  }
  return node;
}

NodeId ExpressionParser::unary() {
  if (!is_op("-") && !is_op("+") && !is_op("~")) return power();
  const Deeper deeper(depth_);
  if (depth_ > kDeepestExpression) return too_deep();
  const NodeId node = make_here(NodeKind::kUnary);
  builder_.node(node).end = token().end;
  advance();
  builder_.add(node, unary());
  return node;
}

NodeId ExpressionParser::power() {
  if (is_word("await")) {
    const Deeper deeper(depth_);
    if (depth_ > kDeepestExpression) return too_deep();
    const NodeId node = make_here(NodeKind::kAwait);
    builder_.node(node).end = token().end;
    advance();
    builder_.add(node, power());
    return node;
  }
  NodeId node = primary();
  if (node == kNoNode || !is_op("**")) return node;
  const Deeper deeper(depth_);
  if (depth_ > kDeepestExpression) return too_deep();
  node = builder_.wrap(NodeKind::kBinary, node);
  advance();
  builder_.add(node, unary());
  return node;
}

NodeId ExpressionParser::primary() {
  const NodeId node = atom();
  return node == kNoNode ? node : trailers(node);
}

NodeId ExpressionParser::trailers(NodeId node) {
  while (true) {
    const bool call = is_op("("), index = is_op("["), attribute = is_op(".");
    if (!call && !index && !attribute) return node;
    if (builder_.node(node).height > kLongestChain) {
      fail();
      advance();
      if (call || index)
        skip_brackets();
      else if (!word().empty())
        advance();
      builder_.node(node).end = last_end();
      continue;
    }
    if (attribute) {
      node = builder_.wrap(NodeKind::kAttribute, node);
      builder_.node(node).end = token().end;
      advance();
      if (!word().empty())
        builder_.add(node, identifier());
      else
        fail();
      continue;
    }
    node = builder_.wrap(call ? NodeKind::kCall : NodeKind::kSubscript, node);
    if (call)
      arguments(node);
    else
      subscript(node);
  }
}

void ExpressionParser::arguments(NodeId parent) {
  const bool pattern = in_pattern_, no_in = no_in_;
  no_in_ = false;
  builder_.node(parent).end = token().end;
  advance();
  while (!closes(')')) {
    NodeId argument = kNoNode;
    if (!word().empty() && is_op("=", 1)) {
      argument = make_here(NodeKind::kKeyword);
      builder_.add(argument, identifier());
      advance();
      builder_.add(argument, expression());
    } else {
      argument = expression();
    }
    if (argument != kNoNode && (is_word("for") || is_word("async"))) {
      const NodeId node = builder_.make(NodeKind::kComprehension, builder_.node(argument).begin,
                                        builder_.node(argument).end);
      comprehension(node);
      builder_.add(node, argument);
      argument = node;
    }
    builder_.add(parent, argument);
    if (take_op(",") || at_end() || is_op(")")) continue;
    if (argument == kNoNode) {
      if (is_op("]") || is_op("}")) continue;
      fail();
      advance();
    } else if (!is_op("]") && !is_op("}")) {
      fail();  // a comma is missing
    }
  }
  builder_.node(parent).end = std::max(builder_.node(parent).end, last_end());
  in_pattern_ = pattern;
  no_in_ = no_in;
}

void ExpressionParser::subscript(NodeId parent) {
  const bool no_in = no_in_;
  no_in_ = false;
  builder_.node(parent).end = token().end;
  advance();
  while (!closes(']')) {
    const NodeId slice = make_here(NodeKind::kSlice);
    NodeId index = is_op(":") ? kNoNode : expression();
    if (is_op(":")) {
      builder_.add(slice, index);
      while (is_op(":")) {
        builder_.node(slice).end = token().end;
        advance();
        if (!is_op(":") && !is_op(",") && !is_op("]")) builder_.add(slice, expression());
      }
      index = slice;
    }
    builder_.add(parent, index);
    if (take_op(",") || at_end() || is_op("]") || is_op(")") || is_op("}")) continue;
    fail();
    if (index == kNoNode) advance();
  }
  builder_.node(parent).end = std::max(builder_.node(parent).end, last_end());
  no_in_ = no_in;
}

void ExpressionParser::comprehension(NodeId node) {
  while (is_word("for") || (is_word("async") && word(1) == "for")) {
    take_word("async");
    const NodeId part = make_here(NodeKind::kCompFor);
    advance();
    builder_.add(part, target_list());
    if (!take_word("in")) fail();
    builder_.add(part, is_word("lambda") ? lambda() : disjunction());
    while (take_word("if")) {
      NodeId condition = is_word("lambda") ? lambda() : disjunction();
      if (condition != kNoNode && builder_.node(condition).kind == NodeKind::kName &&
          take_op(":=")) {
        condition = builder_.wrap(NodeKind::kNamed, condition);
        builder_.add(condition, disjunction());
      }
      builder_.add(part, condition);
    }
    builder_.add(node, part);
  }
}

NodeId ExpressionParser::atom() {
  const Token& first = token();
  switch (first.kind) {
    case TokenKind::kName: {
      const std::string_view name = word();
      if (name == "yield") return yield_or_list();
      if (is_reserved(name)) return kNoNode;
      const bool constant = name == "True" || name == "False" || name == "None";
      const NodeId node =
          builder_.make(constant ? NodeKind::kConstant : NodeKind::kName, first.begin, first.end);
      advance();
      return node;
    }
    case TokenKind::kNumber: {
      const NodeId node = builder_.make(NodeKind::kNumber, first.begin, first.end);
      advance();
      return node;
    }
    case TokenKind::kString:
      return strings();
    case TokenKind::kOp:
      if (is_op("(")) return brackets();
      if (is_op("[")) return list_brackets();
      if (is_op("{")) return braces();
      if (is_op("...")) {
        const NodeId node = builder_.make(NodeKind::kConstant, first.begin, first.end);
        advance();
        return node;
      }
      if (is_op("`")) {  // repr() of Python 2
        const NodeId node = make_here(NodeKind::kTuple);
        advance();
        builder_.add(node, expression_list());
        if (!take_op("`")) fail();
        builder_.node(node).end = last_end();
        return node;
      }
      return kNoNode;
    default:
      return kNoNode;
  }
}

}  // namespace neutra::source
