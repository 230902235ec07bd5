// Statements and blocks. A block is the lines that are indented deeper than its header, however
// deep: so a line that is indented by mistake still belongs to the block around it.

#include <algorithm>
#include <array>

#include "source/expression_parser.h"
#include "source/syntax_tree.h"

namespace neutra::source {
namespace {

constexpr std::array<std::string_view, 13> kAugmented = {
    "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**="};

class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  void module() {
    const NodeId root =
        builder_.make(NodeKind::kModule, 0, static_cast<std::uint32_t>(text_.size()));
    builder_.add(root, lines(-1));
    builder_.node(root).end = static_cast<std::uint32_t>(text_.size());
    builder_.set_root(root);
  }

 private:
  /// The lines that are deeper than `width`.
  NodeId lines(std::int64_t width) {
    const std::uint32_t begin = token().begin;
    const NodeId block = builder_.make(NodeKind::kBlock, begin, begin);
    while (token().kind == TokenKind::kLine && token().width > width) {
      const std::uint32_t own = token().width;
      advance();
      line(block, own);
    }
    return block;
  }

  /// The statements of a line, with the blocks that belong to it.
  void line(NodeId block, std::uint32_t width) {
    while (!at_end()) {
      const std::size_t before = at_;
      builder_.add(block, statement(width));
      if (at_end() || take_op(";")) continue;
      if (at_ == before) {  // nothing can be read here
        const NodeId error = builder_.make(NodeKind::kError, token().begin, token().end);
        builder_.add(block, error);
        advance();
      }
      fail();
    }
  }

  NodeId begin_here(NodeKind kind) {
    const NodeId node = builder_.make(kind, token().begin, token().end);
    return node;
  }

  NodeId keyword(NodeKind kind) {
    const NodeId node = begin_here(kind);
    advance();
    return node;
  }

  /// `:` and what follows it: the rest of the line, or the lines that are deeper.
  NodeId suite(std::uint32_t width) {
    if (!take_op(":")) fail();
    while (!at_end() && (is_op(")") || is_op("]") || is_op("}") || is_op(":"))) {
      fail();  // brackets that were closed too often
      advance();
    }
    if (!at_end()) {
      const NodeId block = builder_.make(NodeKind::kBlock, token().begin, token().begin);
      line(block, width);
      return block;
    }
    if (++depth_ > kDeepestBlock) {  // lines as if they were no deeper
      --depth_;
      return builder_.make(NodeKind::kBlock, last_end(), last_end());
    }
    const NodeId block = lines(width);
    --depth_;
    return block;
  }

  /// Does the next line begin with this word, as deep as the header that it continues?
  bool continues(std::string_view expected, std::uint32_t width) {
    if (token().kind != TokenKind::kLine || token().width != width || word(1) != expected)
      return false;
    advance();
    return true;
  }

  NodeId statement(std::uint32_t width) {
    const std::string_view first = word();
    if (first.empty()) return is_op("@") ? decorated(width) : simple();
    if (first == "async" && (word(1) == "def" || word(1) == "for" || word(1) == "with")) {
      const std::uint32_t begin = token().begin;
      advance();
      const NodeId node = statement(width);
      builder_.node(node).begin = begin;
      return node;
    }
    if (first == "def") return function(width, begin_here(NodeKind::kFunction));
    if (first == "class") return class_(width, begin_here(NodeKind::kClass));
    if (first == "if") return if_(width);
    if (first == "for") return for_(width);
    if (first == "while") return while_(width);
    if (first == "with") return with(width);
    if (first == "try") return try_(width);
    if (first == "match" && begins_match()) return match(width);
    if (first == "elif" || first == "else" || first == "except" || first == "finally")
      return stray(width);
    return simple_keyword(first);
  }

  /// What lost the header that it continues: its block.
  NodeId stray(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kElse);
    fail();
    while (!at_end() && !is_op(":")) advance();
    builder_.add(node, suite(width));
    return node;
  }

  NodeId decorated(std::uint32_t width) {
    const std::uint32_t begin = token().begin;
    std::vector<NodeId> decorators;
    while (is_op("@")) {
      const NodeId node = begin_here(NodeKind::kDecorator);
      advance();
      builder_.add(node, expression());
      decorators.push_back(node);
      while (!at_end()) {
        fail();
        advance();
      }
      if (token().kind == TokenKind::kLine &&
          (is_op("@", 1) || word(1) == "def" || word(1) == "class" || word(1) == "async"))
        advance();
    }
    take_word("async");
    if (is_word("def") || is_word("class")) {
      const bool def = is_word("def");
      const NodeId node = builder_.make(def ? NodeKind::kFunction : NodeKind::kClass, begin, begin);
      for (const NodeId decorator : decorators) builder_.add(node, decorator);
      return def ? function(width, node) : class_(width, node);
    }
    fail();
    const NodeId error = builder_.make(NodeKind::kError, begin, last_end());
    for (const NodeId decorator : decorators) builder_.add(error, decorator);
    return error;
  }

  void type_parameters() {
    if (take_op("[")) skip_brackets();
  }

  NodeId function(std::uint32_t width, NodeId node) {
    advance();
    builder_.add(node, identifier());
    type_parameters();
    if (take_op("(")) {
      builder_.add(node, parameters(")"));
      if (!take_op(")")) fail();
    } else {
      fail();
      builder_.add(node, builder_.make(NodeKind::kParameters, last_end(), last_end()));
    }
    if (take_op("->")) {
      if (const NodeId type = expression_list(); type != kNoNode)
        builder_.add(node, builder_.wrap(NodeKind::kAnnotation, type));
    }
    builder_.add(node, suite(width));
    return node;
  }

  NodeId class_(std::uint32_t width, NodeId node) {
    advance();
    builder_.add(node, identifier());
    type_parameters();
    const NodeId bases = builder_.make(NodeKind::kArguments, last_end(), last_end());
    if (is_op("(")) arguments(bases);
    builder_.add(node, bases);
    builder_.add(node, suite(width));
    return node;
  }

  NodeId test() {
    const NodeId found = expression();
    if (found == kNoNode) fail();
    return found != kNoNode ? found : builder_.make(NodeKind::kError, last_end(), last_end());
  }

  void else_block(NodeId node, std::uint32_t width) {
    if (!continues("else", width)) return;
    advance();
    builder_.add(node, suite(width));
  }

  NodeId if_(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kIf);
    do {
      builder_.add(node, test());
      builder_.add(node, suite(width));
      if (!continues("elif", width)) break;
      advance();
    } while (true);
    else_block(node, width);
    return node;
  }

  NodeId for_(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kFor);
    const NodeId target = target_list();
    builder_.add(
        node, target != kNoNode ? target : builder_.make(NodeKind::kError, last_end(), last_end()));
    if (!take_word("in")) fail();
    const NodeId iterable = expression_list();
    builder_.add(node, iterable != kNoNode
                           ? iterable
                           : builder_.make(NodeKind::kError, last_end(), last_end()));
    builder_.add(node, suite(width));
    else_block(node, width);
    return node;
  }

  NodeId while_(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kWhile);
    builder_.add(node, test());
    builder_.add(node, suite(width));
    else_block(node, width);
    return node;
  }

  NodeId with_item() {
    const NodeId context = single_item();
    if (context == kNoNode) return kNoNode;
    const NodeId item = builder_.wrap(NodeKind::kWithItem, context);
    if (take_word("as")) builder_.add(item, single_item());
    return item;
  }
  NodeId single_item() { return expression(); }

  /// `with (a as b, c as d):` has brackets that belong to no expression.
  bool bracketed_items() const {
    if (!is_op("(")) return false;
    int open = 0;
    bool as = false;
    for (std::size_t ahead = 0;; ++ahead) {
      const Token& found = token(ahead);
      if (found.kind == TokenKind::kLine || found.kind == TokenKind::kEnd) return false;
      if (is_op("(", ahead) || is_op("[", ahead) || is_op("{", ahead)) ++open;
      if (open == 1 && word(ahead) == "as") as = true;
      if ((is_op(")", ahead) || is_op("]", ahead) || is_op("}", ahead)) && --open == 0)
        return as && is_op(":", ahead + 1);
    }
  }

  NodeId with(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kWith);
    const bool brackets = bracketed_items() && take_op("(");
    do {
      if (brackets && is_op(")")) break;
      const NodeId item = with_item();
      if (item == kNoNode) fail();
      builder_.add(node, item);
    } while (take_op(","));
    if (brackets && !take_op(")")) fail();
    builder_.add(node, suite(width));
    return node;
  }

  NodeId try_(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kTry);
    builder_.add(node, suite(width));
    while (continues("except", width)) {
      const NodeId handler = keyword(NodeKind::kHandler);
      take_op("*");
      builder_.add(handler, expression());
      if (take_word("as") || take_op(",")) {
        builder_.add(handler, identifier());
      }
      builder_.add(handler, suite(width));
      builder_.add(node, handler);
    }
    if (continues("else", width)) {
      const NodeId part = keyword(NodeKind::kElse);
      builder_.add(part, suite(width));
      builder_.add(node, part);
    }
    if (continues("finally", width)) {
      const NodeId part = keyword(NodeKind::kFinally);
      builder_.add(part, suite(width));
      builder_.add(node, part);
    }
    return node;
  }

  /// `match` is a name, unless the line ends with a colon and the next one begins with `case`.
  bool begins_match() const {
    if (is_op("=", 1) || is_op(".", 1) || is_op(":", 1) || is_op(",", 1)) return false;
    std::size_t ahead = 1;
    while (token(ahead).kind != TokenKind::kLine && token(ahead).kind != TokenKind::kEnd) ++ahead;
    return token(ahead).kind == TokenKind::kLine && is_op(":", ahead - 1) &&
           word(ahead + 1) == "case";
  }

  NodeId match(std::uint32_t width) {
    const NodeId node = keyword(NodeKind::kMatch);
    builder_.add(node, expression_list());
    if (!take_op(":")) fail();
    while (token().kind == TokenKind::kLine && token().width > width && word(1) == "case") {
      const std::uint32_t own = token().width;
      advance();
      const NodeId part = keyword(NodeKind::kCase);
      set_in_pattern(true);
      const NodeId pattern = expression_list();
      set_in_pattern(false);
      builder_.add(part, pattern != kNoNode ? builder_.wrap(NodeKind::kList, pattern) : kNoNode);
      if (take_word("if")) builder_.add(part, expression());
      builder_.add(part, suite(own));
      builder_.add(node, part);
    }
    return node;
  }

  NodeId simple_keyword(std::string_view first) {
    if (first == "return") return with_value(NodeKind::kReturn);
    if (first == "pass") return keyword(NodeKind::kPass);
    if (first == "break") return keyword(NodeKind::kBreak);
    if (first == "continue") return keyword(NodeKind::kContinue);
    if (first == "import") return import();
    if (first == "from") return import_from();
    if (first == "raise" || first == "assert" || first == "del") {
      const NodeId node = keyword(first == "raise"    ? NodeKind::kRaise
                                  : first == "assert" ? NodeKind::kAssert
                                                      : NodeKind::kDelete);
      do {
        builder_.add(node, expression());
      } while (take_op(",") || take_word("from"));
      return node;
    }
    if (first == "global" || first == "nonlocal") {
      const NodeId node = keyword(first == "global" ? NodeKind::kGlobal : NodeKind::kNonlocal);
      do {
        builder_.add(node, identifier());
      } while (take_op(","));
      return node;
    }
    if (first == "print" || first == "exec") {
      if (const NodeId node = old_statement(); node != kNoNode) return node;
    }
    return simple();
  }

  NodeId with_value(NodeKind kind) {
    const NodeId node = keyword(kind);
    builder_.add(node, yield_or_list());
    return node;
  }

  /// `print x, y` and `exec text` of Python 2 as calls.
  NodeId old_statement() {
    const TokenKind next = token(1).kind;
    const bool value = next == TokenKind::kNumber || next == TokenKind::kString ||
                       (next == TokenKind::kName && !is_reserved(word(1))) || is_op(">>", 1) ||
                       is_op("`", 1);
    if (!value) return kNoNode;
    const NodeId name = builder_.make(NodeKind::kName, token().begin, token().end);
    advance();
    take_op(">>");
    const NodeId call = builder_.wrap(NodeKind::kCall, name);
    do {
      builder_.add(call, expression());
    } while (take_op(",") || take_word("in"));
    return builder_.wrap(NodeKind::kExpression, call);
  }

  NodeId import() {
    const NodeId node = keyword(NodeKind::kImport);
    do {
      const NodeId name = dotted_name();
      if (name == kNoNode) break;
      const NodeId alias = builder_.wrap(NodeKind::kAlias, name);
      if (take_word("as")) builder_.add(alias, identifier());
      builder_.add(node, alias);
    } while (take_op(","));
    return node;
  }

  NodeId import_from() {
    const NodeId node = keyword(NodeKind::kImportFrom);
    builder_.add(node, dotted_name());
    if (!take_word("import")) {
      fail();
      return node;
    }
    if (take_op("*")) return node;
    const bool brackets = take_op("(");
    do {
      if (word().empty()) break;
      const NodeId name = builder_.make(NodeKind::kDottedName, token().begin, token().end);
      advance();
      const NodeId alias = builder_.wrap(NodeKind::kAlias, name);
      if (take_word("as")) builder_.add(alias, identifier());
      builder_.add(node, alias);
    } while (take_op(","));
    if (brackets && !take_op(")")) {
      fail();
      skip_brackets();
    }
    builder_.node(node).end = last_end();
    return node;
  }

  NodeId simple() {
    NodeId first = yield_or_list();
    if (first == kNoNode) return kNoNode;
    if (is_op(":")) {  // x: int = 1
      advance();
      const NodeId node = builder_.wrap(NodeKind::kAnnAssign, first);
      if (const NodeId type = expression(); type != kNoNode)
        builder_.add(node, builder_.wrap(NodeKind::kAnnotation, type));
      if (take_op("=")) builder_.add(node, yield_or_list());
      return node;
    }
    for (const std::string_view op : kAugmented) {
      if (!is_op(op)) continue;
      advance();
      const NodeId node = builder_.wrap(NodeKind::kAugAssign, first);
      const NodeId value = yield_or_list();
      if (value == kNoNode) fail();
      builder_.add(node, value);
      return node;
    }
    if (!is_op("=")) return builder_.wrap(NodeKind::kExpression, first);
    const NodeId node = builder_.wrap(NodeKind::kAssign, first);
    while (take_op("=")) {
      const NodeId value = yield_or_list();
      if (value == kNoNode) {
        fail();
        builder_.add(node, builder_.make(NodeKind::kError, last_end(), last_end()));
        break;
      }
      builder_.add(node, value);
    }
    return node;
  }

  int depth_ = 0;  ///< of blocks
};

}  // namespace

SyntaxTree parse(std::string_view text) {
  Tokens tokens = tokens_of(text);
  TreeBuilder builder(text);
  builder.reserve(tokens.list.size() * 2 + 8);
  Parser parser(builder, tokens.list);
  parser.module();
  builder.set_comments(std::move(tokens.comments));
  return std::move(builder.tree());
}

}  // namespace neutra::source
