#pragma once

#include <memory>
#include <optional>

#include "fl_adapters/tools/deepfd/table.h"

namespace neutra::fl_adapters::deepfd {

/// What the tool says about a program.
struct Diagnosis {
  /// Iterations in which each classifier names each label, of `iterations`.
  std::array<std::array<int, kLabels>, kClassifiers> votes{};
  int iterations = 0;
  Labels labels{};
};

/// A table with the classifiers that learned from it.
class Model {
 public:
  /// Trains the classifiers, which takes seconds.
  Model(Table table, ToolVariant variant);
  /// What the classifiers learned from.
  const Table& table() const { return table_; }
  /// The variant whose features they learned from.
  ToolVariant variant() const { return variant_; }
  /// From the features of nine trainings. As published the features of these and of the table are
  /// scaled to [0, 1] together, and a label is named where a classifier names it in more iterations
  /// than its offset; repaired by the table alone, and in more than half of the iterations. Either
  /// way one classifier of the three is enough.
  Diagnosis diagnose(const std::vector<std::vector<float>>& rows) const;

 private:
  Table table_;
  ToolVariant variant_;
  std::vector<float> low_, high_;  ///< of each feature, over the table
  std::unique_ptr<const Classifiers> classifiers_;
};

/// How well a model names the faults of mutants that it hasn't seen.
struct Evaluation {
  /// How often one label was named rightly and wrongly.
  struct Confusion {
    int true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;
    /// (recall + specificity) / 2; a half that no mutant tells counts 1/2.
    double balanced_accuracy() const;
  };
  std::array<Confusion, kLabels> labels;
  int mutants = 0, exact = 0;
  Labels frequent{};                 ///< the most frequent set of faults of these mutants
  int frequent_exact = 0;            ///< mutants that have it
  int all_exact = 0;                 ///< mutants that have all five
  int correct = 0, accused = 0;      ///< correct programs; those that the model calls faulty
  double balanced_accuracy() const;  ///< mean over the labels
};
/// Precondition: examples have the features of nine trainings at least.
Evaluation evaluate(const Model& model, const Table& held_out);

}  // namespace neutra::fl_adapters::deepfd
