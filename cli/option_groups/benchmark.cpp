#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> benchmark_group() {
  using enum OptionType;
  return {
      {.name = "category",
       .type = kList,
       .argument = "NAME",
       .help = "entries of this category (may be given several times)"},
      {.name = "deprecated", .type = kFlag, .help = "deprecated entries, too"},
      {.name = "extend",
       .type = kText,
       .argument = "BENCHMARK",
       .help = "go on from this benchmark: its entries keep their ids"},
      {.name = "fault-type",
       .type = kList,
       .argument = "TYPE",
       .help = "entries with this fault type (may be given several times)"},
      {.name = "retries",
       .type = kInteger,
       .argument = "N",
       .fallback = "1",
       .range = {0, 100},
       .help = "new tries for a version that passed where it should fail, or failed where it "
               "should pass"},
      {.name = "subject",
       .type = kList,
       .argument = "SUBJECT",
       .help = "entries of this subject (may be given several times)"},
      {.name = "work",
       .letter = 'w',
       .type = kText,
       .argument = "FOLDER",
       .help = "folder to check out into: empty or still to be made"},
  };
}

}  // namespace neutra::cli
