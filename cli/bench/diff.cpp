#include "cli/bench/actions.h"
#include "program/patch.h"

namespace neutra::cli {
namespace {

struct Difference {
  BenchmarkPointer benchmark;
  const experiments::BenchmarkEntry* entry = nullptr;

  const Json& fixed() const { return experiments::subject_of(*benchmark, *entry).program.document; }
};

Json json_of(const Difference& difference) {
  const experiments::BenchmarkEntry& entry = *difference.entry;
  const Json buggy =
      experiments::program_of(*difference.benchmark, entry, experiments::EntryVersion::kBuggy)
          .document;
  return {{"entry", entry.id},
          {"faults", to_string(entry.faults)},
          {"fixed_to_buggy", entry.change},
          {"buggy_to_fixed", program::json_patch(buggy, difference.fixed())}};
}

std::string text_of(const Difference& difference) {
  return to_string(difference.entry->faults) + ", fixed -> buggy:\n" +
         program::patch_text(difference.fixed(), difference.entry->change);
}

}  // namespace

Result bench_diff(const BenchmarkPointer& benchmark, const Arguments& arguments) {
  return result_of(Difference{benchmark, one_entry(*benchmark, arguments).entry});
}

}  // namespace neutra::cli
