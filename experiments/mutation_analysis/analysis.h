#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/journal.h"
#include "base/parallel.h"
#include "evaluators/mutation_score.h"
#include "program/program.h"
#include "search/options.h"
#include "training/local_trainer.h"

/// Which mutants do test sets kill? DeepCrime's analysis (docs/methods/killing.md).
namespace neutra::experiments {

/// What kills: rows that a trained program is asked about.
enum class TestSet {
  kTrain,  ///< the original's training rows, prepared as test rows are
  kTest,   ///< the rows that give the metric
  kWeak    ///< the half of the test rows of which the original is most certain
};
std::string_view to_string(TestSet set);  ///< "train", "test", "weak"
std::optional<TestSet> parse_test_set(std::string_view word);

/// Of kept runs. In version 1 mutants were asked about training rows without the steps of
/// data.preprocess that they did to test rows alone.
inline constexpr int kMutantRunVersion = 2;

/// One training of a program, and what came of it.
struct MutantRun {
  training::RunStatus status = training::RunStatus::kOk;
  std::string message;                ///< reason where the status isn't kOk
  std::map<TestSet, double> metrics;  ///< NaN where there is none
  std::vector<bool> right;            ///< for each test row, of a classification
  /// Likewise: the largest of the class probabilities. Kept of the original's first run alone.
  std::vector<float> certainty;
  double seconds = 0;
  int version = kMutantRunVersion;  ///< of the rules by which it was made
};
Json to_json(const MutantRun& run);
MutantRun mutant_run_from_json(const Json& json);

/// Trains originals and mutants. Thread safe; the result depends on program and run alone. Throws
/// Error as Trainer::train() does.
class MutantTrainer {
 public:
  virtual ~MutantTrainer() = default;
  virtual MutantRun run(const program::Program& program, int run) = 0;
  /// Why Keras would refuse the program; nullopt: it would train.
  virtual std::optional<std::string> refusal(const program::Program& program) = 0;
};
/// Independent draws: the streams are keyed by the whole program, so that runs of an original and
/// of its mutants share nothing. The rows of the training set are the original's, whatever a mutant
/// does to its own, prepared as the mutant prepares test rows. `limits`: time_limit, memory_limit
/// and stop are taken. Everything outlives the result. Throws input_error for a program whose
/// metric is its loss: rows can't be asked for it.
std::unique_ptr<MutantTrainer> make_mutant_trainer(const program::Program& original,
                                                   training::LocalTrainer& trainer,
                                                   std::uint64_t seed,
                                                   const training::TrainingJob& limits);

/// A mutation operator at one place of the original.
struct OperatorSite {
  std::string op, abbreviation;
  std::string site;                              ///< "layer 3"; empty: the program as a whole
  std::optional<evaluators::SearchRange> range;  ///< of values to search; else:
  std::vector<std::string> values;  ///< configurations; one empty text: there is no choice
  /// The mutant; throws input_error with the reason where the value isn't applicable there.
  std::function<program::Program(const std::string& value)> make;
};

struct MutationOptions {
  int runs = 20;
  evaluators::KillVariant variant = evaluators::KillVariant::kCorrected;
  std::vector<TestSet> sets{TestSet::kTrain, TestSet::kTest};
  /// Leave out runs that can change no verdict. Not in the published variant, nor where the metric
  /// has no upper bound or may not be finite.
  bool early = true;
  int workers = 1;
  const std::atomic<bool>* stop = nullptr;
};

/// One mutant and what the test sets say of it.
struct AnalysedMutant {
  std::size_t site = 0;  ///< index of its OperatorSite
  std::string value;
  std::optional<program::Program> program;  ///< nullopt: not applicable
  std::string reason;  ///< why it isn't applicable, is invalid or has no verdict
  training::RunStatus status =
      training::RunStatus::kOk;  ///< the worst of its runs; kInvalid: nothing was trained
  std::string same_as;           ///< id of an earlier mutant that is the same program
  int runs = 0;                  ///< that the verdicts are from
  std::map<TestSet, evaluators::KillVerdict> verdicts;
  std::map<TestSet, double> means;          ///< NaN or infinite with a metric that is
  std::map<TestSet, std::size_t> diverged;  ///< of `runs`: those whose metric isn't finite
  double seconds = 0;
  /// Over `runs`, where these have per-input results: classifications. Mutants compare where it is
  /// over all runs.
  std::optional<double> triviality;
  std::optional<bool> redundant;  ///< killed mutants alone, where all runs were made
  std::string id() const;         ///< "12:change_label=50"; unique

  std::string op;  ///< id of the operator
};

/// What became of an operator at a place.
struct SiteResult {
  std::map<TestSet, evaluators::BinarySearch> searches;  ///< of one with a range
  std::vector<std::size_t> mutants;  ///< indices, in the order in which they were tried
};

struct OperatorResult {
  std::string op, abbreviation;
  std::vector<std::size_t> sites;
  std::map<TestSet, evaluators::OperatorScore>
      scores;  ///< of kTest and kWeak, where kTrain is there, too
};

struct MutationAnalysis {
  std::map<TestSet, std::vector<double>> original;  ///< metric of each run
  std::vector<AnalysedMutant> mutants;
  std::vector<SiteResult> sites;  ///< as the sites given
  std::vector<OperatorResult> operators;
  std::map<TestSet, std::optional<double>> scores;
  std::size_t trainings = 0;  ///< of programs that were needed; left out ones don't count
  std::size_t saved = 0;      ///< trainings that could change no verdict, or of twins
};

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

  const MutantRun* find(const Hash& program, int run) const;
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

/// Trains what verdicts need, in parallel, until every search has ended. The result depends on
/// neither workers nor interruptions. Throws Error(kInterrupted) when `stop` is set: what was
/// trained is in `runs`. Throws input_error when the original can't be trained or judged.
MutationAnalysis analyse_mutants(const program::Program& original,
                                 const std::vector<OperatorSite>& sites,
                                 const MutationOptions& options, MutantTrainer& trainer,
                                 MutantRuns& runs,
                                 const std::function<void(const Tally& known)>& progress = {});

}  // namespace neutra::experiments
