#include "cli/verbs.h"

namespace neutra::cli {
namespace {

/// What the verb finds out.
struct Found {
  std::string fault;
};

Json json_of(const Found& found) {
  return {{"format", "neutra-new-name"}, {"version", 1}, {"fault", found.fault}};
}

std::string text_of(const Found& found) { return found.fault + "\n"; }

Result run(const Arguments& arguments) { return result_of(Found{arguments.positional.front()}); }

}  // namespace

Verb new_name_verb() {
  return {.name = "new-name",
          .summary = "what it does, in one line",
          .synopsis = "new-name FAULT [--json]",
          .options = {.least_positional = 1, .most_positional = 1, .positional_name = "FAULT"},
          .description = "What it does, what it prints, and when it exits with 1.",
          .example = "  neutra new-name D7",
          .run = run};
}

}  // namespace neutra::cli
