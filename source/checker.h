#pragma once

#include <string>
#include <vector>

#include "source/analysis.h"
#include "source/finding.h"

namespace neutra::source {

/// What the rules find in a text, by place and then by rule, without those that comments switch
/// off.
std::vector<Finding> check(const Analysis& analysis, const std::vector<const Rule*>& rules);

/// Leaves out findings that a comment switches off: `# neutra: ignore` or `# neutra: ignore[RULE,
/// ...]` in a line of the finding (of a definition in its first), or alone in the line above.
void leave_out_ignored(const Analysis& analysis, std::vector<Finding>& findings);

/// What goes against a rule's own examples, in words; empty: nothing.
std::vector<std::string> check_examples(const Rule& rule);

}  // namespace neutra::source
