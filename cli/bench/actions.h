#pragma once

#include "cli/bench/entries.h"
#include "cli/result.h"

/// What `neutra bench` does: a file and a row in verb_bench.cpp for each action. `benchmark` is a
/// sound one, that of the first word; all throw Error.
namespace neutra::cli {

/// Makes a benchmark of a plan.
Result bench_create(const Arguments& arguments);
/// Every check but training.
Result bench_validate(const Arguments& arguments);
/// The entries, a line each.
Result bench_list(const BenchmarkPointer& benchmark, const Arguments& arguments);
/// All that is known of entries, or of the benchmark where none is named.
Result bench_info(const BenchmarkPointer& benchmark, const Arguments& arguments);
/// What the fault of an entry changed.
Result bench_diff(const BenchmarkPointer& benchmark, const Arguments& arguments);
/// Other entries with an operator or a fault type in common.
Result bench_similar(const BenchmarkPointer& benchmark, const Arguments& arguments);
/// One version of an entry as a folder.
Result bench_checkout(const BenchmarkPointer& benchmark, const Arguments& arguments);
/// Trains both versions of entries anew.
Result bench_test(const BenchmarkPointer& benchmark, const Arguments& arguments);
/// Entries as a table, as JSON, or as fault files.
Result bench_export(const BenchmarkPointer& benchmark, const Arguments& arguments);

}  // namespace neutra::cli
