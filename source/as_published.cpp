#include "source/as_published.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/strings.h"

namespace neutra::source {
namespace embedded {
extern const std::string_view as_published_checks;
}

namespace {

/// A line that is no comment, without blanks and comments.
struct Line {
  std::uint32_t number = 1, width = 0;
  bool called = true;  ///< not within a function that nothing in the text calls
  std::string text;
};

struct Check {
  int pattern = 0;
  std::vector<std::string> when, start, find, until, same_line;
  bool forward = true, every = false, in_block = false, called = false, found_is_right = true;
};

std::vector<std::string> texts(const Json& json, const char* key) {
  const Json* list = member(json, key);
  return list == nullptr ? std::vector<std::string>() : list->get<std::vector<std::string>>();
}

const std::vector<Check>& checks() {
  static const std::vector<Check> list = [] {
    std::vector<Check> result;
    const Json document = parse_json(embedded::as_published_checks, "as_published.json");
    for (const Json& json : document.at("checks")) {
      const auto has = [&json](const char* key, const char* value) {
        const Json* found = member(json, key);
        return found != nullptr && found->get<std::string>() == value;
      };
      Check check;
      check.pattern = json.at("pattern").get<int>();
      check.when = texts(json, "when");
      check.start = texts(json, "start");
      check.find = texts(json, "find");
      check.until = texts(json, "until");
      check.same_line = texts(json, "same_line");
      check.forward = !has("direction", "reverse");
      check.every = has("starts", "every");
      check.in_block = json.value("in_block", false);
      check.called = json.value("called", false);
      check.found_is_right = has("found", "right");
      result.push_back(std::move(check));
    }
    return result;
  }();
  return list;
}

bool has(std::string_view line, std::string_view text) {
  const bool word = text.ends_with('$');
  if (word) text.remove_suffix(1);
  for (std::size_t at = line.find(text); at != std::string_view::npos;
       at = line.find(text, at + 1)) {
    const char next = at + text.size() < line.size() ? line[at + text.size()] : ' ';
    const bool goes_on = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                         (next >= '0' && next <= '9') || next == '_';
    if (!word || !goes_on) return true;
  }
  return false;
}

bool has_any(std::string_view line, const std::vector<std::string>& list) {
  return std::any_of(list.begin(), list.end(),
                     [line](const std::string& text) { return has(line, text); });
}

/// Has the line these texts, one behind the other?
bool has_all(std::string_view line, const std::vector<std::string>& list) {
  for (const std::string& text : list) {
    const std::size_t at = line.find(text);
    if (at == std::string_view::npos) return false;
    line.remove_prefix(at + text.size());
  }
  return true;
}

/// Functions that run when the text runs, by the names that are called: the tool followed calls.
std::set<NodeId> called_functions(const SyntaxTree& tree, const Values& values) {
  std::set<std::string_view> names;
  std::set<NodeId> called;
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId call : values.calls()) {
      bool runs = true;
      for (NodeId up = tree.above(call, {NodeKind::kFunction}); up != kNoNode;
           up = tree.above(up, {NodeKind::kFunction}))
        runs = runs && called.contains(up);
      if (runs) names.insert(values.last_name(tree[call].first));
    }
    for (NodeId id = 1; id < tree.size(); ++id) {
      if (tree.kind(id) != NodeKind::kFunction || called.contains(id)) continue;
      const NodeId owner = tree.above(id, {NodeKind::kClass, NodeKind::kFunction});
      const bool of_class = owner != kNoNode && tree.kind(owner) == NodeKind::kClass;
      if (!names.contains(tree.name(id)) && !(of_class && names.contains(tree.name(owner))))
        continue;
      called.insert(id);
      changed = true;
    }
  }
  return called;
}

std::vector<Line> lines_of(const Analysis& analysis) {
  const SourceText& source = analysis.source();
  const SyntaxTree& tree = analysis.tree();
  std::vector<Line> lines;
  std::vector<bool> called(source.lines() + 2, true);
  // What is no Python 3 was searched as a whole.
  const bool other_script = contains(source.text(), "\xEF\xBC");
  if (tree.errors() == 0 && !other_script) {
    const std::set<NodeId> functions = called_functions(tree, analysis.values());
    for (NodeId id = 1; id < tree.size(); ++id) {
      if (tree.kind(id) != NodeKind::kFunction || functions.contains(id)) continue;
      const NodeId body = tree.last_of_kind(id, NodeKind::kBlock);
      const std::uint32_t last = source.position(tree[body].end).line;
      for (std::uint32_t i = source.position(tree[body].begin).line; i <= last; ++i)
        called[i] = false;
    }
  }
  for (std::uint32_t number = 1; number <= source.lines(); ++number) {
    const std::string_view whole = source.line(number);
    Line line;
    line.number = number;
    line.width = static_cast<std::uint32_t>(std::min(whole.find_first_not_of(" \t"), whole.size()));
    line.called = called[number];
    for (const char c : whole.substr(0, whole.find('#')))
      if (c != ' ' && c != '\t') line.text += c;
    if (!line.text.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

bool matches(const Check& check, const Line& line) {
  if (check.called && !line.called) return false;
  return has_any(line.text, check.find) && has_all(line.text, check.same_line);
}

/// From a start on: is it found?
bool found_from(const Check& check, const std::vector<Line>& lines, std::size_t start) {
  const std::size_t count = lines.size();
  if (!check.forward) {
    for (std::size_t i = 0; i <= start; ++i)
      if (matches(check, lines[i])) return true;
    return false;
  }
  for (std::size_t i = start + 1; i < count; ++i) {
    if (check.in_block && lines[i].width < lines[start].width) return false;
    if (check.in_block && lines[i].width > lines[start].width) continue;
    if (matches(check, lines[i])) return true;
    if (has_any(lines[i].text, check.until)) return false;
  }
  return false;
}

/// The line of a wrong verdict; 0: it is right, or says nothing.
std::uint32_t wrong_line(const Check& check, const std::vector<Line>& lines) {
  const auto any_line = [&lines](const std::vector<std::string>& list) {
    return std::find_if(lines.begin(), lines.end(),
                        [&](const Line& line) { return has_any(line.text, list); });
  };
  if (!check.when.empty() && any_line(check.when) == lines.end()) return 0;
  if (check.start.empty()) {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const Line& line) { return matches(check, line); });
    if ((found != lines.end()) == check.found_is_right) return 0;
    if (found != lines.end()) return found->number;
    return check.when.empty() ? (lines.empty() ? 1 : lines.front().number)
                              : any_line(check.when)->number;
  }
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!has_any(lines[i].text, check.start)) continue;
    const bool right = found_from(check, lines, i) == check.found_is_right;
    if (!right && wrong == 0) wrong = lines[i].number;
    if (!check.found_is_right || check.every) {
      if (!right) return wrong;
    } else if (right) {
      return 0;
    }
  }
  return wrong;
}

}  // namespace

std::vector<PublishedVerdict> published_verdicts(const Analysis& analysis) {
  const std::vector<Line> lines = lines_of(analysis);
  std::vector<PublishedVerdict> verdicts;
  for (int pattern = 1; pattern <= 14; ++pattern) {
    PublishedVerdict verdict;
    verdict.pattern = pattern;
    for (const Check& check : checks()) {
      if (check.pattern != pattern || verdict.wrong) continue;
      const std::uint32_t line = wrong_line(check, lines);
      verdict.wrong = line != 0;
      if (verdict.wrong) verdict.line = line;
    }
    verdicts.push_back(verdict);
  }
  return verdicts;
}

std::vector<Finding> check_as_published(const Analysis& analysis,
                                        const std::vector<const Rule*>& rules) {
  std::vector<Finding> findings;
  for (const PublishedVerdict& verdict : published_verdicts(analysis)) {
    if (!verdict.wrong) continue;
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule* one) {
      return one->pattern == verdict.pattern;
    });
    if (rule == rules.end()) continue;
    const std::string_view line = analysis.source().line(verdict.line);
    Finding finding;
    finding.rule = *rule;
    finding.position.line = verdict.line;
    finding.begin = static_cast<std::uint32_t>(line.data() - analysis.source().text().data());
    finding.end = finding.begin + static_cast<std::uint32_t>(line.size());
    finding.message = (*rule)->message;
    finding.path.push_back({verdict.line, std::string(trimmed(line, " \t\f"))});
    findings.push_back(std::move(finding));
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& one, const Finding& other) {
    return one.position.line < other.position.line;
  });
  return findings;
}

}  // namespace neutra::source
