#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "fl_adapters/parsers/parser.h"
#include "tests/source_file.h"
#include "tests/training/programs.h"

/// What tests of parsers share.
namespace neutra::fl_adapters::parsers::tests {

/// A log of tests/fl_adapters/data.
inline std::string recorded(const std::string& name) {
  return read_file(source_file("tests/fl_adapters/data") / name, "a log");
}

inline ParsedLog parse(const std::string& tool, const std::string& text,
                       ParseOptions options = {}) {
  if (options.name.empty()) options.name = "log";
  const LogParser* parser = find_log_parser(tool);
  EXPECT_NE(parser, nullptr) << tool;
  return parse_log(*parser, text, options);
}

/// "name x runs: answer" of each program.
inline std::vector<std::string> answers(const ParsedLog& log) {
  std::vector<std::string> lines;
  for (const RecordedProgram& program : log.programs) {
    lines.push_back(program.name + " x " + std::to_string(program.answers.runs.size()) + ": " +
                    to_string(program.answers.answer()));
  }
  return lines;
}
/// Codes of the first run of the first program.
inline std::vector<std::string> codes(const ParsedLog& log) {
  std::vector<std::string> list;
  for (const ToolMessage& message : log.programs.at(0).answers.runs.at(0).messages) {
    list.push_back(message.code);
  }
  return list;
}
/// "line: text" of each warning.
inline std::vector<std::string> warnings(const ParsedLog& log) {
  std::vector<std::string> lines;
  for (const ParseWarning& warning : log.warnings) {
    lines.push_back(std::to_string(warning.line) + ": " + warning.text);
  }
  return lines;
}
using Lines = std::vector<std::string>;

/// A classifier whose last layer has this activation.
inline program::Program classifier(const std::string& output) {
  return training::program_of(
      "moons", 2, Json::array({training::dense(4, "relu"), training::dense(2, output)}),
      "categorical_crossentropy", "accuracy", training::optimizer("Adam", 0.001));
}
inline ParseOptions knowing(const program::Program& program) {
  ParseOptions options;
  options.program = [&](const std::string&) { return &program; };
  return options;
}

}  // namespace neutra::fl_adapters::parsers::tests
