// Any bytes as recorded output of a tool, which the first byte chooses: they are read without an
// error, and what is read can be written as JSON.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "fl_adapters/parsers/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra::fl_adapters::parsers;
  if (size == 0) return 0;
  const LogParser& parser = *log_parsers()[data[0] % log_parsers().size()];
  ParseOptions options;
  options.name = "input";
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ParsedLog log = parse_log(parser, text, options);
  neutra::Json json;
  for (const RecordedProgram& program : log.programs) {
    if (program.answers.runs.empty()) std::abort();
    json.push_back(program.name + ": " + neutra::program::to_string(program.answers.answer()));
    for (const neutra::fl_adapters::Localisation& run : program.answers.runs) {
      for (const neutra::fl_adapters::ToolMessage& message : run.messages)
        json.push_back(message.detail);
    }
  }
  for (const ParseWarning& warning : log.warnings) {
    if (warning.line == 0) std::abort();
    json.push_back(warning.text);
  }
  if (!json.is_null() && json.dump().empty()) std::abort();
  return 0;
}
