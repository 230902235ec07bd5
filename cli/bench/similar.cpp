#include "cli/bench/actions.h"
#include "cli/texts.h"
#include "experiments/benchmark/relations.h"
#include "experiments/benchmark/views.h"

namespace neutra::cli {
namespace {

/// Entries like another one, the likest first.
struct SimilarEntries {
  BenchmarkPointer benchmark;
  const experiments::BenchmarkEntry* entry = nullptr;
};

Json json_of(const SimilarEntries& all) {
  Json json = Json::array();
  for (const auto& [other, points] : experiments::similar_entries(*all.benchmark, *all.entry))
    json.push_back({{"points", points},
                    {"id", other->id},
                    {"subject", other->subject},
                    {"name", other->name},
                    {"mutation", experiments::mutation_text(*other)},
                    {"place", other->place},
                    {"faults", to_string(other->faults)}});
  return json;
}

std::string text_of(const SimilarEntries& all) {
  TextTable table({"points", "id", "subject", "name", "site", "faults"});
  for (const auto& [other, points] : experiments::similar_entries(*all.benchmark, *all.entry))
    table.add({std::to_string(points), std::to_string(other->id), other->subject, name_text(*other),
               site_text(*other), to_string(other->faults)});
  return table.text();
}

}  // namespace

Result bench_similar(const BenchmarkPointer& benchmark, const Arguments& arguments) {
  return result_of(SimilarEntries{benchmark, one_entry(*benchmark, arguments).entry});
}

}  // namespace neutra::cli
