#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluators/ranking.h"
#include "fl_adapters/messages.h"
#include "fl_adapters/task_rules.h"

/// The repairs that AutoTrainer tries for a problem, told and not tried.
namespace neutra::fl_adapters::autotrainer {

/// What the repaired tool looks at before it advises: it asks for nothing that is there, and for
/// nothing that the task forbids.
struct Care {
  TaskRules rules;
  bool features_scaled = false;  ///< they lie in [0, 1] already
};

/// What the tool says about a problem: a message with the choice of all faults that its repairs
/// stand for, and one for each repair, in the order in which they are tried. `care`: null for the
/// published tool.
std::vector<ToolMessage> messages_for(const std::string& problem,
                                      const program::ResolvedProgram& program, std::int64_t epoch,
                                      const Care* care = nullptr);
/// The types of a problem's faults, the first repair's first.
std::vector<evaluators::Suspect> ranking_of(const std::vector<ToolMessage>& messages);

}  // namespace neutra::fl_adapters::autotrainer
