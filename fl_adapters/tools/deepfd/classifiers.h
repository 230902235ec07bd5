#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace neutra::fl_adapters::deepfd {

/// What the tool names: opt, lr, act, loss, epoch.
inline constexpr std::size_t kLabels = 5;
using Labels = std::array<bool, kLabels>;

/// Nearest neighbours, decision tree, random forest.
inline constexpr std::size_t kClassifiers = 3;

/// Rows of features with what is wrong with each.
struct LabelledRows {
  std::size_t columns = 0;
  std::vector<float> values;  ///< row-major
  std::vector<Labels> labels;
  /// How many there are.
  std::size_t rows() const { return labels.size(); }
  /// The features of row i; precondition: there is one.
  std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
};

/// DeepFD's three classifiers, from OpenCV: 5 nearest neighbours, a decision tree (Gini, depth 5)
/// and a random forest (32 trees, depth 10, 60 features a split), each once for every label.
/// OpenCV's headers stay in classifiers.cpp.
class Classifiers {
 public:
  /// Equal rows and seeds give equal classifiers. Precondition: at least one row.
  Classifiers(const LabelledRows& rows, std::uint64_t seed);
  ~Classifiers();
  /// What each classifier says about one row.
  std::array<Labels, kClassifiers> predict(std::span<const float> row) const;

 private:
  struct Models;
  std::unique_ptr<const Models> models_;
};

}  // namespace neutra::fl_adapters::deepfd
