#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// The metrics of compile.metrics that can be measured, by canonical name, in their order: Keras's
/// logs have them, whatever `metric` says.
std::vector<std::string> compiled_metrics(const Json& document);

/// The program as its script has it: `metric`, which is neutra's own, is the first metric that it
/// compiles, if that is accuracy, mae or mse, else the loss; where it says no task, its compile
/// section tells it. So whoever looks at the script alone sees the same, and its trainings draw the
/// same numbers, whatever `metric` said.
Program script_of(Program program);

}  // namespace neutra::program
