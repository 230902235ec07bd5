#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "evaluators/answers.h"
#include "program/faults.h"
#include "program/parameters.h"

namespace neutra::evaluators {

/// How the study's numbers are formed: as its text says, or as its published tables follow
/// (docs/methods/scores.md).
enum class Variant { kCorrected, kAsPublished };
/// When an answer names a fault: by type alone, by type and an overlapping layer, or by a line of
/// the script (experiments/scores/line_scores.h).
enum class Match { kType, kLayer, kLine };
/// What it is worth when an answer names a fault of certain layers without saying a layer.
enum class Unlocated { kCount, kExclude, kHalf };

/// Words of the options: "corrected", "as-published"; "type", "layer", "line"; "count", "exclude",
/// "half".
std::optional<Variant> parse_variant(std::string_view word);
std::optional<Match> parse_match(std::string_view word);
std::optional<Unlocated> parse_unlocated(std::string_view word);
std::string_view to_string(Variant variant);
std::string_view to_string(Match match);
std::string_view to_string(Unlocated unlocated);

/// How answers are scored.
struct ScoreOptions {
  Variant variant = Variant::kCorrected;
  Match match = Match::kLayer;
  Unlocated unlocated = Unlocated::kCount;
  double beta = 3;  ///< recall counts beta times as much as precision
  int top = 1;      ///< a ranking without faults counts as the set of so many first places
};

/// All in [0, 1].
struct Score {
  double recall = 0;
  double precision = 0;
  double f = 0;
};

/// (1 + beta^2) P R / (beta^2 P + R), 0 where both are 0 (van Rijsbergen, Information Retrieval,
/// 1979).
double f_beta(double precision, double recall, double beta);

/// Does one item of an answer name one of a ground truth? 1, 0, or between them where the layer is
/// open. A choice does when any of it does. A fault without a type (a place of a ranking) names
/// what has one of its layers.
double match_weight(const std::vector<program::FaultEntry>& answer,
                    const std::vector<program::FaultEntry>& truth, const ScoreOptions& options);

/// How well an answer names the faults of one ground truth: recall over the truth's items,
/// precision over the answer's types. An item that is a choice counts as one, and is matched when
/// any of it is. 0 for an answer that is empty or not applicable, and for an empty truth.
Score score(const program::FaultSet& answer, const program::FaultSet& truth,
            const ScoreOptions& options);

/// After neutrality analysis: the largest recall over all ground truths, and means of precision and
/// F over those that attain it (the study's section 5.2). Truths without items are passed over.
struct BestScore {
  Score score;
  int truths = 0;     ///< looked at
  int attaining = 0;  ///< of them with the largest recall
};
/// The same over scores, one for each truth; all 0 where there are none.
BestScore best_score(const std::vector<Score>& scores);
/// All 0 where no truth has items.
BestScore best_score(const program::FaultSet& answer, const std::vector<program::FaultSet>& truths,
                     const ScoreOptions& options);

/// Items of one type made one with all their layers: a fault type counts once however many layers
/// it lists. Choices and faults without a type stay.
program::FaultSet by_type(const program::FaultSet& faults);

/// One item for each hyperparameter in which two programs of a space differ: "ACH(1), ACH(4), HLR".
/// A changed number of copies of a layer is the choice LAD|LRM of that layer.
program::FaultSet changed_hyperparameters(const program::ProgramSpace& space,
                                          const program::Parameters& from,
                                          const program::Parameters& to);

/// Does this tool leave layers out? DeepFD does; others are taken to when they name types that
/// belong to layers, and none of their answers has a layer.
bool leaves_layers_out(std::string_view tool, const std::vector<Answer>& answers);

}  // namespace neutra::evaluators
