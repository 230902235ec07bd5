#include "fl_adapters/parsers/stop_line.h"

namespace neutra::fl_adapters::parsers {
namespace {

const MessageTable& table() {
  static const MessageTable table = table_of_recordings("deeplocalize");
  return table;
}

void read(const Section& section, Recorder& recorder) {
  read_stop_lines(
      section, recorder,
      [&](const LogLine& line, const StopLine& stop) {
        if (const auto match = match_text(table(), stop.message)) {
          std::set<int> layers;
          if (match->numbers.contains("layer")) {
            layers.insert(layer_of(recorder, match->numbers.at("layer")));
          }
          ToolMessage message = table().message(
              match->code, layers, "batch " + std::to_string(match->numbers.at("batch")));
          message.text = stop.message;
          record(recorder.run().messages, std::move(message));
        } else if (!stop.message.empty()) {
          recorder.warn(line.number, "unknown symptom " + in_quotes(stop.message));
          recorder.cut();
        }
        if (!stop.suggestion.empty()) {
          recorder.warn(line.number, "not understood: " + in_quotes(stop.suggestion));
        }
      },
      [&](const LogLine& line) {
        std::string text = line.text;
        const auto seconds = take_seconds(text);
        if (seconds) recorder.run().seconds = *seconds;
        return seconds && trimmed(text).empty();
      });
}

}  // namespace

extern const LogParser deeplocalize_parser{
    "deeplocalize", "lists of issues, console logs, and one line a program", read};

}  // namespace neutra::fl_adapters::parsers
