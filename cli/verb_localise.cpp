#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/fault_lines.h"
#include "cli/originals.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/tool_answers.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "experiments/catalog.h"
#include "experiments/tool_runs.h"
#include "fl_adapters/external.h"
#include "fl_adapters/localise_runs.h"
#include "fl_adapters/registry.h"
#include "fl_adapters/tools/deepfd/table.h"
#include "program/layer_titles.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

/// The tool of that name, or all formulas of it: "deepmufl" stands for "deepmufl-muse" and others.
std::vector<const fl_adapters::Tool*> tools_named(const std::string& name) {
  if (name == "all") return fl_adapters::tools();
  if (const fl_adapters::Tool* tool = fl_adapters::find_tool(name)) return {tool};
  if (name.ends_with(".json")) return {fl_adapters::load_tool(name)};
  std::vector<const fl_adapters::Tool*> formulas;
  for (const fl_adapters::Tool* tool : fl_adapters::tools()) {
    if (tool->name.starts_with(name + "-")) formulas.push_back(tool);
  }
  if (formulas.empty()) {
    throw usage_error("--tool: found '" + name +
                      "'; allowed: " + allowed_words(name, fl_adapters::tool_names()) +
                      ", listed by neutra localise --list, all, or the description file of an "
                      "external tool, FILE.json");
  }
  return formulas;
}

std::vector<const fl_adapters::Tool*> chosen_tools(const Arguments& arguments) {
  if (!arguments.has("tool")) return fl_adapters::tools();
  std::vector<const fl_adapters::Tool*> chosen;
  for (const std::string& name : arguments.list("tool")) {
    for (const fl_adapters::Tool* tool : tools_named(name)) {
      if (std::find(chosen.begin(), chosen.end(), tool) == chosen.end()) chosen.push_back(tool);
    }
  }
  return chosen;
}

std::vector<std::string> needs_of(const fl_adapters::Tool& tool) {
  std::vector<std::string> needs;
  for (const fl_adapters::ToolNeed need : tool.needs) needs.emplace_back(to_string(need));
  return needs;
}

struct ToolList {
  std::vector<const fl_adapters::Tool*> tools;
};

Json json_of(const ToolList& all) {
  Json list = Json::array();
  for (const fl_adapters::Tool* tool : all.tools)
    list.push_back({{"tool", tool->name},
                    {"version", tool->version},
                    {"kind", to_string(tool->kind)},
                    {"needs", needs_of(*tool)},
                    {"description", tool->description},
                    {"source", tool->source}});
  return list;
}

std::string text_of(const ToolList& all) {
  TextTable table({"tool", "version", "kind", "needs", "what it does"});
  for (const fl_adapters::Tool* tool : all.tools)
    table.add({tool->name, tool->version, std::string(to_string(tool->kind)), join(needs_of(*tool)),
               tool->description});
  return table.text();
}

/// All layers and the first neurons, each with its suspiciousness ("inf" where it is infinite).
Json ranking_json(const std::vector<evaluators::Suspect>& ranking) {
  constexpr std::size_t kNeurons = 100;
  Json layers = Json::array(), neurons = Json::array();
  for (const evaluators::Suspect& suspect : ranking) {
    if (suspect.neuron >= 0 && neurons.size() == kNeurons) break;
    Json entry = Json::object();
    if (suspect.layer >= 0) entry["layer"] = suspect.layer;
    if (suspect.neuron >= 0) entry["neuron"] = suspect.neuron;
    if (!suspect.type.empty()) entry["fault"] = suspect.type;
    entry["suspiciousness"] = exact_number(suspect.suspiciousness);
    (suspect.neuron >= 0 ? neurons : layers).push_back(std::move(entry));
  }
  return {{"layers", std::move(layers)}, {"neurons", std::move(neurons)}};
}

Json json_of(const fl_adapters::ToolAnswers& answers, const FaultLines& lines) {
  Json counted = Json::array();
  for (const auto& [answer, count] : answers.counted())
    counted.push_back({{"answer", answer}, {"runs", count}});
  Json runs = Json::array();
  for (std::size_t i = 0; i < answers.runs.size(); ++i) {
    const fl_adapters::Localisation& run = answers.runs[i];
    Json messages = Json::array();
    for (const fl_adapters::ToolMessage& message : run.messages) {
      messages.push_back({{"code", message.code},
                          {"severity", message.severity},
                          {"text", message.text},
                          {"actionability", to_string(message.actionability)},
                          {"epochs", message.epochs},
                          {"unit", to_string(message.said)},
                          {"layers", message.layers},
                          {"detail", message.detail},
                          {"faults", answer_text(message)},
                          {"ignored", message.ignored}});
      if (lines.known()) messages.back()["places"] = lines.json(message);
      if (!message.lines.empty())
        messages.back()["lines"] = lines_json({message.lines.begin(), message.lines.end()});
    }
    Json entry{{"run", i},
               {"status", to_string(run.status)},
               {"answer", to_string(run.faults)},
               {"seconds", run.seconds},
               {"messages", std::move(messages)}};
    if (!run.ranking.empty()) entry["ranking"] = ranking_json(run.ranking);
    if (!run.reason.empty()) entry["reason"] = run.reason;
    if (!run.lines.empty()) entry["lines"] = lines_json({run.lines.begin(), run.lines.end()});
    runs.push_back(std::move(entry));
  }
  Json json{{"tool", answers.tool->name},
            {"version", answers.tool->version},
            {"kind", to_string(answers.tool->kind)},
            {"answer", to_string(answers.answer())},
            {"answers", std::move(counted)},
            {"seconds", answers.mean_seconds()},
            {"runs", std::move(runs)}};
  if (lines.known()) json["faults"] = lines.json(answers.answer());
  return json;
}

fl_adapters::LocaliseContext context_of(const Arguments& arguments,
                                        training::LocalTrainer& trainer) {
  fl_adapters::LocaliseContext context;
  context.trainer = &trainer;
  context.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  context.time_limit = arguments.seconds("time-limit");
  context.memory_limit = arguments.bytes("memory-limit");
  context.variant = arguments.text("defects") == "repaired"
                        ? fl_adapters::ToolVariant::kRepaired
                        : fl_adapters::ToolVariant::kAsPublished;
  context.stop = &stop_requested();
  if (arguments.has("keep")) context.keep = arguments.text("keep");
  if (arguments.has("deepfd-model")) context.model = arguments.text("deepfd-model");
  return context;
}

/// What can't be read or written is said before tools run for hours.
void require_inputs_and_outputs(const fl_adapters::LocaliseContext& context,
                                const std::vector<const fl_adapters::Tool*>& tools,
                                const fl_adapters::FaultyProgram& faulty, std::size_t runs) {
  if (!context.model.empty()) fl_adapters::deepfd::read_table(context.model);
  if (context.keep.empty()) return;
  require_writable_folder(context.keep, "--keep");
  for (const fl_adapters::Tool* tool : tools) {
    if (tool->kind == fl_adapters::ToolKind::kExternal)
      fl_adapters::require_run_folders(context.keep, faulty, *tool, runs);
  }
}

/// Whether an external tool keeps to the protocol, step by step.
struct ProtocolCheck {
  std::string fault;
  std::vector<fl_adapters::ToolCheck> steps;

  bool conforms() const {
    return std::none_of(steps.begin(), steps.end(), [](const fl_adapters::ToolCheck& step) {
      return step.verdict == fl_adapters::ToolCheck::Verdict::kFailed;
    });
  }
};

std::string word_of(const fl_adapters::ToolCheck& step) {
  using Verdict = fl_adapters::ToolCheck::Verdict;
  return step.verdict == Verdict::kOk       ? "ok"
         : step.verdict == Verdict::kRemark ? "remark"
                                            : "failed";
}

Json json_of(const ProtocolCheck& check) {
  Json list = Json::array();
  for (const fl_adapters::ToolCheck& step : check.steps)
    list.push_back({{"step", step.what}, {"verdict", word_of(step)}, {"detail", step.detail}});
  return {{"format", "neutra-tool-check"},
          {"version", 1},
          {"fault", check.fault},
          {"conforms", check.conforms()},
          {"steps", std::move(list)}};
}

std::string text_of(const ProtocolCheck& check) {
  std::string text;
  for (const fl_adapters::ToolCheck& step : check.steps) {
    const std::string word = word_of(step);
    text += word + std::string(8 - word.size(), ' ') + step.what + ": " + step.detail + "\n";
  }
  return text + (check.conforms() ? "the tool conforms\n" : "the tool does not conform\n");
}

/// Runs an external tool on a small program.
Result check(const Arguments& arguments) {
  constexpr const char* kSmallFault = "D6";  // two layers and 200 rows, bundled
  const experiments::Fault fault = experiments::load_fault(
      arguments.positional.empty() ? kSmallFault : arguments.positional.front());
  const auto trainer = make_trainer(arguments, fault.file);
  ProtocolCheck check{fault.id, fl_adapters::check_tool(arguments.text("check-tool"),
                                                        {fault.id, tool_version(fault, arguments)},
                                                        context_of(arguments, *trainer))};
  const Exit exit = check.conforms() ? Exit::kDone : Exit::kFailed;
  return output_of(std::move(check), arguments, exit);
}

/// What tools answered about one program.
struct Answers {
  experiments::Fault fault;
  program::Program program;  ///< that they were asked about
  std::string version, defects;
  std::int64_t seed = 0;
  std::vector<fl_adapters::ToolAnswers> tools;

  bool about_buggy() const { return version == "buggy"; }
  FaultLines lines() const { return {fault.script ? &*fault.script : nullptr, program}; }
};

Json json_of(const Answers& all) {
  Json list = Json::array();
  for (const fl_adapters::ToolAnswers& answers : all.tools)
    list.push_back(json_of(answers, all.lines()));
  return {{"format", "neutra-localise"},
          {"version", 1},
          {"fault", all.fault.id},
          {"program_version", all.version},
          {"hash", to_string(program::program_hash(all.program))},
          {"declared", to_string(all.fault.declared)},
          {"tools_program", all.about_buggy() ? tools_json(all.fault) : Json()},
          {"seed", all.seed},
          {"defects", all.defects},
          {"layer_names", program::LayerTitles(all.program.document).names()},
          {"tools", std::move(list)}};
}

std::string text_of(const Answers& all) {
  const experiments::Fault& fault = all.fault;
  std::string text =
      fault.id +
      (fault.declared.items.empty() ? "" : ", declared faults " + to_string(fault.declared)) + "\n";
  if (all.about_buggy() && fault.tools)
    text += in_lines("tools are asked about " + experiments::tools_difference(fault) + " (" +
                     fault.tools_reason + ")");
  return text + answers_text(all.tools, program::LayerTitles(all.program.document), all.lines());
}

std::string form_of(const Answers& all, const std::string& form) {
  if (form == "json") return to_text(json_of(all));
  if (form == "text") return text_of(all);
  std::vector<evaluators::Answer> summaries;
  for (const fl_adapters::ToolAnswers& answers : all.tools)
    summaries.push_back(experiments::summary_of_runs(all.fault.id, answers.tool->name,
                                                     *answers.tool, answers.runs));
  return to_csv(summaries);
}

Result run(const Arguments& arguments) {
  catch_signals();
  require_output(arguments);
  if (chosen_format(arguments) == "csv" && (arguments.has("check-tool") || arguments.flag("list")))
    throw usage_error("--format: found csv with --list or --check-tool; allowed: text, json");
  if (arguments.has("check-tool")) return check(arguments);
  const std::vector<const fl_adapters::Tool*> chosen = chosen_tools(arguments);
  if (arguments.flag("list")) return output_of(ToolList{chosen}, arguments);
  if (arguments.positional.empty())
    throw usage_error("localise: found no FAULT; allowed: one, or --list");
  const experiments::Fault fault = experiments::load_fault(arguments.positional.front());
  if (arguments.has("output")) require_not_read(arguments.text("output"), "--output", {fault.file});
  Answers all{fault,
              tool_version(fault, arguments),
              arguments.text("version"),
              arguments.text("defects"),
              arguments.integer("seed"),
              {}};
  const fl_adapters::FaultyProgram faulty = experiments::faulty_program(fault, all.program);
  program::require_valid(faulty.program.document, fault.file.string());
  warn_of(fault.id, faulty.program);
  const auto trainer = make_trainer(arguments, fault.file);
  const fl_adapters::LocaliseContext context = context_of(arguments, *trainer);
  const auto runs = static_cast<std::size_t>(arguments.integer("runs"));
  require_inputs_and_outputs(context, chosen, faulty, runs);
  for (const fl_adapters::Tool* tool : chosen) {
    ProgressLine progress(arguments.flag("quiet"), "localise " + fault.id + " " + tool->name);
    all.tools.push_back(fl_adapters::localise_runs(
        *tool, faulty, context, runs, worker_count(arguments),
        [&](const Tally& tally) { progress.update(progress_of(tally, "runs")); }));
  }
  const bool any_broken =
      std::any_of(all.tools.begin(), all.tools.end(), [](const fl_adapters::ToolAnswers& answers) {
        return std::any_of(answers.runs.begin(), answers.runs.end(),
                           [](const auto& run) { return fl_adapters::broken(run.status); });
      });
  return output_of(std::move(all), arguments, any_broken ? Exit::kFailed : Exit::kDone);
}

}  // namespace

Verb localise_verb() {
  return {
      .name = "localise",
      .summary = "ask fault-localisation tools where the faults of a program are",
      .synopsis =
          "localise FAULT [--tool NAME|FILE.json ...] [--runs N] [--format text|csv|json] [-o "
          "FILE] [options]\n"
          "       neutra localise --list\n"
          "       neutra localise --check-tool FILE.json [FAULT]",
      .options = {.names = {"backend", "check-tool", "data-dir", "deepfd-model", "defects", "keep",
                            "list", "memory-limit", "output", "runs", "seed", "time-limit", "tool",
                            "version", "workers"},
                  .most_positional = 1,
                  .positional_name = "FAULT",
                  .formats = {"text", "csv", "json"}},
      .description =
          "Runs each tool several times, since a training differs from run to run. Prints its "
          "answers in the study's notation\n"
          "with the number of runs that gave each, and its messages: layers, epochs, what a "
          "developer can act on (none, location,\n"
          "fix) and which fault it adds to the answer. Of tools that rank, the ten layers with "
          "the best mean rank; --json has all\n"
          "layers and 100 neurons of each run. A tool with several formulas is asked for all "
          "of them by its first name:\n"
          "--tool deepmufl; --tool all asks every bundled one, as does no --tool at all. Of "
          "several tools a table with a row for\n"
          "each comes first, and formulas with the same answer share a row. --format csv writes "
          "what `neutra score --answers` and\n"
          "`neutra report --answers` take: the most frequent answer of each tool, and its "
          "ranking. Exit 1 if a run failed or ran\n"
          "out of time.\n"
          "A tool of your own is described in a file (docs/howto/add_an_external_tool.md); "
          "--check-tool runs it on a small\n"
          "program and says whether it keeps to the protocol.",
      .example =
          "  neutra localise D8\n"
          "  neutra localise D6 --tool umlaut --defects repaired --json\n"
          "  neutra localise D7 --tool umlaut --format csv -o answers.csv",
      .run = run};
}

}  // namespace neutra::cli
