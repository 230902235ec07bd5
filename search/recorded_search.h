#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "search/network.h"
#include "search/options.h"
#include "search/space.h"
#include "search/work.h"

namespace neutra::search {

/// A finished search to be made again without training: its programs and results are those of its
/// store, their times too. Programs are known by their hash only.
///
/// Another schedule may want trainings that the store lacks, since they can change nothing. They
/// are like another replica of the same program, or take the median of all times where there is
/// none; their back end is kEstimated.
class RecordedSearch : public SearchSpace, public training::Trainer {
 public:
  /// The back end of results that the store lacks.
  static constexpr std::string_view kEstimated = "estimated";

  /// All times are multiplied by `time_factor`. Throws input_error: no sound store, not finished,
  /// or with evaluations that only another store has (--reuse).
  explicit RecordedSearch(const std::filesystem::path& store, double time_factor = 1);

  /// Without space and with hashes in place of programs.
  const SearchTask& task() const { return task_; }
  /// As recorded; a budget of time has become one of as many evaluations.
  const SearchConfig& config() const { return config_; }
  /// The recorded one.
  const Network& network() const { return network_; }

  std::vector<mutators::Neighbour> neighbours(const program::Parameters& parameters) const override;
  program::Program program(const program::Parameters& parameters) const override;
  Hash hash(const program::Program& program) const override;
  std::optional<std::int64_t> recorded_place(const program::Parameters& parameters) const override;
  training::ReplicaResult train(const training::TrainingJob& job) override;
  std::optional<std::string> refusal(const program::Program& program) override;
  std::string fingerprint(const program::Program&) override { return config_.fingerprint; }

 private:
  SearchTask task_;
  SearchConfig config_;
  Network network_;
  EvaluationMap evaluations_;
  double median_seconds_ = 0;
  std::map<program::Parameters, Hash> hashes_;
  std::map<program::Parameters, std::vector<mutators::Neighbour>>
      neighbours_;                                      ///< of the expanded programs
  std::map<program::Parameters, std::int64_t> places_;  ///< of the queued programs, in the queue
  std::set<Hash> refused_;
};

}  // namespace neutra::search
