#include "fl_adapters/parsers/parser.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "program/document.h"
#include "program/layer.h"

namespace neutra::fl_adapters::parsers {

// One line for each tool, sorted by name; NAME.cpp defines the object NAME_parser.
#define NEUTRA_PARSERS(PARSER) \
  PARSER(deepdiagnosis) PARSER(deepfd) PARSER(deeplocalize) PARSER(neuralint) PARSER(umlaut)

#define NEUTRA_DECLARE(name) extern const LogParser name##_parser;
#define NEUTRA_ADDRESS(name) &name##_parser,

NEUTRA_PARSERS(NEUTRA_DECLARE)

const std::vector<const LogParser*>& log_parsers() {
  static const std::vector<const LogParser*> list{NEUTRA_PARSERS(NEUTRA_ADDRESS)};
  return list;
}

std::vector<std::string> log_parser_names() {
  std::vector<std::string> names;
  for (const LogParser* parser : log_parsers()) names.push_back(parser->name);
  return names;
}

const LogParser* find_log_parser(std::string_view name) {
  for (const LogParser* parser : log_parsers()) {
    if (parser->name == name) return parser;
  }
  return nullptr;
}

void Recorder::program(const std::string& name) {
  end_run();
  name_ = name;
}

void Recorder::start_run() {
  end_run();
  whole_ = Whole::kYes;
  open_ = true;
}

void Recorder::end_run() {
  if (!open_) return;
  open_ = false;
  const Whole whole = std::exchange(whole_, Whole::kYes);
  if (whole == Whole::kLost) {
    run_ = {};
    return;
  }
  const std::string& name = name_.empty() ? options_.name : name_;
  auto program = std::find_if(log_.programs.begin(), log_.programs.end(),
                              [&](const RecordedProgram& known) { return known.name == name; });
  if (program == log_.programs.end()) {
    program = log_.programs.insert(log_.programs.end(), {name, {}, {}, {}});
  }
  if (run_.status == LocalisationStatus::kOk) {
    run_.faults = answer_of(run_.messages);
  } else {
    run_.faults.applicable = false;
  }
  (whole == Whole::kYes  ? program->answers.runs
   : whole == Whole::kNo ? program->cut
                         : program->unsure)
      .push_back(std::move(run_));
  run_ = {};
}

Localisation& Recorder::run() {
  open_ = true;
  return run_;
}

const program::Program* Recorder::known() {
  return options_.program ? options_.program(name_.empty() ? options_.name : name_) : nullptr;
}

void Recorder::other(const LogLine& line, bool strange) {
  const std::string_view kind = noise_kind(line.text);
  if (strange || line.garbled) {
    warn(line.number,
         (line.garbled ? "bytes that are no text in " : "not understood: ") + in_quotes(line.text));
    ++log_.noise["not understood"];
  } else {
    ++log_.noise[kind.empty() ? "program output" : std::string(kind)];
  }
}

void Recorder::foreign(const LogLine& line) { other(line, noise_kind(line.text).empty()); }

namespace {

/// Does the line name a program, and nothing else?
bool opens_run(std::string_view line) {
  const std::string_view text = trimmed(line);
  const auto issue = issue_of(text);
  return (issue && !issue->ends) || text.starts_with("working on subject") ||
         (text.ends_with(".py") && text.find_first_of(" \t") == std::string_view::npos);
}

/// Takes the vote from runs that were cut, see ParsedLog::programs.
void settle(const LogParser& parser, ParsedLog& log) {
  for (RecordedProgram& program : log.programs) {
    std::vector<Localisation>& runs = program.answers.runs;
    const auto complete = [&](const Localisation& run) {
      return run.status != LocalisationStatus::kOk || parser.has_start(run);
    };
    if (parser.has_start != nullptr && std::any_of(runs.begin(), runs.end(), parser.has_start)) {
      const auto cut = std::stable_partition(runs.begin(), runs.end(), complete);
      std::move(cut, runs.end(), std::back_inserter(program.cut));
      runs.erase(cut, runs.end());
    }
    if (runs.empty()) runs.swap(program.unsure);
    std::move(program.unsure.begin(), program.unsure.end(), std::back_inserter(program.cut));
    program.unsure.clear();
    if (!runs.empty()) continue;
    const auto rest =
        std::stable_partition(program.cut.begin(), program.cut.end(),
                              [](const Localisation& run) { return !run.faults.items.empty(); });
    std::move(program.cut.begin(), rest, std::back_inserter(runs));
    program.cut.erase(program.cut.begin(), rest);
  }
  std::erase_if(log.programs,
                [](const RecordedProgram& program) { return program.answers.runs.empty(); });
}

}  // namespace

ParsedLog parse_log(const LogParser& parser, std::string_view bytes, const ParseOptions& options) {
  ParsedLog log;
  const std::vector<Section> all = sections(log_lines(bytes), log.warnings);
  for (const Section& section : all) {
    Recorder recorder(options, log);
    recorder.program(section.program);
    if (section.not_applicable) {
      recorder.understood();
      recorder.run().status = LocalisationStatus::kNotApplicable;
      recorder.run().reason = "recorded as N/A";
    } else {
      if (!section.program.empty()) recorder.start_run();
      parser.read(section, recorder);
      if (&section == &all.back() && recorder.in_run()) {
        // The last line may be half of one, unless it closes a list.
        const bool ends = bytes.ends_with('\n') || bytes.ends_with("\n\r") || bytes.ends_with(']');
        const bool opens = !section.lines.empty() && opens_run(section.lines.back().text);
        if (opens && !ends) {
          recorder.warn(section.lines.back().number, "the recording ends before the run");
          recorder.cut();
        } else if (opens || !ends) {
          recorder.unsure();
        }
      }
    }
    recorder.end_run();
  }
  settle(parser, log);
  std::stable_sort(log.warnings.begin(), log.warnings.end(),
                   [](const ParseWarning& a, const ParseWarning& b) { return a.line < b.line; });
  return log;
}

Localisation read_output(const LogParser& parser, std::string_view text,
                         const FaultyProgram& faulty) {
  ParseOptions options;
  options.name = faulty.id;
  options.program = [&](const std::string&) { return &faulty.program; };
  const ParsedLog log = parse_log(parser, text, options);
  if (log.programs.empty() || log.understood == 0) {
    Localisation nothing;
    nothing.status = LocalisationStatus::kFailed;
    nothing.reason = "nothing that " + parser.name + " prints is in the output";
    if (!log.warnings.empty()) {
      nothing.reason +=
          "; line " + std::to_string(log.warnings.front().line) + ": " + log.warnings.front().text;
    }
    nothing.faults.applicable = false;
    return nothing;
  }
  const ToolAnswers& answers = log.programs.front().answers;
  const std::string most_frequent = answers.counted().front().first;
  return *std::find_if(answers.runs.begin(), answers.runs.end(), [&](const Localisation& run) {
    return to_string(run.faults) == most_frequent;
  });
}

std::string in_quotes(std::string_view line) {
  constexpr std::size_t kShown = 60;
  line = trimmed(line);
  std::string text;
  for (const char c : line.substr(0, kShown)) {
    text += c == '\t' ? ' ' : c >= 0x20 && c < 0x7f ? c : '?';
  }
  return "'" + text + (line.size() > kShown ? "...'" : "'");
}

int last_layer(const program::Program& program) {
  const Json* layers = program::find_layers(program.document);
  return layers == nullptr ? -1 : static_cast<int>(layers->size()) - 1;
}

std::string output_activation(const program::Program& program) {
  const std::string activation = program::last_activation(program::resolve(program).layers.back());
  return activation.empty() ? "linear" : activation;
}

namespace {

/// Is `text` what `form` says? Both without blanks.
bool fits(std::string_view form, std::string_view text,
          std::map<std::string, std::int64_t>& numbers) {
  while (!form.empty()) {
    const std::size_t end = form.find('}');
    if (form.front() == '{' && end != std::string_view::npos) {
      Scanner scanner(text);
      const auto number = scanner.integer();
      if (!number) return false;
      numbers[std::string(form.substr(1, end - 1))] = *number;
      text = scanner.rest();
      form.remove_prefix(end + 1);
    } else if (!text.empty() && form.front() == text.front()) {
      form.remove_prefix(1);
      text.remove_prefix(1);
    } else {
      return false;
    }
  }
  return text.empty();
}

}  // namespace

std::optional<TableMatch> match_text(const MessageTable& table, std::string_view text) {
  const std::string own = unspaced(text);
  for (const std::string& code : table.codes()) {
    TableMatch match{code, {}};
    if (fits(unspaced(table.kind(code).text), own, match.numbers)) return match;
  }
  return std::nullopt;
}

}  // namespace neutra::fl_adapters::parsers
