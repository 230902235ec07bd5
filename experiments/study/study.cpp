#include "experiments/study/study.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "evaluators/result_table.h"
#include "experiments/network_file.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "fl_adapters/tool_folder.h"
#include "program/vocabulary.h"
#include "search/search.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

void write_network(const fs::path& file, const search::Network& network,
                   void (*write)(const search::Network&, std::ostream&)) {
  std::ostringstream text;
  write(network, text);
  write_file_atomically(file, text.str());
}

/// Does a study of this fault take data? A recorded network that no tool here is asked about
/// doesn't.
bool needs_data(const Study& study, const StudyFault& entry) {
  return !entry.network || !study.tools.empty();
}

/// Is it asked for?
bool wanted(const StudyFault& entry, const StudyOptions& options) {
  const bool named = options.only.empty() || std::find(options.only.begin(), options.only.end(),
                                                       entry.fault.id) != options.only.end();
  return named && !(options.searches_only && entry.network);
}

/// Why a fault can't be studied on this machine.
std::optional<std::string> obstacle(const Fault& fault, const StudyOptions& options) {
  try {
    const auto trainer = options.trainer(fault);
    if (auto reason = trainer->refusal(fault.buggy)) return reason;
    search_fingerprint(fault, *trainer);  // reads the data
  } catch (const Error& error) {
    if (error.exit() != Exit::kBadInput) throw;
    return error.what();
  }
  return std::nullopt;
}

/// Reads the recorded networks and looks for the data: what can't work is said before hours of
/// training.
std::map<std::string, search::Network> recorded_networks(const Study& study) {
  std::map<std::string, search::Network> networks;
  for (const StudyFault& entry : study.faults) {
    if (!entry.network) continue;
    search::Network network = read_network_file(*entry.network, entry.fault).network;
    if (study.score.variant == evaluators::Variant::kCorrected) {
      require_root(network, entry.fault, entry.network->string());
    }
    networks.emplace(entry.fault.id, std::move(network));
  }
  return networks;
}

StudyResult::Searched search(const StudyFault& entry, const StudyOptions& options,
                             training::LocalTrainer& trainer) {
  const std::string base = (options.folder / entry.fault.id).string();
  std::string warning;
  const Fault fault = scored_as_begun(entry.fault, base + ".h5", warning);
  if (!warning.empty()) std::cerr << "warning: " << warning << "\n";
  search::SearchConfig config = entry.search;
  config.seed = options.seed;
  config.fingerprint = search_fingerprint(fault, trainer);
  search::RunOptions how = options.search;
  if (options.isolated) how.isolated = options.isolated(fault);
  if (how.remote) how.remote_setup = options.remote_setup(fault, trainer);
  search::SearchOutcome outcome =
      search::run_search(search_task(fault), config, how, trainer, base + ".h5");
  if (outcome.end == search::SearchEnd::kInterrupted) {
    throw Error(Exit::kInterrupted, "interrupted");
  }
  write_network(base + ".tsv", outcome.network, search::write_tsv);
  write_network(base + ".dot", outcome.network, search::write_dot);
  return {fault.id, fault.origin, std::move(outcome.network), std::string(to_string(outcome.end))};
}

/// Asks all tools about a fault, except where the journal has the answer.
class Questions {
 public:
  Questions(const Study& study, const StudyOptions& options, const Fault& fault,
            training::LocalTrainer& trainer, RunJournal& journal)
      : options_(options),
        faulty_(faulty_program(fault, tools_program(fault))),
        trainer_(trainer),
        journal_(journal),
        tools_(study.tools) {
    const std::string data = trainer.fingerprint(faulty_.program);
    const std::string program = to_string(program::program_hash(faulty_.program));
    for (const StudyTool& asked : tools_) {
      const bool trains = asked.tool->needs.contains(fl_adapters::ToolNeed::kTraining);
      runs_.emplace_back(trains ? static_cast<std::size_t>(asked.runs) : 1);
      for (std::size_t run = 0; run < runs_.back().size(); ++run) {
        Json key{{"fault", fault.id},
                 {"program", program},
                 {"data", trains ? data : ""},
                 {"tool", asked.tool->name},
                 {"version", asked.tool->version},
                 {"kind", to_string(asked.tool->kind)},
                 {"repaired", asked.variant == fl_adapters::ToolVariant::kRepaired},
                 {"time_limit", asked.time_limit},
                 {"memory_limit", asked.memory_limit},
                 {"seed", options.seed},
                 {"run", run}};
        if (asked.tool->needs.contains(fl_adapters::ToolNeed::kSource))
          for (const fl_adapters::ScriptSource& source : faulty_.sources)
            key["sources"][source.name] = source.sha256;
        if (!asked.tool->digest.empty()) key["tool_digest"] = asked.tool->digest;
        const auto known = journal.find(key);
        if (known && known->status != fl_adapters::LocalisationStatus::kFailed) {
          runs_.back()[run] = *known;
        } else {
          open_.push_back({runs_.size() - 1, run, std::move(key)});
        }
      }
    }
  }

  void ask() {
    const std::size_t known = count() - open_.size();
    run_all(
        open_.size(), options_.search.workers, options_.search.stop,
        [&](std::size_t i) { ask(open_[i]); },
        [&](std::size_t done) {
          if (options_.tool_progress) options_.tool_progress({known + done, count(), failed_});
        });
    open_.clear();
  }

  bool done() const { return open_.empty(); }

  void add_to(StudyResult& result) const {
    for (std::size_t i = 0; i < tools_.size(); ++i) {
      const fl_adapters::Tool& tool = *tools_[i].tool;
      const std::string name = name_here(tool);
      result.answers.push_back(summary_of_runs(faulty_.id, name, tool, runs_[i]));
      std::map<fl_adapters::LocalisationStatus, StudyResult::Trouble> troubles;
      for (const fl_adapters::Localisation& run : runs_[i]) {
        if (run.status == fl_adapters::LocalisationStatus::kOk) continue;
        auto [trouble, is_new] = troubles.try_emplace(
            run.status, StudyResult::Trouble{faulty_.id, name, run.status, 0,
                                             static_cast<int>(runs_[i].size()), run.reason});
        ++trouble->second.runs;
      }
      for (const auto& [status, trouble] : troubles) result.troubles.push_back(trouble);
    }
  }

 private:
  struct Question {
    std::size_t tool, run;
    Json key;
  };

  std::size_t count() const {
    std::size_t runs = 0;
    for (const auto& of_tool : runs_) runs += of_tool.size();
    return runs;
  }

  void ask(const Question& question) {
    const StudyTool& asked = tools_[question.tool];
    fl_adapters::LocaliseContext context;
    context.trainer = &trainer_;
    context.seed = options_.seed;
    context.run = static_cast<int>(question.run);
    context.time_limit = asked.time_limit;
    context.memory_limit = asked.memory_limit;
    context.variant = asked.variant;
    context.stop = options_.search.stop;
    context.data_files = data_files_;
    fl_adapters::Localisation run = run_guarded(*asked.tool, faulty_, context);
    journal_.add(question.key, run);
    failed_ += fl_adapters::broken(run.status);
    runs_[question.tool][question.run] = std::move(run);
  }

  const StudyOptions& options_;
  fl_adapters::FaultyProgram faulty_;
  training::LocalTrainer& trainer_;
  RunJournal& journal_;
  const std::vector<StudyTool>& tools_;
  const std::shared_ptr<fl_adapters::DataFiles> data_files_ =
      std::make_shared<fl_adapters::DataFiles>();
  std::vector<std::vector<fl_adapters::Localisation>> runs_;  ///< by tool
  std::vector<Question> open_;
  std::atomic<std::size_t> failed_ = 0;
};

}  // namespace

void require_faults(const Study& study, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const StudyFault& entry : study.faults) known.push_back(entry.fault.id);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw input_error(describe("--only", "", "'" + name + "'",
                                 "a fault of the study: " + allowed_words(name, known)));
    }
  }
}

void check_outputs(const Study& study, const fs::path& folder,
                   const std::vector<std::string>& forms) {
  std::vector<fs::path> outputs;
  for (const char* name : {"answers.csv", "runs.jsonl", "tables.txt", "tables.tex"}) {
    outputs.push_back(folder / name);
  }
  const auto add_figure = [&](const std::string& name) {
    for (const std::string& form : forms) outputs.push_back(folder / (name + "." + form));
  };
  add_figure("figure2");
  add_figure("critical_difference");
  for (const evaluators::Reporter& reporter : evaluators::reporters()) {
    outputs.push_back(folder / ("scores." + std::string(reporter.ending)));
  }
  for (const StudyFault& entry : study.faults) {
    add_figure(entry.fault.id);
    if (entry.network) continue;
    for (const char* ending : {".h5", ".tsv", ".dot"}) {
      outputs.push_back(folder / (entry.fault.id + ending));
    }
  }
  for (const fs::path& input : study.inputs) {
    std::error_code ignored;
    bool replaced = fs::equivalent(input.parent_path() / "", folder / "tables", ignored);
    for (const fs::path& output : outputs) {
      replaced = replaced || fs::equivalent(input, output, ignored);
    }
    if (!replaced) continue;
    throw input_error(describe(input.string(), "", "a file that the study reads and would replace",
                               "results in another folder (--folder)"));
  }
  for (const fs::path& output : outputs) require_writable(output, "--folder");
  require_writable_folder(folder / "tables", "--folder");
}

StudyResult run_study(const Study& study, const StudyOptions& options) {
  if (!options.searches_only && study.answers.empty() && study.tools.empty()) {
    throw input_error(describe(study.name, "/tools", "neither tools nor answers on these faults",
                               "at least one of them, or --searches-only"));
  }
  check_outputs(study, options.folder, options.forms);
  const auto stage = [&](const std::string& text) {
    if (options.stage) options.stage(text);
  };
  std::map<std::string, search::Network> recorded = recorded_networks(study);
  StudyResult result;
  std::vector<const StudyFault*> entries;
  require_faults(study, options.only);
  for (const StudyFault& entry : study.faults) {
    if (!wanted(entry, options)) continue;
    std::optional<std::string> reason;
    if (needs_data(study, entry)) reason = obstacle(entry.fault, options);
    if (reason) {
      stage("skip " + entry.fault.id + ": " + *reason);
      result.skipped.push_back({entry.fault.id, *reason});
    } else {
      entries.push_back(&entry);
    }
  }
  if (entries.empty()) {
    throw input_error(describe(
        "", "faults",
        result.skipped.empty() ? "recorded networks alone" : result.skipped.front().reason,
        result.skipped.empty() ? "faults to search" : "data of at least one fault of the study"));
  }

  std::optional<RunJournal> journal;
  if (!options.searches_only) journal.emplace(options.folder / "runs.jsonl");
  result.answers = study.answers;
  std::vector<ScoredFault> scored;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const StudyFault& entry = *entries[i];
    const Fault& fault = entry.fault;
    const std::string place = fault.id + " (fault " + std::to_string(i + 1) + " of " +
                              std::to_string(entries.size()) + ")";
    const auto trainer = needs_data(study, entry) ? options.trainer(fault) : nullptr;
    if (entry.network) {
      result.faults.push_back(
          {fault.id, fault.origin, std::move(recorded.at(fault.id)), "recorded"});
    } else {
      stage("search " + place);
      result.faults.push_back(search(entry, options, *trainer));
    }
    if (options.searches_only) continue;
    if (!study.tools.empty()) {
      Questions questions(study, options, fault, *trainer, *journal);
      if (!questions.done()) {
        stage("localise " + place);
        questions.ask();
      }
      questions.add_to(result);
    }
    scored.push_back(
        {fault, result.faults.back().network,
         entry.network ? entry.network->string() : (options.folder / (fault.id + ".h5")).string()});
  }
  if (options.searches_only) return result;
  write_file_atomically(options.folder / "answers.csv", to_csv(result.answers));
  result.scores = score_answers(scored, result.answers, study.score);
  for (const evaluators::Answer& answer : study.answers) result.scores.recorded.insert(answer.tool);
  return result;
}

}  // namespace neutra::experiments
