#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evaluators/answers.h"
#include "experiments/catalog.h"

namespace neutra::experiments {

// Where things are written in the script that a fault was captured from (docs/methods/lines.md).
// Each place once, in the order of files and lines.

using Places = std::vector<const ScriptPlace*>;

/// Of a fault, or a choice of several, that a tool names on `program`: of each value that it is
/// about. Where it names no layer, only values that the script writes, none that it leaves to a
/// default.
Places places_of(const Script& script, const program::Program& program,
                 const std::vector<program::FaultEntry>& choice);
/// Of a whole answer; none of one that isn't applicable.
Places places_of(const Script& script, const program::Program& program,
                 const program::FaultSet& faults);
/// Of a layer, for a ranking; layers count from 0.
Places places_of_layer(const Script& script, const program::Program& program, int layer);
/// Of a hyperparameter.
Places places_of(const Script& script, const program::Key& key);
/// Of all hyperparameters in which two programs of a space differ.
Places places_of_change(const Script& script, const program::ProgramSpace& space,
                        const program::Parameters& from, const program::Parameters& to);

/// The lines of a place: all of a call over several lines.
evaluators::CodeLines lines_of(const ScriptPlace& place);
/// Of several places, each once.
std::vector<evaluators::CodeLines> lines_of(const Places& places);
/// "train.py:23, train.py:30"; "" for none.
std::string lines_text(const Places& places);
/// [{file, line, column, end_line, end_column, kind}]; null what isn't known.
Json places_json(const Places& places);

}  // namespace neutra::experiments
