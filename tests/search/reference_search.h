#pragma once

#include <string>

#include "tests/search/fakes.h"

namespace neutra::search::tests {

/// The network of a case as TSV, by the search without workers, savings or stores, written down as
/// the paper has it.
std::string reference_tsv(const Case& c);

}  // namespace neutra::search::tests
