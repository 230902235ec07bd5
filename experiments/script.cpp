#include "experiments/script.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json_section.h"
#include "base/sha256.h"
#include "search/store_content.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kKinds = {"literal", "variable",     "argument", "loop",
                                                    "default", "command_line", "computed"};

/// Without a slash at its end.
fs::path absolute_folder(const fs::path& folder) {
  const fs::path found = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
  return found.has_filename() || !found.has_relative_path() ? found : found.parent_path();
}

int line_of(const JsonSection& section, const std::string& name) {
  return static_cast<int>(section.whole(name, 1, std::numeric_limits<int>::max()));
}

/// A JSON pointer (RFC 6901) that is not the whole document.
std::string pointer_of(const JsonSection& section, const std::string& name, const Json& value) {
  const auto bad_escape = [](const std::string& text) {
    for (std::size_t at = 0; (at = text.find('~', at)) != std::string::npos; ++at) {
      if (at + 1 == text.size() || (text[at + 1] != '0' && text[at + 1] != '1')) return true;
    }
    return false;
  };
  if (!value.is_string() || !value.get_ref<const std::string&>().starts_with('/') ||
      bad_escape(value.get_ref<const std::string&>())) {
    section.fail(name, value, "a JSON pointer into the program: /fit/epochs");
  }
  return value;
}

/// Refuses one that ends before it begins.
void require_forward(const Extent& extent, const JsonSection& section, const std::string& name,
                     const Json& found) {
  if (extent.end_line < extent.line ||
      (extent.end_line == extent.line && extent.end_column < extent.column)) {
    section.fail(name, found,
                 "an end at or behind line " + std::to_string(extent.line) + ", column " +
                     std::to_string(extent.column));
  }
}

/// Item `i` of `frames`: [file, line, function, [line, column, end line, end column] or null].
ScriptFrame frame_of(const JsonSection& site, const Json& item, std::size_t i) {
  const std::string name = JsonSection::item_name("frames", i);
  const auto is_line = [](const Json& value) {
    return value.is_number_integer() && value >= 1 && value <= std::numeric_limits<int>::max();
  };
  const bool good = item.is_array() && item.size() == 4 && item[0].is_string() &&
                    !item[0].get_ref<const std::string&>().empty() && is_line(item[1]) &&
                    item[2].is_string() &&
                    (item[3].is_null() || (item[3].is_array() && item[3].size() == 4 &&
                                           std::all_of(item[3].begin(), item[3].end(), is_line)));
  if (!good) {
    site.fail(name, item, "[file, line, function, [line, column, end_line, end_column] or null]");
  }
  ScriptFrame frame{item[0], item[1], item[2], std::nullopt};
  if (!item[3].is_null()) {
    frame.call = Extent{item[3][0], item[3][1], item[3][2], item[3][3]};
    require_forward(*frame.call, site, name, item[3]);
  }
  return frame;
}

ScriptSite site_of(const JsonSection& place) {
  const JsonSection section(place.object("site"), place.file(), place.place_of("site"),
                            {"name", "path", "frames", "arguments", "parameters", "given"});
  ScriptSite site;
  site.name = section.text("name");
  site.path = pointer_of(section, "path", section.at("path"));
  section.at("frames");
  for (const Json& item : section.list("frames")) {
    site.frames.push_back(frame_of(section, item, site.frames.size()));
  }
  for (const auto& [argument, pointer] : section.object("arguments").items()) {
    site.arguments.emplace_back(argument, pointer_of(section, "arguments/" + argument, pointer));
  }
  section.at("parameters");
  section.at("given");
  site.parameters = section.texts("parameters");
  site.given = section.texts("given");
  return site;
}

ScriptPlace place_of(const JsonSection& section) {
  ScriptPlace place;
  place.path = pointer_of(section, "path", section.at("path"));
  place.file = section.text("file");
  place.line = line_of(section, "line");
  if (section.has("column") || section.has("end_line") || section.has("end_column")) {
    place.extent = Extent{place.line, line_of(section, "column"), line_of(section, "end_line"),
                          line_of(section, "end_column")};
    require_forward(*place.extent, section, "end_column", section.at("end_column"));
  }
  place.kind = section.word("kind", parse_place_kind,
                            "literal, variable, argument, loop, default, command_line, computed");
  place.text = section.text("text", "");
  if (section.has("site")) place.site = site_of(section);
  return place;
}

ScriptFile file_of(const JsonSection& section) {
  ScriptFile file{section.text("file"), section.text("sha256")};
  if (!is_sha256(file.sha256)) {
    section.fail("sha256", file.sha256, "64 hexadecimal digits in small letters");
  }
  return file;
}

/// Calls `read` with each item of a list that has to be there; an item has these fields.
template <typename Read>
auto items_of(const JsonSection& section, const std::string& name,
              const std::vector<std::string>& fields, const Read& read) {
  section.at(name);
  const std::vector<Json> list = section.list(name);
  std::vector<decltype(read(section))> items;
  items.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string item = JsonSection::item_name(name, i);
    if (!list[i].is_object()) section.fail(item, list[i], "an object");
    items.push_back(read(JsonSection(list[i], section.file(), section.place_of(item), fields)));
  }
  return items;
}

std::optional<ScriptFile> optional_file(const JsonSection& section, const std::string& name) {
  if (!section.has(name)) return std::nullopt;
  return file_of(JsonSection(section.object(name), section.file(), section.place_of(name),
                             {"file", "sha256"}));
}

}  // namespace

std::string_view to_string(PlaceKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<PlaceKind> parse_place_kind(std::string_view word) {
  const auto found = std::find(kKinds.begin(), kKinds.end(), word);
  if (found == kKinds.end()) return std::nullopt;
  return static_cast<PlaceKind>(found - kKinds.begin());
}

std::string line_text(const ScriptPlace& place) {
  return place.file + ":" + std::to_string(place.line);
}

Script::Script(Json json, const std::string& name, const std::string& where, const fs::path& folder)
    : section_(std::move(json)), folder_(absolute_folder(folder)) {
  const JsonSection section(
      section_, name, where,
      {"file", "arguments", "framework", "files", "data", "weights", "notes", "seeds", "places"});
  file = section.text("file");
  framework = section.text("framework");
  arguments = section.texts("arguments");
  notes = section.texts("notes");
  seeds = section.texts("seeds");
  files = items_of(section, "files", {"file", "sha256"}, file_of);
  data = optional_file(section, "data");
  weights = optional_file(section, "weights");
  places =
      items_of(section, "places",
               {"path", "file", "line", "column", "end_line", "end_column", "kind", "text", "site"},
               place_of);
  for (std::size_t i = 0; i < places.size(); ++i) index_[places[i].path].push_back(i);
}

std::vector<const ScriptPlace*> Script::at(std::string_view pointer) const {
  auto found = index_.find(pointer);
  while (found == index_.end() && !pointer.empty()) {
    pointer = pointer.substr(0, std::min(pointer.rfind('/'), pointer.size()));
    found = index_.find(pointer);
  }
  std::vector<const ScriptPlace*> values, defaults, parts;
  if (found != index_.end()) {
    for (const std::size_t i : found->second) {
      const ScriptPlace& place = places[i];
      (place.site                          ? parts
       : place.kind == PlaceKind::kDefault ? defaults
                                           : values)
          .push_back(&place);
    }
  }
  return !values.empty() ? values : !defaults.empty() ? defaults : parts;
}

Json stored_script(const Script& script) {
  Json stored = script.section();
  stored["folder"] = script.folder().string();
  return stored;
}

std::optional<Script> script_of_store(const Json& header, const std::string& file) {
  const Json* stored = member(header, search::kStoredScript);
  if (stored == nullptr || stored->is_null()) return std::nullopt;
  const std::string where = std::string("/header/") + search::kStoredScript;
  if (!stored->is_object()) {
    throw input_error(describe(file, where, stored->type_name(), "an object"));
  }
  const Json* folder = member(*stored, "folder");
  if (folder == nullptr || !folder->is_string() ||
      !fs::path(folder->get<std::string>()).is_absolute()) {
    throw input_error(describe(file, where + "/folder",
                               folder == nullptr ? "nothing" : folder->dump(),
                               "an absolute name of a folder"));
  }
  Json section = *stored;
  section.erase("folder");
  return Script(std::move(section), file, where, folder->get<std::string>());
}

}  // namespace neutra::experiments
