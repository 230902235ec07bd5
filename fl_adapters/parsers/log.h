#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading what a tool printed: console logs and collections of them, as they were recorded.
namespace neutra::fl_adapters::parsers {

/// A piece of a line: what lies between line ends, carriage returns and runs of backspaces, without
/// colour codes and other control characters.
struct LogLine {
  std::size_t number = 0;  ///< of the line in the file, from 1
  std::string text;        ///< may have blanks at its ends; tabs are kept
  bool garbled = false;    ///< bytes were dropped that are no text
};

/// The lines of a recording: UTF-8 or, with a byte order mark, UTF-16; ends LF, CRLF or LF CR.
std::vector<LogLine> log_lines(std::string_view bytes);

/// The part of a recording that is about one program.
struct Section {
  std::string program;          ///< "" where the recording doesn't say
  bool not_applicable = false;  ///< recorded as N/A
  std::vector<LogLine> lines;
};

/// What couldn't be read of a line, numbered from 1.
struct ParseWarning {
  std::size_t line = 0;
  std::string text;
};

/// A recording as one section; a table `id,"text"` (one record a program, texts of several lines)
/// as one section a record.
std::vector<Section> sections(std::vector<LogLine> lines, std::vector<ParseWarning>& warnings);

/// What a line is that a training program or its libraries print beside the tool: "blank",
/// "progress bar", ...; "" for a line that isn't known.
std::string_view noise_kind(std::string_view line);

/// "C:\work\41600519.py" -> "41600519"; quotes, folders and a trailing slash dropped too.
std::string program_name(std::string_view text);

/// A line that starts the output of a program: a command that runs a Python script. The name.
std::optional<std::string> command_of(std::string_view line);

/// A line "Issue NAME", "Issue NAME start", "Issue NAME end 4.9", quotes allowed.
struct IssueLine {
  std::string name;
  bool ends = false;  ///< closes a run
  std::optional<double> seconds;
};
/// nullopt: it is no such line.
std::optional<IssueLine> issue_of(std::string_view line);

/// Without blanks at both ends, quotes too.
std::string_view trimmed(std::string_view text);
/// Without any blanks: messages compare in this form.
std::string unspaced(std::string_view text);

/// Reads a line from left to right.
class Scanner {
 public:
  /// `text` must outlive it.
  explicit Scanner(std::string_view text) : rest_(text) {}
  /// What hasn't been read yet.
  std::string_view rest() const { return rest_; }
  /// Blanks and tabs.
  void skip_blanks();
  /// Skips blanks and the word, case ignored; false and nothing skipped if something else comes.
  bool word(std::string_view wanted);
  /// Skips blanks and reads a number of at least 0; nullopt and nothing read if something else
  /// comes, or more than 10^9 (integer) or 10^12 (number).
  std::optional<std::int64_t> integer();
  std::optional<double> number();
  /// Skips to behind the next `wanted`; false: there is none.
  bool skip_past(std::string_view wanted);

 private:
  std::string_view rest_;
};

/// "--- 10.09 seconds ---": the number, and the text without it.
std::optional<double> take_seconds(std::string& text);

}  // namespace neutra::fl_adapters::parsers
