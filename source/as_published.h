#pragma once

#include <string>
#include <vector>

#include "source/analysis.h"
#include "source/finding.h"

namespace neutra::source {

/// What the published PYSIASSIST says of a text, as far as its paper and its verdicts tell: its
/// text matching over the lines of the text (as_published.json), not the graphs
/// (docs/methods/source.md).
struct PublishedVerdict {
  int pattern = 0;
  bool wrong = false;
  std::uint32_t line = 1;  ///< where it looked, of a wrong one
};

/// The verdicts on all 14 patterns, by number.
std::vector<PublishedVerdict> published_verdicts(const Analysis& analysis);

/// The wrong ones as findings, one for each pattern that one of the rules has.
std::vector<Finding> check_as_published(const Analysis& analysis,
                                        const std::vector<const Rule*>& rules);

}  // namespace neutra::source
