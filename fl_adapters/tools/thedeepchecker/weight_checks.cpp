#include "fl_adapters/tools/thedeepchecker/weight_checks.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "training/observer.h"

namespace neutra::fl_adapters::thedeepchecker {

void WeightCheck::see(std::int64_t iteration, std::span<const float> values, Messages& out) {
  const auto say = [&](const std::string& code, const std::vector<std::string>& texts) {
    add(out, make_message(code, place_, texts), iteration);
  };
  const training::Statistics summary = training::statistics(values);
  if (summary.infinite > 0) return say(bias_ ? "b_inf" : "w_inf", {place_.name});
  if (summary.nan > 0) return say(bias_ ? "b_nan" : "w_nan", {place_.name});
  remember(means_, summary.mean_abs);
  if (!is_due(iteration)) return;
  // One number is all negative or not at all.
  const bool counts = variant_ == ToolVariant::kAsPublished || values.size() > 1;
  if (!bias_ && counts) {
    const auto share = [&](auto holds) {
      return static_cast<double>(std::count_if(values.begin(), values.end(), holds)) /
             static_cast<double>(values.size());
    };
    const double negative = share([](float v) { return v < 0; });
    if (negative > limit("negative_weights")) {
      say(kind(place_, "w_sign"),
          {place_.name, rounded(negative), plain(limit("negative_weights"))});
    }
    const double dead = share([](float v) { return std::abs(v) < limit("dead_weight"); });
    if (dead > limit("dead_weights")) {
      say(kind(place_, "w_dead"), {place_.name, rounded(dead), plain(limit("dead_weight"))});
    }
  }
  // The published texts of kernels have no braces for the name that they are given.
  const auto diverges = [&](const char* code, double value, double bound) {
    std::vector<std::string> texts{rounded(value), plain(bound)};
    if (bias_ || variant_ == ToolVariant::kAsPublished) texts.insert(texts.begin(), place_.name);
    say(bias_ ? std::string("b_") + code : kind(place_, (std::string("w_") + code).c_str()), texts);
  };
  const std::vector<double> ratios = growth(means_);
  if (means_.back() > limit("weight_mean")) {
    diverges("div_1", means_.back(), limit("weight_mean"));
  } else if (all_at_least(ratios, limit("weight_growth"))) {
    diverges("div_2", greatest(ratios), limit("weight_growth"));
  }
}

void GradientCheck::see(std::int64_t iteration, std::span<const float> before,
                        std::span<const float> after, std::span<const float> gradient,
                        Messages& out) {
  const auto say = [&](const std::string& code, const std::vector<std::string>& texts) {
    add(out, make_message(code, place_, texts), iteration);
  };
  const training::Statistics summary = training::statistics(gradient);
  if (summary.infinite > 0) return say("gw_inf", {place_.name});
  if (summary.nan > 0) return say("gw_nan", {place_.name});
  remember(means_, summary.mean_abs);

  const double size = training::statistics(before).mean_abs;
  if (size != 0) {
    double update = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      update += std::abs(static_cast<double>(after[i]) - before[i]);
    }
    update /= static_cast<double>(after.size()) * size;
    updates_.push_back(update > 0 ? std::log10(update) : 0);
    if (iteration > 0 && iteration % static_cast<std::int64_t>(limit("period")) == 0) {
      const double mean = mean_of(std::exchange(updates_, {}));
      if (mean == 0) {
        say("w_untrained", {place_.name});
      } else if (mean > limit("update_high")) {
        say(kind(place_, "w_fast"), {place_.name, rounded(mean), plain(limit("update_high"))});
      } else if (mean < limit("update_low")) {
        say(kind(place_, "w_slow"), {place_.name, rounded(mean), plain(limit("update_low"))});
      }
    }
  }

  if (!is_due(iteration)) return;
  const std::vector<double> ratios = growth(means_);
  const double mean = means_.back();
  if (mean < limit("gradient_low")) {
    say(kind(place_, "gw_van_1"), {place_.name, rounded(mean), plain(limit("gradient_low"))});
  } else if (all_at_most(ratios, limit("gradient_decay"))) {
    say(kind(place_, "gw_van_2"),
        {place_.name, rounded(*std::min_element(ratios.begin(), ratios.end())),
         plain(limit("gradient_decay"))});
  }
  if (mean > limit("gradient_high")) {
    say(kind(place_, "gw_exp_1"), {place_.name, python_repr(mean), plain(limit("gradient_high"))});
  } else if (all_at_least(ratios, limit("gradient_growth"))) {
    say(kind(place_, "gw_exp_2"),
        {place_.name, rounded(greatest(ratios)), plain(limit("gradient_growth"))});
  }
}

void RegularizationCheck::see(std::int64_t iteration, double ratio, Messages& out) {
  ratios_.push_back(ratio);
  if (ratios_.size() > count_limit("window")) ratios_.pop_front();
  if (ratios_.size() < count_limit("window")) return;
  const double bound = limit("regularization_growth");
  if (!std::all_of(ratios_.begin(), ratios_.end(), [&](double r) { return r >= bound; })) return;
  add(out, make_message("overwhelm_reg_loss", place_, {rounded(ratios_.front()), plain(bound)}),
      iteration);
}

}  // namespace neutra::fl_adapters::thedeepchecker
