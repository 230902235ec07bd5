#include "experiments/mutation_analysis/task.h"

#include <memory>

#include "base/error.h"
#include "mutators/mutants.h"

namespace neutra::experiments {
namespace {

mutators::Application application_at(const MutationTask::Place& place, const std::string& text) {
  mutators::Application application{std::string(place.op->id), place.site, Json(), place.seed};
  const auto known = place.values.find(text);
  if (known != place.values.end()) {
    application.value = known->second;
  } else if (place.op->parameter.type == mutators::ValueType::kInteger) {
    application.value = std::stoll(text);
  } else {
    application.value = std::stod(text);
  }
  return application;
}

}  // namespace

mutators::Application MutationTask::application(std::size_t site, const std::string& value) const {
  return application_at(places[site], value);
}

MutationTask mutation_task(const std::vector<const mutators::MutationOperator*>& operators,
                           const mutators::Target& target,
                           const std::vector<mutators::Site>& layers, std::uint64_t seed) {
  const mutators::OperatorPlaces found = mutators::find_places(target, operators, layers);
  const auto shared = std::make_shared<const mutators::Target>(target);
  MutationTask task;
  for (const auto& [op, site, reason] : found.left_out) task.left_out.push_back({op, reason});
  for (const auto& [op, site, values] : found.places) {
    OperatorSite own;
    own.op = op->id;
    own.abbreviation = op->abbreviation;
    if (site != mutators::kWholeProgram) own.site = "layer " + std::to_string(site);
    MutationTask::Place place{op, site, op->random ? seed : 0, {}};
    if (op->parameter.search == mutators::ValueSearch::kBinary) {
      const mutators::ValueRange range = mutators::search_range(*op, target);
      own.range = evaluators::SearchRange{range.from, range.to, range.precision, range.decimals};
    } else {
      for (const mutators::Candidate& candidate : values) {
        const std::string text = mutators::value_text(candidate.value);
        own.values.push_back(text);
        place.values[text] = candidate.value;
      }
    }
    own.make = [shared, place](const std::string& text) {
      const mutators::Application wanted = application_at(place, text);
      auto made = mutators::apply(*place.op, *shared, wanted.site, wanted.value, wanted.seed);
      if (auto* reason = std::get_if<mutators::Inapplicable>(&made)) {
        throw input_error(to_string(*reason));
      }
      return std::get<program::Program>(std::move(made));
    };
    task.places.push_back(std::move(place));
    task.sites.push_back(std::move(own));
  }
  return task;
}

}  // namespace neutra::experiments
