#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/build_info.h"
#include "cli/outputs.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "source/baseline.h"
#include "source/finding_forms.h"
#include "source/fixes.h"

namespace neutra::cli {
namespace {

/// What was found, with the rules that found it, which the findings refer to.
struct CheckResult {
  std::vector<std::unique_ptr<const source::RuleSet>> read;
  source::Findings findings;
};

std::string form_of(const CheckResult& result, const std::string& form) {
  if (form == "json") return to_text(source::json_of(result.findings));
  if (form == "sarif") return to_text(source::sarif_of(result.findings, version()));
  return source::text_of(result.findings);
}

/// The outcome of `--check-rule`.
struct RuleCheck {
  std::string name;
  std::size_t rules = 0;
  std::vector<std::string> problems;
};

std::string text_of(const RuleCheck& check) {
  std::string text;
  for (const std::string& problem : check.problems) text += in_lines(problem);
  return text + check.name + ": " + std::to_string(check.rules) + " rules, " +
         (check.problems.empty() ? "all examples as they say"
                                 : std::to_string(check.problems.size()) + " problems") +
         "\n";
}

Json json_of(const RuleCheck& check) {
  return {{"format", "neutra-check-rule"},
          {"version", 1},
          {"name", check.name},
          {"rules", check.rules},
          {"problems", check.problems}};
}

Result check_rules(const std::string& file) {
  std::vector<std::unique_ptr<const source::RuleSet>> read;
  RuleCheck check;
  check.name = file;
  const std::vector<const source::Rule*> rules = source::chosen_rules({file}, read);
  check.rules = rules.size();
  for (const source::Rule* rule : rules)
    for (const std::string& problem : source::check_examples(*rule))
      check.problems.push_back(rule->id + ": " + problem);
  const Exit exit = check.problems.empty() ? Exit::kDone : Exit::kFailed;
  return result_of(std::move(check), exit);
}

source::Severity least_severity(const Arguments& arguments) {
  if (arguments.has("severity"))
    return source::severity_of(arguments.text("severity"), "--severity");
  return arguments.has("pattern") ? source::Severity::kHint : source::Severity::kWarning;
}

/// Why the repairs of a file can't be written; "": they can.
std::string fix_obstacle(const source::CheckedFile& file) {
  if (file.name == "<stdin>" || file.notebook || file.text->latin1())
    return "only files of Python in UTF-8 are repaired";
  if (::access(file.name.c_str(), W_OK) != 0) return "it can't be written to";
  std::string bytes = read_file(file.name, "a file of Python");
  if (file.text->bom()) bytes.erase(0, source::kByteOrderMark.size());
  return bytes == file.text->text() ? "" : "it has changed since it was read";
}

/// The findings whose repairs are asked for, with how to check a file again.
struct Fixing {
  source::Findings& findings;
  const std::vector<const source::Rule*>& rules;
  source::Variant variant;
};

/// Writes the repairs of a file; what has been repaired is no finding any more. Returns what is to
/// be said about it.
std::string fix_file(source::CheckedFile& file, const Fixing& fixing) {
  std::vector<source::Finding> chosen = file.findings;
  std::erase_if(chosen, [&](const source::Finding& finding) {
    return finding.rule->severity < fixing.findings.least;
  });
  std::size_t applied = 0;
  const std::string text = source::fixed_text(*file.text, chosen, &applied);
  if (applied == 0) return "";
  try {
    const std::string why = fix_obstacle(file);
    if (!why.empty()) return "neutra: " + file.name + ": not repaired: " + why + "\n";
    write_file_atomically(
        file.name, (file.text->bom() ? std::string(source::kByteOrderMark) : std::string()) + text);
  } catch (const Error& error) {
    return std::string("neutra: not repaired: ") + error.what() + "\n";
  }
  file = source::check_file(file.name, fixing.rules, fixing.variant);
  return file.name + ": " + std::to_string(applied) + " repaired\n";
}

std::string apply_fixes(const Fixing& fixing) {
  std::string notes;
  for (source::CheckedFile& file : fixing.findings.files) {
    if (stop_requested())
      throw Error(Exit::kInterrupted, "interrupted\n" + notes + "the other files are as they were");
    if (file.text) notes += fix_file(file, fixing);
  }
  return notes;
}

std::vector<const source::Rule*> rules_of(const Arguments& arguments, CheckResult& result) {
  std::vector<const source::Rule*> rules =
      source::chosen_rules(arguments.list("rules"), result.read);
  const auto pattern = arguments.optional_integer("pattern");
  if (pattern)
    std::erase_if(rules, [&](const source::Rule* rule) { return rule->pattern != *pattern; });
  if (pattern && rules.empty())
    throw usage_error("--pattern " + std::to_string(*pattern) +
                      ": found no such rule in the sets of --rules; allowed: pysiassist among "
                      "them");
  return rules;
}

/// All files that are named, or are in folders that are, each once.
std::vector<std::filesystem::path> files_of(const Arguments& arguments,
                                            std::vector<std::string>& problems) {
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> known;
  for (const std::string& word : arguments.positional)
    for (const std::filesystem::path& file : source::source_files(word, problems))
      if (known.insert(file.lexically_normal()).second) files.push_back(file);
  return files;
}

/// Refuses options that don't go together, before any work.
void require_sense(const Arguments& arguments) {
  require_output(arguments);
  if (arguments.positional.empty())
    throw usage_error("FILE is missing; allowed: files, folders, - (standard input)");
  if (!arguments.has("write-baseline")) return;
  if (arguments.has("baseline"))
    throw usage_error(
        "--write-baseline: found --baseline, too; allowed: one of them (it records all findings "
        "anew)");
  require_text_output(arguments.text("write-baseline"), "--write-baseline");
  if (arguments.has("output"))
    require_apart({{"--output", arguments.text("output")},
                   {"--write-baseline", arguments.text("write-baseline")}});
}

/// The severity from which on findings make the exit code 1; nullopt: none does.
std::optional<source::Severity> failing_severity(const Arguments& arguments,
                                                 source::Severity shown) {
  if (!arguments.has("fail-on")) return shown;
  const std::string word = arguments.text("fail-on");
  if (word == "never") return std::nullopt;
  const source::Severity severity = source::severity_of(word, "--fail-on");
  if (severity < shown)
    throw usage_error("--fail-on: found " + word +
                      "; allowed: " + std::string(source::name_of(shown)) +
                      " or graver, which is what is shown (--severity)");
  return severity;
}

/// Records the findings, or leaves out those that are recorded. Returns what is to be said.
std::string use_baseline(const Arguments& arguments, source::Findings& findings,
                         const std::vector<const source::Rule*>& rules,
                         std::optional<source::Baseline>& baseline) {
  if (baseline) {
    const std::string name = arguments.text("baseline");
    findings.recorded = baseline->leave_out_recorded(findings);
    const std::size_t gone = baseline->gone(findings, rules);
    if (gone == 0) return "";
    return "neutra: " + name + ": " + std::to_string(gone) +
           " of the recorded findings are gone; --write-baseline " + name + " records anew\n";
  }
  if (!arguments.has("write-baseline")) return "";
  const std::string name = arguments.text("write-baseline");
  const std::size_t number = source::count(findings, findings.least);
  write_file_atomically(name, to_text(source::Baseline::record(findings, name)));
  for (source::CheckedFile& file : findings.files) file.findings.clear();
  findings.recorded = number;
  return name + ": " + std::to_string(number) + " findings recorded\n";
}

Result run(const Arguments& arguments) {
  if (arguments.has("check-rule")) {
    require_output(arguments);
    if (!arguments.positional.empty())
      throw usage_error("--check-rule: found '" + arguments.positional.front() +
                        "', too; allowed: the file of rules alone");
    return check_rules(arguments.text("check-rule"));
  }
  require_sense(arguments);
  catch_signals();
  CheckResult result;
  result.findings.least = least_severity(arguments);
  const auto failing = failing_severity(arguments, result.findings.least);
  const std::vector<const source::Rule*> rules = rules_of(arguments, result);
  std::optional<source::Baseline> baseline;
  if (arguments.has("baseline")) baseline = source::Baseline::read(arguments.text("baseline"));
  std::vector<std::string> problems;
  const std::vector<std::filesystem::path> files = files_of(arguments, problems);
  const source::Variant variant = arguments.text("variant") == "as-published"
                                      ? source::Variant::kAsPublished
                                      : source::Variant::kRepaired;
  result.findings.files =
      source::check_files(files, rules, variant, worker_count(arguments), &stop_requested());
  bool any_read = false;
  for (const source::CheckedFile& file : result.findings.files) {
    if (!file.problem.empty()) problems.push_back(file.problem);
    any_read = any_read || file.problem.empty();
  }
  if (problems.size() == 1 && !any_read) throw input_error(problems.front());
  std::string notes;
  if (arguments.flag("fix")) notes += apply_fixes({result.findings, rules, variant});
  notes += use_baseline(arguments, result.findings, rules, baseline);
  for (const std::string& problem : problems) notes += "neutra: " + problem + "\n";
  const Exit exit = !problems.empty()                                         ? Exit::kBadInput
                    : failing && source::count(result.findings, *failing) > 0 ? Exit::kFailed
                                                                              : Exit::kDone;
  Result output = output_of(std::move(result), arguments, exit);
  output.notes = std::move(notes);
  return output;
}

}  // namespace

Verb check_verb() {
  return {
      .name = "check",
      .summary = "find silent bugs in training code, without running it",
      .synopsis =
          "check FILE|FOLDER|-... [--rules SET|FILE|FOLDER]... [--pattern N] "
          "[--severity NAME] [--fail-on NAME]\n"
          "                    [--variant NAME] [--fix] [--baseline FILE | --write-baseline FILE] "
          "[--format text|json|sarif] [-o FILE]\n"
          "       neutra check --check-rule FILE",
      .options = {.names = {"baseline", "check-rule", "fail-on", "fix", "output", "pattern",
                            "severity", "workers", "write-baseline"},
                  .least_positional = 0,
                  .most_positional = 1000000,
                  .positional_name = "FILE|FOLDER|-",
                  .formats = {"text", "json", "sarif"},
                  .own = {{.name = "rules",
                           .type = OptionType::kList,
                           .argument = "SET|FILE|FOLDER",
                           .help = "rules: pysiassist, pytorch, keras, shapes, a file of rules or "
                                   "a folder of such files (may "
                                   "be given several times); default: all four sets"},
                          {.name = "variant",
                           .type = OptionType::kChoice,
                           .argument = "NAME",
                           .fallback = "repaired",
                           .choices = {"repaired", "as-published"},
                           .help = "how the 14 patterns are looked for: over graphs, or by the "
                                   "published tool's text matching"}}},
      .description =
          "Reads training code of PyTorch and Keras (whole files, parts of them, notebooks) and "
          "names what trains without an\n"
          "error and yet is wrong: gradients that nothing zeroes, a softmax before a loss that "
          "has one, an evaluation in\n"
          "training mode (docs/methods/source.md). Nothing is executed or imported. Rules are "
          "files (docs/howto/write_a_rule.md).\n"
          "`# neutra: ignore` or `# neutra: ignore[RULE]` behind a line, or alone above it, "
          "switches rules off there;\n"
          "--write-baseline records what a project has now, and --baseline tells only what is "
          "new (docs/formats/baseline.md).\n"
          "For pre-commit and code hosts: docs/howto/check_in_ci.md. Exit 1 where there are "
          "findings, 3 where a file can't be read.",
      .example =
          "  neutra check train.py\n"
          "  neutra check src --severity hint --format json\n"
          "  neutra check . --write-baseline baseline.json\n"
          "  neutra check . --baseline baseline.json --format sarif -o neutra.sarif\n"
          "  neutra check --check-rule my_rules.json",
      .run = run};
}

}  // namespace neutra::cli
