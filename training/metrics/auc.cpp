#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "training/metrics.h"
#include "training/metrics/pairs.h"
#include "training/metrics/sums.h"

namespace neutra::training {
namespace metrics {
namespace {

/// Does a row belong to class `c`?
bool is_of_class(const Scores& scores, std::size_t row, std::size_t c) {
  const std::span<const float> wanted = scores.targets(row);
  return scores.labels ? std::trunc(wanted[0]) == static_cast<double>(c)
                       : c < wanted.size() && positive(wanted[c]);
}

class Auc final : public MetricSum {
 public:
  void add(const Batch& output, const Batch& target) override {
    if (output.extents.back() == 1) {
      classes_.resize(1);
      for_each_pair({output}, {target},
                    [this](double o, double t) { classes_[0].emplace_back(o, positive(t)); });
      return;
    }
    const Scores scores("AUC", output, target, are_labels(output, target));
    classes_.resize(scores.width);
    for (std::size_t row = 0; row < scores.rows; ++row) {
      for (std::size_t c = 0; c < scores.width; ++c) {
        classes_[c].emplace_back(scores.scores(row)[c], is_of_class(scores, row, c));
      }
    }
  }
  double value() const override {
    double sum = 0;
    int areas = 0;
    for (const Ranked& ranked : classes_) {
      const auto area = area_under_curve(ranked);
      if (!area) continue;
      sum += *area;
      ++areas;
    }
    return areas == 0 ? kNaN : sum / areas;
  }
  bool sorts() const override { return true; }

 private:
  using Ranked = std::vector<std::pair<double, bool>>;  ///< score, is positive

  /// Share of the pairs of a positive and a negative row in which the positive one has the larger
  /// score, equal ones counting half: Mann and Whitney's U. Nullopt: rows of one kind.
  static std::optional<double> area_under_curve(Ranked ranked) {
    for (const auto& [score, unused] : ranked) {
      if (std::isnan(score)) return kNaN;
    }
    std::sort(ranked.begin(), ranked.end());
    double pairs = 0;  // whole and half ones: exact
    std::int64_t negatives = 0, positives = 0;
    for (std::size_t i = 0; i < ranked.size();) {
      std::int64_t equal_positives = 0, equal_negatives = 0;
      const double score = ranked[i].first;
      for (; i < ranked.size() && ranked[i].first == score; ++i) {
        (ranked[i].second ? equal_positives : equal_negatives) += 1;
      }
      pairs += static_cast<double>(equal_positives) *
               (static_cast<double>(negatives) + static_cast<double>(equal_negatives) / 2);
      negatives += equal_negatives;
      positives += equal_positives;
    }
    if (negatives == 0 || positives == 0) return std::nullopt;
    return pairs / static_cast<double>(negatives) / static_cast<double>(positives);
  }

  std::vector<Ranked> classes_;
};

}  // namespace

Sum auc() { return std::make_unique<Auc>(); }

}  // namespace metrics

std::string undefined_metric(const program::ResolvedProgram& program, const Batch& targets) {
  const std::int64_t rows = targets.extents.front();
  if (program.metric != "AUC" || rows == 0) return "";
  // Classes that differ from place to place are all that it needs.
  std::int64_t outputs = 1, row = 1;
  for (const std::int64_t extent : program.layers.back().output_shape) row *= (outputs = extent);
  const auto width = static_cast<std::int64_t>(targets.values.size()) / rows;
  const bool labels = outputs > 1 && width * outputs == row;
  const auto class_of = [&](float target) {
    return labels ? std::trunc(static_cast<double>(target))
                  : static_cast<double>(metrics::positive(target));
  };
  const auto step = static_cast<std::size_t>(outputs > 1 && !labels ? width : 1);
  for (std::size_t i = step; i < targets.values.size(); ++i) {
    if (class_of(targets.values[i]) != class_of(targets.values[i - step])) return "";
  }
  return "AUC of rows of one class";
}

}  // namespace neutra::training
