#include "mutators/neighbours.h"

#include <algorithm>

#include "base/error.h"
#include "mutators/registry.h"

namespace neutra::mutators {

std::vector<Neighbour> neighbours(const program::ProgramSpace& space,
                                  const program::Parameters& parameters, Preset preset) {
  std::vector<Neighbour> result;
  for (const program::Key& key : space.keys()) {
    const NeutralityOperator* op = find_operator(key.kind);
    if (op == nullptr) continue;
    const auto current = parameters.find(key.name);
    if (current == parameters.end()) {
      throw input_error(describe("", program::to_string(parameters), "no value for key " + key.name,
                                 "a value for each key"));
    }
    const std::vector<std::string> values = op->values(current->second, preset);
    // A preset holds each meaning once: where the current spelling is in it, no other one there
    // means the same.
    const bool listed = std::find(values.begin(), values.end(), current->second) != values.end();
    const nlohmann::json now = listed ? nullptr : meaning(space, key.name, current->second);
    for (const std::string& value : values) {
      if (listed ? value == current->second : meaning(space, key.name, value) == now) continue;
      Neighbour neighbour{{std::string(op->id), key.name, current->second, value}, parameters};
      neighbour.parameters[key.name] = value;
      result.push_back(std::move(neighbour));
    }
  }
  return result;
}

}  // namespace neutra::mutators
