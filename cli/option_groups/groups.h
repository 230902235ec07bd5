#pragma once

#include <vector>

#include "cli/option.h"

/// The rows of the option table, a file for each group; option_table() joins them.
namespace neutra::cli {

/// Options of every verb, and those of where results go.
std::vector<Option> common_group();
/// How programs are trained, on which data, and what is recorded.
std::vector<Option> training_group();
/// Searches, their stores and their networks.
std::vector<Option> search_group();
/// Clusters that neutra simulate runs searches on.
std::vector<Option> simulation_group();
/// Mutants, and the test sets that kill them.
std::vector<Option> mutation_group();
/// Benchmarks of faulty models, and which of their entries are meant.
std::vector<Option> benchmark_group();
/// Fault-localisation tools, their answers and the scores of these.
std::vector<Option> tools_group();
/// Training scripts: how they are captured and patched.
std::vector<Option> scripts_group();
/// Sources of Python that are read for silent bugs, and the rules for that.
std::vector<Option> source_group();
/// Studies, their jobs, and folders that are shown in a browser.
std::vector<Option> studies_group();

}  // namespace neutra::cli
