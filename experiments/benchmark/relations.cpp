#include "experiments/benchmark/relations.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/words.h"

namespace neutra::experiments {
namespace {

template <typename T>
bool intersect(const std::set<T>& a, const std::set<T>& b) {
  return std::any_of(a.begin(), a.end(), [&](const T& item) { return b.contains(item); });
}

std::set<std::string> operators_of(const BenchmarkEntry& entry) {
  std::set<std::string> operators;
  for (const mutators::Application& application : entry.applications) {
    operators.insert(application.op);
  }
  return operators;
}

/// Root cause and fix: the operators, and the places that the fix changes, whatever the index.
std::string cause_and_fix(const BenchmarkEntry& entry) {
  std::set<std::string> places;
  for (const Json& step : entry.change) {
    std::string place;
    const std::string path = step.value("path", "");
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find('/', at + 1), path.size());
      const std::string token = path.substr(at, end - at);
      const bool index = token.find_first_not_of("0123456789", 1) == std::string::npos;
      place += index ? "/*" : token;
      at = end;
    }
    places.insert(step.value("op", "") + " " + place);
  }
  const std::set<std::string> operators = operators_of(entry);
  places.insert(operators.begin(), operators.end());
  return join({places.begin(), places.end()}, "\n");
}

}  // namespace

std::string place_of(const program::Program& program,
                     const std::vector<mutators::Application>& applications,
                     const program::DataInfo* data) {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < applications.size(); ++i) {
    std::string place = "program";
    if (const mutators::Site site = applications[i].site; site != mutators::kWholeProgram) {
      // A site counts in the program as the applications before it left it.
      const auto first = applications.begin();
      const program::ResolvedProgram resolved = program::resolve(
          i == 0
              ? program
              : mutators::apply_all(program, {first, first + static_cast<std::ptrdiff_t>(i)}, data)
                    .program);
      if (site < 0 || site >= static_cast<mutators::Site>(resolved.layers.size())) {
        throw input_error(describe("", "layer", std::to_string(site), "a layer of the program"));
      }
      place = resolved.layers[static_cast<std::size_t>(site)].class_name;
    }
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  return join(places);
}

void count_support(std::vector<BenchmarkEntry>& entries) {
  std::map<std::string, int> counts;
  for (const BenchmarkEntry& entry : entries) {
    if (!entry.deprecated) ++counts[cause_and_fix(entry)];
  }
  for (BenchmarkEntry& entry : entries) {
    entry.support = entry.deprecated ? 0 : counts[cause_and_fix(entry)];
  }
}

std::vector<std::pair<const BenchmarkEntry*, int>> similar_entries(const Benchmark& benchmark,
                                                                   const BenchmarkEntry& entry) {
  std::vector<std::pair<const BenchmarkEntry*, int>> similar;
  for (const BenchmarkEntry& other : benchmark.entries) {
    if (other.id == entry.id || other.deprecated) continue;
    int points = 0;
    if (intersect(operators_of(other), operators_of(entry))) points += 4;
    if (intersect(program::types_of(other.faults), program::types_of(entry.faults))) points += 3;
    if (points == 0) continue;  // a subject or a kind of layer alone is no likeness
    if (other.place == entry.place) points += 2;
    if (other.subject == entry.subject) points += 1;
    similar.emplace_back(&other, points);
  }
  std::stable_sort(similar.begin(), similar.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return similar;
}

}  // namespace neutra::experiments
