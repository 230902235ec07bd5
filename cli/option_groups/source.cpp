#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> source_group() {
  using enum OptionType;
  return {
      {.name = "check-rule",
       .type = kText,
       .argument = "FILE",
       .help = "try the rules of this file on their own examples, instead of checking sources"},
      {.name = "fix",
       .type = kFlag,
       .help = "write the repairs of findings that have one into the files"},
      {.name = "pattern",
       .type = kInteger,
       .argument = "N",
       .range = {1, 14},
       .help = "only the rules of this pattern of the set pysiassist, hints included"},
      {.name = "severity",
       .type = kChoice,
       .argument = "NAME",
       .choices = {"hint", "warning", "error"},
       .help = "findings that are shown, and for which the exit code is 1: these and graver ones; "
               "default: warning, with --pattern: hint"},
  };
}

}  // namespace neutra::cli
