#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/outputs.h"
#include "cli/provenance.h"
#include "cli/report_curves.h"
#include "cli/report_patches.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "experiments/catalog.h"
#include "report/report.h"
#include "report/tables.h"

namespace neutra::cli {
namespace {

/// Scores of the answers on the network's fault. nullopt, and a note, where nothing can be scored
/// and need not be.
std::optional<experiments::ScoreSheet> scores_of(const experiments::NetworkFile& loaded,
                                                 const std::string& file,
                                                 const std::string& answers_file, bool must_score,
                                                 const evaluators::ScoreOptions& options) {
  std::string problem;
  if (loaded.fault) {
    experiments::ScoreSheet sheet = experiments::score_answers(
        {{*loaded.fault, loaded.network, file}}, evaluators::read_answers(answers_file), options);
    if (!sheet.rows.empty()) return sheet;
    problem =
        describe(answers_file, "", "no answer on " + loaded.fault->id, "a line for each tool");
  } else {
    problem = describe(file, "", "a network of no bundled fault (" + loaded.network.fault_id + ")",
                       "--fault FILE says which fault the answers are scored on");
  }
  if (must_score) throw input_error(problem);
  std::cerr << "neutra: " << problem << "; nothing is scored\n";
  return std::nullopt;
}

/// More searches than these have no colours and line styles of their own.
constexpr int kMostCompared = 6;

/// A report that went to a file, for --json.
struct ReportFile {
  std::string fault, network, form, output;
  bool finished = false;
  std::size_t programs = 0;
};

Json json_of(const ReportFile& file) {
  return {{"format", "neutra-report-file"},
          {"version", 1},
          {"fault", file.fault},
          {"network", file.network},
          {"finished", file.finished},
          {"programs", file.programs},
          {"form", file.form},
          {"output", file.output}};
}

/// People are told nothing.
std::string text_of(const ReportFile&) { return ""; }

/// What a report is made of, as the options say.
report::ReportInput report_input(const Arguments& arguments) {
  report::ReportInput input;
  input.file = arguments.positional.front();
  input.network = experiments::read_network_file(
      input.file, arguments.has("fault")
                      ? std::optional(experiments::load_fault(arguments.text("fault")))
                      : std::nullopt);
  const experiments::NetworkFile& loaded = input.network;
  if (!loaded.finished)
    std::cerr << "neutra: " << input.file
              << ": the search isn't finished; this is its network so far\n";
  if (arguments.has("fault") && !loaded.network.nodes.empty())
    experiments::require_root(loaded.network, *loaded.fault, input.file);
  if (arguments.has("study")) input.times = report::read_study_times(arguments.text("study"));
  if (arguments.has("answers"))
    input.answers = arguments.text("answers");
  else if (arguments.has("study"))
    input.answers = (std::filesystem::path(arguments.text("study")) / "answers.csv").string();
  if (!input.answers.empty())
    input.scores = scores_of(loaded, input.file, input.answers, arguments.has("answers"),
                             {*evaluators::parse_variant(arguments.text("variant")),
                              *evaluators::parse_match(arguments.text("match")),
                              *evaluators::parse_unlocated(arguments.text("unlocated")), 3,
                              static_cast<int>(arguments.integer("top"))});
  for (std::size_t i = 1; i < arguments.positional.size(); ++i)
    input.compared.emplace_back(
        experiments::read_network_file(arguments.positional[i], loaded.fault),
        arguments.positional[i]);
  return input;
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  if (!arguments.has("output") && chosen_format(arguments) == "html" &&
      isatty(STDOUT_FILENO) == 1) {
    throw usage_error(
        "--format html: found a terminal, which can't show it; allowed: -o FILE, or a pipe");
  }
  report::ReportInput input = report_input(arguments);
  if (arguments.has("output")) {
    std::vector<std::filesystem::path> read(arguments.positional.begin(),
                                            arguments.positional.end());
    read.emplace_back(input.answers);
    require_not_read(arguments.text("output"), "--output", read);
  }
  if (arguments.has("curves")) {
    catch_signals();
    input.curves = train_curves(arguments, input.network, input.file);
  }
  input.patches = report_patches(arguments, input.network);
  if (input.patches && !input.patches->refusal.empty() && !arguments.flag("quiet"))
    std::cerr << "neutra: the report has lines and no patches: " << input.patches->refusal << "\n";
  input.provenance = provenance();
  const auto document = std::make_shared<const Json>(report::report_document(input));
  const auto form_of = [document, table = arguments.text("table")](const std::string& form) {
    return form == "json"  ? to_text(*document)
           : form == "csv" ? report::table_csv(*document, table)
                           : report::report_page(*document);
  };
  if (!arguments.has("output")) return {form_of};
  // --json is about what goes to standard output.
  const std::string form = arguments.text("format"), output = arguments.text("output");
  write_file_atomically(output, form_of(form));
  return result_of(ReportFile{input.network.network.fault_id, input.file, form, output,
                              input.network.finished, input.network.network.nodes.size()});
}

}  // namespace

Verb report_verb() {
  return {
      .name = "report",
      .summary = "make a report page of a network for the browser: graph, repairs, scores",
      .synopsis =
          "report STORE|FILE.tsv... [-o FILE.html] [--answers FILE.csv] [--study FOLDER] [--curves "
          "N|id:LIST]\n"
          "                    [--fault FAULT] [--format html|json|csv] [--table NAME] [--patches "
          "on|off]",
      .options = {.names = {"answers", "curves", "data-dir", "fault", "match", "memory", "output",
                            "patches", "python", "replicas", "study", "table", "top", "unlocated",
                            "variant", "workers"},
                  .least_positional = 1,
                  .most_positional = kMostCompared,
                  .positional_name = "STORE|FILE.tsv",
                  .formats = {"html", "json", "csv"}},
      .description =
          "One HTML file that needs no network and no other file: the neutrality network as a "
          "graph to go through, to search\n"
          "and to filter by fault type, the difference, path and metrics of each program, tables "
          "of the repairs, and where\n"
          "the search came from. With --answers also what fault-localisation tools said, scored "
          "before and after neutrality\n"
          "analysis as by neutra score; with --study the answers of a finished study, and time "
          "against F3 over all of its\n"
          "faults. json is what the page holds (docs/formats/report.md). With --curves the "
          "programs are trained again as the\n"
          "search did, which gives the same bits, and the page draws loss and metric of each "
          "epoch: 5 for the five best\n"
          "repairs, id:5 for program 5; fewer --replicas are faster. With more than one search of "
          "a program the page shows them\n"
          "side by side: the best metric over the evaluations, and which repairs they have in "
          "common. csv is one table of the\n"
          "page, that --table names. Of a fault that was captured from a script the page has the "
          "lines "
          "of each change, and each\n"
          "repair as a patch of the script's files, made with the Python package (--patches off: "
          "lines alone).",
      .example =
          "  neutra report D7.h5 -o D7.html\n"
          "  neutra report D7.h5 --curves 5 -o D7.html\n"
          "  neutra report D7.h5 other/D7.h5 -o both.html\n"
          "  neutra report D7.h5 --format csv --table rejected -o rejected.csv\n"
          "  neutra report quickstart-results/D7.h5 --study quickstart-results -o D7.html",
      .run = run};
}

}  // namespace neutra::cli
