#include <cassert>
#include <chrono>
#include <map>
#include <mutex>

#include "fl_adapters/deepfd/model.h"
#include "fl_adapters/deepfd/seeding.h"
#include "fl_adapters/embedded.h"
#include "program/error.h"
#include "program/json.h"

namespace neutra {
namespace deepfd {
namespace {

/// The model of a file, or the one that is compiled in; each is made once.
const Model& model_of(const std::filesystem::path& file, ToolVariant variant) {
  static std::mutex mutex;
  static std::map<std::pair<std::filesystem::path, ToolVariant>, Model> models;
  const std::lock_guard lock(mutex);
  const auto known = models.find({file, variant});
  if (known != models.end()) return known->second;
  const std::string bundled = "fl_adapters/deepfd/model.json";
  Table table = file.empty() ? table_from_json(parse_json(embedded::deepfd_model, bundled), bundled)
                             : table_from_json(read_json(file), file.string());
  return models.emplace(std::pair{file, variant}, Model(std::move(table), variant)).first->second;
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
  const auto start = std::chrono::steady_clock::now();
  Localisation result;
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto finish = [&](LocalisationStatus status, const std::string& reason) {
    result.status = status;
    result.reason = reason;
    if (status == LocalisationStatus::kOk) {
      result.faults = answer_of(result.messages);
    } else {
      result.faults.applicable = status == LocalisationStatus::kTimeout;
    }
    result.seconds = seconds();
    return result;
  };
  if (const auto problems = validate(faulty.program.document); !problems.empty()) {
    return finish(LocalisationStatus::kNotApplicable, to_string(problems.front()));
  }
  const Model& model = model_of(context.model, context.variant);
  if (const Example* known = model.table().find(program_hash(faulty.program))) {
    return finish(
        LocalisationStatus::kNotApplicable,
        "the model was trained on this program (" + known->program + ", " + known->faults + ")");
  }
  if (const auto problems = validate(watched(faulty.program).document); !problems.empty()) {
    return finish(LocalisationStatus::kNotApplicable,
                  "can't be watched: " + to_string(problems.front()));
  }

  const auto iterations = static_cast<int>(message_table().threshold("iterations"));
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < iterations; ++i) {
    TrainingJob job;
    job.program = &faulty.program;
    job.seed = context.seed;
    job.replica = context.run * iterations + i;
    job.memory_limit = context.memory_limit;
    job.stop = context.stop;
    if (context.time_limit > 0) {
      job.time_limit = context.time_limit - seconds();
      if (job.time_limit <= 0) {
        return finish(LocalisationStatus::kTimeout, "ran past its time limit in training " +
                                                        std::to_string(i + 1) + " of " +
                                                        std::to_string(iterations));
      }
    }
    Observation seen = observe(*context.trainer, job, {context.variant});
    switch (seen.result.status) {
      case RunStatus::kOk:
      case RunStatus::kDiverged:
        rows.push_back(std::move(seen.features[static_cast<std::size_t>(context.variant)]));
        break;
      case RunStatus::kInvalid:
        return finish(LocalisationStatus::kNotApplicable, seen.result.message);
      case RunStatus::kTimeout:
        return finish(LocalisationStatus::kTimeout, seen.result.message);
      default:
        return finish(LocalisationStatus::kFailed, seen.result.message);
    }
  }
  const Diagnosis diagnosis = model.diagnose(rows);
  for (std::size_t label = 0; label < kLabels; ++label) {
    if (!diagnosis.labels[label]) continue;
    result.messages.push_back(message_table().message(std::string(label_name(label)), {},
                                                      detail(diagnosis, label, context.variant)));
  }
  return finish(LocalisationStatus::kOk, "");
}

}  // namespace
}  // namespace deepfd

extern const Tool deepfd_tool{
    "deepfd",
    "2022-10",
    ToolKind::kNative,
    {ToolNeed::kTraining},
    "classifiers that learned from seeded faults how faulty trainings run; nine trainings a run",
    "Cao et al., DeepFD: Automated Fault Diagnosis and Localization for "
    "Deep Learning Programs, ICSE 2022; https://github.com/ArabelaTso/DeepFD",
    deepfd::localise};

}  // namespace neutra
