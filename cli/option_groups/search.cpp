#include "cli/option_groups/groups.h"
#include "report/tables.h"

namespace neutra::cli {

std::vector<Option> search_group() {
  using enum OptionType;
  return {
      {.name = "all-repairs",
       .type = kFlag,
       .help = "with --format text: list also repairs that only add changes to a smaller one"},
      {.name = "budget-evaluations",
       .type = kInteger,
       .argument = "N",
       .range = {1, 1e12},
       .help = "stop after N evaluations; the buggy program's is the first; default: the store's"},
      {.name = "budget-minimise",
       .type = kInteger,
       .argument = "N",
       .range = {1, 1e12},
       .help = "with --minimise: evaluate N sub-patches at most, besides the search's budget; "
               "default: as many as it takes"},
      {.name = "budget-time",
       .type = kDuration,
       .argument = "TIME",
       .help = "stop after this much wall time, added up over resumes (48h, 90m, 1h30m, 30 = "
               "seconds); default: the store's; for a new store 10m, or no limit where "
               "--budget-evaluations is given"},
      {.name = "compare",
       .type = kText,
       .argument = "FILE.tsv",
       .help = "say how many programs of a recorded network this one has, and how many of its "
               "repairs are repairs here"},
      {.name = "curtail",
       .type = kChoice,
       .argument = "on|off",
       .fallback = "on",
       .choices = {"on", "off"},
       .help = "give a program up once it can be neither neutral nor a repair (exact)"},
      {.name = "curves",
       .type = kText,
       .argument = "N|id:LIST",
       .help = "training curves of the buggy program, the known fix and the best N repairs, or of "
               "the programs with the ids of a list such as id:7 or id:7,12: trains them again"},
      {.name = "fault",
       .type = kText,
       .argument = "FAULT",
       .help = "the fault that a recorded network or log belongs to"},
      {.name = "fresh",
       .type = kFlag,
       .help = "start anew: an unfinished or finished store is dropped"},
      {.name = "ground-truth-metric",
       .type = kNumber,
       .argument = "X",
       .help = "level a repair must reach; default: mean of the known fix; without one: none "
               "(--improve)"},
      {.name = "improve",
       .type = kFlag,
       .help = "a repair is significantly better than the buggy program (p < 0.05, Cohen's d of at "
               "least 0.5), and reaches --ground-truth-metric where that is given; on by itself "
               "where there is neither a known fix nor a level"},
      {.name = "max-depth",
       .type = kInteger,
       .argument = "N",
       .range = {0, 1000},
       .help = "generate no neighbours of a program with N or more changes (rule recorded: 4 "
               "unless set)"},
      {.name = "min-pass",
       .type = kNumber,
       .argument = "SHARE",
       .fallback = "0.98",
       .range = {0, 1},
       .help = "share of rows that must pass"},
      {.name = "minimise",
       .type = kFlag,
       .help = "after the search train the sub-patches that tell which repairs are 1-minimal (no "
               "single change can be taken back)"},
      {.name = "patches",
       .type = kChoice,
       .argument = "on|off",
       .fallback = "on",
       .choices = {"on", "off"},
       .help = "of a captured script: each repair as a patch of its files, made with the Python "
               "package"},
      {.name = "preset",
       .type = kChoice,
       .argument = "NAME",
       .choices = {"paper", "keras"},
       .help = "value sets of the mutations: those of the published runs, or all that Keras knows; "
               "default: the store's; for a new store paper for the bundled faults of the study, "
               "else keras"},
      {.name = "reuse",
       .type = kList,
       .argument = "STORE",
       .help = "take evaluations from this store too (may be given several times)"},
      {.name = "rows",
       .type = kText,
       .argument = "N|LIST",
       .help = "the first N programs, or those at the positions of a list such as 1,7,13"},
      {.name = "rule",
       .type = kChoice,
       .argument = "NAME",
       .fallback = "algorithm1",
       .choices = {"algorithm1", "recorded"},
       .help = "neutrality rule: the paper's Algorithm 1, or the stricter one seen in the "
               "published data"},
      {.name = "share-identical",
       .type = kChoice,
       .argument = "on|off",
       .fallback = "on",
       .choices = {"on", "off"},
       .help = "train programs that mean the same only once (exact)"},
      {.name = "speculate",
       .type = kChoice,
       .argument = "on|off",
       .fallback = "on",
       .choices = {"on", "off"},
       .help = "let idle workers train the neighbours of the next program ahead (exact)"},
      {.name = "store",
       .type = kText,
       .argument = "STORE",
       .help = "file of the search (default FAULT.h5, FAULT.store.h5 beside a model of that name), "
               "or of the runs of mutate --kill"},
      {.name = "table",
       .type = kChoice,
       .argument = "NAME",
       .fallback = "repairs",
       .choices = report::report_tables(),
       .help = "which table --format csv writes (docs/formats/report.md)"},
      {.name = "ties",
       .type = kChoice,
       .argument = "NAME",
       .choices = {"parameters", "spread"},
       .help = "order of equals among the neutral neighbours of a program: by the parameter "
               "string, or spread over the hyperparameters; default: the store's; for a new store "
               "parameters for the bundled faults with preset paper, else spread"},
      {.name = "top-k",
       .letter = 'k',
       .type = kInteger,
       .argument = "K",
       .fallback = "5",
       .range = {1, 1000000},
       .help = "neutral neighbours queued for each program"},
  };
}

}  // namespace neutra::cli
