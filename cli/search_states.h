#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "evaluators/result_table.h"
#include "experiments/batch/states.h"

namespace neutra::cli {

/// How far the searches are in the folders and stores that the words name.
std::vector<experiments::BatchState> search_states(const Arguments& arguments);

/// A row for each search. Programs ("csv", "json") get numbers in one unit and words that don't
/// change; people get texts.
evaluators::ResultTable search_table(const std::vector<experiments::BatchState>& states,
                                     const std::string& format);

}  // namespace neutra::cli
