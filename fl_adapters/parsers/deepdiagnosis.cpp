#include "fl_adapters/parsers/stop_line.h"

namespace neutra::fl_adapters::parsers {
namespace {

const MessageTable& table() {
  static const MessageTable table = table_of_recordings("deepdiagnosis");
  return table;
}

/// The suggestion as the study counts it. `symptom_layer`: where the problem was found.
std::optional<ToolMessage> advice_of(const std::string& suggestion,
                                     std::optional<std::int64_t> symptom_layer,
                                     Recorder& recorder) {
  const auto match = match_text(table(), suggestion);
  if (!match || table().kind(match->code).severity != "Suggestion") return std::nullopt;
  std::set<int> layers;
  if (const auto named = match->numbers.find("layer"); named != match->numbers.end()) {
    layers.insert(layer_of(recorder, named->second));
  } else if (symptom_layer) {
    layers.insert(layer_of(recorder, *symptom_layer));
  }
  ToolMessage advice = table().message(match->code);
  advice.text = suggestion;
  // Of what it names, these have a place.
  for (program::FaultEntry& fault : advice.faults) {
    if (fault.type != "ACH" && fault.type != "WCI") continue;
    fault.layers = layers;
    advice.layers = layers;
  }
  if (match->code == "to_softmax" && !recorder.keep_misleading()) {
    const program::Program* program = recorder.known();
    if (program == nullptr) {
      advice.ignored = "the output may be a softmax already: the program isn't known";
    } else if (output_activation(*program) == "softmax") {
      advice.ignored = "the output is a softmax already";
    }
    if (!advice.ignored.empty()) advice.faults.clear();
  }
  return advice;
}

void read(const Section& section, Recorder& recorder) {
  std::optional<std::int64_t> layer;
  const auto advise = [&](const std::string& suggestion) {
    auto advice = advice_of(suggestion, layer, recorder);
    if (advice) record(recorder.run().messages, std::move(*advice));
    return advice.has_value();
  };
  read_stop_lines(
      section, recorder,
      [&](const LogLine& line, const StopLine& stop) {
        layer.reset();
        const auto match = match_text(table(), stop.message);
        if (match) {
          std::set<int> layers;
          if (match->numbers.contains("layer")) {
            layer = match->numbers.at("layer");
            layers.insert(layer_of(recorder, *layer));
          }
          ToolMessage symptom = table().message(match->code, layers);
          symptom.text = stop.message;
          symptom.epochs = {match->numbers.at("batch")};  // the tool's "Batch" is the epoch
          record(recorder.run().messages, std::move(symptom));
        } else if (!stop.message.empty()) {
          recorder.warn(line.number, "unknown symptom " + in_quotes(stop.message));
          recorder.cut();
        }
        if (!stop.suggestion.empty() && !advise(stop.suggestion)) {
          recorder.warn(line.number, "unknown suggestion " + in_quotes(stop.suggestion));
          recorder.cut();
        }
      },
      [&](const LogLine& line) {
        std::string text = line.text;
        const auto seconds = take_seconds(text);
        if (seconds) recorder.run().seconds = *seconds;
        return trimmed(text).empty() ? seconds.has_value() : advise(std::string(trimmed(text)));
      });
}

}  // namespace

extern const LogParser deepdiagnosis_parser{
    "deepdiagnosis", "lists of issues, console logs, and one line a program", read};

}  // namespace neutra::fl_adapters::parsers
