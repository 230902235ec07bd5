#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.h"
#include "mutators/mutation_operator.h"

namespace neutra::cli {

/// `mutate --kill`: which mutants of `target` do test sets kill? Prints or, with
/// --output, writes the verdicts and the scores. `file`: of the original, whose folder its data are
/// looked up in first.
int analyse(const Arguments& arguments, const std::string& id, const std::filesystem::path& file,
            const mutators::Target& target,
            const std::vector<const mutators::MutationOperator*>& operators);

}  // namespace neutra::cli
