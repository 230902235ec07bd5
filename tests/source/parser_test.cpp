// The syntax tree: whole programs, broken ones, Python 2, and the limits that keep time linear.

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "source/source_text.h"
#include "source/syntax_tree.h"
#include "tests/error_of.h"

namespace neutra::source::tests {
namespace {

std::string tree_of(const std::string& text) {
  const SyntaxTree tree = parse(text);
  const NodeId block = tree[tree.root()].first;
  std::string all;
  for (NodeId child = tree[block].first; child != kNoNode; child = tree[child].next)
    all += (all.empty() ? "" : "; ") + tree.dump(child);
  return all;
}

std::size_t errors_of(const std::string& text) { return parse(text).errors(); }

TEST(Parser, ReadsExpressionsByPrecedence) {
  EXPECT_EQ(tree_of("x = a + b * -c ** 2"),
            "Assign(Name x, Binary(Name a, Binary(Name b, Unary(Binary(Name c, Number 2)))))");
  EXPECT_EQ(tree_of("not a in b or c and d"),
            "Expression(Or(Unary(Compare(Name a, Name b)), And(Name c, Name d)))");
  EXPECT_EQ(tree_of("f(x, *a, k=1, **b)[1:, ::2].c"),
            "Expression(Attribute(Subscript(Call(Name f, Name x, Starred*(Name a), "
            "Keyword(Identifier k, Number 1), Starred**(Name b)), Slice(Number 1), "
            "Slice(Number 2)), Identifier c))");
  EXPECT_EQ(tree_of("[x if a else y for x in z if x]"),
            "Expression(Comprehension(CompFor(Name x, Name z, Name x), "
            "Conditional(Name x, Name a, Name y)))");
  EXPECT_EQ(tree_of("{**a, 'k': 1}; {1, 2}; {}"),
            "Expression(Dict(Starred**(Name a), String 'k', Number 1)); "
            "Expression(Set(Number 1, Number 2)); Expression(Dict)");
}

TEST(Parser, ReadsWhatIsInsideFormattedStrings) {
  EXPECT_EQ(tree_of("f'{a.b()!r:>{w}} {{x}} {d[\"k\"]=}'"),
            "Expression(String f'{a.b()!r:>{w}} {{x}} {d[\"k\"]=}'(Call(Attribute(Name a, "
            "Identifier b)), Name w, Subscript(Name d, String \"k\")))");
}

TEST(Parser, ReadsStatements) {
  EXPECT_EQ(tree_of("@d\nasync def f(a, *, b: int = 1, **c) -> int:\n    return a"),
            "Function(Decorator(Name d), Identifier f, Parameters(Parameter(Identifier a), "
            "Parameter*, Parameter(Identifier b, Annotation(Name int), Number 1), "
            "Parameter**(Identifier c)), Annotation(Name int), Block(Return(Name a)))");
  EXPECT_EQ(tree_of("if a:\n  b\nelif c:\n  d\nelse:\n  e"),
            "If(Name a, Block(Expression(Name b)), Name c, Block(Expression(Name d)), "
            "Block(Expression(Name e)))");
  EXPECT_EQ(tree_of("with (a as b, c):\n  pass"),
            "With(WithItem(Name a, Name b), WithItem(Name c), Block(Pass))");
  EXPECT_EQ(tree_of("try:\n  a\nexcept (E, F) as e:\n  b\nfinally:\n  c"),
            "Try(Block(Expression(Name a)), Handler(Tuple(Name E, Name F), Identifier e, "
            "Block(Expression(Name b))), Finally(Block(Expression(Name c))))");
  EXPECT_EQ(tree_of("match x:\n  case A(y=1) as z if z:\n    pass\nmatch = 1"),
            "Match(Name x, Case(List(List(Call(Name A, Keyword(Identifier y, Number 1)), Name z)), "
            "Name z, Block(Pass))); Assign(Name match, Number 1)");
  EXPECT_EQ(tree_of("from ..a.b import (c as d, e)"),
            "ImportFrom(DottedName ..a.b, Alias(DottedName c, Identifier d), Alias(DottedName e))");
}

TEST(Parser, ReadsPython2) {
  EXPECT_EQ(errors_of("print 'a', b\nprint >>f, x\nexec code in d\nraise E, 'x'\n"
                      "try:\n  pass\nexcept E, e:\n  print `e`\nx = 0777L <> 1\n"),
            0u);
  EXPECT_EQ(tree_of("print x, y"), "Expression(Call(Name print, Name x, Name y))");
}

TEST(Parser, GoesOnBehindWhatItCannotRead) {
  // The block is found although the colon is that of another script, or missing.
  EXPECT_EQ(tree_of("with a()\xEF\xBC\x9A\n  b"),
            "With(WithItem(Call(Name a)), Block(Expression(Name b)))");
  EXPECT_EQ(tree_of("for x in y\n  b\nc"),
            "For(Name x, Name y, Block(Expression(Name b))); Expression(Name c)");
  EXPECT_EQ(tree_of("mport torch\nx = 1"),
            "Expression(Name mport); Expression(Name torch); Assign(Name x, Number 1)");
  // Lines that are indented by mistake belong to the block around them.
  EXPECT_EQ(tree_of("a = 1\n        b = 2\n   c = 3"),
            "Assign(Name a, Number 1); Assign(Name b, Number 2); Assign(Name c, Number 3)");
  // A bracket or string that nothing closes ends with its line.
  EXPECT_EQ(tree_of("a = f(1,\nb = 2"),
            "Assign(Name a, Call(Name f, Number 1)); Assign(Name b, Number 2)");
  EXPECT_EQ(tree_of("a = f(1,\ndef g():\n  pass").find("Function(Identifier g"),
            tree_of("a = f(1,\ndef g():\n  pass").rfind("Function("));
  EXPECT_EQ(tree_of("a = 'b\nc = 1"), "Assign(Name a, String 'b); Assign(Name c, Number 1)");
  EXPECT_EQ(tree_of("a = \"\"\"b\nc = 1"),
            "Assign(Name a, String \"\"\"b); Assign(Name c, Number 1)");
  EXPECT_EQ(tree_of(">>> a = 1\n%matplotlib inline\n!pip install x\nb"),
            "Assign(Name a, Number 1); Expression(Name b)");
}

TEST(Parser, KeepsEveryByteInAPlace) {
  const std::string text = "def f(x):  # comment\r\n\treturn (x,\r\n\t\t1)\r\n";
  const SyntaxTree tree = parse(text);
  EXPECT_EQ(tree.errors(), 0u);
  EXPECT_EQ(tree[tree.root()].begin, 0u);
  EXPECT_EQ(tree[tree.root()].end, text.size());
  ASSERT_EQ(tree.comments().size(), 1u);
  for (NodeId id = 1; id < tree.size(); ++id) {
    if (tree[id].parent == kNoNode) continue;
    EXPECT_GE(tree[id].begin, tree[tree[id].parent].begin);
    EXPECT_LE(tree[id].end, tree[tree[id].parent].end);
  }
}

TEST(Parser, TakesTimeInProportion) {
  const auto begin = std::chrono::steady_clock::now();
  std::string deep = "x = ", chain = "x", sum = "x = 1", ifs, blocks;
  for (int i = 0; i < 10000; ++i) deep += "([{";
  for (int i = 0; i < 100000; ++i) chain += ".a(1)";
  for (int i = 0; i < 300000; ++i) sum += "+1";
  for (int i = 0; i < 30000; ++i) ifs += "if a:\n  b = 1\n";
  for (int i = 0; i < 2000; ++i)
    blocks += std::string(static_cast<std::size_t>(i), ' ') + "if a:\n";
  for (const std::string& text : {deep, chain, sum, ifs, blocks, std::string(1 << 20, '('),
                                  "x = '" + std::string(1 << 20, 'y'), std::string(1 << 20, '\\')})
    EXPECT_GT(parse(text).size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(SourceText, CountsLinesAndCharacters) {
  const SourceText text("f.py", "a\r\n\xC3\xA4 = b\rc");
  EXPECT_EQ(text.lines(), 3u);
  EXPECT_EQ(text.position(8).line, 2u);
  EXPECT_EQ(text.position(8).column, 5u);  // behind an umlaut of two bytes
  EXPECT_EQ(text.line(3), "c");
  EXPECT_EQ(text.line(4), "");
}

TEST(SourceText, ReadsLatin1AndRefusesBinaries) {
  EXPECT_EQ(SourceText("f.py", "x = '\xE4'").text(), "x = '\xC3\xA4'");
  EXPECT_TRUE(SourceText("f.py", "# -*- coding: latin-1 -*-\n").latin1());
  EXPECT_FALSE(SourceText("f.py", "# coding: utf-8\n").latin1());
  EXPECT_EQ(SourceText("f.py", "").lines(), 1u);
  const std::string message =
      neutra::tests::error_of([] { SourceText("f.py", std::string("a\0b", 3)); });
  EXPECT_EQ(message, "f.py: byte 1: found a byte 0; allowed: a text of Python");
}

}  // namespace
}  // namespace neutra::source::tests
