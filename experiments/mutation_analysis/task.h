#pragma once

#include <string>
#include <vector>

#include "experiments/mutation_analysis/results.h"
#include "mutators/mutants.h"

namespace neutra::experiments {

/// An operator that gives no mutant of a program, or none at one of its layers, and why.
struct LeftOutOperator {
  const mutators::MutationOperator* op = nullptr;
  std::string reason;  ///< in words
};

/// What to analyse of a program: each operator at each of its places. Values that operators refuse
/// are mutants with a reason; operators that apply nowhere are left out.
struct MutationTask {
  std::vector<OperatorSite> sites;        ///< each operator at each of its places
  std::vector<LeftOutOperator> left_out;  ///< operators without a place, or refused at one
  /// The mutation that makes the mutant of sites[`site`] with a value.
  mutators::Application application(std::size_t site, const std::string& value) const;

  /// Where and how the operator of a site is applied.
  struct Place {
    const mutators::MutationOperator* op = nullptr;
    mutators::Site site = mutators::kWholeProgram;
    std::uint64_t seed = 0;              ///< 0 for operators that draw nothing
    std::map<std::string, Json> values;  ///< that are no numbers of a range, by their text
  };
  std::vector<Place> places;  ///< of the sites
};
/// What to analyse of `target` with these operators, at `layers` alone where that names any, as
/// mutators::find_places() does. `seed`: of operators that draw random numbers.
MutationTask mutation_task(const std::vector<const mutators::MutationOperator*>& operators,
                           const mutators::Target& target,
                           const std::vector<mutators::Site>& layers, std::uint64_t seed);

}  // namespace neutra::experiments
