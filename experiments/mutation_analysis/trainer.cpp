#include "experiments/mutation_analysis/trainer.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "program/metric_name.h"
#include "training/local_trainer.h"
#include "training/metrics.h"

namespace neutra::experiments {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Makes a field of a section what it is in another document: absent where it is absent there.
void take_over(const Json& from, Json& to, const char* section, const char* field) {
  const Json* source = member(from, section);
  if (const Json* value = source != nullptr ? member(*source, field) : nullptr) {
    to[section][field] = *value;
  } else if (const auto own = to.find(section); own != to.end() && own->is_object()) {
    own->erase(field);
  }
}

/// Is it a step on test rows alone that the original lacks?
bool skews(const Json& original, const Json& step) {
  const Json* part = member(step, "part");
  if (part == nullptr || *part != "test") return false;
  const Json* own = member(original.at("data"), "preprocess");
  return own == nullptr || std::find(own->begin(), own->end(), step) == own->end();
}
/// The mutant's steps, with each such step done to the training rows, too, which are asked about as
/// test rows are: right behind the step itself, so that both take its statistics from the same
/// rows.
Json without_skew(const Json& original, const Json& steps) {
  Json all = Json::array();
  for (const Json& step : steps) {
    all.push_back(step);
    if (!skews(original, step)) continue;
    all.push_back(step);
    all.back()["part"] = "train";
  }
  return all;
}

class LocalMutantTrainer final : public MutantTrainer {
 public:
  LocalMutantTrainer(const program::Program& original, training::LocalTrainer& trainer,
                     std::uint64_t seed, const training::TrainingJob& limits)
      : original_(original), trainer_(trainer), limits_(limits) {
    limits_.seed = seed;
    limits_.stream = training::StreamKey::kIndependent;
    resolved_ = trainer.resolved(original);
    if (resolved_.metric == "loss") {
      throw input_error("metric: found loss; allowed: a metric that rows can be asked for");
    }
  }

  MutantRun run(const program::Program& program, int run) override {
    training::TrainingJob job = limits_;
    job.program = &program;
    job.replica = run;
    const training::TrainedModel model = trainer_.train_model(job);
    const training::ReplicaResult& trained = model.training;
    MutantRun result;
    result.status = trained.status;
    result.message = trained.message;
    result.seconds = trained.seconds;
    result.metrics = {{TestSet::kTrain, kNaN}, {TestSet::kTest, trained.metric}};
    if (!training::has_metric(trained.status)) return result;
    // What a mutant does to its training rows is no part of the question.
    program::Program asked = model.program;
    Json& data = asked.document["data"];
    data.erase("mutations");
    if (is_skewed(original_, asked)) {
      data["preprocess"] = without_skew(original_.document, data["preprocess"]);
    }
    take_over(original_.document, asked.document, "data", "validation");
    take_over(original_.document, asked.document, "fit", "validation_split");
    if (program::parse_metric_name(resolved_.metric).original_scale) {
      result.metrics[TestSet::kTrain] =
          trainer_.evaluate(asked, training::DataPart::kTraining, model.weights).metric;
    } else {
      training::Metric metric(resolved_.metric);
      ask_for_training_rows(asked, model, metric);
      result.metrics[TestSet::kTrain] = metric.value();
    }
    if (training::is_accuracy(resolved_.metric)) judge_test_rows(model, result);
    return result;
  }

  std::optional<std::string> refusal(const program::Program& program) override {
    return trainer_.refusal(program);
  }

 private:
  static training::Batch rows_of(std::span<const float> outputs, std::int64_t count) {
    return {outputs, {count, static_cast<std::int64_t>(outputs.size()) / count}};
  }
  static training::Batch targets_of(const training::DataRows& rows, std::int64_t begin,
                                    std::int64_t count) {
    const auto width =
        static_cast<std::int64_t>(rows.targets.size()) / std::max<std::int64_t>(rows.count, 1);
    training::Batch target{rows.targets.subspan(static_cast<std::size_t>(begin * width),
                                                static_cast<std::size_t>(count * width)),
                           rows.target};
    if (target.extents.empty()) target.extents = {1};
    target.extents.insert(target.extents.begin(), count);
    return target;
  }

  void ask_for_training_rows(const program::Program& program, const training::TrainedModel& model,
                             training::Metric& metric) {
    const training::DataRows rows = trainer_.rows(program, training::DataPart::kTraining);
    const std::unique_ptr<training::Predictor> predictor =
        trainer_.predictor(program, training::DataPart::kTraining, model.key);
    predictor->weights().assign(model.weights);
    for (std::int64_t begin = 0; begin < rows.count; begin += predictor->max_rows()) {
      const std::int64_t count = std::min(predictor->max_rows(), rows.count - begin);
      metric.add(rows_of(predictor->outputs(begin, count), count), targets_of(rows, begin, count));
    }
  }

  void judge_test_rows(const training::TrainedModel& model, MutantRun& result) {
    const training::DataRows rows = trainer_.rows(model.program, training::DataPart::kHoldout);
    const std::size_t width = model.outputs.size() / static_cast<std::size_t>(rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const auto output =
          std::span(model.outputs).subspan(static_cast<std::size_t>(i) * width, width);
      training::Metric right("accuracy");
      right.add(rows_of(output, 1), targets_of(rows, i, 1));
      result.right.push_back(right.value() == 1);
      const float p = output[training::argmax(output)];
      result.certainty.push_back(width == 1 ? std::max(p, 1 - p) : p);
    }
  }

  const program::Program& original_;
  training::LocalTrainer& trainer_;
  training::TrainingJob limits_;
  program::ResolvedProgram resolved_;
};

}  // namespace

bool is_skewed(const program::Program& original, const program::Program& mutant) {
  const Json* steps = member(mutant.document.at("data"), "preprocess");
  return steps != nullptr && std::any_of(steps->begin(), steps->end(), [&](const Json& step) {
           return skews(original.document, step);
         });
}

std::unique_ptr<MutantTrainer> make_mutant_trainer(const program::Program& original,
                                                   training::LocalTrainer& trainer,
                                                   std::uint64_t seed,
                                                   const training::TrainingJob& limits) {
  return std::make_unique<LocalMutantTrainer>(original, trainer, seed, limits);
}

}  // namespace neutra::experiments
