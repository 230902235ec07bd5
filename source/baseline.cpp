#include "source/baseline.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/json_section.h"
#include "base/strings.h"

namespace neutra::source {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "neutra-baseline";

fs::path folder_of(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file), error);
  return (error ? fs::absolute(file).lexically_normal() : whole).parent_path();
}

std::string name_in(const fs::path& folder, const std::string& file) {
  if (file == "<stdin>") return file;
  std::error_code error;
  fs::path whole = fs::weakly_canonical(fs::absolute(file), error);
  if (error) whole = fs::absolute(file).lexically_normal();
  const fs::path relative = whole.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? whole.string() : relative.string();
}

/// The nearest line that is not empty, `step` by `step`, without its indentation; of a notebook in
/// the same cell. "": there is none.
std::string neighbour(const CheckedFile& file, std::uint32_t line, int step) {
  const int cell = file.cell(line);
  const auto lines = static_cast<std::int64_t>(file.text->lines());
  for (std::int64_t at = std::int64_t{line} + step; at >= 1 && at <= lines; at += step) {
    const auto number = static_cast<std::uint32_t>(at);
    if (file.notebook && (file.cell(number) != cell || file.shown_line(number) == 0)) break;
    const std::string_view text = trimmed(file.text->line(number), " \t\f");
    if (text.empty()) continue;
    return file.notebook && text.starts_with("# %% cell ") ? "" : std::string(text);
  }
  return "";
}

}  // namespace

Baseline::Entry Baseline::entry_of(const CheckedFile& file, const Finding& finding,
                                   const std::string& name) {
  const std::uint32_t line = finding.position.line;
  return {finding.rule->id, name, std::string(trimmed(file.text->line(line), " \t\f")),
          neighbour(file, line, -1), neighbour(file, line, 1)};
}

std::string Baseline::name_of(const CheckedFile& file) const { return name_in(folder_, file.name); }

Baseline Baseline::read(const fs::path& file) {
  const std::string name = file.string();
  const Json json = read_json(file);
  const JsonSection document(json, name, "", {"format", "version", "findings"});
  document.require_format(kFormat, 1);
  document.at("findings");
  Baseline baseline;
  baseline.folder_ = folder_of(file);
  const std::vector<Json> findings = document.list("findings");
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const JsonSection one(findings[i], name, "/" + JsonSection::item_name("findings", i),
                          {"rule", "file", "text", "before", "after", "count"});
    const auto count =
        one.has("count") ? one.whole("count", 1, std::numeric_limits<std::int32_t>::max()) : 1;
    baseline.left_[{one.text("rule"), one.text("file"), one.text("text", ""),
                    one.text("before", ""), one.text("after", "")}] +=
        static_cast<std::size_t>(count);
  }
  return baseline;
}

Json Baseline::record(const Findings& findings, const fs::path& file) {
  const fs::path folder = folder_of(file);
  std::map<Entry, std::size_t> entries;
  std::vector<Entry> order;
  for (const CheckedFile& checked : findings.files) {
    const std::string name = checked.findings.empty() ? "" : name_in(folder, checked.name);
    for (const Finding& finding : checked.findings) {
      if (finding.rule->severity < findings.least) continue;
      Entry entry = entry_of(checked, finding, name);
      if (++entries[entry] == 1) order.push_back(std::move(entry));
    }
  }
  Json list = Json::array();
  for (const Entry& entry : order) {
    Json one{{"rule", entry.rule}, {"file", entry.file}, {"text", entry.text}};
    if (!entry.before.empty()) one["before"] = entry.before;
    if (!entry.after.empty()) one["after"] = entry.after;
    if (entries[entry] > 1) one["count"] = entries[entry];
    list.push_back(std::move(one));
  }
  return {{"format", kFormat}, {"version", 1}, {"findings", std::move(list)}};
}

std::size_t Baseline::leave_out_recorded(Findings& findings) {
  std::size_t left_out = 0;
  const auto take = [&](std::map<Entry, std::size_t>::iterator entry) {
    if (--entry->second == 0) left_.erase(entry);
    ++left_out;
    return true;
  };
  for (CheckedFile& file : findings.files) {
    if (file.findings.empty()) continue;
    const std::string name = name_of(file);
    // First those with the same lines around them, so that of two alike the new one is told.
    std::erase_if(file.findings, [&](const Finding& finding) {
      const auto entry = left_.find(entry_of(file, finding, name));
      return entry != left_.end() && take(entry);
    });
    std::erase_if(file.findings, [&](const Finding& finding) {
      Entry wanted = entry_of(file, finding, name);
      wanted.before.clear();
      wanted.after.clear();
      const auto entry = left_.lower_bound(wanted);
      return entry != left_.end() && entry->first.rule == wanted.rule &&
             entry->first.file == name && entry->first.text == wanted.text && take(entry);
    });
  }
  return left_out;
}

std::size_t Baseline::gone(const Findings& findings, const std::vector<const Rule*>& rules) const {
  std::set<std::string> files, ids;
  for (const CheckedFile& file : findings.files)
    if (file.problem.empty()) files.insert(name_of(file));
  for (const Rule* rule : rules) ids.insert(rule->id);
  std::size_t number = 0;
  for (const auto& [entry, count] : left_)
    if (files.contains(entry.file) && ids.contains(entry.rule)) number += count;
  return number;
}

}  // namespace neutra::source
