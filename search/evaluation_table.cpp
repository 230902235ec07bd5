#include "search/evaluation_table.h"

#include <xxhash.h>

#include <limits>

#include "base/error.h"

namespace neutra::search {
namespace {

/// Parameters that make no program have their string as identity.
Hash string_hash(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace

training::ReplicaResult failed_result() {
  training::ReplicaResult result;
  result.status = training::RunStatus::kFailed;
  result.metric = std::numeric_limits<double>::quiet_NaN();
  result.message = "three processes died while training it";
  return result;
}

EvaluationTable::EvaluationTable(const SearchSpace& space, int replicas, Switches switches,
                                 EarlierResults earlier, training::Trainer& trainer)
    : space_(space),
      replicas_(replicas),
      switches_(switches),
      earlier_(std::move(earlier)),
      trainer_(trainer) {}

std::size_t EvaluationTable::add(const std::function<program::Program()>& make,
                                 const std::string& name) {
  EvaluatedProgram evaluation;
  try {
    evaluation.program = std::make_shared<const program::Program>(make());
  } catch (const Error& error) {
    evaluation.hash = string_hash(name);
    evaluation.refusal = error.what();
  }
  if (evaluation.program) {
    evaluation.hash = space_.hash(*evaluation.program);
    if (switches_.reuse_identical) {
      if (const auto found = by_hash_.find(evaluation.hash); found != by_hash_.end()) {
        return found->second;
      }
    }
    evaluation.refusal = trainer_.refusal(*evaluation.program);
  }
  evaluation.slots.resize(static_cast<std::size_t>(replicas_));
  for (int replica = 0; replica < replicas_; ++replica) {
    EvaluatedProgram::Slot& slot = evaluation.slots[static_cast<std::size_t>(replica)];
    const EvaluationKey key{evaluation.hash, replica};
    if (const auto own = earlier_.own.find(key); own != earlier_.own.end()) {
      slot.origin = EvaluatedProgram::Origin::kStore;
      slot.result = own->second;
    } else if (const auto reused = earlier_.reused.find(key); reused != earlier_.reused.end()) {
      slot.origin = EvaluatedProgram::Origin::kReused;
      slot.result = reused->second;
    } else {
      continue;
    }
    evaluation.seconds += slot.result.seconds;
    ++evaluation.known;
  }
  if (const auto deaths = earlier_.deaths.find(evaluation.hash); deaths != earlier_.deaths.end()) {
    evaluation.deaths = deaths->second;
  }
  by_hash_.emplace(evaluation.hash, evaluations_.size());
  evaluations_.push_back(std::move(evaluation));
  return evaluations_.size() - 1;
}

std::optional<int> EvaluationTable::trainable(std::size_t index) const {
  const EvaluatedProgram& evaluation = evaluations_[index];
  if (evaluation.refusal) return std::nullopt;
  for (std::size_t i = 0; i < evaluation.slots.size(); ++i) {
    if (evaluation.slots[i].origin == EvaluatedProgram::Origin::kNone &&
        !evaluation.slots[i].running) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

bool EvaluationTable::must_wait(std::size_t index) const {
  return suspect(evaluations_[index]) && running_ > 0;
}

Task EvaluationTable::hand_out(std::size_t index, int replica,
                               const std::function<program::Program()>& make) {
  EvaluatedProgram& evaluation = evaluations_[index];
  if (!evaluation.program) evaluation.program = std::make_shared<const program::Program>(make());
  evaluation.slots[static_cast<std::size_t>(replica)].running = true;
  ++evaluation.running;
  ++running_;
  alone_ = suspect(evaluation);
  return {index, replica, evaluation.hash, evaluation.deaths, evaluation.program};
}

void EvaluationTable::drop(const Task& task) {
  EvaluatedProgram& evaluation = evaluations_[task.evaluation];
  evaluation.slots[static_cast<std::size_t>(task.replica)].running = false;
  --evaluation.running;
  --running_;
  alone_ = false;
}

void EvaluationTable::deliver(const Task& task, training::ReplicaResult result,
                              SearchCounters& counters) {
  drop(task);
  ++counters.trainings;
  counters.samples += result.samples - result.samples_reused;
  counters.trainings_fused += result.backend == "fused";
  counters.epochs_reused += result.epochs_reused;
  counters.epochs_saved_dead += result.epochs_saved;
  EvaluatedProgram& evaluation = evaluations_[task.evaluation];
  evaluation.seconds += result.seconds;
  ++evaluation.known;
  EvaluatedProgram::Slot& slot = evaluation.slots[static_cast<std::size_t>(task.replica)];
  slot.origin = EvaluatedProgram::Origin::kTrained;
  slot.result = std::move(result);
}

std::int64_t EvaluationTable::book(std::size_t index, int replicas, SearchCounters& counters) {
  std::int64_t trained = 0;
  for (int replica = 0; replica < replicas; ++replica) {
    EvaluatedProgram::Slot& slot = evaluations_[index].slots[static_cast<std::size_t>(replica)];
    if (slot.used) {
      ++counters.trainings_saved_identical;
    } else if (slot.origin == EvaluatedProgram::Origin::kStore) {
      ++counters.trainings_from_store;
    } else if (slot.origin == EvaluatedProgram::Origin::kReused) {
      ++counters.trainings_reused;
    } else {
      ++trained;
    }
    slot.used = true;
  }
  return trained;
}

}  // namespace neutra::search
