#include "report/changes.h"

namespace neutra::report {

Json changes(const program::Parameters& from, const program::Parameters& to) {
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

}  // namespace neutra::report
