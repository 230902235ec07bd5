#include "source/rule.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "program/faults.h"
#include "source/condition.h"
#include "source/shape_math.h"

namespace neutra::source {
namespace embedded {
std::string_view rules(std::string_view stem);
}

namespace {

const std::vector<std::string> kSeverities = {"hint", "warning", "error"};

bool is_fault_type(const std::string& type) {
  const auto& types = program::fault_types();
  return std::any_of(types.begin(), types.end(),
                     [&](const auto& known) { return known.first == type; });
}

/// Reads the members of one object, and refuses those that it doesn't know.
class Members {
 public:
  Members(const Json& json, std::string where, std::vector<std::string> known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object())
      throw input_error(where_ + ": found " + json.dump() + "; allowed: an object");
    known.emplace_back("comment");
    for (const auto& [key, value] : json.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        throw input_error(where_ + ": found '" + key + "'; allowed: " + allowed_words(key, known));
  }

  std::string text(const char* key, bool required = true) const {
    const Json* value = member(json_, key);
    if (value == nullptr && !required) return {};
    if (value == nullptr || !value->is_string() || value->get<std::string>().empty())
      throw input_error(where_ + ": " + key + ": found " +
                        (value == nullptr ? "nothing" : value->dump()) + "; allowed: a text");
    return value->get<std::string>();
  }
  const Json& list(const char* key) const {
    static const Json none = Json::array();
    const Json* value = member(json_, key);
    if (value == nullptr) return none;
    if (!value->is_array())
      throw input_error(where_ + ": " + key + ": found " + value->dump() + "; allowed: a list");
    return *value;
  }
  bool flag(const char* key) const {
    const Json* value = member(json_, key);
    if (value != nullptr && !value->is_boolean())
      throw input_error(where_ + ": " + key + ": found " + value->dump() +
                        "; allowed: true, false");
    return value != nullptr && value->get<bool>();
  }
  std::string place(const std::string& key) const { return where_ + "." + key; }

 private:
  const Json& json_;
  std::string where_;
};

FixRule parse_fix(const Json& json, const std::string& where) {
  const Members members(json, where, {"kind", "text", "of"});
  static const std::vector<std::string> kinds = {"insert-before", "insert-after", "replace",
                                                 "add-argument", "unwrap"};
  FixRule fix;
  const std::string kind = members.text("kind");
  const auto found = std::find(kinds.begin(), kinds.end(), kind);
  if (found == kinds.end())
    throw input_error(where + ".kind: found '" + kind +
                      "'; allowed: " + allowed_words(kind, kinds));
  fix.kind = static_cast<FixRule::Kind>(found - kinds.begin());
  fix.text = members.text("text", fix.kind != FixRule::Kind::kUnwrap);
  fix.of = members.text("of", false);
  return fix;
}

RuleCase parse_case(const Json& json, const Vocabulary& vocabulary, const std::string& where) {
  const Members members(json, where, {"start", "when"});
  if (!json.contains("start")) throw input_error(where + ": 'start' is missing");
  RuleCase result;
  if (const Json* kind = json["start"].is_object() ? member(json["start"], "shapes") : nullptr) {
    const auto& kinds = shape_conflict_kinds();
    const std::string found = kind->is_string() ? kind->get<std::string>() : kind->dump();
    if (std::find(kinds.begin(), kinds.end(), found) == kinds.end())
      throw input_error(where + ".start.shapes: found '" + found +
                        "'; allowed: " + allowed_words(found, kinds));
    if (json.contains("when"))
      throw input_error(where + ".when: found beside 'shapes'; allowed: 'start' alone");
    result.shapes = found;
    return result;
  }
  result.start = std::make_shared<const Matcher>(json["start"], vocabulary, where + ".start");
  const Json& when = members.list("when");
  for (std::size_t i = 0; i < when.size(); ++i)
    result.when.push_back(
        parse_condition(when[i], vocabulary, where + ".when[" + std::to_string(i) + "]"));
  return result;
}

Rule parse_rule(const Json& json, const Vocabulary& vocabulary, const std::string& where) {
  const Members members(json, where,
                        {"id", "pattern", "severity", "category", "root_cause", "symptom", "faults",
                         "message", "source", "start", "when", "cases", "once", "fix", "examples"});
  Rule rule;
  rule.id = members.text("id");
  rule.message = members.text("message");
  rule.category = members.text("category");
  rule.root_cause = members.text("root_cause");
  rule.symptom = members.text("symptom");
  rule.source = members.text("source", false);
  rule.severity = severity_of(members.text("severity"), members.place("severity"));
  rule.once = members.flag("once");
  if (const Json* pattern = member(json, "pattern")) {
    if (!pattern->is_number_integer() || *pattern < 1 || *pattern > 14)
      throw input_error(members.place("pattern") + ": found " + pattern->dump() +
                        "; allowed: 1 to 14");
    rule.pattern = pattern->get<int>();
  }
  for (const Json& fault : members.list("faults")) {
    const std::string type = fault.is_string() ? fault.get<std::string>() : fault.dump();
    if (!is_fault_type(type))
      throw input_error(members.place("faults") + ": found '" + type +
                        "'; allowed: a type of docs/reference/fault_types.md");
    rule.faults.push_back(type);
  }
  const Json& cases = members.list("cases");
  for (std::size_t i = 0; i < cases.size(); ++i)
    rule.cases.push_back(
        parse_case(cases[i], vocabulary, members.place("cases[" + std::to_string(i) + "]")));
  if (cases.empty()) {
    Json only = Json::object();
    for (const char* key : {"start", "when"})
      if (json.contains(key)) only[key] = json[key];
    rule.cases.push_back(parse_case(only, vocabulary, where));
  }
  if (const Json* fix = member(json, "fix")) rule.fix = parse_fix(*fix, members.place("fix"));
  for (const Json& example : members.list("examples")) {
    const Members own(example, members.place("examples"), {"code", "fires"});
    RuleExample one;
    for (const Json& line : own.list("code"))
      one.code += (line.is_string() ? line.get<std::string>() : line.dump()) + "\n";
    one.fires = own.flag("fires");
    rule.examples.push_back(std::move(one));
  }
  return rule;
}

}  // namespace

std::string_view name_of(Severity severity) {
  return kSeverities[static_cast<std::size_t>(severity)];
}

Severity severity_of(std::string_view name, const std::string& where) {
  const auto found = std::find(kSeverities.begin(), kSeverities.end(), name);
  if (found == kSeverities.end())
    throw input_error(where + ": found '" + std::string(name) + "'; allowed: " + join(kSeverities));
  return static_cast<Severity>(found - kSeverities.begin());
}

RuleSet parse_rules(const Json& document, const std::string& file, const Vocabulary& vocabulary) {
  const Members members(document, file, {"format", "version", "name", "rules"});
  if (members.text("format") != "neutra-rules")
    throw input_error(describe(file, "format", members.text("format"), "neutra-rules"));
  if (!document.contains("version") || document["version"] != 1)
    throw input_error(describe(file, "version", "another version", "1"));
  RuleSet set;
  set.name = members.text("name");
  std::set<std::string> ids;
  const Json& rules = members.list("rules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string where = file + ": rules[" + std::to_string(i) + "]";
    Rule rule = parse_rule(rules[i], vocabulary, where);
    if (!ids.insert(rule.id).second)
      throw input_error(where + ".id: found '" + rule.id + "' twice; allowed: each id once");
    set.rules.push_back(std::move(rule));
  }
  return set;
}

const std::vector<RuleSet>& bundled_rules() {
  static const std::vector<RuleSet> sets = [] {
    std::vector<RuleSet> list;
    for (const char* name : {"pysiassist", "pytorch", "keras", "shapes"})
      if (const std::string_view text = embedded::rules(name); !text.empty())
        list.push_back(parse_rules(parse_json(text, std::string(name) + ".json"),
                                   std::string(name) + ".json", Vocabulary::standard()));
    return list;
  }();
  return sets;
}

}  // namespace neutra::source
