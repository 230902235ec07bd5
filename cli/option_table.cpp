#include "cli/option_groups/groups.h"

#include <algorithm>
#include <iterator>

namespace neutra::cli {

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = [] {
    std::vector<Option> all;
    for (const auto group :
         {common_group, training_group, search_group, simulation_group, mutation_group,
          benchmark_group, tools_group, scripts_group, source_group, studies_group}) {
      std::vector<Option> rows = group();
      all.insert(all.end(), std::make_move_iterator(rows.begin()),
                 std::make_move_iterator(rows.end()));
    }
    std::sort(all.begin(), all.end(),
              [](const Option& a, const Option& b) { return a.name < b.name; });
    return all;
  }();
  return table;
}

}  // namespace neutra::cli
