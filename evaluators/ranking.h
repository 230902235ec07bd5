#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/faults.h"

namespace neutra::evaluators {

/// One place in the answer of a tool that ranks.
struct Suspect {
  int layer = -1;             ///< 0-based over config.layers; -1: no layer
  std::int64_t neuron = -1;   ///< of that layer's outputs, row-major; -1: the layer as a whole
  std::string type;           ///< fault type ("ACH"); empty: the tool names places only
  double suspiciousness = 0;  ///< higher is more suspicious
};
/// The most suspicious first; neighbours of equal suspiciousness are tied.
using Ranking = std::vector<Suspect>;

/// Neurons are taken for their layer; of several suspects that name one type and layer the first
/// stays. Tied places by layer, then type.
Ranking distinct_places(const Ranking& ranking);

/// The first `count` (at least 1) distinct places, and those that tie with the last of them, as an
/// answer; none where several places are all tied.
/// A place without a type is a fault without a type:
/// "(2)".
program::FaultSet top_places(const Ranking& ranking, std::size_t count);

/// One ranking of several, over distinct places: by the mean of their suspiciousness, 0 where a
/// ranking leaves a place out. Tied places by layer, then type; the same for any order of
/// `rankings`.
Ranking merged(const std::vector<Ranking>& rankings);

/// "ACH(2) > (0) = (1) > (3:17) > LCH": '>' between places, '=' between tied ones, a neuron behind
/// a colon (docs/formats/answers.md). Suspiciousness itself is left out.
std::string to_string(const Ranking& ranking);
/// Reads that form; an empty text is an empty ranking. Suspiciousness counts down to 1. Throws
/// input_error with `where` for a place that is none and an unknown fault type.
Ranking parse_ranking(std::string_view text, const std::string& where);

}  // namespace neutra::evaluators
