#include <algorithm>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "base/words.h"
#include "cli/isolated.h"
#include "cli/progress_line.h"
#include "cli/provenance.h"
#include "cli/ranks.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "experiments/catalog.h"
#include "experiments/scores/pictures.h"
#include "experiments/study/tables.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

/// The forms of --figures, each once. Throws usage_error, and failure() where one can't be made.
std::vector<std::string> figure_forms(const std::string& list) {
  std::vector<std::string> forms;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const auto& known = experiments::picture_forms();
    if (std::find(known.begin(), known.end(), word) == known.end())
      throw usage_error("--figures: found '" + list + "'; allowed: " + allowed_words(word, known) +
                        ", or several such as svg,pdf");
    if (std::find(forms.begin(), forms.end(), word) == forms.end()) forms.push_back(word);
  }
  for (const std::string& form : forms) experiments::require_picture_form(form);
  return forms;
}

experiments::StudyOptions study_options(const Arguments& arguments,
                                        const experiments::Study& study) {
  experiments::StudyOptions options;
  options.forms = figure_forms(arguments.text("figures"));
  options.folder = arguments.has("folder") ? arguments.text("folder") : study.name + "-results";
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    throw input_error(describe("--folder", "",
                               options.folder.string() + " (" + error.message() + ")",
                               "a folder that is there or can be made"));
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  options.only = arguments.list("only");
  options.searches_only = arguments.flag("searches-only");
  options.search.workers = worker_count(arguments);
  options.search.command = "neutra study " + join(arguments.words, " ");
  options.search.provenance = provenance();
  options.search.stop = &stop_requested();
  options.search.remote = other_ranks();
  options.remote_setup = [&arguments, workers = options.search.workers](
                             const experiments::Fault& fault, training::LocalTrainer& trainer) {
    return ranks_setup(fault, trainer_options(arguments, fault.file), trainer, workers);
  };
  options.isolated = [&arguments](const experiments::Fault& fault) {
    return [own = trainer_options(arguments, fault.file)](const training::TrainingJob& job) {
      return train_isolated(job, own);
    };
  };
  options.trainer = [&arguments](const experiments::Fault& fault) {
    warn_of(fault.id, fault.buggy);
    if (fault.fixed) warn_of(fault.id, *fault.fixed);
    return make_trainer(arguments, fault.file);
  };
  return options;
}

/// The searches of a study that was asked for these alone.
struct Searches {
  std::vector<experiments::StudyResult::Searched> faults;
};

/// The same in every form.
std::string form_of(const Searches& searches, const std::string&) {
  std::string text;
  for (const experiments::StudyResult::Searched& searched : searches.faults)
    text += searched.fault + ": " + std::to_string(searched.network.nodes.size()) + " programs, " +
            std::to_string(searched.network.alternatives().size()) + " repairs; " + searched.end +
            "\n";
  return text;
}

/// A study that was run, with where its files are.
struct Studied {
  experiments::Study study;
  experiments::StudyResult result;
  std::string folder;
  std::vector<std::string> forms;  ///< of the figures
};

std::string form_of(const Studied& studied, const std::string& form) {
  const std::string text = written(
      experiments::study_report(studied.study, studied.result, experiments::layout_of(form)), form);
  if (form != "text") return text;
  return text +
         "\nNetworks (h5, tsv, dot), answers.csv, runs.jsonl, scores (txt, csv, json, tex), tables "
         "(txt, tex, csv)\nand figures (" +
         join(studied.forms) + ") are in " + studied.folder + ".\n";
}

/// Says what did not work. Returns whether a tool broke.
bool tell_troubles(const experiments::StudyResult& result) {
  bool any_broken = false;
  for (const auto& [fault, tool, status, runs, of, reason] : result.troubles)
    if (fl_adapters::broken(status)) {
      any_broken = true;
      std::cerr << "neutra: " << tool << " on " << fault << ", " << runs << " of " << of
                << " runs: " << to_string(status) << ": " << reason << '\n';
    }
  for (const auto& [fault, reason] : result.skipped)
    std::cerr << "neutra: " << fault << " left out: " << reason << '\n';
  return any_broken;
}

Result run(const Arguments& arguments) {
  experiments::Study study = experiments::load_study(
      experiments::study_file(arguments.positional.front()), arguments.flag("quick"));
  catch_signals(other_ranks() == nullptr);
  experiments::StudyOptions options = study_options(arguments, study);
  std::optional<ProgressLine> line;
  const bool quiet = arguments.flag("quiet");
  options.stage = [&](const std::string& text) {
    line.reset();
    if (!quiet) std::cerr << text << '\n';
    line.emplace(quiet, text);
  };
  options.search.progress = [&](const search::Progress& progress) {
    if (line) line->update(progress_of(progress));
  };
  options.tool_progress = [&](const Tally& tally) {
    if (line) line->update(progress_of(tally, "runs"));
  };
  experiments::StudyResult result = experiments::run_study(study, options);
  line.reset();
  const bool any_broken = tell_troubles(result);
  if (options.searches_only) return result_of(Searches{std::move(result.faults)});
  for (const std::string& pair : result.scores.missing)
    std::cerr << "neutra: no answer of " << pair << "; left out\n";
  experiments::write_study(study, result, options.folder, options.forms);
  return result_of(
      Studied{std::move(study), std::move(result), options.folder.string(), options.forms},
      any_broken ? Exit::kFailed : Exit::kDone);
}

}  // namespace

Verb study_verb() {
  return {
      .name = "study",
      .summary = "search several faults, ask tools about them and score the answers",
      .synopsis =
          "study FILE|STUDY [--quick] [--folder FOLDER] [--format text|csv|json|latex] [options]",
      .options = {.names = {"backend", "data-dir", "figures", "folder", "memory", "only", "quick",
                            "reuse-epochs", "searches-only", "seed", "skip-dead", "workers"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "FILE.json|STUDY",
                  .formats = {"text", "csv", "json", "latex"}},
      .description =
          "Runs what a study file says (docs/formats/study.md): searches each fault's repairs or "
          "reads a recorded network, asks\n"
          "fault-localisation tools or reads their recorded answers, and scores these before and "
          "after neutrality analysis.\n"
          "Faults whose data are not here are left out; a tool that fails counts as not applicable "
          "and is listed. Stores,\n"
          "networks, answers, scores, tables and figures go to --folder; the same command "
          "continues an interrupted study.\n"
          "STUDY is a bundled one: quickstart, or fl_study, the whole study with every tool (weeks "
          "on two cores; --quick:\n"
          "minutes).",
      .example =
          "  neutra study quickstart\n"
          "  neutra study fl_study --quick\n"
          "  neutra study my_study.json --folder results --format latex",
      .run = run};
}

}  // namespace neutra::cli
