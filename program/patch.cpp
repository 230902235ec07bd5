#include "program/patch.h"

#include <algorithm>

#include "program/error.h"
#include "program/normal.h"

namespace neutra {
namespace {

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

}  // namespace

Json json_patch(const Json& from, const Json& to) {
  Patch patch;
  patch.compare(from, to, "");
  return std::move(patch).steps();
}

Json with_patch(const Json& document, const Json& patch, const std::string& where) {
  try {
    return document.patch(patch);
  } catch (const Json::exception& error) {
    throw input_error(describe(where, "", shown(patch) + " (" + error.what() + ")",
                               "a JSON Patch that fits the program"));
  }
}

std::string patch_text(const Json& document, const Json& patch, const std::string& indent) {
  std::string text;
  Json now = document;
  for (const Json& step : patch) {
    const std::string op = step.at("op"), path = step.at("path");
    text += indent + op + " " + path + ": ";
    if (op != "add") text += now.value(Json::json_pointer(path), Json()).dump();
    if (op == "replace") text += " -> ";
    if (step.contains("value")) text += step.at("value").dump();
    text += "\n";
    now = now.patch(Json::array({step}));
  }
  return text;
}

}  // namespace neutra
