#include "source/checker.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "source/condition.h"
#include "source/fixes.h"

namespace neutra::source {
namespace {

/// Rules that comments switch off, by line; "*": all.
std::map<std::uint32_t, std::set<std::string>> ignored_rules(const Analysis& analysis) {
  std::map<std::uint32_t, std::set<std::string>> result;
  const SourceText& source = analysis.source();
  for (const Comment& comment : analysis.tree().comments()) {
    const std::string_view text = source.text().substr(comment.begin, comment.end - comment.begin);
    const std::size_t at = text.find("neutra: ignore");
    if (at == std::string_view::npos) continue;
    std::string_view rest = text.substr(at + 14);
    std::set<std::string> rules;
    if (rest.starts_with('[')) {
      rest = rest.substr(
          1, rest.find(']') == std::string_view::npos ? rest.size() : rest.find(']') - 1);
      while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        rules.emplace(trimmed(rest.substr(0, comma)));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
    } else {
      rules.insert("*");
    }
    const std::uint32_t line = source.position(comment.begin).line;
    result[line].insert(rules.begin(), rules.end());
    if (trimmed(source.line(line)).starts_with('#'))  // alone: the next line is meant
      result[line + 1].insert(rules.begin(), rules.end());
  }
  return result;
}

std::string filled(std::string text, const Analysis& analysis, NodeId start) {
  const NodeId object = receiver(analysis.tree(), start);
  const std::string name(object == kNoNode ? std::string_view() : analysis.tree().text(object));
  for (std::size_t at = text.find("{receiver}"); at != std::string::npos;
       at = text.find("{receiver}", at + name.size()))
    text.replace(at, 10, name);
  return text;
}

std::vector<Step> path_of(const Analysis& analysis, const Situation& situation) {
  std::set<std::uint32_t> lines{
      analysis.source().position(analysis.tree()[situation.start].begin).line};
  for (const NodeId node : situation.evidence)
    lines.insert(analysis.source().position(analysis.tree()[node].begin).line);
  std::vector<Step> path;
  for (const std::uint32_t line : lines)
    path.push_back({line, std::string(trimmed(analysis.source().line(line), " \t\f"))});
  return path;
}

/// Nodes that a case may start at, in the order of the text: events, and the rest of what a matcher
/// knows.
std::vector<NodeId> starts_of(const Analysis& analysis, const Matcher& matcher) {
  std::vector<NodeId> starts = analysis.hits(matcher).list();
  const SyntaxTree& tree = analysis.tree();
  for (NodeId id = 1; id < tree.size(); ++id) {
    const NodeKind kind = tree.kind(id);
    if (kind != NodeKind::kFunction && kind != NodeKind::kClass) continue;
    if (matcher.matches(id, analysis.values())) starts.push_back(id);
  }
  std::sort(starts.begin(), starts.end(),
            [&](NodeId one, NodeId other) { return tree[one].begin < tree[other].begin; });
  return starts;
}

Position place_of(const Analysis& analysis, NodeId node) {
  return analysis.source().position(analysis.tree()[node].begin);
}

/// Places whose shapes can't agree.
void add_shape_conflicts(const Analysis& analysis, const Rule& rule, const std::string& kind,
                         std::vector<Finding>& findings) {
  const SyntaxTree& tree = analysis.tree();
  for (const ShapeConflict& conflict : analysis.shape_conflicts()) {
    if (conflict.kind != kind) continue;
    Finding finding;
    finding.rule = &rule;
    finding.begin = tree[conflict.node].begin;
    finding.end = tree[conflict.node].end;
    finding.position = place_of(analysis, conflict.node);
    finding.message = rule.message + ": " + conflict.text;
    Situation situation{conflict.node, {}, nullptr};
    for (const auto& [node, text] : conflict.places) {
      situation.evidence.push_back(node);
      finding.related.push_back({place_of(analysis, node), tree[node].begin, tree[node].end, text});
    }
    finding.path = path_of(analysis, situation);
    findings.push_back(std::move(finding));
    if (rule.once) return;
  }
}

void run_rule(const Analysis& analysis, const Rule& rule, std::vector<Finding>& findings) {
  std::set<NodeId> found;
  for (const RuleCase& one : rule.cases) {
    if (!one.shapes.empty()) {
      add_shape_conflicts(analysis, rule, one.shapes, findings);
      continue;
    }
    for (const NodeId start : starts_of(analysis, *one.start)) {
      if (rule.once && !found.empty()) return;
      if (found.contains(start)) continue;
      Situation situation{start, {}, one.start.get()};
      const bool holds = std::all_of(one.when.begin(), one.when.end(), [&](const auto& condition) {
        return condition->holds(analysis, situation);
      });
      if (!holds) continue;
      found.insert(start);
      Finding finding;
      finding.rule = &rule;
      finding.begin = analysis.tree()[start].begin;
      finding.end = analysis.tree()[start].end;
      // Of `a.b.c()` the place of `.c` is what is wrong.
      std::uint32_t shown = finding.begin;
      if (const NodeId object = receiver(analysis.tree(), start);
          object != kNoNode && analysis.tree().kind(start) == NodeKind::kCall) {
        const NodeId callee = analysis.tree()[start].first;
        if (const NodeId name = analysis.tree().child_of_kind(callee, NodeKind::kIdentifier);
            name != kNoNode)
          shown = analysis.tree()[name].begin;
      }
      finding.position = analysis.source().position(shown);
      finding.message = filled(rule.message, analysis, start);
      finding.path = path_of(analysis, situation);
      if (rule.fix) finding.fix = make_fix(*rule.fix, analysis, situation);
      findings.push_back(std::move(finding));
    }
  }
}

}  // namespace

std::vector<Finding> check(const Analysis& analysis, const std::vector<const Rule*>& rules) {
  std::vector<Finding> findings;
  for (const Rule* rule : rules) run_rule(analysis, *rule, findings);
  leave_out_ignored(analysis, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& one, const Finding& other) {
    return std::pair(one.position.line, one.position.column) <
           std::pair(other.position.line, other.position.column);
  });
  return findings;
}

void leave_out_ignored(const Analysis& analysis, std::vector<Finding>& findings) {
  const auto ignored = ignored_rules(analysis);
  if (ignored.empty()) return;
  const SourceText& source = analysis.source();
  std::erase_if(findings, [&](const Finding& finding) {
    const std::string_view text = source.text().substr(finding.begin, finding.end - finding.begin);
    const bool definition = text.starts_with("def ") || text.starts_with("class ") ||
                            text.starts_with("async ") || text.starts_with('@');
    const std::uint32_t first =
        std::min(source.position(finding.begin).line, finding.position.line);
    const std::uint32_t last =
        definition ? finding.position.line
                   : std::max(source.position(finding.end).line, finding.position.line);
    for (auto line = ignored.lower_bound(first); line != ignored.end() && line->first <= last;
         ++line)
      if (line->second.contains("*") || line->second.contains(finding.rule->id)) return true;
    return false;
  });
}

std::vector<std::string> check_examples(const Rule& rule) {
  std::vector<std::string> problems;
  if (std::none_of(rule.examples.begin(), rule.examples.end(),
                   [](const RuleExample& example) { return example.fires; }))
    problems.emplace_back("no example fires; allowed: one at least");
  if (std::all_of(rule.examples.begin(), rule.examples.end(),
                  [](const RuleExample& example) { return example.fires; }))
    problems.emplace_back("each example fires; allowed: one at least that doesn't");
  for (std::size_t i = 0; i < rule.examples.size(); ++i) {
    const SourceText source("example " + std::to_string(i + 1), rule.examples[i].code);
    const Analysis analysis(source);
    const bool fires = !check(analysis, {&rule}).empty();
    if (fires == rule.examples[i].fires) continue;
    const std::string verdict =
        fires ? " fires; it says that it doesn't" : " doesn't fire; it says that it does";
    problems.push_back("example " + std::to_string(i + 1) + verdict);
  }
  return problems;
}

}  // namespace neutra::source
