#pragma once

#include <string>
#include <vector>

#include "experiments/mutation_analysis.h"
#include "mutators/mutation_operator.h"

namespace neutra {

/// An operator that gives no mutant of a program, and why.
struct LeftOutOperator {
  const MutationOperator* op = nullptr;
  std::string reason;
};

/// What to analyse of a program: each operator at each of its places. Values that operators refuse
/// are mutants with a reason; operators that apply nowhere are left out.
struct MutationTask {
  std::vector<OperatorSite> sites;
  std::vector<LeftOutOperator> left_out;
};
/// `layers`: only at these, of operators on layers; empty: at all. `seed`: of operators that draw
/// random numbers. Throws input_error for a layer that the program doesn't have.
MutationTask mutation_task(const std::vector<const MutationOperator*>& operators,
                           const Target& target, const std::vector<Site>& layers,
                           std::uint64_t seed);

}  // namespace neutra
