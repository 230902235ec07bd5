#include "fl_adapters/messages.h"

/// What it is after, who published it: docs/methods/new_name.md.
namespace neutra::fl_adapters::new_name {
namespace {

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("new_name");
  return table;
}

Localisation localise(const FaultyProgram&, const LocaliseContext&) {
  Localisation result;
  result.status = LocalisationStatus::kNotApplicable;
  result.reason = "new_name has no rules yet";
  result.faults.applicable = false;
  return result;
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{"new_name",
               "0",
               ToolKind::kNative,
               {ToolNeed::kProgram},
               "what it looks at, in one line",
               "paper and repository",
               localise,
               message_table}};
}

}  // namespace neutra::fl_adapters::new_name
