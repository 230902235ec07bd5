#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/svg.h"
#include "evaluators/statistics.h"
#include "experiments/scores/figures.h"

namespace neutra::experiments {
namespace {

constexpr double kWidth = 640, kHeight = 400, kLeft = 60, kRight = 150, kTop = 20, kBottom = 50;
constexpr double kRadius = 6;
constexpr const char* kAxis = "stroke=\"black\" stroke-width=\"1\"";
constexpr const char* kGrid = "stroke=\"#ddd\" stroke-width=\"1\"";

}  // namespace

std::vector<ToolTime> tool_times(const ScoreSheet& sheet) {
  std::vector<ToolTime> points;
  for (const std::string& tool : sheet.tools) {
    std::vector<double> seconds, before, after;
    for (const ScoreRow& row : sheet.rows) {
      if (row.tool != tool) continue;
      if (row.seconds) seconds.push_back(*row.seconds);
      before.push_back(row.before.f);
      after.push_back(row.after.score.f);
    }
    if (!seconds.empty()) {
      points.push_back(
          {tool, evaluators::mean(seconds), evaluators::mean(before), evaluators::mean(after)});
    }
  }
  return points;
}

std::string time_figure(const ScoreSheet& sheet) {
  const std::vector<ToolTime> points = tool_times(sheet);
  constexpr double kLeast = 1e-4;  ///< shorter times are drawn here
  double low = 0, high = 1;        ///< exponents of ten
  if (!points.empty()) {
    const auto [first, last] = std::minmax_element(
        points.begin(), points.end(),
        [](const ToolTime& a, const ToolTime& b) { return a.seconds < b.seconds; });
    low = std::floor(std::log10(std::max(kLeast, first->seconds)));
    high = std::max(low + 1, std::ceil(std::log10(std::max(kLeast, last->seconds))));
  }
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  const auto x_of = [&](double seconds) {
    const double share = (std::log10(std::max(kLeast, seconds)) - low) / (high - low);
    return kLeft + share * (right - kLeft);
  };
  const auto y_of = [&](double f) { return bottom - f * (bottom - kTop); };

  SvgPicture picture(kWidth, kHeight);
  for (int tick = 0; tick <= 5; ++tick) {
    const double f = tick / 5.0;
    picture.line(kLeft, y_of(f), right, y_of(f), tick == 0 ? kAxis : kGrid);
    picture.text(kLeft - 8, y_of(f) + 4, shortest(f), "end");
  }
  for (double power = low; power <= high; ++power) {
    const double x = x_of(std::pow(10, power));
    picture.line(x, kTop, x, bottom, power == low ? kAxis : kGrid);
    picture.text(x, bottom + 18, shortest(std::pow(10, power)), "middle");
  }
  picture.text((kLeft + right) / 2, kHeight - 10, "seconds of one localisation (mean)", "middle");
  picture.text(18, (kTop + bottom) / 2, "F3 (mean)", "middle", 12, true);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ToolTime& point = points[i];
    const std::string colour = kSvgColours[i % std::size(kSvgColours)];
    const double x = x_of(point.seconds);
    const std::string title = point.tool + ": " + shortest(point.seconds) + " s";
    picture.line(x, y_of(point.before), x, y_of(point.after),
                 "stroke=\"" + colour + "\" stroke-width=\"1.5\"");
    picture.circle(x, y_of(point.before), kRadius,
                   "fill=\"white\" stroke=\"" + colour + "\" stroke-width=\"2\"",
                   title + ", F3 before " + shortest(point.before));
    picture.circle(x, y_of(point.after), kRadius, "fill=\"" + colour + "\"",
                   title + ", F3 after " + shortest(point.after));
    const double y = kTop + 10 + 18 * static_cast<double>(i);
    picture.circle(right + 20, y - 4, kRadius, "fill=\"" + colour + "\"");
    picture.text(right + 32, y, point.tool);
  }
  const double y = kTop + 10 + 18 * static_cast<double>(points.size() + 1);
  picture.circle(right + 20, y - 4, kRadius, "fill=\"white\" stroke=\"black\" stroke-width=\"2\"");
  picture.text(right + 32, y, "known fix alone");
  picture.circle(right + 20, y + 14, kRadius, "fill=\"black\"");
  picture.text(right + 32, y + 18, "all ground truths");
  return picture.document();
}

}  // namespace neutra::experiments
