#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> tools_group() {
  using enum OptionType;
  return {
      {.name = "answers",
       .type = kText,
       .argument = "FILE.csv",
       .help = "what fault-localisation tools said: columns fault, tool, answer"},
      {.name = "check-tool",
       .type = kText,
       .argument = "FILE.json",
       .help = "run the external tool of this description file on a small program and say whether "
               "it keeps to the protocol"},
      {.name = "deepfd-model",
       .type = kText,
       .argument = "FILE",
       .help =
           "what the tool deepfd has learned (neutra deepfd-train); default: the bundled model"},
      {.name = "defects",
       .type = kChoice,
       .argument = "NAME",
       .fallback = "as-published",
       .choices = {"as-published", "repaired"},
       .help = "run tools with the defects of their published versions, or without the known ones"},
      {.name = "evaluate",
       .type = kText,
       .argument = "FILE",
       .help = "judge this model instead of making one"},
      {.name = "held-out",
       .type = kList,
       .argument = "FAULT|FILE",
       .help =
           "correct programs whose mutants judge the model; default: those for the bundled one"},
      {.name = "keep",
       .type = kText,
       .argument = "DIR",
       .help = "keep the folders that external tools ran in, with what they printed"},
      {.name = "keep-misleading",
       .type = kFlag,
       .help = "count messages that the study drops: a softmax asked of a model that may have one"},
      {.name = "match",
       .type = kChoice,
       .argument = "NAME",
       .fallback = "layer",
       .choices = {"type", "layer", "line"},
       .help =
           "faults match by type alone, by type and an overlapping layer where both say layers, "
           "or, for captured scripts, by a line of a repair's change"},
      {.name = "minimal",
       .type = kFlag,
       .help = "score against the known fix and the 1-minimal repairs alone; where it is not known "
               "whether a repair is 1-minimal, it counts if it holds no smaller repair"},
      {.name = "network",
       .type = kList,
       .argument = "STORE|FILE.tsv",
       .help = "store or recorded network of a fault (may be given several times)"},
      {.name = "programs",
       .type = kList,
       .argument = "FAULT|FILE",
       .help = "correct programs to learn from; default: those of the bundled model"},
      {.name = "runs",
       .type = kInteger,
       .argument = "N",
       .fallback = "20",
       .range = {1, 1000},
       .help = "runs of each tool that trains, or of each mutant"},
      {.name = "tool",
       .type = kList,
       .argument = "TOOL|FILE.json",
       .help = "fault-localisation tool, all, or with localise the description file of an external "
               "one (may be given several times); default: all"},
      {.name = "top",
       .type = kInteger,
       .argument = "K",
       .fallback = "1",
       .range = {1, 1000},
       .help = "of a ranking that names no faults, the first K places count as the answer"},
      {.name = "unlocated",
       .type = kChoice,
       .argument = "NAME",
       .fallback = "count",
       .choices = {"count", "exclude", "half"},
       .help = "what an answer without a layer is worth where the fault has layers: 1, 0 or 0.5"},
      {.name = "variant",
       .type = kChoice,
       .argument = "NAME",
       .fallback = "corrected",
       .choices = {"corrected", "as-published"},
       .help = "how scores are computed: as the study describes it, or so that its published "
               "tables follow"},
  };
}

}  // namespace neutra::cli
