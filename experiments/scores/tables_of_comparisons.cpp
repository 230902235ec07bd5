#include "experiments/scores/cells.h"
#include "experiments/scores/tables.h"

namespace neutra::experiments {

using evaluators::Cell;
using evaluators::ResultTable;

ResultTable comparison_table(const ScoreSheet& sheet) {
  ResultTable table{
      "comparisons",
      "Tools compared by recall, two-sided p: Wilcoxon's signed-rank test, the same "
      "adjusted by Holm for all pairs, Nemenyi's test",
      {{"first", "Tool", "", -1}, {"second", "against", "", -1}, {"faults", "n", "", 0}},
      {}};
  for (const auto& [key, group] : {std::pair("before", "known fix"), {"after", "all"}}) {
    for (const auto& [name, heading] :
         {std::pair("_p", "Wilcoxon"), {"_holm", "Holm"}, {"_nemenyi", "Nemenyi"}}) {
      table.columns.push_back({std::string(key) + name, heading, group, kProbabilityDecimals});
    }
  }
  for (const ToolComparison& pair : sheet.comparisons) {
    table.rows.push_back({{pair.first, pair.second, static_cast<double>(pair.faults), pair.before.p,
                           pair.before_holm, cell(pair.before_nemenyi), pair.after.p,
                           pair.after_holm, cell(pair.after_nemenyi)},
                          false});
  }
  return table;
}

ResultTable friedman_table(const ScoreSheet& sheet) {
  ResultTable table{"friedman",
                    "Friedman's test on recall over the faults that all tools answered, Iman and "
                    "Davenport's F, and the differences of mean ranks that are critical in "
                    "Nemenyi's test (CD)",
                    {{"stage", "", "", -1},
                     {"tools", "Tools", "", 0},
                     {"faults", "n", "", 0},
                     {"chi_square", "chi-square", "", kScoreDecimals},
                     {"p", "p", "", kProbabilityDecimals},
                     {"f", "F", "", kScoreDecimals},
                     {"f_p", "p of F", "", kProbabilityDecimals},
                     {"critical_difference_05", "CD .05", "", kScoreDecimals},
                     {"critical_difference_10", "CD .10", "", kScoreDecimals}},
                    {}};
  if (!sheet.order) return table;
  for (const auto& [stage, test] :
       {std::pair("known fix", &sheet.order->before), {"all", &sheet.order->after}}) {
    // A difference for fewer faults would say that tools are alike which nothing can tell apart.
    const auto critical = [&tested = *test](double level) {
      if (tested.blocks < evaluators::least_blocks(tested.treatments, level)) {
        return Cell();
      }
      return Cell(evaluators::nemenyi_critical_difference(tested.treatments, tested.blocks, level));
    };
    table.rows.push_back({{stage, whole(test->treatments), whole(test->blocks), test->chi_square,
                           test->p, test->f, test->f_p, critical(0.05), critical(0.1)},
                          false});
  }
  const evaluators::FriedmanTest& test = sheet.order->before;
  const std::size_t least = evaluators::least_blocks(test.treatments, 0.05);
  if (test.blocks < least) {
    table.title += "; too few faults to tell " + std::to_string(test.treatments) +
                   " tools apart have no CD .05: it takes " + std::to_string(least);
  }
  return table;
}

ResultTable mean_rank_table(const ScoreSheet& sheet) {
  ResultTable table{"mean_ranks",
                    "Mean ranks of the tools by recall, the best on a fault has the rank 1",
                    {{"tool", "Tool", "", -1},
                     {"before", "known fix", "", kScoreDecimals},
                     {"after", "all", "", kScoreDecimals}},
                    {}};
  for (std::size_t i = 0; sheet.order && i < sheet.tools.size(); ++i) {
    table.rows.push_back(
        {{sheet.tools[i], sheet.order->before.mean_ranks[i], sheet.order->after.mean_ranks[i]},
         false});
  }
  return table;
}

}  // namespace neutra::experiments
