#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> simulation_group() {
  using enum OptionType;
  return {
      {.name = "failures",
       .type = kNumber,
       .argument = "X",
       .fallback = "0",
       .range = {0, 1000000.0},
       .help = "failures of each simulated rank in an hour; after one, all ranks start again"},
      {.name = "latency",
       .type = kNumber,
       .argument = "MS",
       .fallback = "2",
       .range = {0, 1000000.0},
       .help = "milliseconds that a message between simulated ranks takes"},
      {.name = "rank-threads",
       .type = kInteger,
       .argument = "N",
       .fallback = "1",
       .range = {1, 4096},
       .help = "workers of each simulated rank"},
      {.name = "restart-time",
       .type = kDuration,
       .argument = "TIME",
       .fallback = "60",
       .help = "time until failed ranks work again"},
      {.name = "sizes",
       .type = kText,
       .argument = "LIST",
       .help = "numbers of workers to simulate; default: 1,2,4 and so on to 4096, as far as there "
               "are as many trainings"},
      {.name = "stragglers",
       .type = kText,
       .argument = "SHARE:FACTOR",
       .fallback = "0:1",
       .help = "share of the simulated ranks that take FACTOR times as long"},
      {.name = "task-time",
       .type = kNumber,
       .argument = "MS",
       .fallback = "0.1",
       .range = {0, 1000000.0},
       .help = "milliseconds that rank 0 takes to send a task or to receive a result"},
      {.name = "time-factor",
       .type = kNumber,
       .argument = "X",
       .fallback = "1",
       .range = {1e-09, 1000000000.0},
       .help = "multiply the recorded times"},
  };
}

}  // namespace neutra::cli
