#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "program/program.h"
#include "training/local_trainer.h"

namespace neutra::cli {

/// With --initial-weights: the program that begins with that file's.
program::Program with_initial_weights(program::Program program, const Arguments& arguments);

/// Says on standard error which layers the program's file of initial weights has nothing for.
/// `own_file`: in whose folder it is looked up first. Throws input_error where that is all layers.
void tell_drawn_layers(const std::string& id, const program::Program& program,
                       const Arguments& arguments, const std::filesystem::path& own_file,
                       training::LocalTrainer& trainer);

/// Keeps the weights with which a training ends, and shows the training to another observer.
class WeightKeeper final : public training::Observer {
 public:
  explicit WeightKeeper(training::Observer* inner) : inner_(inner) {}
  bool wants_validation() const override { return inner_ && inner_->wants_validation(); }
  bool wants_output_gradients() const override {
    return inner_ && inner_->wants_output_gradients();
  }
  void begin(const training::DataView& data, training::Probe& probe) override;
  training::BatchDetail batch_detail(std::int64_t epoch, std::int64_t step) const override;
  void batch_end(const training::BatchEvent& event) override;
  void epoch_end(const training::EpochEvent& event) override;
  bool stop() override { return inner_ && inner_->stop(); }
  void end(training::Probe& probe) override;

  const program::ModelWeights& weights() const { return weights_; }

 private:
  training::Observer* inner_;
  program::ModelWeights weights_;
};

/// --final-weights of a training.
class FinalWeights {
 public:
  /// Throws usage_error for several replicas, input_error for a file that can't be written.
  explicit FinalWeights(const Arguments& arguments);
  /// The observers of the jobs, with one that keeps the weights where they are wanted.
  std::vector<training::Observer*> watching(std::vector<training::Observer*> observers);
  /// Writes the file, if it is wanted and the training came to its end.
  void write(const program::Program& program, const training::ReplicaResult& result,
             training::LocalTrainer& trainer) const;

 private:
  std::filesystem::path file_;
  std::optional<WeightKeeper> keeper_;
};

}  // namespace neutra::cli
