#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The rules that symptoms of faulty data follow: symptoms.json, in the format of
/// docs/formats/symptoms.md. docs/methods/monitors.md explains each.
namespace neutra::evaluators {

/// What values are held against.
enum class SymptomMode {
  kRelative,  ///< trainings of the clean program
  kAbsolute   ///< numbers, which hold for networks like those of the thesis
};

/// One comparison of a rule.
struct SymptomCondition {
  /// How the value must lie to the bound, or to the values of clean trainings.
  enum class Relation {
    kAtLeast,
    kBelow,
    kRatioAtLeast,      ///< value / that of each clean training; all at least 0
    kRatioBelow,        ///< likewise
    kDifferenceAtLeast  ///< value - that of each clean training
  };
  enum class Over { kLast, kMedian, kHighest };  ///< which of the epochs' values counts

  /// Of a layer: "PROPERTY.AGGREGATE", with max_abs (largest magnitude; infinite where a value
  /// isn't finite) and span (max_abs / min_abs) besides the aggregates, or "dead"; in bars
  /// ("|..|"), its magnitude. Of the training: "gradient_drop", "improvement", "mean_loss",
  /// "mean_val_loss", "overfit_gap".
  std::string of;
  Over over = Over::kLast;
  Relation relation{};
  double bound = 0;
  std::string bound_text() const;  ///< "at least 3 times the largest clean one"
};

/// Is a value held against those of clean trainings, and not against a number?
bool is_relative(SymptomCondition::Relation relation);

/// One way in which a symptom shows.
struct SymptomCase {
  std::vector<SymptomCondition> each;    ///< all hold in an affected layer
  std::vector<SymptomCondition> beside;  ///< all hold in some other layer, or there is no symptom
  bool beside_counts = false;            ///< such layers are affected, too
  std::vector<SymptomCondition> run;     ///< all hold for the training, or there is no symptom
  std::int64_t least_values = 1;         ///< layers with fewer values aren't looked at
  std::string source;                    ///< of the bounds
};

/// A symptom and how it is recognised.
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

/// A fault of the data that symptoms tell.
struct DataFault {
  std::string id, name;  ///< "label_noise", "label noise"
};

/// All rules of a file.
class SymptomRules {
 public:
  /// `file` names it in messages. Throws input_error for what the format doesn't allow
  /// (docs/formats/symptoms.md).
  SymptomRules(std::string_view json, const std::string& file);
  /// Throws what the constructor throws, and where the file can't be read.
  static SymptomRules read(const std::filesystem::path& file);
  static const SymptomRules& bundled();  ///< symptoms.json

  /// In the file's order.
  const std::vector<SymptomRule>& rules() const { return rules_; }
  /// In the file's order.
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

}  // namespace neutra::evaluators
