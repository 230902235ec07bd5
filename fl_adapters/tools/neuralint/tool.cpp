#include <chrono>

#include "fl_adapters/task_rules.h"
#include "fl_adapters/tools/neuralint/rules.h"

namespace neutra::fl_adapters::neuralint {
namespace {

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  const auto start = std::chrono::steady_clock::now();
  Localisation result;
  if (const auto reason = unreadable(faulty.program, context.variant)) {
    result.status = LocalisationStatus::kNotApplicable;
    result.reason = *reason;
    result.faults.applicable = false;
  } else {
    result.messages =
        check_program(faulty.program, context.variant, data_of(faulty.program, context.trainer));
    result.faults = answer_of(result.messages);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{
      "neuralint",
      "2023-10",
      ToolKind::kNative,
      {ToolNeed::kProgram},
      "rules on layers, initialisers, output and loss, read off the program",
      "Nikanjam, Braiek, Morovati and Khomh, Automatic Fault Detection for Deep Learning Programs "
      "Using Graph Transformations, TOSEM 31(1), 2021; https://github.com/neuralint/neuralint",
      localise,
      message_table,
      true}};
}

}  // namespace neutra::fl_adapters::neuralint
