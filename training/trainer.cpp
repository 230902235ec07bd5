#include "training/trainer.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace neutra::training {
namespace {

constexpr std::array<std::pair<RunStatus, std::string_view>, 6> kWords{{
    {RunStatus::kOk, "ok"},
    {RunStatus::kDiverged, "diverged"},
    {RunStatus::kInvalid, "invalid"},
    {RunStatus::kTimeout, "timeout"},
    {RunStatus::kOutOfMemory, "out_of_memory"},
    {RunStatus::kFailed, "failed"},
}};

}  // namespace

std::string_view to_string(RunStatus status) {
  for (const auto& [value, word] : kWords) {
    if (value == status) return word;
  }
  return "failed";
}

std::optional<RunStatus> parse_run_status(std::string_view word) {
  for (const auto& [value, known] : kWords) {
    if (known == word) return value;
  }
  return std::nullopt;
}

Json to_json(const TrainingJob& job) {
  Json json{{"seed", job.seed},
            {"replica", job.replica},
            {"independent", job.stream == StreamKey::kIndependent},
            {"time_limit", job.time_limit},
            {"memory_limit", job.memory_limit}};
  if (job.keras == KerasRelease::k224) json["keras"] = "2.2.4";
  return json;
}

TrainingJob training_job_from_json(const Json& json) {
  TrainingJob job;
  json.at("seed").get_to(job.seed);
  json.at("replica").get_to(job.replica);
  job.stream = json.at("independent").get<bool>() ? StreamKey::kIndependent : StreamKey::kPrefix;
  json.at("time_limit").get_to(job.time_limit);
  json.at("memory_limit").get_to(job.memory_limit);
  if (json.contains("keras")) job.keras = KerasRelease::k224;
  return job;
}

Json to_json(const ReplicaResult& result) {
  return {{"status", to_string(result.status)},
          {"metric", exact_number(result.metric)},
          {"correct", result.correct},
          {"total", result.total},
          {"seconds", exact_number(result.seconds)},
          {"steps", result.steps},
          {"samples", result.samples},
          {"epochs_saved", result.epochs_saved},
          {"backend", result.backend},
          {"message", result.message}};
}

ReplicaResult replica_result_from_json(const Json& json) {
  const auto status = parse_run_status(json.at("status").get<std::string>());
  if (!status) throw input_error("no status");
  ReplicaResult result;
  result.status = *status;
  result.metric = exact_number(json.at("metric"));
  json.at("correct").get_to(result.correct);
  json.at("total").get_to(result.total);
  result.seconds = exact_number(json.at("seconds"));
  json.at("steps").get_to(result.steps);
  json.at("samples").get_to(result.samples);
  json.at("epochs_saved").get_to(result.epochs_saved);
  json.at("backend").get_to(result.backend);
  json.at("message").get_to(result.message);
  return result;
}

}  // namespace neutra::training
