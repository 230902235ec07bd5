#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fl_adapters/messages.h"
#include "fl_adapters/parsers/log.h"

/// Recorded output of the real tools, as localisations (docs/formats/tool_outputs.md).
namespace neutra::fl_adapters::parsers {

/// How a recording is read.
struct ParseOptions {
  /// Name of the program of a recording that names none: its file's name.
  std::string name;
  /// Count messages that the study drops, since the tool says them about nearly every program.
  bool keep_misleading = false;
  /// The program that a name stands for, nullptr where it isn't known. With it, layers are those of
  /// the program, and what it has already isn't asked of it.
  std::function<const program::Program*(const std::string& name)> program;
};

/// What a recording holds about one program.
struct RecordedProgram {
  std::string name;
  ToolAnswers answers;  ///< its runs; no tool
  /// Runs of which a part was cut off, or may have been: they have no vote, since what is missing
  /// isn't known.
  std::vector<Localisation> cut, unsure;
};

/// What a recording holds.
struct ParsedLog {
  /// In the order of their first line; each has a run. Where no run of a program is whole, those
  /// count that may have been cut, else those of the cut ones that blame something; a program
  /// without any is left out.
  std::vector<RecordedProgram> programs;
  std::vector<ParseWarning> warnings;        ///< by line
  std::size_t understood = 0;                ///< lines that the tool wrote
  std::map<std::string, std::size_t> noise;  ///< other lines by kind; "program output": any other
};

/// Collects runs while a recording is read.
class Recorder {
 public:
  /// Both outlive the recorder. `log` gets what is read.
  Recorder(const ParseOptions& options, ParsedLog& log) : options_(options), log_(log) {}

  /// The program of what follows; ends the run.
  void program(const std::string& name);
  /// A run begins here; it counts even if nothing is said in it.
  void start_run();
  /// The run that is open, if one is, is whole.
  void end_run();
  /// The run that is open, or the next one, isn't there as a whole.
  void cut() { whole_ = std::max(whole_, Whole::kNo); }
  /// The same, as far as can be seen.
  void unsure() { whole_ = std::max(whole_, Whole::kUnsure); }
  /// It isn't known whose the run is: it is dropped.
  void lose() { whole_ = Whole::kLost; }
  /// The run that messages go to; begins one if none is open.
  Localisation& run();
  /// Is a run open?
  bool in_run() const { return open_; }
  /// The known program of the run; nullptr: unknown.
  const program::Program* known();
  /// ParseOptions::keep_misleading.
  bool keep_misleading() const { return options_.keep_misleading; }

  /// Counts a line that the tool wrote.
  void understood() { ++log_.understood; }
  /// Adds a warning about a line, numbered from 1.
  void warn(std::size_t line, const std::string& text) { log_.warnings.push_back({line, text}); }
  /// A line that isn't the tool's. `strange`: one that looks like the tool's but doesn't read.
  void other(const LogLine& line, bool strange);
  /// For tools whose output has nothing but their own lines: warns of any that isn't known noise.
  void foreign(const LogLine& line);

 private:
  const ParseOptions& options_;
  ParsedLog& log_;
  std::string name_;
  Localisation run_;
  bool open_ = false;
  enum class Whole { kYes, kUnsure, kNo, kLost } whole_ = Whole::kYes;
};

/// The parser of one tool: one file each, one line in parser.cpp.
struct LogParser {
  std::string name;         ///< of the tool: "umlaut"
  std::string description;  ///< one line
  /// Reads one section. The recorder knows its program if the recording says it.
  void (*read)(const Section& section, Recorder& recorder) = nullptr;
  /// Has a run what the tool says first, the same in all runs of a program? A run without it among
  /// runs with it was cut.
  bool (*has_start)(const Localisation& run) = nullptr;
};
const std::vector<const LogParser*>& log_parsers();  ///< sorted by name
/// The words of `neutra parse --tool`, sorted.
std::vector<std::string> log_parser_names();
/// nullptr for an unknown name.
const LogParser* find_log_parser(std::string_view name);

/// Never throws for what is in `bytes`: what can't be read becomes a warning.
ParsedLog parse_log(const LogParser& parser, std::string_view bytes, const ParseOptions& options);

/// What an output of one run says about a program: the most frequent answer, if there are several.
/// kFailed where nothing is recognised. Never throws for what the text is.
Localisation read_output(const LogParser& parser, std::string_view text,
                         const FaultyProgram& faulty);

/// A line as a warning shows it: in quotes, ASCII, cut to 60 characters.
std::string in_quotes(std::string_view line);

/// The last layer of a program, and its activation: "softmax", "linear".
int last_layer(const program::Program& program);
std::string output_activation(const program::Program& program);

/// The message of a table that a text is, blanks aside. A table's text has places for numbers:
/// "Batch {batch} layer {layer}: ...".
struct TableMatch {
  std::string code;
  std::map<std::string, std::int64_t> numbers;
};
/// nullopt: it is none of the table's.
std::optional<TableMatch> match_text(const MessageTable& table, std::string_view text);

}  // namespace neutra::fl_adapters::parsers
