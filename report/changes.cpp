#include "report/changes.h"

namespace neutra {

Json changes(const Parameters& from, const Parameters& to) {
  Json result = Json::object();
  for (const auto& [key, value] : to) {
    const auto before = from.find(key);
    if (before == from.end() || before->second != value) result[key] = value;
  }
  for (const auto& [key, value] : from) {
    if (!to.contains(key)) result[key] = nullptr;
  }
  return result;
}

}  // namespace neutra
