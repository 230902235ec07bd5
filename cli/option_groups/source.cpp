#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> source_group() {
  using enum OptionType;
  return {
      {.name = "baseline",
       .type = kText,
       .argument = "FILE",
       .help = "leave out the findings that this file records (--write-baseline)"},
      {.name = "check-rule",
       .type = kText,
       .argument = "FILE",
       .help = "try the rules of this file on their own examples, instead of checking sources"},
      {.name = "fail-on",
       .type = kChoice,
       .argument = "NAME",
       .choices = {"hint", "warning", "error", "never"},
       .help = "exit code 1 only for findings of this severity and graver ones; default: for all "
               "that are shown"},
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
      {.name = "write-baseline",
       .type = kText,
       .argument = "FILE",
       .help = "record the findings in this file instead of showing them, for --baseline"},
  };
}

}  // namespace neutra::cli
