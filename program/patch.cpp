#include "program/patch.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "program/document.h"

namespace neutra::program {
namespace {

constexpr const char* kPatch = "a JSON Patch that fits the program";
constexpr std::size_t kMostJsonLevels = 100;  // as parse_json() has it

/// Equal apart from the order of keys.
bool equal(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

class Patch {
 public:
  void compare(const Json& from, const Json& to, const std::string& path) {
    if (equal(from, to)) return;
    if (from.is_object() && to.is_object()) {
      objects(from, to, path);
    } else if (from.is_array() && to.is_array()) {
      arrays(from, to, path);
    } else {
      add("replace", path, &to);
    }
  }
  Json steps() && { return std::move(steps_); }

 private:
  void objects(const Json& from, const Json& to, const std::string& path) {
    for (const auto& [key, value] : from.items()) {
      const std::string below = path + "/" + pointer_token(key);
      if (const Json* other = member(to, key)) {
        compare(value, *other, below);
      } else {
        add("remove", below, nullptr);
      }
    }
    for (const auto& [key, value] : to.items()) {
      if (!from.contains(key)) add("add", path + "/" + pointer_token(key), &value);
    }
  }

  /// What is equal at both ends stays; between them, items are compared one by one, and those that
  /// one side has more are added or removed.
  void arrays(const Json& from, const Json& to, const std::string& path) {
    const std::size_t shorter = std::min(from.size(), to.size());
    std::size_t begin = 0, end = 0;
    while (begin < shorter && equal(from[begin], to[begin])) ++begin;
    while (begin + end < shorter && equal(from[from.size() - 1 - end], to[to.size() - 1 - end])) {
      ++end;
    }
    std::size_t at = begin;
    for (; at < shorter - end; ++at) compare(from[at], to[at], path + "/" + std::to_string(at));
    for (std::size_t i = at; i < from.size() - end; ++i) {
      add("remove", path + "/" + std::to_string(at), nullptr);
    }
    for (std::size_t i = at; i < to.size() - end; ++i) {
      add("add", path + "/" + std::to_string(i), &to[i]);
    }
  }

  void add(const char* op, const std::string& path, const Json* value) {
    Json step = {{"op", op}, {"path", path}};
    if (value != nullptr) step["value"] = *value;
    steps_.push_back(std::move(step));
  }

  Json steps_ = Json::array();
};

/// How large a value is: bytes in memory, about, and levels of brackets.
struct Extent {
  std::size_t bytes = 0, levels = 0;
};

/// Precondition: its nesting is limited.
Extent extent_of(const Json& value) {
  Extent extent{sizeof(Json), 0};
  if (value.is_string()) extent.bytes += value.get_ref<const std::string&>().size();
  if (!value.is_structured()) return extent;
  constexpr std::size_t kContainer = 96;  // its own memory, room to grow, what the heap adds
  extent.bytes += kContainer;
  for (auto below = value.begin(); below != value.end(); ++below) {
    const Extent part = extent_of(*below);
    extent.bytes += part.bytes + (value.is_object() ? sizeof(std::string) + below.key().size() : 0);
    extent.levels = std::max(extent.levels, part.levels);
  }
  ++extent.levels;
  return extent;
}

}  // namespace

PatchedDocument::PatchedDocument(Json document, std::string where)
    : document_(std::move(document)), where_(std::move(where)) {}

void PatchedDocument::apply(const Json& step) {
  const std::string place = where_ + "/" + std::to_string(steps_++);
  const auto text = [&](const char* name) {
    const Json* value = member(step, name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  };
  const std::string op = text("op"), path = text("path");
  const bool copies = op == "copy", moves = op == "move";
  const Json* value =
      copies || moves ? &document_.at(Json::json_pointer(text("from"))) : member(step, "value");
  if (value != nullptr) {
    const Extent extent = extent_of(*value);
    if (copies) copied_ += extent.bytes;
    if (copied_ > kLargestFile) {
      throw input_error(describe(place, "", "more than " + size_text(kLargestFile) + " of copies",
                                 "steps that copy less"));
    }
    const auto above = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
    if (above + extent.levels > kMostJsonLevels) {
      throw input_error(describe(
          place, "", "more than " + std::to_string(kMostJsonLevels) + " levels of brackets",
          "at most " + std::to_string(kMostJsonLevels)));
    }
  }
  document_.patch_inplace(Json::array({step}));
}

Json json_patch(const Json& from, const Json& to) {
  Patch patch;
  patch.compare(from, to, "");
  return std::move(patch).steps();
}

Json with_patch(const Json& document, const Json& patch, const std::string& where) {
  try {
    if (!patch.is_array()) throw input_error(describe(where, "", shown(patch), kPatch));
    PatchedDocument patched(document, where);
    for (const Json& step : patch) patched.apply(step);
    return std::move(patched).document();
  } catch (const Json::exception& error) {
    throw input_error(describe(where, "", shown(patch) + " (" + error.what() + ")", kPatch));
  }
}

std::string patch_text(const Json& document, const Json& patch, const std::string& indent) {
  std::string text;
  PatchedDocument patched(document, "");
  for (const Json& step : patch) {
    const std::string op = step.at("op"), path = step.at("path");
    text += indent + op + " " + path + ": ";
    if (op != "add") text += patched.document().value(Json::json_pointer(path), Json()).dump();
    if (op == "replace") text += " -> ";
    if (step.contains("value")) text += step.at("value").dump();
    text += "\n";
    patched.apply(step);
  }
  return text;
}

}  // namespace neutra::program
