#include "fl_adapters/tools/thedeepchecker/loss_checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "evaluators/rank_tests.h"
#include "fl_adapters/tools/thedeepchecker/measures.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

/// The message for a loss that isn't a number.
std::vector<ToolMessage> check_number(double loss) {
  if (std::isnan(loss)) return {make_message("nan_loss")};
  if (std::isinf(loss)) return {make_message("inf_loss")};
  return {};
}

}  // namespace

Messages check_fit(const Fit& fit, ToolVariant variant) {
  for (std::size_t i = 0; i < fit.losses.size(); ++i) {
    Messages messages = check_number(fit.losses[i]);
    if (messages.empty()) continue;
    messages.push_back(make_message("underfitting_single_batch"));
    for (ToolMessage& message : messages) message.epochs = {static_cast<std::int64_t>(i)};
    return messages;
  }
  if (fit.losses.empty()) return {};
  Messages messages;
  const auto [worst, best] = std::minmax_element(fit.performance.begin(), fit.performance.end());
  if (fit.classification ? 1 - *best > limit("fit_mislabeled") : *worst > limit("fit_error")) {
    messages.push_back(make_message("underfitting_single_batch", kNowhere, {},
                                    (fit.classification ? "best accuracy " : "least error ") +
                                        rounded(fit.classification ? *best : *worst)));
  }
  const double least = *std::min_element(fit.losses.begin(), fit.losses.end());
  // The published rule takes every negative loss for one near zero.
  const bool below = least < -limit("fit_absolute_loss");
  if (below && variant == ToolVariant::kRepaired) return messages;
  if (least <= limit("fit_absolute_loss") ||
      (least <= limit("fit_loss") && smoothness(fit.losses) > limit("fit_smoothness"))) {
    messages.push_back(
        make_message("zero_loss", kNowhere, {},
                     "least loss " + shortest(least) +
                         (below ? ", far below zero: the rule asks only for a small one" : "")));
  }
  return messages;
}

Messages check_data_dependence(std::span<const double> real, std::span<const double> zeroed) {
  const auto last = [](std::span<const double> losses) {
    return losses.last(std::min(losses.size(), count_limit("fit_last_losses")));
  };
  const evaluators::RankTest test = evaluators::mann_whitney_u(last(real), last(zeroed));
  if (test.p <= limit("fit_alpha")) return {};
  return {make_message("data_dep", kNowhere, {}, "p " + rounded(test.p))};
}

void LossCheck::see(std::int64_t iteration, double loss, double performance, Messages& out) {
  step_losses_.push_back(loss);
  step_performances_.push_back(performance);
  Messages messages = check_number(loss);
  if (!messages.empty()) return add(out, std::move(messages.front()), iteration);
  if (iteration % static_cast<std::int64_t>(limit("period")) != 0) return;
  losses_.push_back(mean_of(std::exchange(step_losses_, {})));
  performances_.push_back(mean_of(std::exchange(step_performances_, {})));
  least_ = std::min(least_, losses_.back());

  const std::size_t window = count_limit("window");
  if (losses_.size() >= window) {
    std::vector<double> falls, rises;
    for (std::size_t i = losses_.size() - window + 1; i < losses_.size(); ++i) {
      falls.push_back((losses_[i - 1] - losses_[i]) / losses_[i - 1]);
      rises.push_back((losses_[i] / least_) / (losses_[i - 1] / least_));
    }
    if (std::all_of(falls.begin(), falls.end(),
                    [](double fall) { return fall < limit("loss_decrease"); })) {
      add(out, make_message("stagnated_loss"), iteration);
    }
    if (all_at_least(rises, limit("loss_growth"))) {
      add(out, make_message("div_loss", kNowhere, {rounded(greatest(rises))}), iteration);
    }
  }
  const std::span<const double> curve(losses_);
  const double smooth =
      smoothness(curve.last(std::min(curve.size(), count_limit("smoothness_window"))));
  if (smooth < limit("smoothness")) {
    add(out,
        make_message("fluctuated_loss", kNowhere, {rounded(smooth), plain(limit("smoothness"))}),
        iteration);
  }
  if (losses_.size() > 2) {
    const double together = std::abs(correlation(losses_, performances_));
    if (together < limit("correlation")) {
      add(out,
          make_message("non_representative_loss", kNowhere,
                       {rounded(together), plain(limit("correlation"))}),
          iteration);
    }
  }
}

}  // namespace neutra::fl_adapters::thedeepchecker
