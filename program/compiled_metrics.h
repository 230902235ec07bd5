#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// The metrics of compile.metrics that can be measured, by canonical name, in their order: Keras's
/// logs have them, whatever `metric` says.
std::vector<std::string> compiled_metrics(const Json& document);

/// The program as its exported script has it. A script has no `metric`, which is neutra's own: it
/// becomes the first compiled metric if that is accuracy, mae or mse, else the loss. A missing task
/// is told by the compile section. Programs that differ in `metric` alone become the same program,
/// so that their trainings draw the same random numbers.
Program script_of(Program program);

}  // namespace neutra::program
