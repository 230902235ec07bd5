#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "base/svg.h"
#include "experiments/scores/figures.h"

namespace neutra::experiments {
namespace {

constexpr double kLeft = 60, kRight = 44, kTop = 30, kBottom = 50, kWidth = 520, kHeight = 260;
constexpr double kWanted = 0.9;

}  // namespace

std::string efficiency_figure(const std::vector<EfficiencyPoint>& points) {
  double most = 1;
  for (const EfficiencyPoint& point : points) most = std::max(most, double(point.workers));
  const double doublings = std::max(std::ceil(std::log2(most)), 1.0);
  const auto x_of = [&](double workers) { return kLeft + kWidth * std::log2(workers) / doublings; };
  const auto y_of = [](double share) { return kTop + kHeight * (1 - share); };

  SvgPicture picture(kLeft + kWidth + kRight, kTop + kHeight + kBottom);
  for (int tenths = 0; tenths <= 10; tenths += 2) {
    const double share = tenths / 10.0;
    picture.line(kLeft, y_of(share), kLeft + kWidth, y_of(share), "stroke=\"#ddd\"");
    picture.text(kLeft - 8, y_of(share) + 4, shortest(share), "end");
  }
  for (double at = 0; at <= doublings; ++at) {
    const double workers = std::exp2(at);
    picture.line(x_of(workers), y_of(0), x_of(workers), y_of(0) + 4, "stroke=\"black\"");
    picture.text(x_of(workers), y_of(0) + 18, shortest(workers), "middle", 10);
  }
  picture.line(kLeft, y_of(0), kLeft + kWidth, y_of(0), "stroke=\"black\"");
  picture.line(kLeft, y_of(0), kLeft, y_of(1), "stroke=\"black\"");
  picture.line(kLeft, y_of(kWanted), kLeft + kWidth, y_of(kWanted),
               "stroke=\"#888\" stroke-dasharray=\"4 3\"");
  picture.text(kLeft + kWidth + 6, y_of(kWanted) + 4, "90 %", "start", 10);
  picture.text(kLeft + kWidth / 2, kTop + kHeight + 40, "workers", "middle");
  picture.text(16, kTop + kHeight / 2, "efficiency: bound / time", "middle", 12, true);

  std::map<std::string, std::vector<EfficiencyPoint>> series;
  for (const EfficiencyPoint& point : points) series[point.series].push_back(point);
  std::size_t number = 0;
  for (auto& [name, line] : series) {
    std::stable_sort(
        line.begin(), line.end(),
        [](const EfficiencyPoint& a, const EfficiencyPoint& b) { return a.workers < b.workers; });
    const std::string colour = kSvgColours[number % std::size(kSvgColours)];
    // Lines that are one upon the other show both.
    const bool odd = number % 2 == 1;
    const std::string pen = "stroke=\"" + colour + "\" stroke-width=\"1.5\"";
    const std::string stroke = odd ? pen + " stroke-dasharray=\"6 5\"" : pen;
    const std::string mark =
        odd ? "fill=\"white\" fill-opacity=\"0\" " + pen : "fill=\"" + colour + '"';
    const double radius = odd ? 6 : 3.5;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double x = x_of(line[i].workers), y = y_of(std::clamp(line[i].efficiency, 0.0, 1.0));
      if (i > 0) {
        picture.line(x_of(line[i - 1].workers), y_of(std::clamp(line[i - 1].efficiency, 0.0, 1.0)),
                     x, y, stroke);
      }
      picture.circle(x, y, radius, mark,
                     std::to_string(line[i].workers) + " workers, " + name + ": " +
                         shortest(std::round(line[i].efficiency * 1000) / 1000));
    }
    const double x = kLeft + 20 + 200 * static_cast<double>(number++);
    picture.line(x - 16, 14, x + 16, 14, stroke);
    picture.circle(x, 14, radius, mark);
    picture.text(x + 22, 18, name);
  }
  return picture.document();
}

}  // namespace neutra::experiments
