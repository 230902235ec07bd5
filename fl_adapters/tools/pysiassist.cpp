#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "fl_adapters/messages.h"
#include "source/as_published.h"
#include "source/checker.h"

/// Silent bugs in the script that a program was captured from: docs/methods/pysiassist.md.
namespace neutra::fl_adapters::pysiassist {
namespace {

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("pysiassist");
  return table;
}

/// Why the source of this program can't be judged; "": it can.
std::string obstacle(const FaultyProgram& faulty, ToolVariant variant) {
  if (faulty.script.empty())
    return "the tool reads source, and this program has none: it was captured from no script";
  if (faulty.sources.empty())
    return "the tool reads source, and the script that was captured is not that of this version "
           "of the program";
  if (variant == ToolVariant::kAsPublished && !faulty.framework.starts_with("torch"))
    return "the published tool reads scripts of PyTorch, and this one is of " + faulty.framework;
  return "";
}

/// The text that the program was captured from. Throws input_error where it is gone or another.
source::SourceText text_of(const ScriptSource& file) {
  std::string bytes = read_file(file.file, "the script that the program was captured from");
  if (sha256(bytes) != file.sha256)
    throw input_error(describe(file.file, "", "a text that has changed since it was captured",
                               "the one that was captured, or a new capture"));
  return {file.name, std::move(bytes)};
}

void say_as_published(const source::Analysis& analysis, const std::string& name,
                      std::vector<ToolMessage>& messages) {
  for (const source::PublishedVerdict& verdict : source::published_verdicts(analysis)) {
    if (!verdict.wrong) continue;
    ToolMessage message = message_table().message("pattern-" + std::to_string(verdict.pattern));
    const int line = static_cast<int>(verdict.line);
    message.lines = {{name, line, line}};
    record(messages, std::move(message));
  }
}

void say_repaired(const source::Analysis& analysis, const std::string& name,
                  std::vector<ToolMessage>& messages) {
  static const std::vector<const source::Rule*> rules = [] {
    std::vector<const source::Rule*> all;
    for (const source::RuleSet& set : source::bundled_rules())
      for (const source::Rule& rule : set.rules)
        if (rule.severity != source::Severity::kHint) all.push_back(&rule);
    return all;
  }();
  for (const source::Finding& finding : source::check(analysis, rules)) {
    const source::Rule& rule = *finding.rule;
    ToolMessage message = message_table().message("rule");
    message.code = rule.id;
    message.severity = source::name_of(rule.severity);
    message.text = finding.message;
    message.actionability = finding.fix ? Actionability::kFix : Actionability::kLocation;
    message.faults.clear();
    for (const std::string& type : rule.faults) message.faults.push_back({type, {}});
    const int line = static_cast<int>(finding.position.line);
    message.lines = {{name, line, line}};
    record(messages, std::move(message));
  }
}

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  const auto start = std::chrono::steady_clock::now();
  Localisation result;
  const auto not_applicable = [&](const std::string& reason) {
    result = {};
    result.faults.applicable = false;
    result.status = LocalisationStatus::kNotApplicable;
    result.reason = reason;
    return result;
  };
  if (const std::string why = obstacle(faulty, context.variant); !why.empty())
    return not_applicable(why);
  for (const ScriptSource& file : faulty.sources) {
    try {
      const source::SourceText text = text_of(file);
      const source::Analysis analysis(text);
      if (context.variant == ToolVariant::kAsPublished)
        say_as_published(analysis, file.name, result.messages);
      else
        say_repaired(analysis, file.name, result.messages);
    } catch (const Error& error) {
      return not_applicable(error.what());
    }
  }
  result.faults = answer_of(result.messages);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{"pysiassist",
               "2024-03",
               ToolKind::kNative,
               {ToolNeed::kSource},
               "silent bugs in the training script that the program was captured from",
               "Hong, Sun, Gao and Tan, Investigating and Detecting Silent Bugs in PyTorch "
               "Programs, SANER 2024; https://github.com/Hong-Shuo/PYSIASSIST",
               localise,
               message_table}};
}

}  // namespace neutra::fl_adapters::pysiassist
