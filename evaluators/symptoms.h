#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "evaluators/monitor_file.h"
#include "evaluators/paired_tests.h"
#include "evaluators/symptom_rules.h"

/// Symptoms of faulty data in monitored trainings, after Shah (Understanding the Challenges of
/// Reproducing Deep Learning Bugs, 2024, chapter 3). Rules and bounds are data: symptoms.json;
/// docs/methods/monitors.md explains each.
namespace neutra::evaluators {

/// A value that met its condition.
struct SymptomValue {
  const SymptomCondition* condition = nullptr;
  double value = 0;
  double clean = 0;  ///< the nearest of the clean trainings; NaN where it is held against a number
};
/// An affected layer, with the values that met the conditions.
struct SymptomLayer {
  int index = 0;  ///< over model.config.layers
  std::string class_name;
  std::vector<SymptomValue> values;
  std::string name = {};  ///< "" where the file has none
};

/// A symptom that a training shows.
struct Symptom {
  const SymptomRule* rule = nullptr;
  const SymptomCase* shown = nullptr;
  std::vector<SymptomLayer> layers;  ///< affected ones; none: of the training as a whole
  std::size_t looked_at = 0;         ///< layers that could have been
  std::vector<SymptomValue> values;  ///< of the training as a whole
  std::string explanation() const;   ///< one line: values and bounds
};

/// The symptoms of a training, in the order of the rules: relative to every one of the clean
/// trainings if there are any, else by numbers. Layers are paired by class from the first and from
/// the last on; rules about layers pass over those without a partner. `rules` outlives the result.
std::vector<Symptom> find_symptoms(const MonitoredRun& run,
                                   const std::vector<const MonitoredRun*>& clean = {},
                                   const SymptomRules& rules = SymptomRules::bundled());

/// Those of several trainings, faulty or clean. Training i is held against all clean ones but the
/// i-th, so that a faulty and a clean training have the same measure, and none is its own; against
/// the only one if there is no other.
std::vector<std::vector<Symptom>> find_all_symptoms(
    const std::vector<MonitoredRun>& runs, const std::vector<MonitoredRun>& clean,
    const SymptomRules& rules = SymptomRules::bundled());

/// How likely a fault of the data made these symptoms.
struct DataFaultScore {
  const DataFault* fault = nullptr;
  /// Naive Bayes: log of P(symptoms | fault) / P(symptoms | clean data), with (n + 1) / (models +
  /// 2) for n models of the thesis. What it doesn't report says nothing.
  double log_odds = 0;
  double probability = 0;  ///< among all faults and clean data, before as likely as each other
};
/// The likeliest first; ties in the file's order.
std::vector<DataFaultScore> rank_data_faults(const std::vector<Symptom>& symptoms,
                                             const SymptomRules& rules = SymptomRules::bundled());

/// A symptom in the trainings of a program, and in those of its clean version.
struct SymptomCount {
  const SymptomRule* rule = nullptr;
  std::size_t faulty = 0, clean = 0;  ///< trainings with it
  PairedCounts pairs;                 ///< first: faulty; of training i with training i
};
/// One for each rule. `clean`: as many as `faulty`, or none.
std::vector<SymptomCount> count_symptoms(const std::vector<std::vector<Symptom>>& faulty,
                                         const std::vector<std::vector<Symptom>>& clean,
                                         const SymptomRules& rules = SymptomRules::bundled());

}  // namespace neutra::evaluators
