#include "program/file_formats.h"

#include "base/file_kind.h"

namespace neutra::program {

void name_file_formats() {
  constexpr const char* kMutantRuns = "the runs of neutra mutate --kill";
  set_format_words({{"neutra-store", "the store of a search", "the journal of a search"},
                    {"neutra-benchmark", "a benchmark", "a benchmark"},
                    {"neutra-monitor", "monitored trainings", "monitored trainings"},
                    {"neutra-mutant-runs", kMutantRuns, kMutantRuns},
                    {"neutra-runs", "the runs of tools", "the runs of tools"}});
}

}  // namespace neutra::program
