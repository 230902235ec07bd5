#include "fl_adapters/tools/umlaut.h"
#include "base/strings.h"

#include <algorithm>
#include <array>

#include "fl_adapters/parsers/parser.h"

namespace neutra::fl_adapters::parsers {
namespace {

/// A list of messages: "[<Critical: ...>, <Warning: ...>]"; brackets may be lost.
struct List {
  std::vector<std::string> codes;
  bool closed = false;
};

/// Words that a message starts with.
constexpr std::array<std::string_view, 3> kSeverities{"Critical", "Error", "Warning"};

/// Characters; no message comes near it.
constexpr std::size_t kLongestMessage = 200;

/// The message of which a part remains, at its end or at its start; "" unless it is only one.
std::string remains_of(std::string_view part, bool end) {
  constexpr std::size_t kEnough = 8;  // letters
  const std::string own = unspaced(part.substr(part.rfind(':') + 1));
  std::string found;
  for (const std::string& code : umlaut::message_table().codes()) {
    const std::string whole = unspaced(umlaut::message_table().kind(code).text);
    if (own.size() < kEnough || !(end ? whole.ends_with(own) : whole.starts_with(own))) continue;
    if (!found.empty()) return "";
    found = code;
  }
  return found;
}

/// Reads the lists of a line; problems are appended, `cut` is set where a part is missing.
std::vector<List> lists_of(std::string_view line, std::vector<std::string>& problems, bool& cut) {
  std::vector<List> lists;
  bool open = false;
  // "ssing Softmax layer before loss>, <Warning: ...": the start of the list was cut off.
  if (const std::size_t close = line.find('>'); close < line.find('<')) {
    if (const std::string code = remains_of(line.substr(0, close), true); !code.empty()) {
      lists.push_back({{code}, false});
      open = true;
      line.remove_prefix(close + 1);
    }
  }
  while (!line.empty()) {
    const std::size_t at = line.find_first_of("<]");
    if (at == std::string_view::npos) break;
    const char mark = line[at];
    const bool in_list = open || (at > 0 && line[at - 1] == '[');
    const std::string_view item = line.substr(at, kLongestMessage);
    line.remove_prefix(at + 1);
    if (mark == ']') {
      if (open) lists.back().closed = true;
      open = false;
      continue;
    }
    const std::size_t end = item.find('>');
    const std::size_t next = item.find('<', 1);
    const std::string_view inside =
        item.substr(1, std::min(end, next) == std::string_view::npos ? std::string_view::npos
                                                                     : std::min(end, next) - 1);
    const std::size_t colon = inside.find(':');
    const std::string_view severity = inside.substr(0, colon);
    bool known = false;
    for (const std::string_view word : kSeverities) known = known || severity == word;
    if (!known) {
      // "<Crtical: ...": a message's form and another word.
      if (colon != std::string_view::npos && end != std::string_view::npos && end < next &&
          colon < 12 && severity.find(' ') == std::string_view::npos && in_list) {
        problems.push_back("unknown severity in " + in_quotes(item.substr(0, end + 1)));
      }
      continue;
    }
    if (!open) lists.emplace_back();
    open = true;
    if (end == std::string_view::npos || end > next) {
      problems.push_back("the message is cut off: " + in_quotes(item.substr(0, next)));
      cut = true;
      if (const std::string code = remains_of(inside, false); !code.empty()) {
        lists.back().codes.push_back(code);
      }
      continue;
    }
    line.remove_prefix(end);
    if (const auto match = match_text(umlaut::message_table(), inside.substr(colon + 1))) {
      lists.back().codes.push_back(match->code);
    } else {
      problems.push_back("unknown message " + in_quotes(item.substr(0, end + 1)));
    }
  }
  if (open) {
    problems.push_back("the list of messages has no end");
    cut = true;
  }
  return lists;
}

bool before_training(const std::string& code) {
  return code == "no_softmax" || code == "missing_activations" ||
         code == "activation_final_layer" || code == "high_dropout_rate";
}

/// The message as the study counts it.
ToolMessage message_of(const std::string& code, const List& list, Recorder& recorder) {
  ToolMessage message = umlaut::message_table().message(code);
  if (!before_training(code)) return message;
  if (const program::Program* program = recorder.known()) {
    for (ToolMessage& own : umlaut::check_program(*program, ToolVariant::kAsPublished)) {
      if (own.code == code) message = std::move(own);
    }
    if (recorder.keep_misleading() && !message.ignored.empty()) {
      message = umlaut::message_table().message(code, message.layers);
    }
    return message;
  }
  // Without the program: an output with an activation may be a softmax, and mostly is.
  const bool has_activation =
      std::find(list.codes.begin(), list.codes.end(), "activation_final_layer") != list.codes.end();
  const bool about_output = code == "no_softmax" || code == "activation_final_layer";
  if (about_output && has_activation && !recorder.keep_misleading()) {
    message.faults.clear();
    message.ignored = "the output may be a softmax already: the program isn't known";
  }
  return message;
}

/// Does a line that holds no list look as if it had held one?
bool strange(std::string_view line) {
  for (const std::string_view word : kSeverities) {
    if (contains(line, "<" + std::string(word)) || contains(line, std::string(word) + ": ")) {
      for (const std::string& code : umlaut::message_table().codes()) {
        if (contains(line, umlaut::message_table().kind(code).text)) return true;
      }
      if (contains(line, "<" + std::string(word))) return true;
    }
  }
  const std::string_view text = trimmed(line);
  return text.starts_with("Umlaut") || text.starts_with("Issue ");
}

/// Reads one section line by line.
class SectionReader {
 public:
  SectionReader(const Section& section, Recorder& recorder)
      : section_(section), recorder_(recorder), began_(!section.program.empty()) {}

  void read() {
    for (const LogLine& line : section_.lines) read_line(line);
    finish();
  }

 private:
  void start_run() {
    recorder_.start_run();
    said_ = false;
    began_ = true;
    epoch_.reset();
    last_ = 0;
  }

  void read_line(const LogLine& line) {
    const std::string_view text = trimmed(line.text);
    if (const auto entry = issue_of(text)) {
      read_issue(*entry);
      return;
    }
    if (const auto command = command_of(text)) {
      recorder_.other(line, false);
      recorder_.program(*command);
      said_ = false;
      began_ = true;
      return;
    }
    const bool results = text.starts_with("Umlaut results:");
    std::vector<std::string> problems;
    bool cut = false;
    const std::vector<List> lists = lists_of(text, problems, cut);
    for (const std::string& problem : problems) recorder_.warn(line.number, problem);
    if (announced_ != 0 && !lists.empty()) announced_ = 0;
    if (announced_ != 0 && (results || noise_kind(text) != "blank")) {
      recorder_.warn(announced_, "no list of messages follows");
      announced_ = 0;
    }
    if (results && lists.empty()) announced_ = line.number;
    if (results || !lists.empty()) {
      recorder_.understood();
    } else {
      read_progress(line, text);
    }
    for (const List& list : lists) read_list(line, list);
    if (cut) recorder_.cut();
  }

  void read_issue(const IssueLine& entry) {
    recorder_.understood();
    // Some recordings say "end" where the issue starts.
    if (entry.ends && (entry.seconds || entry.name == issue_)) {
      if (issue_.empty()) recorder_.program(entry.name);
      recorder_.run().seconds = entry.seconds.value_or(0);
      recorder_.end_run();
      issue_.clear();
    } else {
      recorder_.program(entry.name);
      start_run();
      issue_ = entry.name;
    }
  }

  /// A line without a list: Keras's, the program's own, ...
  void read_progress(const LogLine& line, std::string_view text) {
    // The start of another training.
    const bool begins = text.starts_with("Train on ") || text.starts_with("Epoch 1/");
    if (begins && said_ && (epoch_ || text.starts_with("Train on ")) && issue_.empty()) {
      start_run();
    }
    began_ = began_ || begins;
    if (text.starts_with("Epoch ")) read_epoch(text);
    const std::string_view kind = noise_kind(text);
    if (!began_ && (kind == "epoch header" || kind == "metrics" || kind == "progress bar")) {
      recorder_.warn(line.number, "the start of the run was cut off");
      recorder_.cut();
      began_ = true;  // said once
    }
    if (text.starts_with("Process finished")) recorder_.end_run();
    recorder_.other(line, strange(text));
  }

  /// "Epoch 3/10"
  void read_epoch(std::string_view text) {
    Scanner scanner(text.substr(6));
    const auto number = scanner.integer();
    if (!number || *number <= 0) return;
    epoch_ = *number - 1;
    last_ = *number;
    longest_ = std::max(longest_, last_);
    if (scanner.word("/")) programmed_ = scanner.integer().value_or(0);
    said_ = said_ || recorder_.in_run();
  }

  void read_list(const LogLine& line, const List& list) {
    const bool initial = std::any_of(list.codes.begin(), list.codes.end(), before_training);
    if (initial && said_ && issue_.empty() && section_.program.empty()) start_run();
    began_ = began_ || initial;
    // " path  seconds  epochs  [list]  on_epoch_end"
    const std::size_t tab = line.text.find('\t');
    if (tab != std::string::npos && contains(line.text, "\ton_")) {
      recorder_.program(program_name(std::string_view(line.text).substr(0, tab)));
      start_run();
      Scanner scanner(std::string_view(line.text).substr(tab));
      recorder_.run().seconds = scanner.number().value_or(0);
      if (const auto number = scanner.integer(); number && *number > 0) epoch_ = *number - 1;
    }
    said_ = true;
    for (const std::string& code : list.codes) {
      ToolMessage message = message_of(code, list, recorder_);
      if (!before_training(code) && epoch_) message.epochs = {*epoch_};
      record(recorder_.run().messages, std::move(message));
    }
  }

  void finish() {
    if (announced_ != 0) recorder_.warn(announced_, "no list of messages follows");
    // The last run: does the recording end in it?
    const bool shorter = last_ < programmed_ && longest_ == programmed_;
    if (recorder_.in_run() && issue_.empty() && (announced_ != 0 || shorter)) {
      if (shorter) recorder_.warn(section_.lines.back().number, "the end of the run was cut off");
      recorder_.cut();
    }
    if (!issue_.empty()) {
      recorder_.warn(section_.lines.back().number, "issue " + issue_ + " has no end");
    }
  }

  const Section& section_;
  Recorder& recorder_;
  std::optional<std::int64_t> epoch_;  ///< of the last header, from 0
  bool said_ = false;                  ///< has the run said anything or begun an epoch?
  std::size_t announced_ = 0;          ///< line of "Umlaut results:" without its list
  std::string issue_;                  ///< the open one
  /// Has the run's start been seen? Without any sign of epochs this isn't known, and taken for yes.
  bool began_;
  /// Epochs of the run as far as it went, of the longest one, and as programmed.
  std::int64_t last_ = 0, longest_ = 0, programmed_ = 0;
};

void read(const Section& section, Recorder& recorder) { SectionReader(section, recorder).read(); }

}  // namespace

extern const LogParser umlaut_parser{
    "umlaut", "console logs, tables of issues, and one line a program with its list", read,
    [](const Localisation& run) {
      return std::any_of(run.messages.begin(), run.messages.end(),
                         [](const ToolMessage& message) { return before_training(message.code); });
    }};

}  // namespace neutra::fl_adapters::parsers
