#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "experiments/benchmark/benchmark.h"

/// What the actions of `neutra bench` have in common: the entries that are meant, and how they are
/// told.
namespace neutra::cli {

/// A benchmark that documents about it share.
using BenchmarkPointer = std::shared_ptr<const experiments::Benchmark>;
/// Entries of a benchmark, which lives longer.
using Entries = std::vector<const experiments::BenchmarkEntry*>;

/// Names of the options that choose entries, sorted.
const std::vector<std::string>& entry_filters();
/// Is one of them given?
bool has_filters(const Arguments& arguments);

/// The entries that the words after the file name, or all that the filters leave; deprecated ones
/// only by number or with --deprecated. Throws usage_error and input_error for what names none.
Entries chosen_entries(const experiments::Benchmark& benchmark, const Arguments& arguments);
/// The one entry that the word after the file names.
experiments::EntryAddress one_entry(const experiments::Benchmark& benchmark,
                                    const Arguments& arguments);

/// "Dense 3": the place of a mutation at one layer.
std::string site_text(const experiments::BenchmarkEntry& entry);
/// "T21-07 RAW-3-l1--TRD-90"
std::string name_text(const experiments::BenchmarkEntry& entry);
/// "-" for an empty text.
std::string or_dash(const std::string& text);

/// Operators, and faults of the catalogue, without an active entry, each with what the subjects
/// say.
Json kinds_without(const experiments::Benchmark& benchmark);
/// The same for people; "": there are none.
std::string kinds_text(const Json& kinds);

/// Adds what the stores of --network say of repairs.
void add_networks(experiments::Benchmark& benchmark, const Arguments& arguments);

}  // namespace neutra::cli
