#include "source/finding_forms.h"

#include <algorithm>
#include <map>

#include "base/printable.h"

namespace neutra::source {
namespace {

template <typename Use>
void for_each(const Findings& findings, const Use& use) {
  for (const CheckedFile& file : findings.files)
    for (const Finding& finding : file.findings)
      if (finding.rule->severity >= findings.least) use(file, finding);
}

Json fix_of(const CheckedFile& file, const Finding& finding) {
  if (!finding.fix) return nullptr;
  const Position begin = file.text->position(finding.fix->begin);
  const Position end = file.text->position(finding.fix->end);
  return {{"line", file.shown_line(begin.line)},
          {"column", begin.column},
          {"end_line", file.shown_line(end.line)},
          {"end_column", end.column},
          {"text", finding.fix->text}};
}

/// A path as the address of a file in a SARIF document: relative, `%` for what may not stand there.
std::string uri_of(const std::string& name) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') || c == '/' || c == '.' || c == '-' ||
                       c == '_' || c == '~';
    if (plain)
      uri += c;
    else
      (uri += '%') += {kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri.starts_with("./") ? uri.substr(2) : uri;
}

std::string level_of(Severity severity) {
  return severity == Severity::kError     ? "error"
         : severity == Severity::kWarning ? "warning"
                                          : "note";
}

Json related_of(const CheckedFile& file, const Finding& finding) {
  Json list = Json::array();
  for (const RelatedPlace& place : finding.related) {
    const Position end = file.text->position(place.end);
    list.push_back({{"line", file.shown_line(place.position.line)},
                    {"column", place.position.column},
                    {"end_line", file.shown_line(end.line)},
                    {"end_column", end.column},
                    {"text", place.text}});
  }
  return list;
}

Json sarif_related(const CheckedFile& file, const Json& related) {
  Json list = Json::array();
  for (const Json& place : related)
    list.push_back({{"physicalLocation",
                     {{"artifactLocation", {{"uri", uri_of(file.name)}}},
                      {"region",
                       {{"startLine", place["line"]},
                        {"startColumn", place["column"]},
                        {"endLine", place["end_line"]},
                        {"endColumn", place["end_column"]}}}}},
                    {"message", {{"text", place["text"]}}}});
  return list;
}

Json sarif_fix(const CheckedFile& file, const Json& fix, const std::string& message) {
  return {{{"description", {{"text", message}}},
           {"artifactChanges",
            {{{"artifactLocation", {{"uri", uri_of(file.name)}}},
              {"replacements",
               {{{"deletedRegion",
                  {{"startLine", fix["line"]},
                   {"startColumn", fix["column"]},
                   {"endLine", fix["end_line"]},
                   {"endColumn", fix["end_column"]}}},
                 {"insertedContent", {{"text", fix["text"]}}}}}}}}}}};
}

/// What a rule says, of no object in particular.
std::string general_message(const Rule& rule) {
  std::string text = rule.message;
  for (std::size_t at = text.find("{receiver}"); at != std::string::npos;
       at = text.find("{receiver}"))
    text.replace(at, 10, "object");
  return text;
}

/// Where a finding stands in its file: of a notebook the line of the JSON text.
Json region_of(const CheckedFile& file, const Finding& finding) {
  if (file.notebook) {
    const std::string_view line = file.text->line(finding.position.line);
    const auto offset = static_cast<std::size_t>(line.data() - file.text->text().data());
    return {{"startLine", file.notebook->file_line(offset)}};
  }
  const Position end = file.text->position(finding.end);
  return {{"startLine", finding.position.line},
          {"startColumn", finding.position.column},
          {"endLine", std::max(end.line, finding.position.line)},
          {"endColumn", end.line > finding.position.line
                            ? end.column
                            : std::max(end.column, finding.position.column)}};
}

}  // namespace

std::size_t count(const Findings& findings, Severity least) {
  std::size_t number = 0;
  for_each(findings, [&](const CheckedFile&, const Finding& finding) {
    if (finding.rule->severity >= least) ++number;
  });
  return number;
}

std::string text_of(const Findings& findings) {
  std::string text;
  for_each(findings, [&](const CheckedFile& file, const Finding& finding) {
    const int cell = file.cell(finding.position.line);
    text += printable(file.name) + ":" + (cell == 0 ? "" : "cell " + std::to_string(cell) + ":") +
            std::to_string(file.shown_line(finding.position.line)) + ":" +
            std::to_string(finding.position.column) + ": " +
            std::string(name_of(finding.rule->severity)) + ": " + printable(finding.message) +
            " [" + finding.rule->id + "]\n";
  });
  return text;
}

Json json_of(const Findings& findings) {
  std::size_t lines = 0, files = 0;
  for (const CheckedFile& file : findings.files) {
    if (!file.problem.empty()) continue;
    ++files;
    lines += file.lines;
  }
  Json list = Json::array();
  for_each(findings, [&](const CheckedFile& file, const Finding& finding) {
    const Rule& rule = *finding.rule;
    Json path = Json::array();
    for (const Step& step : finding.path) {
      path.push_back({{"line", file.shown_line(step.line)}, {"text", step.text}});
      if (const int cell = file.cell(step.line); cell != 0) path.back()["cell"] = cell;
    }
    const int cell = file.cell(finding.position.line);
    list.push_back({{"rule", rule.id},
                    {"pattern", json_or_null(rule.pattern)},
                    {"severity", name_of(rule.severity)},
                    {"file", file.name},
                    {"cell", cell == 0 ? Json() : Json(cell)},
                    {"line", file.shown_line(finding.position.line)},
                    {"column", finding.position.column},
                    {"message", finding.message},
                    {"category", rule.category},
                    {"root_cause", rule.root_cause},
                    {"symptom", rule.symptom},
                    {"faults", rule.faults},
                    {"path", std::move(path)},
                    {"related", related_of(file, finding)},
                    {"fix", fix_of(file, finding)}});
  });
  return {{"format", "neutra-check"},
          {"version", 1},
          {"files", files},
          {"lines", lines},
          {"recorded", findings.recorded ? Json(*findings.recorded) : Json()},
          {"findings", std::move(list)}};
}

Json sarif_of(const Findings& findings, const std::string& version) {
  std::map<std::string, std::size_t> numbers;
  Json rules = Json::array(), results = Json::array();
  for_each(findings, [&](const CheckedFile& file, const Finding& finding) {
    const Rule& rule = *finding.rule;
    const auto [number, is_new] = numbers.try_emplace(rule.id, numbers.size());
    if (is_new)
      rules.push_back({{"id", rule.id},
                       {"shortDescription", {{"text", general_message(rule)}}},
                       {"defaultConfiguration", {{"level", level_of(rule.severity)}}},
                       {"properties",
                        {{"category", rule.category},
                         {"rootCause", rule.root_cause},
                         {"symptom", rule.symptom}}}});
    Json place{{"physicalLocation",
                {{"artifactLocation", {{"uri", uri_of(file.name)}}},
                 {"region", region_of(file, finding)}}}};
    std::string message = finding.message;
    if (const int cell = file.cell(finding.position.line); cell != 0) {
      const std::string where = "cell " + std::to_string(cell) + ", line " +
                                std::to_string(file.shown_line(finding.position.line));
      message += " (" + where + ")";
      place["logicalLocations"] = Json::array({{{"fullyQualifiedName", where}}});
    }
    Json result = {{"ruleId", rule.id},
                   {"ruleIndex", number->second},
                   {"level", level_of(rule.severity)},
                   {"message", {{"text", message}}},
                   {"locations", Json::array({std::move(place)})}};
    if (!finding.related.empty() && !file.notebook)
      result["relatedLocations"] = sarif_related(file, related_of(file, finding));
    if (finding.fix && !file.notebook)
      result["fixes"] = sarif_fix(file, fix_of(file, finding), general_message(rule));
    results.push_back(std::move(result));
  });
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool",
          {{"driver", {{"name", "neutra"}, {"version", version}, {"rules", std::move(rules)}}}}},
         {"columnKind", "unicodeCodePoints"},
         {"results", std::move(results)}}}}};
}

}  // namespace neutra::source
