#pragma once

#include <cstdint>
#include <vector>

#include "fl_adapters/messages.h"
#include "fl_adapters/trained_model.h"

/// deepmufl (Ghanbari, Thomas, Arshad and Rajan, ASE 2023): layers whose mutants change test
/// results. docs/methods/deepmufl.md has every rule, and what `repaired` fixes.
namespace neutra::fl_adapters::deepmufl {

/// Messages and thresholds: tools/deepmufl.json.
const MessageTable& message_table();

/// What the tests say of one mutant.
struct MutantResult {
  bool viable = true;  ///< false: there is no such model; it counts as one without effect
  std::int64_t fail_to_pass = 0;  ///< failing tests that pass on the mutant
  std::int64_t pass_to_fail = 0;
  std::int64_t fail_changed = 0;  ///< failing tests whose output is another one
};
/// What the tests say of all mutants of one layer.
struct LayerResults {
  int layer = 0;
  std::vector<MutantResult> mutants;
  /// Test inputs, equal ones counted once, for which some mutant of the layer changes the result.
  std::int64_t inputs_fail_to_pass = 0, inputs_pass_to_fail = 0;
};
/// What they say of all mutants of a model.
struct Results {
  std::int64_t failing = 0, passing = 0;  ///< tests on the model itself
  std::vector<LayerResults> layers;       ///< those with mutants
};

/// failing / (failing + passing) of the tests that a mutant affects; 0 where there are none.
double sbi(std::int64_t failing, std::int64_t passing);
/// failing / sqrt((failing + passing) all_failing); 0 where there are none.
double ochiai(std::int64_t failing, std::int64_t passing, std::int64_t all_failing);

/// A way to make a layer's suspiciousness of its mutants'.
struct Formula {
  /// Which tests a mutant affects, or MUSE.
  enum class Kind {
    kMetallaxis1,  ///< a mutant affects tests whose result it changes
    kMetallaxis2,  ///< a mutant affects failing tests whose output it changes, and passing ones
                   ///< that it makes fail
    kMuse
  };
  Kind kind = Kind::kMetallaxis1;
  bool ochiai = false;   ///< Metallaxis: Ochiai instead of SBI
  bool maximum = false;  ///< Metallaxis: the largest of the mutants' values instead of their mean
};
/// Every layer of the results.
std::vector<evaluators::Suspect> ranking(const Results& results, const Formula& formula,
                                         ToolVariant variant);

/// Does a test pass, or is an output another one? `regression`: by the table's delta.
bool same(const RowValue& expected, const RowValue& actual, bool regression, ToolVariant variant);

/// Runs all mutants of a model on the program's test rows. `trouble`: a time limit that was passed
/// `started` plus context.time_limit; the results are empty then.
Results run_mutants(const FaultyProgram& faulty, const LocaliseContext& context,
                    const program::ModelWeights& weights,
                    std::chrono::steady_clock::time_point started, Trouble& trouble);

}  // namespace neutra::fl_adapters::deepmufl
