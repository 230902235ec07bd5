#pragma once

#include "program/program.h"

namespace neutra::program {

/// Is the loss of a batch its weighted sum divided by the sum of its rows' class weights, as
/// PyTorch's cross entropy of classes has it, and not by their number?
inline bool divides_by_weights(const ResolvedProgram& program) {
  return !program.class_weights.empty() && !program.loop.sum &&
         program.loss.ends_with("categorical_crossentropy") &&
         program.optimizer.at("config").value("rules", Json()) == "torch";
}

}  // namespace neutra::program
