#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "evaluators/symptoms.h"
#include "monitored.h"

/// What tests of symptoms share.
namespace neutra::evaluators::tests {

using Ids = std::set<std::string>;
inline const std::set<std::size_t> kEachLayer{0, 1, 2, 3, 4, 5};

/// Ids of the rules that see these symptoms.
inline Ids ids(const std::vector<Symptom>& symptoms) {
  Ids result;
  for (const Symptom& symptom : symptoms) result.insert(symptom.rule->id);
  return result;
}

/// A quiet training with a change.
template <typename Change>
MonitoredRun changed(Change change) {
  MonitoredRun run = quiet_run();
  change(run);
  return run;
}

}  // namespace neutra::evaluators::tests
