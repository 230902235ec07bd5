#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/fault_lines.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "experiments/recorded_names.h"
#include "fl_adapters/parsers/parser.h"
#include "program/layer_titles.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

const fl_adapters::parsers::LogParser& chosen_parser(const Arguments& arguments) {
  const std::vector<std::string> names = fl_adapters::parsers::log_parser_names();
  if (!arguments.has("tool")) throw usage_error("--tool is missing; allowed: " + join(names));
  const std::vector<std::string>& chosen = arguments.list("tool");
  if (chosen.size() > 1) throw usage_error("--tool: found " + join(chosen) + "; allowed: one");
  const fl_adapters::parsers::LogParser* parser =
      fl_adapters::parsers::find_log_parser(chosen.front());
  if (parser == nullptr)
    throw usage_error("--tool: found '" + chosen.front() +
                      "'; allowed: " + allowed_words(chosen.front(), names));
  return *parser;
}

/// Outputs are megabytes at most; what is larger is no output of these tools (of a pipe: less,
/// read_file()).
constexpr std::uint64_t kLargestLog = std::uint64_t{1} << 30;

/// The faults whose programs a recording is about.
class Faults {
 public:
  explicit Faults(const Arguments& arguments) {
    if (arguments.has("fault")) own_ = experiments::load_fault(arguments.text("fault"));
  }

  /// nullptr: the name isn't known.
  const experiments::Fault* find(const std::string& name) {
    if (own_) return &*own_;
    const auto known = loaded_.find(name);
    if (known != loaded_.end()) return known->second ? &*known->second : nullptr;
    const std::optional<std::string> id = experiments::fault_of_recorded_name(name);
    const auto& fault = loaded_[name] =
        id ? std::optional(experiments::load_fault(*id)) : std::nullopt;
    return fault ? &*fault : nullptr;
  }

 private:
  std::optional<experiments::Fault> own_;
  std::map<std::string, std::optional<experiments::Fault>> loaded_;
};

std::string text_of(const std::vector<program::FaultEntry>& choice) {
  return choice.empty() ? "-" : to_string(program::FaultSet{true, {choice}});
}

/// Id of the fault that a program is of; the recorded name where it isn't known.
std::string id_of(const std::string& name, Faults& faults) {
  const experiments::Fault* fault = faults.find(name);
  return fault != nullptr ? fault->id : name;
}

/// Where the faults of a program are in the script that it was captured from, if it was.
FaultLines lines_of(const std::string& name, Faults& faults) {
  const experiments::Fault* fault = faults.find(name);
  if (fault == nullptr || !fault->script) return {};
  return {&*fault->script, experiments::tools_program(*fault)};
}

Json json_of(const fl_adapters::parsers::RecordedProgram& program, Faults& faults) {
  const FaultLines lines = lines_of(program.name, faults);
  const program::FaultSet& answer = program.answers.answer();
  Json counted = Json::array();
  for (const auto& [text, runs] : program.answers.counted())
    counted.push_back({{"answer", text}, {"runs", runs}});
  Json items = Json::array();
  for (const auto& choice : answer.items) items.push_back(text_of(choice));
  Json messages = Json::array();
  for (const fl_adapters::HeardMessage& heard : fl_adapters::messages_heard(program.answers.runs)) {
    messages.push_back({{"code", heard.message->code},
                        {"severity", heard.message->severity},
                        {"text", heard.message->text},
                        {"layers", heard.message->layers},
                        {"epochs", heard.epochs},
                        {"runs", heard.runs},
                        {"faults", text_of(heard.message->faults)},
                        {"ignored", heard.message->ignored}});
    if (!heard.lines.empty()) messages.back()["lines"] = lines_json(heard.lines);
    if (lines.known()) messages.back()["places"] = lines.json(*heard.message);
  }
  const experiments::Fault* fault = faults.find(program.name);
  Json json{{"program", program.name},
            {"fault", fault != nullptr ? Json(fault->id) : Json()},
            {"runs", program.answers.runs.size()},
            {"left_out", program.cut.size()},
            {"answer", to_string(answer)},
            {"answers", std::move(counted)},
            {"faults", std::move(items)},
            {"seconds", program.answers.mean_seconds()},
            {"messages", std::move(messages)}};
  if (lines.known()) json["places"] = lines.json(answer);
  return json;
}

std::string text_of(const fl_adapters::parsers::ParsedLog& log, Faults& faults) {
  std::string text;
  for (const fl_adapters::parsers::RecordedProgram& program : log.programs) {
    const std::string id = id_of(program.name, faults);
    text += in_lines(program.name + (id == program.name ? "" : " (" + id + ")") + ": " +
                     to_string(program.answers.answer()));
    for (const auto& [answer, runs] : program.answers.counted())
      text += in_lines("  in " + std::to_string(runs) + " of " +
                       std::to_string(program.answers.runs.size()) + " runs: " + answer);
    if (!program.cut.empty())
      text += "  left out: " + std::to_string(program.cut.size()) +
              (program.cut.size() == 1 ? " run" : " runs") + " of which a part was cut off\n";
    const experiments::Fault* fault = faults.find(program.name);
    const program::LayerTitles titles =
        fault != nullptr ? program::LayerTitles(fault->buggy.document) : program::LayerTitles();
    const FaultLines lines = lines_of(program.name, faults);
    text += lines.summary(program.answers.runs);
    const auto all = fl_adapters::messages_heard(program.answers.runs);
    const bool with_lines =
        lines.known() ||
        std::any_of(all.begin(), all.end(), [](const auto& heard) { return !heard.lines.empty(); });
    std::vector<std::string> heads{"message", "layers", "runs", "answer"};
    if (with_lines) heads.emplace_back("lines");
    TextTable table(heads);
    for (const fl_adapters::HeardMessage& heard : all) {
      const fl_adapters::ToolMessage& message = *heard.message;
      const std::string layers = titles(message.layers);
      std::vector<std::string> row{
          message.severity + ": " + message.text, layers.empty() ? "-" : layers,
          std::to_string(heard.runs),
          text_of(message.faults) + (message.ignored.empty() ? "" : " (" + message.ignored + ")")};
      if (with_lines) {
        const std::string where =
            heard.lines.empty() ? lines.text(message) : lines_text(heard.lines);
        row.push_back(where.empty() ? "-" : where);
      }
      table.add(row);
    }
    text += table.text() + "\n";
  }
  std::vector<std::string> noise;
  for (const auto& [kind, lines] : log.noise) noise.push_back(std::to_string(lines) + " " + kind);
  return text + std::to_string(log.understood) +
         " lines of the tool; others: " + (noise.empty() ? "none" : join(noise)) + "\n";
}

/// An answers file. A fault that two programs stand for keeps the first one's answer under its id.
std::string answers_of(const std::string& tool, const fl_adapters::parsers::ParsedLog& log,
                       Faults& faults) {
  std::vector<evaluators::Answer> answers;
  std::set<std::string> taken;
  for (const fl_adapters::parsers::RecordedProgram& program : log.programs) {
    std::string id = id_of(program.name, faults);
    if (!taken.insert(id).second) taken.insert(id = program.name);
    const double seconds = program.answers.mean_seconds();
    answers.push_back({id,
                       tool,
                       program.answers.answer(),
                       "",
                       static_cast<int>(program.answers.runs.size()),
                       seconds > 0 ? std::optional(seconds) : std::nullopt,
                       {},
                       {},
                       "",
                       {}});
    std::set<evaluators::CodeLines> lines;
    for (const fl_adapters::Localisation& run : program.answers.runs) {
      if (run.faults != program.answers.answer()) continue;
      const auto named = fl_adapters::lines_named(run);
      lines.insert(named.begin(), named.end());
    }
    answers.back().lines.assign(lines.begin(), lines.end());
  }
  return to_csv(answers);
}

/// A recording, as its parser has read it.
struct Recording {
  const fl_adapters::parsers::LogParser* parser = nullptr;
  std::shared_ptr<Faults> faults;
  fl_adapters::parsers::ParsedLog log;
};

std::string form_of(const Recording& recording, const std::string& form) {
  const auto& [parser, faults, log] = recording;
  if (form == "answers") return answers_of(parser->name, log, *faults);
  if (form != "json") return text_of(log, *faults);
  Json programs = Json::array();
  for (const fl_adapters::parsers::RecordedProgram& program : log.programs)
    programs.push_back(json_of(program, *faults));
  Json warnings = Json::array();
  for (const fl_adapters::parsers::ParseWarning& warning : log.warnings)
    warnings.push_back({{"line", warning.line}, {"text", warning.text}});
  return to_text({{"format", "neutra-parse"},
                  {"version", 1},
                  {"tool", parser->name},
                  {"programs", std::move(programs)},
                  {"warnings", std::move(warnings)},
                  {"lines", {{"understood", log.understood}, {"noise", log.noise}}}});
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  Recording recording;
  recording.parser = &chosen_parser(arguments);
  recording.faults = std::make_shared<Faults>(arguments);
  const std::string& file = arguments.positional.front();
  fl_adapters::parsers::ParseOptions options;
  options.name = std::filesystem::path(file).stem().string();
  options.keep_misleading = arguments.flag("keep-misleading");
  options.program = [&](const std::string& name) -> const program::Program* {
    const experiments::Fault* fault = recording.faults->find(name);
    return fault != nullptr ? &experiments::tools_program(*fault) : nullptr;
  };
  recording.log = fl_adapters::parsers::parse_log(
      *recording.parser, read_file(file, "recorded output of a tool", kLargestLog), options);
  for (const fl_adapters::parsers::ParseWarning& warning : recording.log.warnings)
    std::cerr << "neutra: " << file << ":" << warning.line << ": " << warning.text << "\n";
  if (recording.log.programs.empty())
    throw input_error(describe(file, "", "nothing that " + recording.parser->name + " prints",
                               "its recorded output (" + recording.parser->description + ")"));
  return output_of(std::move(recording), arguments);
}

}  // namespace

Verb parse_verb() {
  return {
      .name = "parse",
      .summary = "read what the real fault-localisation tools printed",
      .synopsis =
          "parse --tool umlaut|deepdiagnosis|deeplocalize|neuralint|deepfd FILE\n"
          "                    [--fault FAULT] [--keep-misleading] [--format text|json|answers] "
          "[-o FILE]",
      .options = {.names = {"fault", "keep-misleading", "output", "tool"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "FILE",
                  .formats = {"text", "json", "answers"}},
      .description =
          "Reads console logs and collections of them: progress bars, colour codes and whatever "
          "else was printed are passed\n"
          "over and counted. Of each program: its runs, its messages, and the answer that most "
          "runs gave, with the study's\n"
          "mapping of messages to faults. Lines that look like the tool's but can't be read are "
          "warnings with their number.\n"
          "--format answers writes what `neutra score --answers` takes. Programs of the study are "
          "known by the names in\n"
          "its recordings; --fault says which fault a log is of. Exit 3 if nothing is recognised.",
      .example =
          "  neutra parse --tool umlaut 48385830.txt\n"
          "  neutra parse --tool deepdiagnosis runs.txt --format answers -o answers.csv",
      .run = run};
}

}  // namespace neutra::cli
