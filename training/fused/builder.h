#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "training/fused/kernels.h"
#include "training/fused/sparse_batch.h"
#include "training/random.h"
#include "training/weights.h"

namespace neutra::training::fused {

/// How the values of a batch lie in memory.
enum class Layout {
  kColumns,  ///< feature-major, see kernels.h
  kRows      ///< row-major: (rows, features), images with channels last
};

/// A batch between two steps: values of the forward, gradients of the backward pass.
struct Tensor {
  program::Shape shape;  ///< of one row
  std::size_t features = 0;
  Layout layout = Layout::kColumns;
  float* values = nullptr;
  float* gradient = nullptr;
  bool needs_gradient = false;  ///< does any variable lie before it?
  bool relu_due = false;        ///< whoever reads the values applies a relu to them
};

/// What holds for one pass over the steps, forward or backward.
struct Pass {
  bool training = false;
  RandomKey key;
  std::uint32_t step = 0;  ///< optimiser step: dropout masks depend on it
  Lanes lanes;             ///< the batch; rows at most the plan's
  /// The input, where a step takes it so: the plan's input tensor isn't set then.
  SparseBatch* sparse = nullptr;
  bool keeps_values = true;  ///< will the values between the steps be looked at?
};

/// A max pooling: what it reads, what it writes, and where it notes the winners (images.h).
struct MaxPooling;

/// One step of a plan. It has found all its memory when it is made; in a pass it allocates nothing.
class Step {
 public:
  virtual ~Step() = default;
  /// Reads the input's values, writes the output's.
  virtual void forward(const Pass& pass) = 0;
  /// Reads the output's gradient; writes those of the step's variables, and the input's where that
  /// needs one. The input's and output's may be the same memory.
  virtual void backward(const Pass& pass) = 0;
  /// Takes over a max pooling of its output, if it can do both better together.
  virtual bool take_over(const MaxPooling&) { return false; }
};

/// Memory that steps share, each for the time of its own work.
struct Scratch {
  std::size_t size = 0;  ///< floats
  float* data = nullptr;
};

/// A variable of a layer and, if the loss gives it one, its gradient; null while memory is
/// measured.
struct Parameter {
  float* values = nullptr;
  float* gradient = nullptr;
};

/// Thrown by a layer that the fused back end doesn't know, with the reason.
struct NotCovered {
  std::string reason;
};

/// What a layer uses to add its steps to a plan. Plans are built twice: first with no memory at
/// all, to measure it, then in one block of that size. So layers must not touch memory when they
/// are made.
class Builder {
 public:
  /// `batch`: rows of a training step; `capacity`: of the largest forward pass.
  Builder(std::size_t batch, std::size_t capacity, Weights* weights, float* memory)
      : batch_(batch), capacity_(capacity), weights_(weights), memory_(memory) {}

  /// The input of the next step; of a layer that takes several, the first.
  const Tensor& current() const { return current_; }
  /// All of them, where select() has named them.
  const std::vector<Tensor>& inputs() const { return inputs_; }
  void set_current(Tensor tensor) { current_ = std::move(tensor); }
  /// Adds a step behind all others.
  void add(std::unique_ptr<Step> step) {
    steps_.push_back(std::move(step));
    selected_ = false;
  }
  /// The step that makes the current tensor, for the next one alone; null: none does.
  Step* last() const { return steps_.empty() || selected_ ? nullptr : steps_.back().get(); }

  /// A batch with memory of its own. One that needs no gradient has none.
  Tensor tensor(const program::Shape& shape, Layout layout, bool needs_gradient);
  /// Whole cache lines; null while memory is measured.
  float* floats(std::size_t size);
  /// At least that many shared floats; the plan provides them when all layers are there.
  std::shared_ptr<const Scratch> scratch(std::size_t size);
  std::size_t batch() const { return batch_; }
  std::size_t capacity() const { return capacity_; }
  /// Floats of a batch of `rows` rows of `features` values.
  static std::size_t batch_floats(std::size_t features, std::size_t rows);

  /// Variable k of the layer being added.
  Parameter parameter(std::size_t k) const;
  bool has_trainable()
      const;  ///< does the loss give a variable of the layer being added a gradient?

  /// Says that the layer being added, if its first step reads the plan's input and that is wide,
  /// takes it as a sparse batch, too, with its variable 0 as kernel. Returns whether it does.
  bool take_sparse_input();

  /// Names the inputs of the next layer or step, where they aren't what the last step made.
  void select(std::vector<Tensor> inputs);

  // For the plan.
  /// Several layers may read the plan's input: none takes it sparse.
  void forbid_sparse_input() { sparse_allowed_ = false; }
  /// `reached`: does a gradient of the loss come to the layer?
  void begin_layer(std::size_t position, const program::ResolvedLayer& layer, bool reached);
  /// Behind begin_layer(): the layer's variables are those of the one at `owner`, which may be
  /// itself and is called several times. Each call has gradients of its own; they are added up in
  /// the order of the calls when the backward pass is over the first one.
  void share_parameters(std::size_t owner);
  std::vector<std::unique_ptr<Step>> take_steps() { return std::move(steps_); }
  /// Floats that floats() gave out.
  std::size_t used() const { return used_; }
  /// Position of the layer that took sparse input, if one did.
  std::optional<std::size_t> sparse_layer() const { return sparse_layer_; }
  /// Gives the memory of scratch() out, as much as the most demanding step wanted.
  void provide_scratch() { scratch_->data = floats(scratch_->size); }

 private:
  std::size_t batch_, capacity_;
  Weights* weights_;
  float* memory_;
  std::size_t used_ = 0;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
  std::size_t position_ = 0;
  const program::ResolvedLayer* layer_ = nullptr;
  bool reached_ = true;
  class SharedGradients;
  std::map<std::size_t, SharedGradients*> shared_;  ///< by owner; steps
  std::size_t variables_ = 0;                       ///< the position whose variables the layer has
  /// The layer's own gradients of shared variables; empty: its variables are its own.
  std::optional<std::vector<float*>> own_gradients_;
  bool sparse_allowed_ = true;
  bool selected_ = false;  ///< has select() named the current tensor since the last step?
  std::optional<std::size_t> sparse_layer_;
  Tensor current_;
  std::vector<Tensor> inputs_;
  std::vector<std::unique_ptr<Step>> steps_;
};

/// What each layer that takes the current tensor reads: the tensor itself where it is one. Several
/// read the same values and have gradients of their own, which a step adds up in their order.
/// `reached`: which of them a gradient of the loss comes to.
std::vector<Tensor> branch_out(Builder& builder, const std::vector<bool>& reached);

/// Values of a batch, rounded up to whole vectors.
std::size_t value_count(const Tensor& tensor, const Pass& pass);

/// Adds the step of an activation behind the current tensor. `in_place`: nobody else needs that
/// one's values, so the output may take their place where the gradient is computed from it.
void add_activation(Builder& builder, const Activation& activation, bool in_place);
/// Applies the relu that is due, if any.
void settle_relu(Builder& builder);
/// Turns the current tensor, in rows, into columns; returns the new one.
Tensor to_columns(Builder& builder);
Tensor to_rows(Builder& builder);  ///< the other way
/// The current tensor's values as those of another shape of as many features.
void rename(Builder& builder, const program::Shape& shape);
/// For each feature of rows of `shape`, its place in an array of `extents`, which are the shape's
/// or 1 and of the same rank, in row-major order.
std::vector<std::uint32_t> broadcast_places(const program::Shape& shape,
                                            const program::Shape& extents);
/// tf.keras's function of that name.
Activation named_activation(const std::string& name);

/// Adds a layer's steps behind the builder's current tensor. Throws NotCovered for a layer with
/// options that the fused back end doesn't know.
using AddLayer = void (*)(Builder& builder, const program::ResolvedLayer& layer);

}  // namespace neutra::training::fused
