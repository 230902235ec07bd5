#pragma once

#include <map>
#include <string>
#include <vector>

namespace neutra::training {

/// The names of a registry, sorted.
template <typename Entry>
std::vector<std::string> registry_names(const std::map<std::string, Entry>& registry) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : registry) names.push_back(name);
  return names;
}

}  // namespace neutra::training
