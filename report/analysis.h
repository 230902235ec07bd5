#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/network_file.h"

namespace neutra::report {

/// Has the search decided about a program? One that waits has no status but "pending".
bool is_evaluated(const search::Node& node);

/// A program as its search compared it: the mean of the trainings that it has, those of a curtailed
/// one too. nullopt: no training gave a metric; NaN: one of them diverged.
std::optional<double> outcome(const search::Node& node);

/// Is it in the network: the buggy program, a repair, or neutral and among the best of its parent?
bool is_kept(const search::Node& node);

/// Why a program is not in the network.
enum class Rejection {
  kInvalid,      ///< Keras would refuse it
  kFailed,       ///< it ran out of time or memory, or its process died
  kDiverged,     ///< one of its trainings has no finite metric
  kCurtailed,    ///< given up: its other trainings could make it neither neutral nor a repair
  kWorse,        ///< than its parent, and no repair
  kNoBetter,     ///< no better than its parent, where a rule asks for that
  kNotAmongBest  ///< neutral, but others of its parent are better
};
std::string_view to_string(Rejection rejection);  ///< "invalid", "not_among_best", ...
/// Precondition: evaluated, and not kept.
Rejection rejection_of(const search::Network& network, const search::Node& node);

/// How far a search was after an evaluation.
struct CourseStep {
  std::int64_t evaluation = 0;  ///< from 1, the buggy program
  std::int64_t id = 0;          ///< its program
  std::optional<double> best;   ///< mean of the best program so far; nullopt: none has one
  std::int64_t repairs = 0;     ///< so far
};
/// The first evaluation, those that changed the best mean or the number of repairs, and the last.
std::vector<CourseStep> course(const search::Network& network);

/// Fields of a report about all programs that were evaluated (docs/formats/report.md): `course`,
/// and of a store also `evaluated`, `effects` and `importance`.
void add_analysis(const experiments::NetworkFile& loaded, Json& document);

/// `course` of any network.
Json course_json(const search::Network& network);

}  // namespace neutra::report
