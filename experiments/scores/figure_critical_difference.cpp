#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <utility>

#include "base/svg.h"
#include "evaluators/comparison.h"
#include "experiments/scores/figures.h"

namespace neutra::experiments {
namespace {

constexpr double kAxisWidth = 340, kLeastMargin = 190;   ///< names stand in the margins
constexpr double kLetter = 7.5, kRankWidth = 60;         ///< about, of a name and of a mean rank
constexpr double kTop = 22, kBarAbove = 26, kAxis = 56;  ///< from the top of a panel
constexpr double kBarStep = 9, kNameStep = 18, kGap = 24, kLegend = 26;
constexpr const char* kThin = "stroke=\"black\" stroke-width=\"1\"";
constexpr const char* kNemenyi = "stroke=\"black\" stroke-width=\"4\"";
constexpr const char* kHolm = "stroke=\"#0072b2\" stroke-width=\"4\"";

/// First and last place of a run.
using Run = std::pair<std::size_t, std::size_t>;

/// The longest runs of neighbours of whom no two are apart, of two places and more.
std::vector<Run> undivided(std::size_t places,
                           const std::function<bool(std::size_t, std::size_t)>& apart) {
  std::vector<Run> runs;
  for (std::size_t first = 0; first < places; ++first) {
    std::size_t last = first;
    const auto fits = [&](std::size_t next) {
      for (std::size_t i = first; i < next; ++i) {
        if (apart(i, next)) return false;
      }
      return true;
    };
    while (last + 1 < places && fits(last + 1)) ++last;
    if (last > first && (runs.empty() || last > runs.back().second)) runs.emplace_back(first, last);
  }
  return runs;
}

std::string two_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string p_statement(double p) {
  char text[32];
  std::snprintf(text, sizeof text, p < 0.0001 ? "p < 0.0001" : "p = %.4f", p);
  return text;
}

/// One panel: what is drawn, and how high it is.
struct Panel {
  const evaluators::FriedmanTest& test;
  std::string title;
  std::vector<std::size_t> tools;  ///< the best first
  std::size_t least = 0;           ///< faults that a difference needs
  double critical = 0;
  std::vector<Run> nemenyi, holm;

  bool too_few() const { return test.blocks < least; }

  double bars() const { return kBarStep * static_cast<double>(nemenyi.size() + holm.size()); }
  double height() const {
    return kAxis + bars() + kNameStep * static_cast<double>((tools.size() + 1) / 2) + kGap;
  }
};

Panel make_panel(const ScoreSheet& sheet, const evaluators::FriedmanTest& test,
                 const std::string& stage, double ToolComparison::*holm) {
  Panel panel{
      test, "", {}, evaluators::least_blocks(test.treatments, evaluators::kSignificanceLevel),
      0,    {}, {}};
  panel.title = stage + ": " + std::to_string(test.blocks) + " faults";
  if (!panel.too_few()) {
    panel.title += ", Friedman's test " + p_statement(test.p) + ", Iman and Davenport's " +
                   p_statement(test.f_p);
  }
  panel.tools.resize(test.treatments);
  std::iota(panel.tools.begin(), panel.tools.end(), std::size_t{0});
  std::stable_sort(panel.tools.begin(), panel.tools.end(), [&](std::size_t a, std::size_t b) {
    return test.mean_ranks[a] < test.mean_ranks[b];
  });
  if (panel.too_few()) return panel;  // no bar: one would say that the tools are alike
  panel.critical = evaluators::nemenyi_critical_difference(test.treatments, test.blocks,
                                                           evaluators::kSignificanceLevel);
  panel.nemenyi = undivided(panel.tools.size(), [&](std::size_t i, std::size_t j) {
    return test.mean_ranks[panel.tools[j]] - test.mean_ranks[panel.tools[i]] >= panel.critical;
  });
  panel.holm = undivided(panel.tools.size(), [&](std::size_t i, std::size_t j) {
    const std::string &a = sheet.tools[panel.tools[i]], &b = sheet.tools[panel.tools[j]];
    const auto pair = std::find_if(
        sheet.comparisons.begin(), sheet.comparisons.end(), [&](const ToolComparison& one) {
          return (one.first == a && one.second == b) || (one.first == b && one.second == a);
        });
    return pair != sheet.comparisons.end() && (*pair).*holm < evaluators::kSignificanceLevel;
  });
  return panel;
}

void draw(SvgPicture& picture, const ScoreSheet& sheet, const Panel& panel, double margin,
          double top) {
  const double left_end = margin, right_end = margin + kAxisWidth;
  const double most = static_cast<double>(panel.test.treatments) - 1;
  const auto x_of = [&](double rank) { return left_end + (rank - 1) / most * kAxisWidth; };
  const auto rank_at = [&](std::size_t place) { return panel.test.mean_ranks[panel.tools[place]]; };
  picture.text(margin + kAxisWidth / 2, top + 10, panel.title, "middle");
  const double wide = panel.critical / most * kAxisWidth, above = top + kBarAbove;
  if (panel.too_few()) {
    picture.text(margin + kAxisWidth / 2, above + 4,
                 "too few faults to tell tools apart: " + std::to_string(panel.test.blocks) +
                     "; at least " + std::to_string(panel.least) + " for " +
                     std::to_string(panel.test.treatments) + " tools",
                 "middle");
  } else {
    picture.line(left_end, above, left_end + wide, above, kThin);
    for (const double x : {left_end, left_end + wide}) {
      picture.line(x, above - 4, x, above + 4, kThin);
    }
    picture.text(left_end + wide + 8, above + 4, "CD = " + two_decimals(panel.critical));
  }

  const double axis = top + kAxis;
  picture.line(left_end, axis, right_end, axis, kThin);
  for (std::size_t rank = 1; rank <= panel.test.treatments; ++rank) {
    const double x = x_of(static_cast<double>(rank));
    picture.line(x, axis - 5, x, axis, kThin);
    picture.text(x, axis - 9, std::to_string(rank), "middle", 11);
  }
  double bar = axis + kBarStep;
  for (const auto& [runs, style] : {std::pair(&panel.nemenyi, kNemenyi), {&panel.holm, kHolm}}) {
    for (const auto& [first, last] : *runs) {
      picture.line(x_of(rank_at(first)) - 4, bar, x_of(rank_at(last)) + 4, bar, style);
      bar += kBarStep;
    }
  }
  // The better half at the left, the best on top; the others at the right, the worst on top: so no
  // two lines cross.
  const std::size_t left = (panel.tools.size() + 1) / 2;
  for (std::size_t place = 0; place < panel.tools.size(); ++place) {
    const bool at_left = place < left;
    const std::size_t line = at_left ? place : panel.tools.size() - 1 - place;
    const double x = x_of(rank_at(place));
    const double y = axis + panel.bars() + kNameStep * static_cast<double>(line + 1);
    const double end = at_left ? left_end - 12 : right_end + 12;
    picture.line(x, axis, x, y, kThin);
    picture.line(x, y, end, y, kThin);
    const std::string& name = sheet.tools[panel.tools[place]];
    const std::string rank = two_decimals(rank_at(place));
    picture.text(at_left ? end - 4 : end + 4, y + 4,
                 at_left ? name + " " + rank : rank + " " + name, at_left ? "end" : "start");
  }
}

}  // namespace

std::string critical_difference_figure(const ScoreSheet& sheet) {
  const Panel panels[] = {make_panel(sheet, sheet.order->before, "Recall, known fix alone",
                                     &ToolComparison::before_holm),
                          make_panel(sheet, sheet.order->after, "Recall, all ground truths",
                                     &ToolComparison::after_holm)};
  double margin = kLeastMargin;
  for (const std::string& tool : sheet.tools) {
    margin = std::max(margin, kRankWidth + kLetter * static_cast<double>(tool.size()));
  }
  SvgPicture picture(kAxisWidth + 2 * margin,
                     kTop + panels[0].height() + panels[1].height() + kLegend);
  double top = kTop;
  for (const Panel& panel : panels) {
    draw(picture, sheet, panel, margin, top);
    top += panel.height();
  }
  if (panels[0].too_few()) return picture.document();
  const double y = top + kLegend / 2;
  const double x = margin + kAxisWidth / 2 - 320;
  picture.line(x, y - 4, x + 30, y - 4, kNemenyi);
  picture.text(x + 38, y, "no difference at 0.05 by Nemenyi's test");
  picture.line(x + 340, y - 4, x + 370, y - 4, kHolm);
  picture.text(x + 378, y, "by Wilcoxon's test with Holm's adjustment");
  return picture.document();
}

}  // namespace neutra::experiments
