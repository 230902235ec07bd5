#include "experiments/mutation_task.h"

#include <memory>

#include "mutators/mutants.h"
#include "program/error.h"

namespace neutra {
namespace {

Application application_at(const MutationTask::Place& place, const std::string& text) {
  Application application{std::string(place.op->id), place.site, Json(), place.seed};
  const auto known = place.values.find(text);
  if (known != place.values.end()) {
    application.value = known->second;
  } else if (place.op->parameter.type == ValueType::kInteger) {
    application.value = std::stoll(text);
  } else {
    application.value = std::stod(text);
  }
  return application;
}

}  // namespace

Application MutationTask::application(std::size_t site, const std::string& value) const {
  return application_at(places[site], value);
}

MutationTask mutation_task(const std::vector<const MutationOperator*>& operators,
                           const Target& target, const std::vector<Site>& layers,
                           std::uint64_t seed) {
  const OperatorPlaces found = find_places(target, operators, layers);
  const auto shared = std::make_shared<const Target>(target);
  MutationTask task;
  for (const auto& [op, site, reason] : found.left_out) task.left_out.push_back({op, reason});
  for (const auto& [op, site, values] : found.places) {
    OperatorSite own;
    own.op = op->id;
    own.abbreviation = op->abbreviation;
    if (site != kWholeProgram) own.site = "layer " + std::to_string(site);
    MutationTask::Place place{op, site, op->random ? seed : 0, {}};
    if (op->parameter.search == ValueSearch::kBinary) {
      const ValueRange range = search_range(*op, target);
      own.range = SearchRange{range.from, range.to, range.precision, range.decimals};
    } else {
      for (const Candidate& candidate : values) {
        const std::string text = value_text(candidate.value);
        own.values.push_back(text);
        place.values[text] = candidate.value;
      }
    }
    own.make = [shared, place](const std::string& text) {
      const Application wanted = application_at(place, text);
      auto made = apply(*place.op, *shared, wanted.site, wanted.value, wanted.seed);
      if (auto* reason = std::get_if<Inapplicable>(&made)) throw input_error(to_string(*reason));
      return std::get<Program>(std::move(made));
    };
    task.places.push_back(std::move(place));
    task.sites.push_back(std::move(own));
  }
  return task;
}

}  // namespace neutra
