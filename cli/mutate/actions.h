#pragma once

#include <vector>

#include "cli/arguments.h"
#include "cli/originals.h"
#include "cli/result.h"
#include "mutators/mutation_operator.h"

/// What `neutra mutate` does, a file for each action.
namespace neutra::cli {

/// --list: the mutation operators.
Result list_operators();

/// Mutants as programs or faults, in files where --output says so. Precondition: the options go
/// together (verb_mutate.cpp).
Result make_mutants(const Arguments& arguments);

/// --kill: which mutants do test sets kill? The same precondition.
Result kill_mutants(const Arguments& arguments);

/// The operators that --operator names, each once; else all.
std::vector<const mutators::MutationOperator*> chosen_operators(const Arguments& arguments);

/// The layer that --layer names; empty: all.
std::vector<mutators::Site> chosen_layers(const Arguments& arguments);

/// The original as operators look at it, with all that is known of its rows. Throws input_error for
/// what is no valid program.
mutators::Target target_of(const Original& original, const Arguments& arguments);

}  // namespace neutra::cli
