#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evaluators/monitor_file.h"
#include "evaluators/paired_tests.h"

/// Symptoms of faulty data in monitored trainings, after Shah (Understanding the Challenges of
/// Reproducing Deep Learning Bugs, 2024, chapter 3). Rules and bounds are data: symptoms.json;
/// docs/methods/monitors.md explains each.
namespace neutra::evaluators {

/// What values are held against.
enum class SymptomMode {
  kRelative,  ///< trainings of the clean program
  kAbsolute   ///< numbers, which hold for networks like those of the thesis
};

/// One comparison of a rule.
struct SymptomCondition {
  enum class Comparison {
    kAtLeast,
    kBelow,
    kRatioAtLeast,      ///< value / that of each clean training; all at least 0
    kRatioBelow,        ///< likewise
    kDifferenceAtLeast  ///< value - that of each clean training
  };
  enum class Over { kLast, kMedian, kHighest };  ///< epochs

  /// Of a layer: "PROPERTY.AGGREGATE", with max_abs (largest magnitude; infinite where a value
  /// isn't finite) and span (max_abs / min_abs) besides the aggregates, or "dead"; in bars
  /// ("|..|"), its magnitude. Of the training: "gradient_drop", "improvement", "mean_loss",
  /// "mean_val_loss", "overfit_gap".
  std::string of;
  Over over = Over::kLast;
  Comparison comparison{};
  double bound = 0;
  std::string bound_text() const;  ///< "at least 3 times the largest clean one"
};

/// One way in which a symptom shows.
struct SymptomCase {
  std::vector<SymptomCondition> each;    ///< all hold in an affected layer
  std::vector<SymptomCondition> beside;  ///< all hold in some other layer, or there is no symptom
  bool beside_counts = false;            ///< such layers are affected, too
  std::vector<SymptomCondition> run;     ///< all hold for the training, or there is no symptom
  std::int64_t least_values = 1;         ///< layers with fewer values aren't looked at
  std::string source;                    ///< of the bounds
};

struct SymptomRule {
  enum class Where { kAll, kEarly, kOutput };  ///< layers: all, the first half, the last

  std::string id;  ///< "reduced_capacity"
  int number = 0;  ///< in the list of docs/methods/monitors.md
  std::string name, meaning;
  std::string data;                      ///< kind of data that the thesis saw it with
  std::vector<std::string> layer_kinds;  ///< layers that it saw affected most
  Where where = Where::kAll;
  double share = 0;                                       ///< of the layers of an affected model
  std::map<SymptomMode, std::vector<SymptomCase>> cases;  ///< one is enough
  std::map<std::string, int> prevalence;  ///< models with it, by data fault; none: not reported
  int clean = 0;                          ///< models on clean data with it
};

struct DataFault {
  std::string id, name;  ///< "label_noise", "label noise"
};

class SymptomRules {
 public:
  /// `file` names it in messages. Throws input_error for what the format doesn't allow
  /// (docs/formats/symptoms.md).
  SymptomRules(std::string_view json, const std::string& file);
  static SymptomRules read(const std::filesystem::path& file);
  static const SymptomRules& bundled();

  const std::vector<SymptomRule>& rules() const { return rules_; }
  const std::vector<DataFault>& data_faults() const { return data_faults_; }
  int models() const { return models_; }           ///< that shares of models are of
  double share_factor() const { return factor_; }  ///< part of `share` that must be affected
  double normal_kurtosis() const { return normal_kurtosis_; }  ///< 0: of excess; 3: Pearson's

 private:
  std::vector<SymptomRule> rules_;
  std::vector<DataFault> data_faults_;
  int models_ = 0;
  double factor_ = 0, normal_kurtosis_ = 0;
};

/// A value that met its condition.
struct SymptomValue {
  const SymptomCondition* condition = nullptr;
  double value = 0;
  double clean = 0;  ///< the nearest of the clean trainings; NaN where it is held against a number
};
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
