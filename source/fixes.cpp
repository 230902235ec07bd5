#include "source/fixes.h"

#include <algorithm>

namespace neutra::source {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// The line end that a text uses.
std::string_view line_end(std::string_view text) {
  const std::size_t at = text.find('\n');
  return at != std::string_view::npos && at > 0 && text[at - 1] == '\r' ? "\r\n" : "\n";
}

/// A line of its own in front of or behind the statement that a node is in; nullopt where the
/// statement shares its line.
std::optional<Edit> insertion(const Analysis& analysis, NodeId node, const std::string& text,
                              bool before) {
  const SyntaxTree& tree = analysis.tree();
  const std::string_view whole = tree.text();
  const NodeId statement = tree.statement_of(node);
  if (statement == kNoNode) return std::nullopt;
  const std::size_t begin = tree[statement].begin;
  std::size_t line = begin;
  while (line > 0 && (whole[line - 1] == ' ' || whole[line - 1] == '\t')) --line;
  if (line > 0 && whole[line - 1] != '\n' && whole[line - 1] != '\r') return std::nullopt;
  const std::string indentation(whole.substr(line, begin - line));
  const std::string end(line_end(whole));
  if (before) {
    const auto at = static_cast<std::uint32_t>(line);
    return Edit{at, at, indentation + text + end};
  }
  std::size_t at = whole.find_first_of("\r\n", tree[statement].end);
  if (at == std::string_view::npos) at = whole.size();
  const auto place = static_cast<std::uint32_t>(at);
  return Edit{place, place, end + indentation + text};
}

std::optional<Edit> argument_edit(const Analysis& analysis, NodeId call, const std::string& text) {
  const SyntaxTree& tree = analysis.tree();
  if (tree.kind(call) != NodeKind::kCall || tree.text(call).back() != ')') return std::nullopt;
  const std::string_view name = std::string_view(text).substr(0, text.find('='));
  for (NodeId child = tree[tree[call].first].next; child != kNoNode; child = tree[child].next)
    if (tree.kind(child) == NodeKind::kKeyword && tree.name(child) == name)
      return Edit{tree[child].begin, tree[child].end, text};
  const NodeId last = tree[call].last;
  if (last == tree[call].first) {
    const std::uint32_t at = tree[call].end - 1;
    return Edit{at, at, text};
  }
  const std::uint32_t at = tree[last].end;
  return Edit{at, at, ", " + text};
}

}  // namespace

std::optional<Edit> make_fix(const FixRule& fix, const Analysis& analysis,
                             const Situation& situation) {
  const SyntaxTree& tree = analysis.tree();
  NodeId node = situation.start;
  if (fix.of == "origin") {
    if (situation.evidence.empty()) return std::nullopt;
    node = situation.evidence.back();
  }
  const NodeId object = receiver(tree, node);
  const NodeId argument =
      tree.kind(node) == NodeKind::kCall ? tree[tree[node].first].next : kNoNode;
  std::string text = fix.text;
  if (text.find("{receiver}") != std::string::npos) {
    if (object == kNoNode) return std::nullopt;
    replace_all(text, "{receiver}", tree.text(object));
  }
  if (text.find("{argument}") != std::string::npos) {
    if (argument == kNoNode) return std::nullopt;
    replace_all(text, "{argument}", tree.text(argument));
  }
  if (text.find("{optimizer}") != std::string::npos) {
    // The only object in the text whose step() is called.
    const Matcher step("<optimizer>.step", analysis.values().vocabulary(), "fix");
    NodeId only = kNoNode;
    for (const NodeId call : analysis.hits(step).list()) {
      const NodeId found = receiver(tree, call);
      if (only != kNoNode && tree.text(only) != tree.text(found)) return std::nullopt;
      only = found;
    }
    if (only == kNoNode) return std::nullopt;
    replace_all(text, "{optimizer}", tree.text(only));
  }
  switch (fix.kind) {
    case FixRule::Kind::kInsertBefore:
    case FixRule::Kind::kInsertAfter:
      return insertion(analysis, node, text, fix.kind == FixRule::Kind::kInsertBefore);
    case FixRule::Kind::kReplace:
      return Edit{tree[node].begin, tree[node].end, text};
    case FixRule::Kind::kAddArgument:
      return argument_edit(analysis, node, text);
    case FixRule::Kind::kUnwrap: {
      const NodeId inner =
          argument != kNoNode && tree.kind(argument) != NodeKind::kKeyword ? argument : object;
      if (inner == kNoNode) return std::nullopt;
      return Edit{tree[node].begin, tree[node].end, std::string(tree.text(inner))};
    }
  }
  return std::nullopt;
}

std::string fixed_text(const SourceText& source, const std::vector<Finding>& findings,
                       std::size_t* applied) {
  std::vector<Edit> edits;
  for (const Finding& finding : findings)
    if (finding.fix) edits.push_back(*finding.fix);
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& one, const Edit& other) { return one.begin < other.begin; });
  std::string text;
  std::uint32_t at = 0;
  *applied = 0;
  const Edit* before = nullptr;
  for (const Edit& edit : edits) {
    const bool same = before != nullptr && before->begin == edit.begin && before->end == edit.end &&
                      before->text == edit.text;
    before = &edit;
    if (edit.begin < at || same) continue;
    text += source.text().substr(at, edit.begin - at);
    text += edit.text;
    at = edit.end;
    ++*applied;
  }
  text += source.text().substr(at);
  return text;
}

}  // namespace neutra::source
