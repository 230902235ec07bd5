// Scopes, reaching definitions, values and origins: what the rules stand on.

#include <gtest/gtest.h>

#include <set>

#include "source/analysis.h"

namespace neutra::source::tests {
namespace {

/// A text and what is asked about it, by the pieces of text that nodes have.
class Texts {
 public:
  explicit Texts(std::string code) : source_("code.py", std::move(code)), analysis_(source_) {}

  const Analysis& analysis() const { return analysis_; }
  /// The last node with this text.
  NodeId node(std::string_view text) const {
    const SyntaxTree& tree = analysis_.tree();
    NodeId found = kNoNode;
    for (NodeId id = 1; id < tree.size(); ++id)
      if (tree.text(id) == text && tree.kind(id) != NodeKind::kIdentifier &&
          !is_statement(tree.kind(id)) && (found == kNoNode || tree[id].begin > tree[found].begin))
        found = id;
    return found;
  }
  /// The lines of the definitions that reach the last use of a name.
  std::set<std::uint32_t> lines(std::string_view name) const {
    std::set<std::uint32_t> result;
    const FlowGraph& graph = analysis_.graph();
    DefId last = kNoDef;  // of the last use in the text
    for (NodeId id = 1; id < analysis_.tree().size(); ++id)
      if (analysis_.tree().text(id) == name && graph.definition(id) != kNoDef)
        last = graph.definition(id);
    for (const DefId id : graph.reaching(last))
      result.insert(source_.position(analysis_.tree()[graph.def(id).node].begin).line);
    return result;
  }
  std::set<std::string> paths(std::string_view text) const {
    std::set<std::string> result;
    for (const Value& value : analysis_.values().of(node(text)))
      result.insert(std::string(value.path) + (value.kind == ValueKind::kInstance ? "()" : ""));
    return result;
  }
  std::set<std::string> origins(std::string_view text) const {
    std::set<std::string> result;
    for (const NodeId id : analysis_.tracer().origins(node(text)))
      result.insert(std::string(analysis_.tree().text(id)));
    return result;
  }

 private:
  SourceText source_;
  Analysis analysis_;
};

using Lines = std::set<std::uint32_t>;
using Names = std::set<std::string>;

TEST(Flow, DefinitionsReachAlongPaths) {
  EXPECT_EQ(Texts("x = 1\nx = 2\nprint(x)").lines("x"), Lines{2});
  EXPECT_EQ(Texts("x = 1\nif a:\n  x = 2\nprint(x)").lines("x"), (Lines{1, 3}));
  EXPECT_EQ(Texts("if a:\n  x = 1\nelse:\n  x = 2\nprint(x)").lines("x"), (Lines{2, 4}));
  EXPECT_EQ(Texts("x = 1\nfor i in y:\n  print(x)\n  x = 2").lines("x"), (Lines{1, 4}));
  EXPECT_EQ(Texts("x = 1\nwhile True:\n  x = 2\n  break\nprint(x)").lines("x"), Lines{3});
  EXPECT_EQ(
      Texts("x = 1\nfor i in y:\n  if a:\n    x = 2\n    continue\n  x = 3\nprint(x)").lines("x"),
      (Lines{1, 4, 6}));
  EXPECT_EQ(Texts("try:\n  x = 1\nexcept E:\n  x = 2\nelse:\n  x = 3\nprint(x)").lines("x"),
            (Lines{4, 6}));
  EXPECT_EQ(Texts("x = 1\ndef f():\n  return\n  x = 2\n  print(x)").lines("x"), Lines{4});
}

TEST(Flow, ScopesAreThoseOfPython) {
  EXPECT_EQ(Texts("x = 1\ndef f():\n  x = 2\nprint(x)").lines("x"), Lines{1});
  EXPECT_EQ(Texts("x = 1\ndef f():\n  global x\n  x = 2\ndef g():\n  print(x)").lines("x"),
            (Lines{1, 4}));
  EXPECT_EQ(Texts("x = 1\ny = [x for x in z]\nprint(x)").lines("x"), Lines{1});
  EXPECT_EQ(Texts("x = 1\nf = lambda x: x\nprint(x)").lines("x"), Lines{1});
  EXPECT_EQ(Texts("x = 1\nclass A:\n  x = 2\n  def f(self):\n    print(x)").lines("x"), Lines{1});
}

TEST(Values, NamesOfImportsAreFollowed) {
  EXPECT_EQ(Texts("import torch.nn as n\nf = n.Linear\nf(1)").paths("f(1)"),
            Names{"torch.nn.Linear()"});
  EXPECT_EQ(Texts("from torch import nn\nm = nn.ReLU()\nm(x)").paths("m"),
            Names{"torch.nn.ReLU()"});
  EXPECT_EQ(Texts("from tensorflow.keras.layers import Dense as D\nD").paths("D"),
            Names{"keras.layers.Dense"});
  EXPECT_EQ(Texts("nn.Linear").paths("nn.Linear"), Names{"torch.nn.Linear"});  // by custom
  EXPECT_EQ(Texts("nn = 1\nnn.Linear").paths("nn.Linear"), Names{});
  EXPECT_EQ(Texts("class A(nn.Module):\n  def __init__(self):\n    self.a = nn.ReLU()\n"
                  "  def forward(self, x):\n    return self.a(x)")
                .paths("self.a"),
            Names{"torch.nn.ReLU()"});
  EXPECT_EQ(Texts("def f(c):\n  c(x)\nf(nn.ReLU())").paths("c"), Names{"torch.nn.ReLU()"});
}

TEST(Tracer, OriginsLieBehindViewsFunctionsAndModels) {
  EXPECT_EQ(Texts("y = torch.softmax(x, 1)\nz = y.view(-1).cuda()\nz").origins("z"),
            Names{"torch.softmax(x, 1)"});
  EXPECT_EQ(Texts("class A(nn.Module):\n  def forward(self, x):\n    if x:\n      return f(x)\n"
                  "    return g(x)\nm = A()\ny = m(x)\ny")
                .origins("y"),
            (Names{"f(x)", "g(x)"}));
  EXPECT_EQ(Texts("m = nn.Sequential(nn.Linear(1, 2), nn.Softmax(1))\ny = m(x)\ny").origins("y"),
            Names{"nn.Softmax(1)"});
  EXPECT_EQ(Texts("a, b = f(x), g(x)\nb").origins("b"), Names{"g(x)"});
  EXPECT_EQ(Texts("def h(v):\n  return k(v)\nh(x)").origins("h(x)"), Names{"k(v)"});
}

}  // namespace
}  // namespace neutra::source::tests
