#include "source/vocabulary.h"

#include <algorithm>

#include "base/error.h"

namespace neutra::source {
namespace embedded {
extern const std::string_view names;
}

namespace {

std::vector<std::string> texts(const Json& object, std::string_view key) {
  const Json* list = member(object, key);
  return list == nullptr ? std::vector<std::string>() : list->get<std::vector<std::string>>();
}

std::unordered_set<std::string> text_set(const Json& object, std::string_view key) {
  const std::vector<std::string> list = texts(object, key);
  return {list.begin(), list.end()};
}

}  // namespace

bool matches_glob(std::string_view text, std::string_view glob) {
  std::size_t at = 0, in_glob = 0, star = std::string_view::npos, retry = 0;
  while (at < text.size()) {
    if (in_glob < glob.size() && glob[in_glob] == '*') {
      star = in_glob++;
      retry = at;
    } else if (in_glob < glob.size() && glob[in_glob] == text[at]) {
      ++at;
      ++in_glob;
    } else if (star != std::string_view::npos) {
      in_glob = star + 1;
      at = ++retry;
    } else {
      return false;
    }
  }
  while (in_glob < glob.size() && glob[in_glob] == '*') ++in_glob;
  return in_glob == glob.size();
}

Vocabulary::Vocabulary(const Json& document) {
  for (const auto& [from, to] : document.at("same").items())
    same_.emplace_back(from, to.get<std::string>());
  std::sort(same_.begin(), same_.end(), [](const auto& one, const auto& other) {
    return one.first.size() > other.first.size();
  });
  for (const auto& [name, path] : document.at("customary").items())
    customary_[name] = path.get<std::string>();
  for (const auto& [name, rule] : document.at("kinds").items())
    kinds_.push_back({name, texts(rule, "classes"), texts(rule, "except"), texts(rule, "methods"),
                      texts(rule, "names")});
  keeping_methods_ = text_set(document, "keeping_methods");
  keeping_functions_ = text_set(document, "keeping_functions");
  self_methods_ = text_set(document, "self_methods");
  sets_ = document.at("sets");
}

const Vocabulary& Vocabulary::standard() {
  static const Vocabulary vocabulary(parse_json(embedded::names, "names.json"));
  return vocabulary;
}

std::string Vocabulary::canonical(std::string path) const {
  for (int round = 0; round < 3; ++round) {
    bool changed = false;
    for (const auto& [from, to] : same_) {
      if (!path.starts_with(from)) continue;
      if (path.size() > from.size() && path[from.size()] != '.') continue;
      path.replace(0, from.size(), to);
      changed = true;
      break;
    }
    if (!changed) break;
  }
  return path;
}

const std::string& Vocabulary::customary(std::string_view name) const {
  static const std::string none;
  const auto found = customary_.find(std::string(name));
  return found != customary_.end() ? found->second : none;
}

Kinds Vocabulary::kind(std::string_view name) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i].name == name) return Kinds{1} << i;
  return 0;
}

std::vector<std::string> Vocabulary::kind_names() const {
  std::vector<std::string> names;
  for (const KindRule& rule : kinds_) names.push_back(rule.name);
  return names;
}

}  // namespace neutra::source
