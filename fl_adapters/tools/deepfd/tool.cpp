#include <cassert>
#include <chrono>
#include <map>
#include <mutex>

#include "base/json.h"
#include "base/numbers.h"
#include "fl_adapters/embedded.h"
#include "fl_adapters/task_rules.h"
#include "fl_adapters/tools/deepfd/model.h"
#include "fl_adapters/tools/deepfd/seeding.h"
#include "fl_adapters/watch.h"

namespace neutra::fl_adapters::deepfd {
namespace {

/// The table of a file, or the one that is compiled in; each is read once.
const Table& table_of(const std::filesystem::path& file) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, Table> tables;
  const std::lock_guard lock(mutex);
  const auto known = tables.find(file);
  if (known != tables.end()) return known->second;
  const std::string bundled = "fl_adapters/tools/deepfd/model.json";
  return tables
      .emplace(file, file.empty()
                         ? table_from_json(parse_json(embedded::deepfd_model, bundled), bundled)
                         : read_table(file))
      .first->second;
}

/// Its classifiers; each are trained once, which takes seconds.
const Model& model_of(const std::filesystem::path& file, ToolVariant variant) {
  static std::mutex mutex;
  static std::map<std::pair<std::filesystem::path, ToolVariant>, Model> models;
  const std::lock_guard lock(mutex);
  const auto known = models.find({file, variant});
  if (known != models.end()) return known->second;
  return models.emplace(std::pair{file, variant}, Model(table_of(file), variant)).first->second;
}

/// "nearest neighbours in 9, tree in 7, forest in 9 of 9 trainings; needed: more than 2"
std::string detail(const Diagnosis& diagnosis, std::size_t label, ToolVariant variant) {
  static constexpr const char* kNames[kClassifiers] = {"nearest neighbours", "tree", "forest"};
  std::string text;
  for (std::size_t c = 0; c < kClassifiers; ++c) {
    text += (c == 0 ? "" : ", ") + std::string(kNames[c]) + " in " +
            std::to_string(diagnosis.votes[c][label]);
  }
  const double needed = variant == ToolVariant::kAsPublished
                            ? message_table().threshold("offset_" + std::string(label_name(label)))
                            : diagnosis.iterations / 2;
  return text + " of " + std::to_string(diagnosis.iterations) + " trainings; needed: more than " +
         shortest(needed);
}

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  assert(context.trainer != nullptr);
  const Watch watch(context);
  Localisation result;
  const auto finish = [&](LocalisationStatus status, const std::string& reason) {
    return watch.finish(std::move(result), status, reason);
  };
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return finish(LocalisationStatus::kNotApplicable, to_string(problems.front()));
  }
  if (const Example* known = table_of(context.model).find(program::program_hash(faulty.program))) {
    return finish(
        LocalisationStatus::kNotApplicable,
        "the model was trained on this program (" + known->program + ", " + known->faults + ")");
  }
  if (const auto problems = program::validate(watched(faulty.program).document);
      !problems.empty()) {
    return finish(LocalisationStatus::kNotApplicable,
                  "can't be watched: " + to_string(problems.front()));
  }

  const auto iterations = static_cast<int>(message_table().threshold("iterations"));
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < iterations; ++i) {
    std::optional<training::TrainingJob> job = watch.job(faulty.program);
    if (!job) {
      return finish(LocalisationStatus::kTimeout, "ran past its time limit in training " +
                                                      std::to_string(i + 1) + " of " +
                                                      std::to_string(iterations));
    }
    job->replica = context.run * iterations + i;
    Observation seen = observe(*context.trainer, *job, {context.variant});
    if (const Trouble trouble = trouble_of(seen.result);
        trouble.status != LocalisationStatus::kOk) {
      return finish(trouble.status, trouble.reason);
    }
    rows.push_back(std::move(seen.features[static_cast<std::size_t>(context.variant)]));
  }
  const Diagnosis diagnosis = model_of(context.model, context.variant).diagnose(rows);
  for (std::size_t label = 0; label < kLabels; ++label) {
    if (!diagnosis.labels[label]) continue;
    result.messages.push_back(message_table().message(std::string(label_name(label)), {},
                                                      detail(diagnosis, label, context.variant)));
    result.messages.back().said = Said::kAfterTraining;
  }
  if (context.variant == ToolVariant::kRepaired) {
    TaskRules(faulty.program, data_of(faulty.program, context.trainer))
        .keep_to_task(result.messages);
  }
  return finish(LocalisationStatus::kOk, "");
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{
      "deepfd",
      "2022-10",
      ToolKind::kNative,
      {ToolNeed::kTraining},
      "classifiers that learned from seeded faults how faulty trainings run; nine trainings a run",
      "Cao et al., DeepFD: Automated Fault Diagnosis and Localization for "
      "Deep Learning Programs, ICSE 2022; https://github.com/ArabelaTso/DeepFD",
      localise,
      message_table}};
}

}  // namespace neutra::fl_adapters::deepfd
