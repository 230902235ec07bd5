#pragma once

#include <string>
#include <vector>

#include "source/analysis.h"
#include "source/finding.h"

namespace neutra::source {

/// What the rules find in a text, by place and then by rule. Findings in whose line, or in the line
/// above alone, a comment says `# neutra: ignore` or `# neutra: ignore[RULE, ...]` are left out.
std::vector<Finding> check(const Analysis& analysis, const std::vector<const Rule*>& rules);

/// What goes against a rule's own examples, in words; empty: nothing.
std::vector<std::string> check_examples(const Rule& rule);

}  // namespace neutra::source
