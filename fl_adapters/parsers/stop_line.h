#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fl_adapters/parsers/parser.h"

/// What DeepLocalize and DeepDiagnosis print when they end a training:
/// "Batch 0 layer 6: SYMPTOM, terminating training --- 18.9 seconds --- SUGGESTION".
namespace neutra::fl_adapters::parsers {

/// The parts of such a line.
struct StopLine {
  std::string before;   ///< text in front of "Batch": the name of a model, in collections
  std::string message;  ///< "Batch ... terminating training"
  std::optional<double> seconds;
  std::string suggestion;  ///< trimmed; "" for none
};
/// nullopt: no such line. `problem` says what is wrong with one that is cut off.
std::optional<StopLine> stop_line(std::string_view line, std::string& problem);

/// The layer of the run's program, if that is known, that the tool gives this number: it doesn't
/// count an InputLayer.
int layer_of(Recorder& recorder, std::int64_t number);

/// Has a line words of such a line?
bool like_stop_line(std::string_view line);

/// Reads a section line by line: names of programs and runs as both tools' recordings have them;
/// `stopped` gets each stop line, `continued` each line behind one, and says whether it belongs
/// to it.
void read_stop_lines(const Section& section, Recorder& recorder,
                     const std::function<void(const LogLine&, const StopLine&)>& stopped,
                     const std::function<bool(const LogLine&)>& continued);

}  // namespace neutra::fl_adapters::parsers
