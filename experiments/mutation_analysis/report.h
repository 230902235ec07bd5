#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "program/program.h"

namespace neutra::experiments {

/// Where a value stands in a text: lines and columns from 1, the end exclusive.
struct TextSpan {
  std::size_t first_line = 1, first_column = 1, last_line = 1, last_column = 1;
};

/// A document as to_text() writes it, with the place of each value by JSON pointer ("" is the whole
/// document).
struct LocatedText {
  std::string text;
  std::map<std::string, TextSpan> places;  ///< by JSON pointer
};
/// The text of a document with its places.
LocatedText located_text(const Json& document);

/// Status of a mutant in the words of the mutation-testing-report-schema.
enum class MutantStatus {
  kKilled,
  kSurvived,
  kInvalid,  ///< "CompileError": Keras would refuse the program
  kError,    ///< "RuntimeError": a metric isn't finite
  kTimeout,  ///< "Timeout"
  kIgnored   ///< "Ignored": the same program as another mutant or the original
};

/// A mutant as the report tells it.
struct ReportedMutant {
  std::string id, op;  ///< op: id of the mutation operator
  const program::Program* program = nullptr;
  MutantStatus status = MutantStatus::kSurvived;
  std::string reason;                              ///< "p = 0.003, d = 1.2, 20 runs"
  std::string replacement;                         ///< what the operator set
  std::vector<std::string> killed_by, covered_by;  ///< ids of test sets
  double seconds = 0;
};

/// A report for viewers of mutation tests: mutation-testing-report-schema 2.0
/// (https://github.com/stryker-mutator/mutation-testing-elements). The source file is the original
/// program as JSON; a mutant stands where it first differs from it. `tests`: id -> name of the test
/// sets.
Json mutation_report(const program::Program& original, const std::string& file,
                     const std::vector<ReportedMutant>& mutants,
                     const std::map<std::string, std::string>& tests);

}  // namespace neutra::experiments
