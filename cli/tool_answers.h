#pragma once

#include <string>
#include <vector>

#include "cli/fault_lines.h"
#include "fl_adapters/tool.h"
#include "program/layer_titles.h"

namespace neutra::cli {

/// What tools answered, for people: of several a table with a row for each, then answers, ranking
/// and messages of each, with the lines of the script where there is one. Those of one family that
/// said the same are told once. Begins with an empty line.
std::string answers_text(const std::vector<fl_adapters::ToolAnswers>& results,
                         const program::LayerTitles& titles, const FaultLines& lines);

/// What a message adds to the answer: "ACH(1)", "LRM|LAD", "-".
std::string answer_text(const fl_adapters::ToolMessage& message);

}  // namespace neutra::cli
