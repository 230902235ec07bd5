#include "cli/train_weights.h"

#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/words.h"
#include "cli/trainers.h"
#include "program/formats/stored_weights.h"
#include "training/weight_cache.h"

namespace neutra::cli {

program::Program with_initial_weights(program::Program program, const Arguments& arguments) {
  if (!arguments.has("initial-weights")) return program;
  const std::filesystem::path file = std::filesystem::absolute(arguments.text("initial-weights"));
  const std::string bytes = read_regular_file(file, "an HDF5 file of weights");
  program.document["fit"]["initial_weights"] = {{"file", file.string()}, {"sha256", sha256(bytes)}};
  return program;
}

void tell_drawn_layers(const std::string& id, const program::Program& program,
                       const Arguments& arguments, const std::filesystem::path& own_file,
                       training::LocalTrainer& trainer) {
  const Json* initial = training::initial_weights_of(program);
  if (initial == nullptr) return;
  const program::ResolvedProgram resolved = trainer.resolved(program);
  const auto given = training::WeightCache(data_path(arguments, own_file)).get(*initial, resolved);
  std::vector<std::string> drawn;
  std::size_t all = 0;
  for (std::size_t i = 0; i < resolved.layers.size(); ++i) {
    const program::ResolvedLayer& layer = resolved.layers[i];
    if (layer.weights_of) continue;
    all += !layer.weights.empty();
    if (layer.weights.empty() || !(*given)[i].empty()) continue;
    drawn.push_back(std::to_string(layer.index) + " (" + layer.class_name + ")");
  }
  const std::string file = initial->at("file");
  if (!drawn.empty() && drawn.size() == all) {
    throw input_error(describe(id, "/fit/initial_weights", file + ", without arrays for any layer",
                               "arrays of the shapes that the program's layers have"));
  }
  if (drawn.empty()) return;
  std::cerr << "neutra: " << id << ": warning: " << file
            << " has no arrays of their shapes for the "
            << "layers " << join(drawn) << ": they are drawn\n";
}

void WeightKeeper::begin(const training::DataView& data, training::Probe& probe) {
  if (inner_) inner_->begin(data, probe);
}

training::BatchDetail WeightKeeper::batch_detail(std::int64_t epoch, std::int64_t step) const {
  return inner_ ? inner_->batch_detail(epoch, step) : training::BatchDetail::kNone;
}

void WeightKeeper::batch_end(const training::BatchEvent& event) {
  if (inner_) inner_->batch_end(event);
}

void WeightKeeper::epoch_end(const training::EpochEvent& event) {
  if (inner_) inner_->epoch_end(event);
}

void WeightKeeper::end(training::Probe& probe) {
  if (inner_) inner_->end(probe);
  const std::vector<std::int64_t> first{0};
  for (const training::LayerView& layer : probe.forward(first).layers) {
    auto& arrays = weights_.emplace_back();
    for (const std::span<const float> values : layer.weights) {
      arrays.emplace_back(values.begin(), values.end());
    }
  }
}

FinalWeights::FinalWeights(const Arguments& arguments) {
  if (!arguments.has("final-weights")) return;
  file_ = arguments.text("final-weights");
  const std::int64_t replicas = arguments.integer("replicas");
  if (replicas != 1) {
    throw usage_error("--final-weights: found " + std::to_string(replicas) +
                      " replicas; allowed: --replicas 1");
  }
  require_writable(file_, "--final-weights");
}

std::vector<training::Observer*> FinalWeights::watching(
    std::vector<training::Observer*> observers) {
  if (file_.empty()) return observers;
  keeper_.emplace(observers.empty() ? nullptr : observers.front());
  return {&*keeper_};
}

void FinalWeights::write(const program::Program& program, const training::ReplicaResult& result,
                         training::LocalTrainer& trainer) const {
  if (!keeper_ || !training::has_metric(result.status)) return;
  write_file_atomically(file_, program::weight_file(trainer.resolved(program), keeper_->weights()));
}

}  // namespace neutra::cli
