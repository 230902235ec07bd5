#include "cli/bench/actions.h"
#include "cli/texts.h"
#include "experiments/benchmark/views.h"

namespace neutra::cli {
namespace {

struct EntryList {
  BenchmarkPointer benchmark;
  Entries entries;
};

Json json_of(const EntryList& list) {
  Json json = Json::array();
  for (const experiments::BenchmarkEntry* entry : list.entries)
    json.push_back(experiments::full_view(*list.benchmark, *entry));
  return json;
}

std::string text_of(const EntryList& list) {
  TextTable table({"id", "subject", "name", "site", "faults", "category", "type", "support",
                   "fixed", "buggy", "d"});
  for (const experiments::BenchmarkEntry* entry : list.entries) {
    table.add({std::to_string(entry->id) + (entry->deprecated ? " (deprecated)" : ""),
               entry->subject, name_text(*entry), site_text(*entry), to_string(entry->faults),
               or_dash(entry->category), or_dash(entry->bug_type), std::to_string(entry->support),
               mean_text(experiments::subject_of(*list.benchmark, *entry).metrics),
               mean_text(entry->metrics), rounded(entry->verdict.d)});
  }
  return table.text();
}

}  // namespace

Result bench_list(const BenchmarkPointer& benchmark, const Arguments& arguments) {
  return result_of(EntryList{benchmark, chosen_entries(*benchmark, arguments)});
}

}  // namespace neutra::cli
