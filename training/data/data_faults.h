#pragma once

#include <map>
#include <set>
#include <string>

#include "training/data/mutation_step.h"

namespace neutra::training {

/// An operation of data.mutations: what it does to the training rows, and the fields that a step
/// with it takes beside `op`.
struct DataOperation {
  void (*run)(Part& part, MutationStep& step);
  std::set<std::string> fields;
};

/// Those for the faults of data that studies of real faults name
/// (docs/reference/fault_catalogue.md), by name. Each is described in docs/mutators/NAME.md, with
/// its source.
const std::map<std::string, DataOperation>& data_fault_operations();

}  // namespace neutra::training
