#include "experiments/mutation_task.h"

#include <algorithm>
#include <memory>

#include "mutators/mutants.h"
#include "program/error.h"

namespace neutra {

MutationTask mutation_task(const std::vector<const MutationOperator*>& operators,
                           const Target& target, const std::vector<Site>& layers,
                           std::uint64_t seed) {
  const auto count = static_cast<Site>(target.resolved.layers.size());
  for (const Site layer : layers) {
    if (layer < 0 || layer >= count) {
      throw input_error(
          describe("", "layer", std::to_string(layer), "0 to " + std::to_string(count - 1)));
    }
  }
  const auto shared = std::make_shared<const Target>(target);
  MutationTask task;
  for (const MutationOperator* op : operators) {
    const Sites found = find_sites(*op, target);
    if (found.sites.empty()) {
      task.left_out.push_back({op, found.reason});
      continue;
    }
    bool any = false;
    for (const Site site : found.sites) {
      if (op->by_layer && !layers.empty() &&
          std::find(layers.begin(), layers.end(), site) == layers.end()) {
        continue;
      }
      any = true;
      OperatorSite own;
      own.op = op->id;
      own.abbreviation = op->abbreviation;
      if (site != kWholeProgram) own.site = "layer " + std::to_string(site);
      std::map<std::string, Json> values;
      if (op->parameter.search == ValueSearch::kBinary) {
        const ValueRange range = search_range(*op, target);
        own.range = SearchRange{range.from, range.to, range.precision, range.decimals};
      } else {
        for (const Candidate& candidate : candidates(*op, target, site)) {
          const std::string text = value_text(candidate.value);
          own.values.push_back(text);
          values[text] = candidate.value;
        }
        if (own.values.empty()) {
          task.left_out.push_back({op, "every value of " + own.site + " is the program's own"});
          continue;
        }
      }
      const bool whole = op->parameter.type == ValueType::kInteger;
      own.make = [op, shared, site, seed, whole, values](const std::string& text) {
        const auto known = values.find(text);
        Json value;
        if (known != values.end()) {
          value = known->second;
        } else if (whole) {
          value = std::stoll(text);
        } else {
          value = std::stod(text);
        }
        auto made = apply(*op, *shared, site, value, seed);
        if (auto* reason = std::get_if<Inapplicable>(&made)) throw input_error(to_string(*reason));
        return std::get<Program>(std::move(made));
      };
      task.sites.push_back(std::move(own));
    }
    if (!any) task.left_out.push_back({op, "it applies at none of the layers that were asked for"});
  }
  return task;
}

}  // namespace neutra
