#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "cli/bench/actions.h"
#include "cli/outputs.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/views.h"

namespace neutra::cli {
namespace {

struct ExportedEntries {
  BenchmarkPointer benchmark;
  Entries entries;
};

Json json_of(const ExportedEntries& exported) {
  const experiments::Benchmark& benchmark = *exported.benchmark;
  Json json = Json::array();
  for (const experiments::BenchmarkEntry* entry : exported.entries) {
    Json view = experiments::full_view(benchmark, *entry);
    view["fixed_program"] =
        experiments::program_of(benchmark, *entry, experiments::EntryVersion::kFixed).document;
    view["buggy_program"] =
        experiments::program_of(benchmark, *entry, experiments::EntryVersion::kBuggy).document;
    json.push_back(std::move(view));
  }
  return json;
}

/// A table; `form` "text" is the same as "csv".
std::string form_of(const ExportedEntries& exported, const std::string& form) {
  return form == "json" ? to_text(json_of(exported))
                        : to_csv(*exported.benchmark, exported.entries);
}

/// A fault file for each entry, with its data.
Result write_faults(const experiments::Benchmark& benchmark, const Entries& entries,
                    const Arguments& arguments) {
  if (!arguments.has("output"))
    throw usage_error("found no --output; allowed: -o FOLDER for fault files");
  const std::filesystem::path folder = arguments.text("output");
  require_outside_benchmarks(folder.string(), "--output");
  std::filesystem::create_directories(folder);
  for (const experiments::BenchmarkEntry* entry : entries) {
    write_file_atomically(folder / (experiments::fault_id(benchmark, *entry) + ".json"),
                          to_text(experiments::fault_file(benchmark, *entry)));
    experiments::write_data(benchmark, &experiments::subject_of(benchmark, *entry), folder);
  }
  Result result;
  result.notes =
      "neutra: " + std::to_string(entries.size()) + " faults in " + folder.string() + "\n";
  return result;
}

}  // namespace

Result bench_export(const BenchmarkPointer& benchmark, const Arguments& arguments) {
  const bool faults = chosen_format(arguments) == "fault";
  if (!faults) require_output(arguments);
  Entries entries = chosen_entries(*benchmark, arguments);
  if (faults) return write_faults(*benchmark, entries, arguments);
  return output_of(ExportedEntries{benchmark, std::move(entries)}, arguments);
}

}  // namespace neutra::cli
