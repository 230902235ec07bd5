#pragma once

#include <string>
#include <vector>

namespace neutra {

/// The lines of a text; a line end at its end begins no further one.
std::vector<std::string> lines_of(const std::string& text);

/// How two texts differ, as lines of the unified form that `patch` reads: "--- NAME", "+++ NAME",
/// and of each place "@@ -from,count +to,count @@" with its lines behind ' ', '-' or '+', `context`
/// lines around them. As few changed lines as possible; texts of more than 2,000 differing lines
/// each count as wholly other from the first to the last of them. Empty where the lines are equal.
std::vector<std::string> unified_diff(const std::vector<std::string>& from,
                                      const std::vector<std::string>& to,
                                      const std::string& from_name, const std::string& to_name,
                                      int context = 3);

}  // namespace neutra
