#include "graphs/ranges.h"

#include "base/json.h"
#include "base/json_section.h"

namespace neutra::graphs {
namespace {

Interval interval_of(const JsonSection& section, const std::string& place, const Json& value) {
  Interval interval;
  const auto bound = [&](const Json& json, double open) {
    if (json.is_null()) return open;
    if (!json.is_number())
      section.fail(place, json, "a list of two numbers, null for one that is not known");
    return json.get<double>();
  };
  if (!value.is_array() || value.size() != 2)
    section.fail(place, value, "a list of two numbers, null for one that is not known");
  interval.lo = bound(value[0], interval.lo);
  interval.hi = bound(value[1], interval.hi);
  if (interval.lo > interval.hi) section.fail(place, value, "the smaller number first");
  return interval;
}

Ranges::Default default_of(const JsonSection& section, const std::string& name, bool variable) {
  const std::string word = section.text(name, "unbounded");
  if (word == "unbounded") return Ranges::Default::kUnbounded;
  if (word == "bounded") return Ranges::Default::kBounded;
  if (variable && word == "initial") return Ranges::Default::kInitial;
  section.fail(name, section.at(name),
               variable ? "unbounded, bounded, initial" : "unbounded, bounded");
}

}  // namespace

Ranges read_ranges(const std::filesystem::path& file) {
  const Json json = read_json(file);
  const JsonSection section(json, file.string(), "",
                            {"format", "version", "nodes", "placeholders", "variables"});
  section.require_format("neutra-graph-ranges", 1);
  Ranges ranges;
  ranges.placeholders = default_of(section, "placeholders", false);
  ranges.variables = default_of(section, "variables", true);
  if (section.has("nodes"))
    for (const auto& [name, value] : section.object("nodes").items())
      ranges.nodes[name] = interval_of(section, "nodes/" + name, value);
  return ranges;
}

}  // namespace neutra::graphs
