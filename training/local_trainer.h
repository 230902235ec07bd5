#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "training/backend.h"
#include "training/data/dataset.h"
#include "training/evaluation.h"
#include "training/observer.h"
#include "training/predictor.h"
#include "training/trainer.h"

namespace neutra::training {

/// How a LocalTrainer trains and what it may use.
struct TrainerOptions {
  /// Where relative data files are looked up, in order.
  std::vector<std::filesystem::path> data_path;
  /// Stop a training once every weight is NaN: its result is known (exact).
  bool skip_dead_epochs = true;
  Backend backend = Backend::kAuto;
  /// Remember each training's metric at half its epochs and its last state, so that the same
  /// program with half the epochs needs no training, and one with more epochs, or a mutant of the
  /// trained model, continues from the stored state (exact).
  bool reuse_epochs = false;
  std::uint64_t state_bytes = std::uint64_t{256} << 20;  ///< at most this for those states
  /// What all trainings at once may need, those states included; others wait. 0: no limit.
  std::uint64_t memory = 0;
};

/// A training and the model that its metric is of.
struct TrainedModel {
  ReplicaResult training;
  /// What was trained, after trained.mutations removed layers; the mutations are not in it.
  program::Program program;
  program::ModelWeights weights;  ///< empty where no training came to its end
  RandomKey key;                  ///< of the training
  std::int64_t epochs = 0;        ///< that were finished
  /// The model's outputs for the hold-out rows, row-major: the metric is computed from them. Empty
  /// where the weights are.
  std::vector<float> outputs;
};

/// Trains in this process, with Keras 2.4's semantics. Data sets are loaded once and shared by all
/// threads.
class LocalTrainer : public Trainer {
 public:
  using Trainer::train;
  /// With an observer; its exceptions pass through.
  virtual ReplicaResult train(const TrainingJob& job, Observer* observer) = 0;
  /// Trains as train() does and keeps the model.
  virtual TrainedModel train_model(const TrainingJob& /*job*/) {
    throw failure("this trainer keeps no model");
  }
  /// The rows that a program is trained on; null where a trainer needs none. Throws Error like
  /// train().
  virtual std::shared_ptr<const Dataset> dataset(const program::Program&) { return nullptr; }

  // The functions below take programs without a refusal(); trainers that only train throw Error.

  /// The program's typed form, with the shapes that its data give.
  virtual program::ResolvedProgram resolved(const program::Program& /*program*/) {
    throw failure("this trainer resolves nothing");
  }
  /// The program's model with these weights, in inference mode whatever its loop says.
  virtual Evaluation evaluate(const program::Program& /*program*/, DataPart /*part*/,
                              const program::ModelWeights& /*weights*/) {
    throw failure("this trainer evaluates nothing");
  }
  /// Rows of the program's data.
  virtual DataRows rows(const program::Program& /*program*/, DataPart /*part*/) {
    throw failure("this trainer shows no rows");
  }
  /// The program's model on rows of its data, on the back end that trains it. `key`: of the
  /// training that gave the model its weights; it matters only where the program evaluates without
  /// inference mode. The predictor must not outlive the trainer.
  virtual std::unique_ptr<Predictor> predictor(const program::Program& /*program*/,
                                               DataPart /*part*/, RandomKey /*key*/) {
    throw failure("this trainer predicts nothing");
  }
  /// The program's layers from position `first` on, on rows of that layer's input. `inputs`
  /// outlives the predictor; its values may be changed between questions.
  virtual std::unique_ptr<Predictor> predictor(const program::Program& /*program*/,
                                               std::size_t /*first*/, const Array& /*inputs*/) {
    throw failure("this trainer predicts nothing");
  }
};
/// Throws usage_error for a NEUTRA_ISA that this processor lacks.
std::unique_ptr<LocalTrainer> make_local_trainer(TrainerOptions options);

}  // namespace neutra::training
