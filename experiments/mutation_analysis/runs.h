#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "training/trainer.h"

namespace neutra {
struct JournalContent;
}
namespace neutra::training {
class LocalTrainer;
}

namespace neutra::experiments {

/// What kills: rows that a trained program is asked about.
enum class TestSet {
  kTrain,  ///< the original's training rows, prepared as test rows are
  kTest,   ///< the rows that give the metric
  kWeak    ///< the half of the test rows of which the original is most certain
};
/// "train", "test", "weak"
std::string_view to_string(TestSet set);
/// The test set of a word that to_string() gives; nullopt for other words.
std::optional<TestSet> parse_test_set(std::string_view word);

/// Version of the rules by which runs are made and kept. In version 1 mutants were asked about
/// training rows without the steps of data.preprocess that they did to test rows alone.
inline constexpr int kMutantRunVersion = 2;

/// One training of a program, and what came of it.
struct MutantRun {
  training::RunStatus status = training::RunStatus::kOk;
  std::string message;                ///< reason where the status isn't kOk
  std::map<TestSet, double> metrics;  ///< NaN where there is none
  std::vector<bool> right;            ///< for each test row, of a classification
  /// For each test row, of a classification: the largest of the class probabilities. Kept of the
  /// original's first run alone.
  std::vector<float> certainty;
  double seconds = 0;               ///< that the training took
  int version = kMutantRunVersion;  ///< of the rules by which it was made
};
/// A run as a record of the journal has it.
Json to_json(const MutantRun& run);
/// The run of such a record. Throws where the record is another.
MutantRun mutant_run_from_json(const Json& json);

/// Trained runs, in memory and, if there is a file, in a journal that a later process goes on from.
class MutantRuns {
 public:
  MutantRuns();  ///< nothing is kept
  /// Throws input_error naming the difference when the file was made from other things than
  /// `header` says, and for any other file, also one that `fresh` would replace; failure() when
  /// another process has it. Damaged records, also the header, are left out, with a warning on
  /// standard error. Runs of older versions are taken; find() tells them by MutantRun::version.
  MutantRuns(const std::filesystem::path& file, const Json& header, bool fresh,
             const std::string& command);
  MutantRuns(const MutantRuns&) = delete;
  MutantRuns& operator=(const MutantRuns&) = delete;
  ~MutantRuns();

  /// Run number `run`, from 0, of a program; nullptr: it was not made.
  const MutantRun* find(const Hash& program, int run) const;
  /// Keeps a run; with a file it is on the disk when this returns. Throws failure().
  void add(const Hash& program, int run, MutantRun result);

 private:
  struct File;
  /// Takes the runs of a file with the header `stored`, also as `records` behind the header there;
  /// warns of damage.
  void read(JournalContent journal, const Json& stored, const Json& header, const std::string& file,
            std::vector<Json>& records);
  std::map<std::pair<Hash, int>, MutantRun> runs_;
  std::unique_ptr<File> file_;
  std::string analysis_;  ///< digest of the header
};

/// What decides the runs of an original and its mutants: the header of their file.
Json mutant_runs_header(const program::Program& original, training::LocalTrainer& trainer,
                        std::uint64_t seed, const training::TrainingJob& limits);

}  // namespace neutra::experiments
