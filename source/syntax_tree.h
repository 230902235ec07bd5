#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "source/lexer.h"

namespace neutra::source {

/// A node's number in its tree; kNoNode: there is none.
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0;

/// What a node is, and the children that it has, in this order. "Block" is kBlock; "..." any
/// number.
enum class NodeKind : std::uint8_t {
  kNone,
  // statements
  kModule,      ///< Block
  kBlock,       ///< statement...
  kFunction,    ///< kDecorator..., kIdentifier, kParameters, kAnnotation?, Block
  kClass,       ///< kDecorator..., kIdentifier, kArguments, Block
  kDecorator,   ///< expression
  kParameters,  ///< kParameter...
  kParameter,   ///< kIdentifier, kAnnotation?, default?; stars: 0, 1 or 2
  kAnnotation,  ///< expression
  kArguments,   ///< as those of kCall
  kReturn,      ///< value?
  kDelete,      ///< target...
  kAssign,      ///< target..., value
  kAugAssign,   ///< target, value
  kAnnAssign,   ///< target, kAnnotation, value?
  kFor,         ///< target, iterable, Block, Block (else)?
  kWhile,       ///< test, Block, Block (else)?
  kIf,          ///< (test, Block)..., Block (else)?
  kWith,        ///< kWithItem..., Block
  kWithItem,    ///< expression, target?
  kTry,         ///< Block, kHandler..., kElse?, kFinally?
  kHandler,     ///< type?, kIdentifier?, Block
  kElse,        ///< Block
  kFinally,     ///< Block
  kMatch,       ///< subject, kCase...
  kCase,        ///< pattern (kList of the names that it binds), guard?, Block
  kRaise,       ///< expression...
  kAssert,      ///< expression...
  kImport,      ///< kAlias...
  kImportFrom,  ///< kDottedName (with its dots), kAlias... (none: a star)
  kAlias,       ///< kDottedName, kIdentifier?
  kGlobal,      ///< kIdentifier...
  kNonlocal,    ///< kIdentifier...
  kExpression,  ///< expression
  kPass,
  kBreak,
  kContinue,
  // expressions
  kName,
  kAttribute,      ///< base, kIdentifier
  kCall,           ///< callee, (expression | kKeyword | kStarred)...
  kKeyword,        ///< kIdentifier, value
  kStarred,        ///< value; stars: 1 or 2
  kSubscript,      ///< base, index...
  kSlice,          ///< bound...
  kBinary,         ///< operand..., of one precedence
  kUnary,          ///< operand
  kAnd,            ///< operand...
  kOr,             ///< operand...
  kCompare,        ///< operand...
  kConditional,    ///< value, test, other value
  kLambda,         ///< kParameters, value
  kComprehension,  ///< kCompFor..., element, value of a dictionary?
  kCompFor,        ///< target, iterable, condition...
  kTuple,          ///< element...
  kList,           ///< element...
  kSet,            ///< element...
  kDict,           ///< (key, value)..., where `**other` is one kStarred
  kAwait,          ///< value
  kYield,          ///< value?
  kNamed,          ///< kName, value
  kString,         ///< the expressions of an f-string...
  kNumber,
  kConstant,    ///< True, False, None, ...
  kIdentifier,  ///< a name that is no expression
  kDottedName,
  kError,  ///< what could not be read: what could be of it
};

struct Node {
  NodeKind kind = NodeKind::kNone;
  std::uint8_t stars = 0;
  std::uint16_t height = 0;          ///< levels of nodes below
  std::uint32_t begin = 0, end = 0;  ///< bytes of the text
  NodeId parent = kNoNode, first = kNoNode, last = kNoNode, next = kNoNode;
};

/// The syntax tree of a text, which it refers to: every node is a range of the text, so nothing is
/// lost. Its depth is bounded by the limits below.
class SyntaxTree {
 public:
  explicit SyntaxTree(std::string_view text) : text_(text), nodes_(1) {}

  std::string_view text() const { return text_; }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  NodeId root() const { return root_; }
  const std::vector<Comment>& comments() const { return comments_; }
  /// Ranges that could not be read.
  std::size_t errors() const { return errors_; }

  NodeKind kind(NodeId id) const { return nodes_[id].kind; }
  std::string_view text(NodeId id) const {
    return text_.substr(nodes_[id].begin, nodes_[id].end - nodes_[id].begin);
  }
  /// Child number `index`; kNoNode: there are fewer.
  NodeId child(NodeId id, std::size_t index) const;
  /// The first child of that kind, and the last one.
  NodeId child_of_kind(NodeId id, NodeKind kind) const;
  NodeId last_of_kind(NodeId id, NodeKind kind) const;
  std::size_t children(NodeId id) const;
  /// The nearest node above `id` of one of these kinds.
  NodeId above(NodeId id, std::initializer_list<NodeKind> kinds) const;
  /// The statement that an expression is in, or the node itself if it is one.
  NodeId statement_of(NodeId id) const;
  /// The name of a function, class, parameter, keyword, attribute; "" of others.
  std::string_view name(NodeId id) const;
  /// "Call(Name f, Number 1)", for tests.
  std::string dump(NodeId id) const;

 private:
  friend class TreeBuilder;
  std::string_view text_;
  std::vector<Node> nodes_;
  NodeId root_ = kNoNode;
  std::vector<Comment> comments_;
  std::size_t errors_ = 0;
};

inline constexpr int kDeepestExpression = 200;  ///< operands and brackets within each other
inline constexpr int kDeepestBlock = 100;       ///< as Python's own limit
inline constexpr int kLongestChain = 500;       ///< of `a.b(c).d`, levels of nodes

/// Reads a text as far as it can be read. Time grows with its length. What is nested deeper than
/// the limits above becomes a kError.
SyntaxTree parse(std::string_view text);

inline bool is_statement(NodeKind kind) {
  return kind >= NodeKind::kModule && kind < NodeKind::kName;
}

/// The value of a kString without prefix and quotes, as it is written.
std::string_view string_content(std::string_view literal);

/// The node of a tuple's part that `path` (Def::path) leads to; kNoNode: the value is no tuple.
NodeId part_of(const SyntaxTree& tree, NodeId value, std::uint32_t path);

}  // namespace neutra::source
