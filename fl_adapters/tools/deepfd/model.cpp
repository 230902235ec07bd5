#include "fl_adapters/tools/deepfd/model.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace neutra::fl_adapters::deepfd {
namespace {

/// Smallest and largest value of each column over some rows.
struct Ranges {
  std::vector<float> low, high;
  void add(std::span<const float> row) {
    if (low.empty()) {
      low.assign(row.begin(), row.end());
      high = low;
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      low[i] = std::min(low[i], row[i]);
      high[i] = std::max(high[i], row[i]);
    }
  }
  /// Scaled to [0, 1]; a column with one value only becomes 0.
  std::vector<float> scaled(std::span<const float> row) const {
    std::vector<float> result(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (low[i] < high[i]) {
        // In double precision: the difference of two floats may not fit one.
        result[i] = static_cast<float>((static_cast<double>(row[i]) - low[i]) /
                                       (static_cast<double>(high[i]) - low[i]));
      }
    }
    return result;
  }
};

double share(int part, int rest) {
  return part + rest == 0 ? 0.5 : static_cast<double>(part) / (part + rest);
}

}  // namespace

Model::Model(Table table, ToolVariant variant) : table_(std::move(table)), variant_(variant) {
  LabelledRows rows = table_.rows(variant);
  assert(rows.rows() > 0);
  Ranges ranges;
  for (std::size_t i = 0; i < rows.rows(); ++i) ranges.add(rows.row(i));
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const std::vector<float> scaled = ranges.scaled(rows.row(i));
    std::copy(scaled.begin(), scaled.end(),
              rows.values.begin() + static_cast<std::ptrdiff_t>(i * rows.columns));
  }
  classifiers_ = std::make_unique<const Classifiers>(rows, table_.seed);
  low_ = std::move(ranges.low);
  high_ = std::move(ranges.high);
}

Diagnosis Model::diagnose(const std::vector<std::vector<float>>& rows) const {
  const bool published = variant_ == ToolVariant::kAsPublished;
  Ranges ranges{low_, high_};
  if (published) {
    for (const auto& row : rows) ranges.add(row);
  }
  Diagnosis result;
  result.iterations = static_cast<int>(rows.size());
  for (const auto& row : rows) {
    std::vector<float> scaled = ranges.scaled(row);
    for (float& value : scaled) value = std::clamp(value, 0.0f, 1.0f);
    const auto said = classifiers_->predict(scaled);
    for (std::size_t c = 0; c < kClassifiers; ++c) {
      for (std::size_t l = 0; l < kLabels; ++l) result.votes[c][l] += said[c][l];
    }
  }
  for (std::size_t l = 0; l < kLabels; ++l) {
    const double offset = published
                              ? message_table().threshold("offset_" + std::string(label_name(l)))
                              : result.iterations / 2.0;
    result.labels[l] = std::any_of(result.votes.begin(), result.votes.end(),
                                   [&](const auto& votes) { return votes[l] > offset; });
  }
  return result;
}

double Evaluation::Confusion::balanced_accuracy() const {
  return (share(true_positive, false_negative) + share(true_negative, false_positive)) / 2;
}

double Evaluation::balanced_accuracy() const {
  double sum = 0;
  for (const Confusion& label : labels) sum += label.balanced_accuracy();
  return sum / static_cast<double>(kLabels);
}

Evaluation evaluate(const Model& model, const Table& held_out) {
  Evaluation result;
  std::map<Labels, int> sets;
  const auto iterations = static_cast<std::size_t>(message_table().threshold("iterations"));
  for (const Example& example : held_out.examples) {
    auto rows = example.features[static_cast<std::size_t>(model.variant())];
    assert(rows.size() >= iterations);
    rows.resize(iterations);
    const Labels said = model.diagnose(rows).labels;
    if (example.labels == Labels{}) {
      ++result.correct;
      result.accused += said != Labels{};
      continue;
    }
    ++result.mutants;
    ++sets[example.labels];
    result.exact += said == example.labels;
    for (std::size_t l = 0; l < kLabels; ++l) {
      Evaluation::Confusion& label = result.labels[l];
      (example.labels[l] ? (said[l] ? label.true_positive : label.false_negative)
                         : (said[l] ? label.false_positive : label.true_negative)) += 1;
    }
  }
  for (const auto& [set, count] : sets) {
    if (count > result.frequent_exact) {
      result.frequent = set;
      result.frequent_exact = count;
    }
  }
  result.all_exact = sets[Labels{true, true, true, true, true}];
  return result;
}

}  // namespace neutra::fl_adapters::deepfd
