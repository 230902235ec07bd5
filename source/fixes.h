#pragma once

#include <optional>
#include <string>
#include <vector>

#include "source/analysis.h"
#include "source/finding.h"
#include "source/situation.h"

namespace neutra::source {

/// The edit that a rule proposes; nullopt: it can't be made here.
std::optional<Edit> make_fix(const FixRule& fix, const Analysis& analysis,
                             const Situation& situation);

/// The text with the fixes of the findings; where two overlap, the first alone.
std::string fixed_text(const SourceText& source, const std::vector<Finding>& findings,
                       std::size_t* applied);

}  // namespace neutra::source
