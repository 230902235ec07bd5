#include "experiments/scores/alike_tools.h"

#include <map>
#include <tuple>
#include <type_traits>

namespace neutra::experiments {

std::string_view tool_family(std::string_view tool) { return tool.substr(0, tool.find('-')); }

ScoreSheet fold_alike_tools(ScoreSheet sheet, std::vector<AlikeTools>& alike) {
  const auto traits = [&](const std::string& tool) {
    std::vector<std::tuple<std::string, std::vector<double>, std::optional<double>>> all;
    for (const std::string& fault : sheet.faults) {
      const ScoreRow* row = sheet.find(fault, tool);
      if (row == nullptr) {
        all.emplace_back();
        continue;
      }
      std::vector<double> values;
      for (const evaluators::Score& score : {row->before, row->after.score}) {
        values.insert(values.end(), {score.recall, score.precision, score.f});
      }
      if (row->ranks) {
        for (const evaluators::RankScore& score : {row->ranks->before, row->ranks->after}) {
          values.insert(values.end(), {static_cast<double>(score.first), score.average_precision});
        }
      }
      all.emplace_back(to_string(row->answer), std::move(values), row->stability);
    }
    return all;
  };
  using Traits = decltype(traits(""));
  std::map<std::pair<std::string_view, Traits>, std::size_t> first_with;  // places in `stay`
  std::vector<std::size_t> stay;
  std::vector<std::vector<std::string>> others;
  for (std::size_t i = 0; i < sheet.tools.size(); ++i) {
    const std::string& tool = sheet.tools[i];
    const auto [known, is_new] =
        first_with.try_emplace({tool_family(tool), traits(tool)}, stay.size());
    if (!is_new) {
      others[known->second].push_back(tool);
      continue;
    }
    stay.push_back(i);
    others.emplace_back();
  }
  std::map<std::string, std::string> names;  // of a tool that stays: as it is shown
  for (std::size_t i = 0; i < stay.size(); ++i) {
    const std::string& tool = sheet.tools[stay[i]];
    names[tool] = tool;
    if (others[i].empty()) continue;
    names[tool] += " (+" + std::to_string(others[i].size()) + ")";
    alike.push_back({names[tool], std::move(others[i])});
  }
  const auto folded = [&](auto& list, auto... name) {
    std::erase_if(list, [&](const auto& entry) { return !(names.contains(entry.*name) && ...); });
    for (auto& entry : list) ((entry.*name = names.at(entry.*name)), ...);
  };
  folded(sheet.rows, &ScoreRow::tool);
  folded(sheet.averages, &ScoreAverage::tool);
  folded(sheet.comparisons, &ToolComparison::first, &ToolComparison::second);
  const auto kept = [&](const auto& list) {
    std::decay_t<decltype(list)> some;
    for (const std::size_t i : stay) some.push_back(list[i]);
    return some;
  };
  if (sheet.order) {
    for (evaluators::FriedmanTest* test : {&sheet.order->before, &sheet.order->after}) {
      test->mean_ranks = kept(test->mean_ranks);
    }
  }
  std::set<std::string> recorded;
  for (const std::string& tool : sheet.recorded) {
    if (names.contains(tool)) recorded.insert(names.at(tool));
  }
  sheet.recorded = std::move(recorded);
  sheet.tools = kept(sheet.tools);
  for (std::string& tool : sheet.tools) tool = names.at(tool);
  return sheet;
}

}  // namespace neutra::experiments
