#include "training/metrics.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "program/metric_name.h"
#include "program/vocabulary.h"
#include "training/metrics/sums.h"

namespace neutra::training {
namespace {

std::unique_ptr<MetricSum> make_sum(const std::string& name, std::int64_t k, TargetScale scale) {
  if (name == "AUC") return metrics::auc();
  if (name == "Precision") return metrics::precision();
  if (name == "Recall") return metrics::recall();
  if (name == "macro_f1") return metrics::macro_f1();
  if (name == "r2") return metrics::r2(std::move(scale));
  if (name == "top_k_categorical_accuracy") return metrics::top_k_accuracy(false, k);
  if (name == "sparse_top_k_categorical_accuracy") return metrics::top_k_accuracy(true, k);
  if (auto accuracy = metrics::accuracy(name)) return accuracy;
  if (auto mean = metrics::mean(name, std::move(scale))) return mean;
  throw input_error("metric: found " + name + "; allowed: " +
                    allowed_words(name, program::words(program::Vocabulary::kMetric)));
}

std::unique_ptr<MetricSum> make_sum_of_logits(const std::string& name) {
  if (auto mean = metrics::mean_of_logits(name)) return mean;
  throw input_error("metric: found " + name + " of logits; allowed: cross entropies");
}

/// Values of the steps that count, each a row.
struct Steps {
  std::vector<float> values;
  program::Shape extents;
  Batch batch() const { return {values, extents}; }
};

Steps counting_steps(const Batch& batch, std::span<const bool> counts) {
  Steps steps{{}, {0}};
  steps.extents.insert(steps.extents.end(), batch.extents.begin() + 2, batch.extents.end());
  const std::size_t width = batch.values.size() / counts.size();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i]) continue;
    const auto step = batch.values.subspan(i * width, width);
    steps.values.insert(steps.values.end(), step.begin(), step.end());
    ++steps.extents.front();
  }
  return steps;
}

}  // namespace

Metric::Metric(const std::string& name, TargetScale scale) {
  program::MetricName metric = program::parse_metric_name(name);
  if (const program::Entry* entry = program::find(program::Vocabulary::kMetric, metric.name);
      entry != nullptr && metric.k == 0) {
    metric.k = entry->facts.value("k", std::int64_t{0});
  }
  if (metric.threshold != 0.5) {
    sum_ = metrics::binary_accuracy(metric.threshold);
    return;
  }
  sum_ = metric.from_logits ? make_sum_of_logits(metric.name)
                            : make_sum(metric.name, metric.k,
                                       metric.original_scale ? std::move(scale) : TargetScale{});
}
Metric::Metric(Metric&&) noexcept = default;
Metric& Metric::operator=(Metric&&) noexcept = default;
Metric::~Metric() = default;

void Metric::add(const Batch& output, const Batch& target) {
  if (output.counts.empty()) return sum_->add(output, target);
  const Steps outputs = counting_steps(output, output.counts);
  if (outputs.extents.front() == 0) return;
  sum_->add(outputs.batch(), counting_steps(target, output.counts).batch());
}
double Metric::value() const { return sum_->value(); }
std::int64_t Metric::correct() const { return sum_->correct(); }
std::int64_t Metric::total() const { return sum_->total(); }
bool Metric::sorts() const { return sum_->sorts(); }

bool is_accuracy(const std::string& metric) { return metric.find("accuracy") != std::string::npos; }

}  // namespace neutra::training
