#pragma once

#include "mutators/mutation_operator.h"
#include "mutators/neutrality_operator.h"

namespace neutra::mutators {

/// All neutrality operators, sorted by id.
const std::vector<const NeutralityOperator*>& neutrality_operators();

/// The neutrality operator that changes keys of `kind`; nullptr where none does (dropout rates).
const NeutralityOperator* find_operator(program::KeyKind kind);

/// All mutation operators, sorted by id.
const std::vector<const MutationOperator*>& mutation_operators();
/// Their ids, in this order.
std::vector<std::string> mutation_operator_ids();

/// By id or abbreviation ("change_label", "TCL"; any case); nullptr for an unknown name.
const MutationOperator* known_mutation_operator(std::string_view name);
/// The same. Throws input_error with the nearest ones for an unknown name.
const MutationOperator& find_mutation_operator(std::string_view name);

}  // namespace neutra::mutators
