#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluators/kill_test.h"
#include "mutators/mutants.h"

/// Benchmarks of faulty models in the manner of Defects4J and gDefects4DL
/// (docs/methods/benchmarks.md, docs/formats/benchmark.md).
namespace neutra::experiments {

/// A data file of a subject.
struct BenchmarkData {
  std::string name;  ///< as the program names it: "digits.h5"
  std::uint64_t bytes = 0;
  std::string digest;     ///< XXH3-128
  bool included = false;  ///< are its bytes in the benchmark?
};

/// A correct program that faults were put into.
struct BenchmarkSubject {
  std::string id, title, source, licence;  ///< as Subject has them
  program::Program program;
  program::DataInfo rows;  ///< what operators know of the data
  std::vector<BenchmarkData> files;
  std::string data;     ///< digest of the rows, as a program gets them
  std::string trainer;  ///< back end and libraries: the same metrics come from the same ones
  std::string metric;   ///< that its runs are compared by
  program::Goal goal = program::Goal::kMaximize;
  std::vector<double> metrics;  ///< of the correct program's runs: a test compares with them
};

/// What is seen of a fault.
struct EntrySymptom {
  /// "metric_drop", "divergence", or a symptom of monitored trainings ("reduced_capacity").
  std::string name;
  /// Of "metric_drop" how much worse the mean metric is, of others the share of the runs, 0 to 1.
  double value = 0;
  bool operator==(const EntrySymptom&) const = default;
};

/// Repairs of a faulty program besides the correct one, as searches found them.
struct KnownRepairs {
  int count = 0;          ///< besides the correct program
  bool complete = false;  ///< a search looked at all that it can reach
  bool operator==(const KnownRepairs&) const = default;
};

/// One fault.
struct BenchmarkEntry {
  int id = 0;               ///< from 1; never given to another fault
  bool deprecated = false;  ///< kept for the id's sake
  std::string name;         ///< "ACH-1-sigmoid"
  std::string catalogue;    ///< id in the catalogue that it is from: "T21-07"; "": from none
  std::string subject;
  std::vector<mutators::Application> applications;  ///< what made the fault, in order
  std::string place;  ///< classes of the layers ("Dense"); "program" for none; "Dense, program"
  program::FaultSet faults;         ///< diff(faulty, correct)
  std::string category, bug_type;   ///< words of fault_kinds.json; "" where it has none
  int support = 0;                  ///< entries with the same root cause and fix, this one included
  Json change;                      ///< JSON Patch that makes the faulty program of the correct one
  Hash buggy, fixed;                ///< of both programs
  std::vector<double> metrics;      ///< of the faulty program's runs
  evaluators::KillVerdict verdict;  ///< of the test rows
  std::vector<EntrySymptom> symptoms;
  std::optional<double> triviality;  ///< share of test rows that tell the fault; classification
  std::optional<KnownRepairs> alternatives;  ///< that searches found
  bool uses(std::string_view op) const;      ///< is the operator one of those that made it?
};

/// A fault that a subject has no entry of, and why.
struct NoEntry {
  std::string subject;        ///< id
  std::string op, catalogue;  ///< an operator, or an id of the catalogue
  bool applies = false;       ///< are there mutants at all?
  std::string reason;         ///< in words
  /// The operator, or the id of the catalogue.
  const std::string& fault() const { return op.empty() ? catalogue : op; }
};

/// Faulty models, each with the correct program that repairs it and a test that tells both apart.
struct Benchmark {
  std::string name;        ///< part of the ids of its faults: "small"
  std::string title;       ///< in words
  std::uint64_t seed = 0;  ///< of draws, mutations and trainings
  double effect = 0;       ///< an entry's least |d|
  Json environment;        ///< versions: of neutra, and of TensorFlow for the scripts
  std::vector<BenchmarkSubject> subjects;
  std::vector<BenchmarkEntry> entries;  ///< by id
  std::vector<NoEntry> without;
  std::map<std::string, std::string> data;  ///< bytes of the included files
};

/// The name of an entry's document: "entries/0012.json".
std::string entry_file(int id);

/// The faulty or the correct program of an entry.
enum class EntryVersion { kBuggy, kFixed };
/// An entry, or one version of it, as people name it: "12", "12b" (buggy), "12f" (fixed).
struct EntryAddress {
  const BenchmarkEntry* entry = nullptr;  ///< of the benchmark that was asked
  std::optional<EntryVersion> version;    ///< nullopt: the entry as a whole
};
/// The entry of an address ("12b"). Throws usage_error for what is no address, input_error for an
/// entry that isn't there.
EntryAddress find_entry(const Benchmark& benchmark, std::string_view address);
/// The subject that the entry's fault was put into. Throws input_error where there is none.
const BenchmarkSubject& subject_of(const Benchmark& benchmark, const BenchmarkEntry& entry);
/// The program of one version. Throws input_error where the change doesn't fit the subject.
program::Program program_of(const Benchmark& benchmark, const BenchmarkEntry& entry,
                            EntryVersion version);

/// A fault file whose known fix is the correct program (docs/formats/fault.md).
Json fault_file(const Benchmark& benchmark, const BenchmarkEntry& entry);
/// Its id: "small-12".
std::string fault_id(const Benchmark& benchmark, const BenchmarkEntry& entry);

/// The mutations that made an entry's fault: "change_label=25", "duplicate_layer@6 +
/// delete_training_data=90"
std::string mutation_text(const BenchmarkEntry& entry);

}  // namespace neutra::experiments
