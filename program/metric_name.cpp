#include "program/metric_name.h"

#include <charconv>

#include "base/numbers.h"
#include "base/parse_number.h"

namespace neutra::program {
namespace {

constexpr std::string_view kK = "(k=", kOriginal = "(scale=original)",
                           kLogits = "(from_logits=true)", kThreshold = "(threshold=";

}  // namespace

std::string to_string(const MetricName& metric) {
  std::string text = metric.name;
  if (metric.k != 0) text += std::string(kK) + std::to_string(metric.k) + ")";
  if (metric.original_scale) text += kOriginal;
  if (metric.from_logits) text += kLogits;
  if (metric.threshold != 0.5) text += std::string(kThreshold) + shortest(metric.threshold) + ")";
  return text;
}

MetricName parse_metric_name(std::string_view text) {
  MetricName metric;
  if (const std::size_t at = text.find(kThreshold); at != std::string_view::npos) {
    const std::string_view number = text.substr(at + kThreshold.size());
    metric.threshold = parse_number<double>(std::string(number.substr(0, number.size() - 1)))
                           .value_or(metric.threshold);
    text = text.substr(0, at);
  }
  if (text.ends_with(kLogits)) {
    metric.from_logits = true;
    text.remove_suffix(kLogits.size());
  }
  if (text.ends_with(kOriginal)) {
    metric.original_scale = true;
    text.remove_suffix(kOriginal.size());
  }
  if (const std::size_t at = text.find(kK); at != std::string_view::npos) {
    std::from_chars(text.data() + at + kK.size(), text.data() + text.size(), metric.k);
    text = text.substr(0, at);
  }
  metric.name = text;
  return metric;
}

}  // namespace neutra::program
