#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/build_info.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
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

/// Writes the repairs of the findings that are asked for; what has been repaired is no finding any
/// more. Returns what is to be said about it.
std::string apply_fixes(source::Findings& findings, const std::vector<const source::Rule*>& rules,
                        source::Variant variant) {
  std::string notes;
  for (source::CheckedFile& file : findings.files) {
    if (!file.text) continue;
    std::erase_if(file.findings, [&](const source::Finding& finding) {
      return finding.rule->severity < findings.least;
    });
    std::size_t applied = 0;
    const std::string text = source::fixed_text(*file.text, file.findings, &applied);
    if (applied == 0) continue;
    if (file.name.ends_with(".ipynb") || file.text->latin1() || file.name == "<stdin>") {
      notes += file.name + ": not repaired: only files of Python in UTF-8 are\n";
      continue;
    }
    write_file_atomically(link_target(file.name), text);
    notes += file.name + ": " + std::to_string(applied) + " repaired\n";
    file = source::check_file(file.name, rules, variant);
  }
  return notes;
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  if (arguments.has("check-rule")) {
    if (!arguments.positional.empty())
      throw usage_error("--check-rule: found '" + arguments.positional.front() +
                        "', too; allowed: the file of rules alone");
    return check_rules(arguments.text("check-rule"));
  }
  if (arguments.positional.empty())
    throw usage_error("FILE is missing; allowed: files, folders, - (standard input)");
  CheckResult result;
  std::vector<const source::Rule*> rules =
      source::chosen_rules(arguments.list("rules"), result.read);
  if (const auto pattern = arguments.optional_integer("pattern")) {
    std::erase_if(rules, [&](const source::Rule* rule) { return rule->pattern != *pattern; });
    if (rules.empty())
      throw usage_error(
          "--pattern " + std::to_string(*pattern) +
          ": found no such rule in the sets of --rules; allowed: pysiassist among them");
  }
  std::vector<std::filesystem::path> files;
  for (const std::string& word : arguments.positional) {
    const std::vector<std::filesystem::path> found = source::source_files(word);
    files.insert(files.end(), found.begin(), found.end());
  }
  const source::Variant variant = arguments.text("variant") == "as-published"
                                      ? source::Variant::kAsPublished
                                      : source::Variant::kRepaired;
  result.findings.least = least_severity(arguments);
  result.findings.files =
      source::check_files(files, rules, variant, worker_count(arguments), nullptr);
  std::string notes;
  if (arguments.flag("fix")) notes += apply_fixes(result.findings, rules, variant);
  bool unread = false;
  for (const source::CheckedFile& file : result.findings.files) {
    if (!file.problem.empty()) notes += "neutra: " + file.problem + "\n";
    unread = unread || !file.problem.empty();
  }
  if (unread && files.size() == 1) throw input_error(result.findings.files.front().problem);
  const Exit exit = unread                               ? Exit::kBadInput
                    : source::count(result.findings) > 0 ? Exit::kFailed
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
          "[--severity NAME] [--variant NAME] [--fix]\n"
          "                    [--format text|json|sarif] [-o FILE]   |   check "
          "--check-rule FILE",
      .options = {.names = {"check-rule", "fix", "output", "pattern", "severity", "workers"},
                  .least_positional = 0,
                  .most_positional = 1000000,
                  .positional_name = "FILE|FOLDER|-",
                  .formats = {"text", "json", "sarif"},
                  .own = {{.name = "rules",
                           .type = OptionType::kList,
                           .argument = "SET|FILE|FOLDER",
                           .help = "rules: pysiassist, pytorch, keras, a file of rules or a folder "
                                   "of such files (may "
                                   "be given several times); default: all three sets"},
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
          "switches rules off there.\n"
          "Exit 1 where there are findings, 3 where a file can't be read.",
      .example =
          "  neutra check train.py\n"
          "  neutra check src --severity hint --format json\n"
          "  neutra check --check-rule my_rules.json",
      .run = run};
}

}  // namespace neutra::cli
