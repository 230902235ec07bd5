#include "cli/option_groups/groups.h"

namespace neutra::cli {

std::vector<Option> common_group() {
  using enum OptionType;
  return {
      {.name = "config",
       .type = kText,
       .argument = "FILE",
       .help = "read options from FILE, one 'name = value' a line"},
      {.name = "format",
       .letter = 'f',
       .type = kChoice,
       .argument = "NAME",
       .choices = {"answers",      "autotrainer", "csv",      "deepdiagnosis", "deepfd",
                   "deeplocalize", "dot",         "fault",    "graphml",       "h5",
                   "html",         "json",        "keras",    "keras-file",    "keras23",
                   "keras3",       "latex",       "libtorch", "neuralint",     "pdf",
                   "png",          "pytorch",     "sarif",    "svg",           "text",
                   "torchscript",  "tsv",         "umlaut"},
       .help = "form of the output"},
      {.name = "help", .letter = 'h', .type = kFlag, .help = "show this help"},
      {.name = "json", .type = kFlag, .help = "print the result as JSON"},
      {.name = "list", .type = kFlag, .help = "list what there is to choose from"},
      {.name = "output",
       .letter = 'o',
       .type = kText,
       .argument = "FILE",
       .help = "write here instead of standard output"},
      {.name = "plot",
       .type = kText,
       .argument = "PICTURE",
       .help = "draw a figure: a file that ends in .svg, .png or .pdf"},
      {.name = "quiet", .letter = 'q', .type = kFlag, .help = "no progress on standard error"},
  };
}

}  // namespace neutra::cli
