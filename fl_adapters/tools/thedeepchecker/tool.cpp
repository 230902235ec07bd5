#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "fl_adapters/task_rules.h"
#include "fl_adapters/tools/thedeepchecker/loss_checks.h"
#include "fl_adapters/tools/thedeepchecker/overfit_watcher.h"
#include "fl_adapters/tools/thedeepchecker/program_watcher.h"
#include "fl_adapters/watch.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

/// Keeps losses and performance of a training on a few rows.
class FitWatcher final : public training::Observer {
 public:
  explicit FitWatcher(std::string metric) : metric_(std::move(metric)) {}
  training::BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return training::BatchDetail::kLogs;
  }
  void batch_end(const training::BatchEvent& event) override {
    fit.losses.push_back(event.loss);
    const auto it = event.logs.find(metric_);
    fit.performance.push_back(it == event.logs.end() ? event.loss : it->second);
  }
  bool stop() override { return !fit.losses.empty() && !std::isfinite(fit.losses.back()); }

  Fit fit;

 private:
  std::string metric_;
};

/// The program on a few of its training rows, all in one batch, an iteration for each epoch.
program::Program on_rows(program::Program program, const char* rows, const char* iterations,
                         bool zeroed = false) {
  Json& data = program.document["data"];
  data.erase("validation");
  // Mutations come after these steps: few rows may refuse them, or become more.
  data.erase("mutations");
  Json& steps = data["preprocess"];
  if (!steps.is_array()) steps = Json::array();
  // Data may be sorted by class.
  steps.push_back({{"op", "shuffle"}, {"seed", 42}, {"part", "train"}});
  steps.push_back({{"op", "take"}, {"rows", count_limit(rows)}, {"part", "train"}});
  // No single-precision number is as small as what is left.
  if (zeroed) steps.push_back({{"op", "scale"}, {"on", "x"}, {"by", 1e300}, {"part", "train"}});
  Json& fit = program.document["fit"];
  fit.erase("validation_split");
  fit.erase("callbacks");
  fit["batch_size"] = count_limit(rows);
  fit["epochs"] = count_limit(iterations);
  return program;
}

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  Watch watch(context);
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return watch.finish({}, LocalisationStatus::kNotApplicable, to_string(problems.front()));
  }
  const program::ResolvedProgram resolved = program::resolve(faulty.program);
  Localisation result;
  // The tool's order: before the training, one batch, the training. The watcher of the training
  // says both the first and the last.
  Messages of_program, of_batch;
  ProgramWatcher of_training(faulty.program, context.variant, of_program);
  LocalisationStatus status = watch.train(faulty.program, of_training);

  if (status == LocalisationStatus::kOk) {
    FitWatcher watcher(resolved.metric);
    watcher.fit.classification = resolved.task == "classification";
    status = watch.train(on_rows(faulty.program, "fit_rows", "fit_iterations"), watcher);
    if (status == LocalisationStatus::kOk) {
      Messages found = check_fit(watcher.fit, context.variant);
      for (ToolMessage& message : found) {
        message.said = message.epochs.empty() ? Said::kAfterTraining : Said::kInIterations;
      }
      record_all(of_batch, found);
      const bool underfits = std::any_of(found.begin(), found.end(), [](const ToolMessage& m) {
        return m.code == "underfitting_single_batch" && m.epochs.empty();
      });
      const bool reaches_zero = std::any_of(
          found.begin(), found.end(), [](const ToolMessage& m) { return m.code == "zero_loss"; });
      // The published tool compares losses only where one isn't finite, and has returned then.
      if (context.variant == ToolVariant::kRepaired && underfits && !reaches_zero) {
        FitWatcher zeroed(resolved.metric);
        status = watch.train(on_rows(faulty.program, "fit_rows", "fit_iterations", true), zeroed);
        if (status == LocalisationStatus::kOk &&
            zeroed.fit.losses.size() == watcher.fit.losses.size()) {
          for (ToolMessage& message :
               check_data_dependence(watcher.fit.losses, zeroed.fit.losses)) {
            message.said = Said::kAfterTraining;
            record(of_batch, std::move(message));
          }
        }
      }
    }
  }
  if (status == LocalisationStatus::kOk) {
    OverfitWatcher watcher(faulty.program, context.variant, of_batch);
    status = watch.train(on_rows(faulty.program, "overfit_rows", "overfit_iterations"), watcher);
  }
  for (const bool before : {true, false}) {
    for (const ToolMessage& message : of_program) {
      if (message.epochs.empty() == before) result.messages.push_back(message);
    }
    if (before) {
      result.messages.insert(result.messages.end(), of_batch.begin(), of_batch.end());
    }
  }
  if (context.variant == ToolVariant::kRepaired) {
    TaskRules(faulty.program, data_of(faulty.program, context.trainer))
        .keep_to_task(result.messages);
  }
  return watch.finish(std::move(result), status, watch.reason());
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{
      "thedeepchecker",
      "2022-11",
      ToolKind::kNative,
      {ToolNeed::kProgram, ToolNeed::kTraining},
      "checks data, weights and loss before the training, a fit of one batch, and dropout's effect",
      "Ben Braiek and Khomh, Testing Feedforward Neural Networks Training Programs, TOSEM 2023; "
      "https://github.com/thedeepchecker/thedeepchecker",
      localise,
      message_table}};
}

}  // namespace neutra::fl_adapters::thedeepchecker
