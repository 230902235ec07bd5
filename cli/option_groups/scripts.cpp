#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> scripts_group() {
  using enum OptionType;
  return {
      {.name = "all-minimal",
       .type = kFlag,
       .help = "a patch for each repair that is 1-minimal: no single change can be taken back"},
      {.name = "leave-out",
       .type = kFlag,
       .help = "note what changes the training and no program holds, instead of refusing it"},
      {.name = "max-data",
       .type = kSize,
       .argument = "SIZE",
       .fallback = "1G",
       .help =
           "what the rows of a captured training may need, such as 512M; streams are cut there"},
      {.name = "node",
       .type = kText,
       .argument = "N",
       .help = "the program of this node of the network: 12, or m3 of a sub-patch"},
      {.name = "python",
       .type = kText,
       .argument = "EXE",
       .help = "the Python of the script; default: that of the active environment (VIRTUAL_ENV, "
               "CONDA_PREFIX), else python3 of PATH"},
      {.name = "run",
       .type = kFlag,
       .help = "let the script train to its end; without it, it ends at its first training step"},
      {.name = "to",
       .type = kText,
       .argument = "FILE.json",
       .help = "the program that the script shall have, or a fault file with it"},
  };
}

}  // namespace neutra::cli
