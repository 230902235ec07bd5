#pragma once

#include "mutators/neutrality_operator.h"

namespace neutra {

/// Source of the operators of the study.
inline constexpr std::string_view kTable2 =
    "Humbatova et al., An Empirical Study of Fault Localisation Techniques for Deep Learning, "
    "2025, Table 2";

/// All neutrality operators, sorted by id.
const std::vector<const NeutralityOperator*>& neutrality_operators();

/// The operator that changes keys of `kind`; nullptr where none does (dropout rates).
const NeutralityOperator* find_operator(KeyKind kind);

}  // namespace neutra
