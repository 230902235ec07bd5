#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/json.h"

namespace neutra::program {

/// Extents without the batch dimension; a scalar per row is {1} or {} as the source says.
using Shape = std::vector<std::int64_t>;
std::string to_string(const Shape& shape);  ///< "(28, 28, 1)"

/// A DL training program as plain data: format, version, name, task, model, compile, fit, data,
/// metric (docs/formats/program.md). The document is the program: mutators and key maps edit it,
/// resolve() gives the typed form that back ends read.
struct Program {
  Json document;  ///< an object; valid or not
};

/// One error of a document.
struct Problem {
  std::string path;     ///< JSON pointer: "/model/config/layers/1/config/units"; "": the whole
  std::string found;    ///< the value as a message shows it, or what is wrong
  std::string allowed;  ///< what may stand there
};
std::string to_string(const Problem& problem);  ///< "path: found ...; allowed: ..."

/// What the data source delivers for one row, as far as known before training.
struct DataInfo {
  Shape x;  ///< features of one row
  Shape y;  ///< target of one row; {} when the source holds a plain vector (Keras makes it {1})
  std::int64_t training_rows = 0;  ///< before any of them become validation rows
  bool y_is_integer = false;       ///< every target is a whole number
  double y_min = 0, y_max = 0;     ///< over all targets
};

/// A weight of a layer.
struct Weight {
  std::string name;         ///< "kernel", "bias", "gamma", ...
  std::string initializer;  ///< the field of the config that says how it starts
  Shape shape;              ///< its extents
  bool trainable = true;    ///< false for statistics such as moving_mean
};

/// A layer with aliases resolved and every field present (defaults filled in).
struct ResolvedLayer {
  std::string class_name;  ///< canonical Keras class name: "Dense", "Activation", ...
  int index = 0;           ///< 0-based over model.config.layers
  Json config;  ///< canonical: activation "linear" for null, initialisers {class_name, config},
                ///< regularisers likewise or null
  Shape input_shape, output_shape;  ///< of one row; empty while they are unknown
  std::vector<Weight> weights;      ///< in Keras's order; empty while the shapes are unknown
  /// The layers whose outputs it takes, by position; empty for the first, which takes the model's
  /// input. `input_shape` is that of the first of them.
  std::vector<std::size_t> inputs = {};
  /// The layer, by position, that this one is called once more: its settings and weights are these.
  std::optional<std::size_t> weights_of = {};
};

/// Is more of a metric better, or less?
enum class Goal { kMaximize, kMinimize };
std::string_view to_string(Goal goal);                  ///< "maximize", "minimize"
std::optional<Goal> parse_goal(std::string_view word);  ///< nullopt for another word

/// How the loop around the model is written. Keras's own loop is the default; every other value is
/// a silent fault that a loop written by hand can have (docs/methods/training.md, "The loop").
struct LoopStyle {
  /// When gradients become zero.
  enum class ZeroGrad {
    kEachStep,   ///< before the backward pass of each step
    kEachEpoch,  ///< once, before an epoch's first step: gradients add up over the epoch
    kNever,      ///< gradients add up over the training
    kBeforeStep  ///< between backward pass and update: every update sees zeros
  };
  ZeroGrad zero_grad = ZeroGrad::kEachStep;  ///< where the loop zeroes gradients
  bool step = true;                          ///< is there an update?
  bool eval_mode = true;  ///< is the model in inference mode where it is evaluated?
  bool sum = false;       ///< the loss is the sum over the rows of a batch, not their mean
  std::vector<std::size_t> left_out;    ///< layers whose variables the optimiser wasn't given
  std::optional<std::size_t> detached;  ///< no gradient flows back through this layer's output
  bool operator==(const LoopStyle&) const = default;
};

/// How a cross entropy reads outputs and targets (tf.keras 2.4, losses.py).
struct LossOptions {
  bool from_logits = false;    ///< outputs are what a softmax or sigmoid would be applied to
  double label_smoothing = 0;  ///< in [0, 1]: the share of a target that all classes get alike
  /// The input of any softmax or sigmoid output is taken as logits, not that of the fitting one
  /// alone (compile.logits; `_keras_logits` of TensorFlow 2.4 to 2.15).
  bool any_logits = false;
  bool operator==(const LossOptions&) const = default;
};

/// The learning rate times decay_rate^n, n the finished epochs, or steps.
struct RateSchedule {
  double decay_rate = 1;     ///< in (0, 1]
  bool every_batch = false;  ///< n counts optimiser steps, not epochs
};

/// The typed form of a valid program.
struct ResolvedProgram {
  Shape input_shape;                  ///< of one row; empty while it is unknown
  std::vector<ResolvedLayer> layers;  ///< one for each of model.config.layers
  Json optimizer;    ///< {class_name, config}, canonical class name ("Adam"), every field present
  std::string loss;  ///< canonical: "mean_squared_error", ...
  LossOptions loss_options;  ///< the defaults where it is given by a word
  std::string metric;  ///< with its options, as to_string(MetricName) has it: "mae(scale=original)"
  Goal goal = Goal::kMaximize;   ///< of the metric
  std::int64_t batch_size = 32;  ///< rows of a step, at least 1
  std::int64_t epochs = 1;       ///< at least 1
  bool shuffle = true;           ///< is the order of the rows drawn anew for each epoch?
  bool sample_weights = false;   ///< do the data have a weight for each training row?
  double validation_split = 0;   ///< in [0, 1): the share of the training rows, the last ones
  /// What the loss of a training row counts by its class; empty: all count alike.
  std::vector<double> class_weights;
  /// Array of {class_name, config}, every field present; monitors have canonical names ("val_mae").
  /// Without those that Keras ignores, since their monitor is no metric that was compiled.
  Json callbacks;
  std::optional<RateSchedule> schedule;  ///< nullopt: the rate stays
  LoopStyle loop;                        ///< how the loop around the model is written
  /// What is done to the trained model before it is evaluated, in order; every field present.
  Json trained_mutations;
  Json data;         ///< the data section as written
  std::string task;  ///< "classification" | "regression"
};

/// Do the arguments of a `data` section name weights of rows (docs/formats/data.md)?
bool has_sample_weights(const Json& data);

/// Every error of the document at once; shapes are inferred when `data` is given or the model
/// declares its input. Empty: valid. A Keras that would refuse to build, compile or fit the program
/// is an error here too.
std::vector<Problem> validate(const Json& document, const DataInfo* data = nullptr);

/// Throws input_error that lists all problems ("file: path: found ...; allowed: ..."), one a line.
void require_valid(const Json& document, const std::string& file, const DataInfo* data = nullptr);

/// Typed form. Precondition: validate() is empty for the same arguments (throws input_error
/// otherwise).
ResolvedProgram resolve(const Program& program, const DataInfo* data = nullptr);

/// Fields equal to their default dropped, names and metadata excluded, aliases resolved, keys
/// sorted, numbers normalised (1.0 and 1 are equal). Two programs that train alike by construction
/// have equal canonical documents.
nlohmann::json canonical(const Program& program);

/// The identity of an evaluation: the hash of the canonical text.
Hash program_hash(const Program& program);
/// The same without `fit.epochs` and `trained`: the key of the random streams, so that a shorter
/// run is a prefix of a longer one, and a mutated model that of its original.
Hash stream_hash(const Program& program);

}  // namespace neutra::program
