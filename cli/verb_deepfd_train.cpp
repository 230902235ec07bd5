#include <algorithm>
#include <optional>

#include "base/checked_json.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "experiments/catalog.h"
#include "fl_adapters/tools/deepfd/model.h"
#include "fl_adapters/tools/deepfd/seeding.h"

namespace neutra::cli {
namespace {

using fl_adapters::deepfd::Evaluation;

/// The programs of --programs or --held-out, else those of the bundled list.
std::vector<fl_adapters::FaultyProgram> programs(const Arguments& arguments, const char* option,
                                                 const char* bundled) {
  std::vector<std::string> names;
  if (arguments.has(option)) {
    names = arguments.list(option);
  } else {
    const Json list = read_json(experiments::resource_directory() / "deepfd.json");
    for (const std::string name : list.at(bundled)) {
      names.push_back(name.ends_with(".json") ? (experiments::resource_directory() / name).string()
                                              : name);
    }
  }
  std::vector<fl_adapters::FaultyProgram> result;
  for (const std::string& name : names) {
    const experiments::Fault fault =
        experiments::load_fault(name);  // the correct version, where there are two
    result.push_back({fault.id, fault.fixed ? *fault.fixed : fault.buggy});
  }
  return result;
}

fl_adapters::deepfd::Table make_table(const Arguments& arguments, training::LocalTrainer& trainer,
                                      const std::vector<fl_adapters::FaultyProgram>& bases,
                                      const std::string& what) {
  fl_adapters::deepfd::SeedingOptions options;
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  options.workers = worker_count(arguments);
  options.stop = &stop_requested();
  ProgressLine progress(arguments.flag("quiet"), what);
  options.progress = [&](const Tally& tally) { progress.update(progress_of(tally, "trainings")); };
  for (const fl_adapters::FaultyProgram& base : bases) warn_of(base.id, base.program);
  return fl_adapters::deepfd::make_table(bases, trainer, options);
}

std::string summary(const fl_adapters::deepfd::Table& table) {
  return std::to_string(table.programs.size()) + " programs, " + std::to_string(table.mutants) +
         " mutants, " + std::to_string(table.examples.size() - table.programs.size()) + " killed";
}

Json json_of(const fl_adapters::deepfd::Evaluation& e) {
  Json labels = Json::array();
  for (std::size_t l = 0; l < fl_adapters::deepfd::kLabels; ++l) {
    const fl_adapters::deepfd::Evaluation::Confusion& c = e.labels[l];
    labels.push_back({{"label", fl_adapters::deepfd::label_name(l)},
                      {"true_positive", c.true_positive},
                      {"false_positive", c.false_positive},
                      {"false_negative", c.false_negative},
                      {"true_negative", c.true_negative},
                      {"balanced_accuracy", c.balanced_accuracy()}});
  }
  return {{"balanced_accuracy", e.balanced_accuracy()},
          {"labels", labels},
          {"mutants", e.mutants},
          {"exact", e.exact},
          {"exact_of_most_frequent", e.frequent_exact},
          {"most_frequent", fl_adapters::deepfd::to_string(e.frequent)},
          {"exact_of_all_labels", e.all_exact},
          {"correct_programs", e.correct},
          {"correct_programs_accused", e.accused}};
}

std::string text_of(const fl_adapters::deepfd::Evaluation& e) {
  TextTable table({"label", "named, there", "named, not there", "not named, there",
                   "not named, not there", "balanced accuracy"});
  for (std::size_t l = 0; l < fl_adapters::deepfd::kLabels; ++l) {
    const fl_adapters::deepfd::Evaluation::Confusion& c = e.labels[l];
    table.add({std::string(fl_adapters::deepfd::label_name(l)), std::to_string(c.true_positive),
               std::to_string(c.false_positive), std::to_string(c.false_negative),
               std::to_string(c.true_negative), rounded(c.balanced_accuracy())});
  }
  return table.text() + "balanced accuracy " + rounded(e.balanced_accuracy()) + "; exact answers " +
         std::to_string(e.exact) + " of " + std::to_string(e.mutants) +
         ", of the most frequent set (" + fl_adapters::deepfd::to_string(e.frequent) + ") " +
         std::to_string(e.frequent_exact) + ", of all labels " + std::to_string(e.all_exact) +
         "\ncorrect programs called faulty: " + std::to_string(e.accused) + " of " +
         std::to_string(e.correct) + "\n";
}

[[noreturn]] void refuse_held_out(const std::string& program, const std::string& faults) {
  throw input_error(describe(program, "--held-out", faults + ", a program of the model",
                             "programs that the model wasn't trained on"));
}

/// What a model has learned from, and how well it names the faults of programs held out.
struct Judged {
  std::string file;
  fl_adapters::deepfd::Table table, held_out;
};

/// One entry for each variant of the tool: its name, and its answers compared with the faults.
std::vector<std::pair<std::string, Evaluation>> evaluations(const Judged& judged) {
  std::vector<std::pair<std::string, Evaluation>> all;
  for (const fl_adapters::ToolVariant variant : fl_adapters::deepfd::kVariants)
    all.emplace_back(fl_adapters::deepfd::to_string(variant),
                     evaluate(fl_adapters::deepfd::Model(judged.table, variant), judged.held_out));
  return all;
}

Json json_of(const Judged& judged) {
  Json json{{"format", "neutra-deepfd-train"},
            {"version", 1},
            {"model", judged.file},
            {"programs", judged.table.programs},
            {"examples", judged.table.examples.size()},
            {"held_out", judged.held_out.programs}};
  for (const auto& [variant, evaluation] : evaluations(judged)) json[variant] = json_of(evaluation);
  return json;
}

std::string text_of(const Judged& judged) {
  std::string text =
      "learned from " + summary(judged.table) + "\nheld out: " + summary(judged.held_out) + "\n";
  for (const auto& [variant, evaluation] : evaluations(judged))
    text += "\n" + variant + "\n" + text_of(evaluation);
  return text;
}

Result run(const Arguments& arguments) {
  catch_signals();
  const bool judge = arguments.has("evaluate");
  if (judge == arguments.has("output"))
    throw usage_error(
        "found " +
        std::string(judge ? "both --evaluate and --output" : "neither --output nor --evaluate") +
        "; allowed: one of them");
  require_output(arguments);
  Judged judged;
  judged.file = arguments.text(judge ? "evaluate" : "output");
  std::vector<fl_adapters::FaultyProgram> bases;
  if (judge)
    judged.table = fl_adapters::deepfd::read_table(judged.file);
  else
    bases = programs(arguments, "programs", "training");
  const std::vector<fl_adapters::FaultyProgram> bases_held_out =
      programs(arguments, "held-out", "held_out");

  // What can't work is said before hours of training.
  for (const fl_adapters::FaultyProgram& held_out : bases_held_out) {
    const Hash hash = program::program_hash(held_out.program);
    const bool known = judge ? judged.table.find(hash) != nullptr
                             : std::any_of(bases.begin(), bases.end(), [&](const auto& base) {
                                 return program::program_hash(base.program) == hash;
                               });
    if (known) refuse_held_out(held_out.id, "origin");
  }
  const auto trainer = make_trainer(arguments, {});
  fl_adapters::deepfd::require_seedable(bases_held_out, *trainer);
  if (!judge) {
    const std::string text =
        fl_adapters::deepfd::to_text(make_table(arguments, *trainer, bases, "deepfd-train"),
                                     fl_adapters::deepfd::kKeptTrainings);
    write_file_atomically(judged.file, text_with_digest(text, judged.file));
    judged.table = fl_adapters::deepfd::read_table(judged.file);  // as others read it
  }
  judged.held_out = make_table(arguments, *trainer, bases_held_out, "held-out programs");
  for (const fl_adapters::deepfd::Example& example : judged.held_out.examples)
    if (judged.table.find(example.hash) != nullptr)
      refuse_held_out(example.program, example.faults);
  return result_of(std::move(judged));
}

}  // namespace

Verb deepfd_train_verb() {
  return {.name = "deepfd-train",
          .summary = "train the classifiers of the tool deepfd and test them on other programs",
          .synopsis =
              "deepfd-train -o FILE [--programs FAULT|FILE ...] [options]   |   deepfd-train "
              "--evaluate FILE",
          .options = {.names = {"backend", "data-dir", "evaluate", "held-out", "output", "programs",
                                "seed", "workers"}},
          .description =
              "Seeds faults into correct programs, trains every mutant 20 times, keeps those that "
              "are killed and writes the\n"
              "features of their trainings as a model for `localise --tool deepfd --deepfd-model "
              "FILE`. Then does the same with\n"
              "programs held out and prints how well the model names their faults. Without lists "
              "of programs: those of the\n"
              "bundled model, which comes out again.",
          .example =
              "  neutra deepfd-train -o model.json\n"
              "  neutra deepfd-train --evaluate model.json --held-out D6",
          .run = run};
}

}  // namespace neutra::cli
