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
  return {"new-name",
          "what it does, in one line",
          "new-name FAULT [--json]",
          {{}, 1, 1, "FAULT"},
          "What it does, what it prints, and when it exits with 1.",
          "  neutra new-name D7",
          run};
}

}  // namespace neutra::cli
