#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/scores/scoring.h"

namespace neutra::experiments {

/// The family of a tool: the part of its name before the first hyphen ("deepmufl" of
/// "deepmufl-muse").
std::string_view tool_family(std::string_view tool);

/// Tools of one family that can't be told apart: the same answers, scores, ranks and stability on
/// every fault.
struct AlikeTools {
  std::string shown;                ///< "deepmufl-muse (+1)": the first, with how many others
  std::vector<std::string> others;  ///< as alike as to be left out
};
/// The sheet with the first of such tools alone, under the name that is shown; adds all of them to
/// `alike`.
ScoreSheet fold_alike_tools(ScoreSheet sheet, std::vector<AlikeTools>& alike);

}  // namespace neutra::experiments
