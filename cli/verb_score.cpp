#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/text_layout.h"
#include "base/words.h"
#include "cli/outputs.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "experiments/catalog.h"
#include "experiments/network_file.h"
#include "experiments/scores/alike_tools.h"
#include "experiments/scores/figures.h"
#include "experiments/scores/score_report.h"
#include "experiments/scores/tables.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

/// The answers of the tools that --tool names: one of the file's tools, a family of them
/// ("deepmufl"), or "all".
std::vector<evaluators::Answer> chosen_answers(std::vector<evaluators::Answer> answers,
                                               const Arguments& arguments) {
  std::vector<std::string> tools;
  for (const evaluators::Answer& answer : answers)
    if (std::find(tools.begin(), tools.end(), answer.tool) == tools.end())
      tools.push_back(answer.tool);
  std::set<std::string> chosen;
  for (const std::string& name : arguments.list("tool")) {
    const std::size_t before = chosen.size();
    for (const std::string& tool : tools)
      if (name == "all" || tool == name || experiments::tool_family(tool) == name)
        chosen.insert(tool);
    if (chosen.size() == before && !chosen.contains(name)) {
      tools.emplace_back("all");
      throw usage_error("--tool: found '" + name + "'; allowed: " + allowed_words(name, tools) +
                        ": those of " + arguments.text("answers"));
    }
  }
  if (!chosen.empty())
    std::erase_if(answers,
                  [&](const evaluators::Answer& answer) { return !chosen.contains(answer.tool); });
  return answers;
}

/// As text: rows for each tool where columns would be too many to read, or for the terminal.
std::string text_of(const experiments::ScoreSheet& sheet) {
  constexpr std::size_t kMostColumns = 5;
  std::vector<experiments::AlikeTools> alike;
  const experiments::ScoreSheet folded = experiments::fold_alike_tools(sheet, alike);
  const std::optional<std::size_t> columns = output_columns();
  const auto fits = [&] {
    std::string text =
        evaluators::write_text({{}, {experiments::scores_by_tool(folded, true)}}, std::nullopt);
    text.erase(0, text.find("\n\n") + 2);  // the title can be wrapped
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (text_columns(line) > *columns) return false;
    return true;
  };
  const bool wide = folded.tools.size() <= kMostColumns && (!columns || fits());
  std::string text = written(experiments::score_report(folded, wide ? experiments::Layout::kWide
                                                                    : experiments::Layout::kRows),
                             "text");
  for (const experiments::AlikeTools& group : alike)
    text +=
        "\n" + in_lines(group.shown + ": the same of " + join(group.others) + ", on every fault");
  return text;
}

/// One entry for each network; without networks one for each bundled fault that the answers name.
std::vector<experiments::ScoredFault> faults_to_score(
    const Arguments& arguments, const std::vector<evaluators::Answer>& answers) {
  const std::vector<std::string>& files = arguments.list("network");
  const auto named = arguments.has("fault")
                         ? std::optional(experiments::load_fault(arguments.text("fault")))
                         : std::nullopt;
  if (named && files.size() > 1)
    throw usage_error("--fault: given with " + std::to_string(files.size()) +
                      " networks; allowed: with one");
  std::vector<experiments::ScoredFault> faults;
  const auto add = [&](experiments::ScoredFault scored) {
    const std::string& id = scored.fault.id;
    if (std::any_of(faults.begin(), faults.end(),
                    [&](const experiments::ScoredFault& other) { return other.fault.id == id; }))
      throw usage_error("--network: found a second network of " + id + ", " + scored.file +
                        "; allowed: one for each fault");
    faults.push_back(std::move(scored));
  };
  for (const std::string& file : files) {
    experiments::NetworkFile read = experiments::read_network_file(file, named);
    if (!read.fault)
      throw input_error(
          describe(file, "", "a network of no bundled fault (" + read.network.fault_id + ")",
                   "--fault FILE says which fault it belongs to; of several networks, a study file "
                   "does (neutra study)"));
    if (!read.finished)
      std::cerr << "neutra: " << file
                << ": the search isn't finished; scored against its repairs so far\n";
    const bool minimal = arguments.flag("minimal");
    const std::int64_t unknown =
        minimal ? search::count(experiments::repairs_by_size(read.network, &*read.fault)).unknown
                : 0;
    if (unknown > 0)
      std::cerr << "neutra: " << file << ": of " << unknown
                << " repairs it is not known whether they are 1-minimal (neutra search --minimise "
                   "finds out); those that hold no smaller repair count\n";
    add({std::move(*read.fault), std::move(read.network), file, minimal});
  }
  if (!files.empty()) return faults;
  if (named) {
    add({*named, std::nullopt, ""});
    return faults;
  }
  const auto bundled = experiments::fault_ids();
  for (const evaluators::Answer& answer : answers) {
    const bool known = std::find(bundled.begin(), bundled.end(), answer.fault) != bundled.end();
    const bool there = std::any_of(
        faults.begin(), faults.end(),
        [&](const experiments::ScoredFault& scored) { return scored.fault.id == answer.fault; });
    if (known && !there) add({experiments::load_fault(answer.fault), std::nullopt, ""});
  }
  if (faults.empty() && !answers.empty())
    throw input_error(describe(arguments.text("answers"), "fault",
                               "'" + answers.front().fault + "'",
                               "the id of a bundled fault (neutra faults), or --fault FILE for a "
                               "fault of your own"));
  return faults;
}

/// Scores, as the form of the result lays them out.
struct Scores {
  experiments::ScoreSheet sheet;
};

std::string form_of(const Scores& scores, const std::string& form) {
  if (form == "text") return text_of(scores.sheet);
  return written(experiments::score_report(scores.sheet, experiments::layout_of(form)), form);
}

/// Names the answers that take no part.
void tell_left_out(const experiments::ScoreSheet& sheet,
                   const std::vector<evaluators::Answer>& answers, const Arguments& arguments) {
  const std::string& file = arguments.text("answers");
  std::set<std::string> unused;
  for (const evaluators::Answer& answer : answers)
    if (std::find(sheet.faults.begin(), sheet.faults.end(), answer.fault) == sheet.faults.end())
      unused.insert(answer.fault);
  if (!unused.empty())
    std::cerr << "neutra: " << file << ": answers on " << join({unused.begin(), unused.end()})
              << (arguments.has("network")
                      ? " are not used: no network of these faults\n"
                      : " are not used: no bundled faults (--fault FILE scores one of your own)\n");
  for (const std::string& pair : sheet.missing)
    std::cerr << "neutra: " << file << ": no answer of " << pair << "; left out\n";
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  if (!arguments.has("answers")) throw usage_error("--answers is missing: what did the tools say?");
  const std::string& file = arguments.text("answers");
  const std::string plot = arguments.has("plot") ? arguments.text("plot") : "";
  if (!plot.empty()) {
    require_picture_file(plot, "--plot");
    require_not_read(plot, "--plot", {file});
    if (arguments.has("output"))
      require_apart({{"--output", arguments.text("output")}, {"--plot", plot}});
  }
  if (arguments.flag("minimal") && !arguments.has("network"))
    throw usage_error("--minimal: found no network; allowed: with --network");
  const std::vector<evaluators::Answer> answers =
      chosen_answers(evaluators::read_answers(file), arguments);
  evaluators::ScoreOptions options{*evaluators::parse_variant(arguments.text("variant")),
                                   *evaluators::parse_match(arguments.text("match")),
                                   *evaluators::parse_unlocated(arguments.text("unlocated"))};
  if (options.match == evaluators::Match::kLine &&
      options.variant == evaluators::Variant::kAsPublished)
    throw usage_error("--match line: found it with --variant as-published; allowed: corrected");
  options.top = static_cast<int>(arguments.integer("top"));
  const std::vector<experiments::ScoredFault> faults = faults_to_score(arguments, answers);
  experiments::ScoreSheet sheet = experiments::score_answers(faults, answers, options);
  if (sheet.rows.empty())
    throw input_error(describe(
        file, "", "no answer on " + (sheet.faults.empty() ? "any fault" : sheet.faults.front()),
        "a line for each tool"));
  tell_left_out(sheet, answers, arguments);
  if (!plot.empty()) {
    if (!sheet.order)
      throw input_error(describe(
          file, "", std::to_string(sheet.tools.size()) + " tools",
          "answers of three tools at least on two faults at least that all of them answered, to "
          "draw --plot"));
    write_picture(experiments::critical_difference_figure(sheet), plot);
  }
  return output_of(Scores{std::move(sheet)}, arguments);
}

}  // namespace

Verb score_verb() {
  return {
      .name = "score",
      .summary = "score fault-localisation tools against all repairs of a fault",
      .synopsis =
          "score --network STORE|FILE.tsv... --answers FILE.csv [--fault FAULT] [--variant "
          "corrected|as-published]\n"
          "                    [--match type|layer|line] [--unlocated count|exclude|half] [--tool "
          "NAME "
          "...] [--top K] [--minimal]\n"
          "                    [--format text|csv|json|latex] [--plot PICTURE]",
      .options = {.names = {"answers", "fault", "match", "minimal", "network", "output", "plot",
                            "tool", "top", "unlocated", "variant"},
                  .formats = {"text", "csv", "json", "latex"}},
      .description =
          "Recall, precision and F3 of each tool's answer: before neutrality analysis (against the "
          "known fix) and after it (the\n"
          "largest recall over the known fix and all repairs of the network, with the means of "
          "precision and F3 over those that\n"
          "attain it); with --minimal over the 1-minimal repairs alone. Of several networks, "
          "averages over artificial, real and\n"
          "all faults and signed-rank tests between the tools follow; of three tools and more, "
          "Friedman's test, and --plot draws\n"
          "them on an axis of their mean ranks with the critical difference. Of tools that rank: "
          "Top@1, 5 and 10, MRR and MAP.\n"
          "Without a network only the known fixes of bundled faults count, or that of --fault. "
          "Answers on other faults are left\n"
          "out and named. --tool scores the answers of these tools alone: their names, a family of "
          "them (deepmufl) or all. Of\n"
          "more than five tools, or where the columns of fewer are wider than the terminal, each "
          "tool has a row; tools of a\n"
          "family that can't be told apart share one, and the last lines name them.",
      .example =
          "  neutra score --network D7.h5 --answers answers.csv\n"
          "  neutra score --network D1.tsv --network D4.tsv --answers answers.csv --format latex",
      .run = run};
}

}  // namespace neutra::cli
