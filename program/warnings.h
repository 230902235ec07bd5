#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// Something that Keras trains without an error, but not as its author must have meant it.
struct Warning {
  std::string path;  ///< JSON pointer: "/fit/callbacks/0/config/monitor"
  std::string text;  ///< one line
};

/// Callbacks that do nothing, or the opposite of what they are for: an EarlyStopping whose monitor
/// is not in the logs, that waits for longer than the training takes, or that has the wrong mode
/// (min for max); test rows that are the training rows; a MinMaxNorm whose rate is not in [0, 1];
/// class weights that are all 0. Empty for a document that is not valid.
std::vector<Warning> warnings_of(const Program& program);

}  // namespace neutra::program
