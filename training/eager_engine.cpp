#include <algorithm>
#include <cstring>

#include "program/layer.h"
#include "training/eager.h"
#include "training/losses.h"
#include "training/model.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

/// An array as a tensor that shares its memory.
at::Tensor as_tensor(const Array& array) {
  std::vector<std::int64_t> extents = array.extents;
  if (extents.size() == 1) extents.push_back(1);  // Keras makes a column of a vector
  // LibTorch has no constant tensors; nothing writes to these.
  return at::from_blob(const_cast<float*>(array.values.data()), extents, at::kFloat);
}

/// `mask`: of its steps; undefined: all count.
Batch as_batch(const at::Tensor& t, const at::Tensor& mask = {}) {
  Batch batch{{t.data_ptr<float>(), static_cast<std::size_t>(t.numel())}, t.sizes().vec()};
  if (mask.defined()) {
    batch.counts = {mask.data_ptr<bool>(), static_cast<std::size_t>(mask.numel())};
  }
  return batch;
}

/// What a mask multiplies losses with.
at::Tensor as_weights(const at::Tensor& mask) {
  return mask.defined() ? mask.to(at::kFloat) : mask;
}

/// A copy of the rows begin + rows[i].
at::Tensor gather(const at::Tensor& source, std::int64_t begin,
                  std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> extents = source.sizes().vec();
  extents[0] = static_cast<std::int64_t>(rows.size());
  at::Tensor batch = at::empty(extents);
  const auto width = static_cast<std::size_t>(source.numel() / source.size(0));
  const float* from = source.data_ptr<float>();
  float* to = batch.data_ptr<float>();
  for (const std::int64_t row : rows) {
    std::memcpy(to, from + static_cast<std::size_t>(begin + row) * width, width * sizeof(float));
    to += width;
  }
  return batch;
}

class EagerEngine final : public Engine {
 public:
  EagerEngine(const program::ResolvedProgram& program, const Rows& training, RandomKey key)
      : Engine(program, training, key),
        model_(program, weights_),
        loss_(program.loss, model_.output_activation(), program.loss_options),
        x_(as_tensor(*training.x)),
        y_(as_tensor(*training.y)) {
    add_tables();
  }

  const char* backend() const override { return "eager"; }
  std::unique_ptr<Engine> twin(const program::ResolvedProgram& program, const Rows& training,
                               RandomKey key) const override {
    return make_eager_engine(program, training, key);
  }

  Batch output() override { return as_batch(output_, mask_); }
  Batch targets() override { return as_batch(targets_); }
  std::vector<std::span<const float>> activations() override {
    std::vector<std::span<const float>> spans;
    for (const at::Tensor& tensor : activations_) spans.push_back(as_batch(tensor).values);
    return spans;
  }
  std::vector<std::span<const float>> output_gradients() override {
    std::vector<std::span<const float>> spans;
    for (const at::Tensor& tensor : output_gradients_) {
      spans.push_back(tensor.defined() ? as_batch(tensor).values : std::span<const float>());
    }
    return spans;
  }

  double look(std::span<const std::int64_t> rows) override {
    const c10::InferenceMode guard;
    targets_ = gather(y_, training_.begin, rows);
    activations_.clear();
    const Model::Result result =
        model_.forward(gather(x_, training_.begin, rows), {false, key_, 0}, &activations_);
    output_ = model_.output(result.raw).contiguous();
    set_mask(result.mask);
    const at::Tensor& source = loss_.on_logits() ? result.raw : output_;
    double value = loss_.mean(source, targets_, as_weights(mask_)).item<double>();
    value *= loss_scale(rows.size());
    if (result.penalty.defined()) value += result.penalty.item<double>();
    return value + weights_.penalty();
  }

  double evaluate(const Rows& rows, const OutputListener& listener,
                  std::int64_t loss_rows) override {
    const c10::InferenceMode guard;
    const at::Tensor x = as_tensor(*rows.x), y = as_tensor(*rows.y);
    const std::int64_t n = rows.count();
    std::int64_t chunk = eager_evaluation_rows(program_);
    if (loss_rows > 0) chunk = std::max<std::int64_t>(1, chunk / loss_rows) * loss_rows;
    double sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += chunk) {
      const std::int64_t count = std::min(chunk, n - begin), first = rows.begin + begin;
      const at::Tensor targets = y.narrow(0, first, count);
      const Model::Result result = model_.forward(x.narrow(0, first, count), {false, key_, 0});
      const at::Tensor output = model_.output(result.raw).contiguous();
      set_mask(result.mask);
      if (listener) listener(as_batch(output, mask_), as_batch(targets));
      if (loss_rows <= 0) continue;
      const at::Tensor weights = rows.weights
                                     ? as_tensor(*rows.weights).view({-1}).narrow(0, first, count)
                                     : as_weights(mask_);
      const at::Tensor& source = loss_.on_logits() ? result.raw : output;
      for (std::int64_t at = 0; at < count; at += loss_rows) {
        const std::int64_t part = std::min(loss_rows, count - at);
        const at::Tensor mean =
            loss_.mean(source.narrow(0, at, part), targets.narrow(0, at, part),
                       weights.defined() ? weights.narrow(0, at, part) : weights);
        sum += mean.item<double>() * loss_scale(static_cast<std::size_t>(part)) *
               static_cast<double>(part);
      }
      if (result.penalty.defined()) {
        sum += result.penalty.item<double>() * static_cast<double>(count);
      }
    }
    return loss_rows > 0 ? sum / static_cast<double>(n) + weights_.penalty() : 0;
  }

 protected:
  double pass(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) override {
    at::Tensor x = gather(x_, training_.begin, rows);
    if (wanted.output_gradients) x.set_requires_grad(true);  // also of layers before any variable
    targets_ = gather(y_, training_.begin, rows);
    const std::span<float> all = weights_.gradients();
    std::fill(all.begin(), all.end(), 0.0f);
    activations_.clear();
    std::vector<at::Tensor> nodes;
    const Model::Result result =
        model_.forward(x, {true, key_, step, &looked_up_}, wanted.layers ? &activations_ : nullptr,
                       wanted.output_gradients ? &nodes : nullptr);
    std::map<std::size_t, std::vector<std::int64_t>>
        looked_up;  // of a table that has several calls
    for (const auto& [layer, rows] : looked_up_) {
      std::vector<std::int64_t>& indices = looked_up[tables_.at(layer)];
      indices.insert(indices.end(), rows.begin(), rows.end());
    }
    for (auto& [table, indices] : looked_up) {
      std::sort(indices.begin(), indices.end());
      indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
      optimizer_->look_up(table, {indices.begin(), indices.end()});
    }
    const at::Tensor output = loss_.on_logits() ? result.raw : model_.output(result.raw);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (model_.gives_output(i) && !loss_.on_logits()) nodes[i] = output;
      if (nodes[i].defined() && nodes[i].requires_grad()) nodes[i].retain_grad();
    }

    set_mask(result.mask);
    const at::Tensor weights = mask_.defined() ? as_weights(mask_) : row_weights(rows);
    std::optional<at::Tensor> gradient = loss_.gradient(output, targets_, weights);
    at::Tensor root = output;
    if (!gradient) root = loss_.mean(output, targets_, weights);
    double value = 0;
    if (wanted.loss) {
      const at::NoGradGuard guard;
      value = (gradient ? loss_.mean(output, targets_, weights) : root).item<double>();
      value *= loss_scale(rows.size());
      if (result.penalty.defined()) value += result.penalty.item<double>();
    }
    if (program_.loop.sum) {
      if (!gradient) gradient = at::ones({});
      gradient->mul_(loss_scale(rows.size()));
    }
    std::vector<at::Tensor> roots, gradients;
    const auto add = [&](const at::Tensor& from, const at::Tensor& slope) {
      if (!from.defined() || !from.requires_grad()) return;
      roots.push_back(from);
      gradients.push_back(slope);
    };
    add(root, gradient.value_or(at::Tensor()));
    add(result.penalty, {});
    if (!roots.empty()) torch::autograd::backward(roots, gradients);
    output_gradients_.clear();
    for (const at::Tensor& node : nodes) {
      const at::Tensor gradient = node.defined() ? node.grad() : at::Tensor();
      output_gradients_.push_back(gradient.defined() ? gradient.contiguous() : gradient);
    }
    if (wanted.output) {
      const at::NoGradGuard guard;
      output_ = (loss_.on_logits() ? model_.output(output) : output).contiguous();
    }
    return value;
  }

 private:
  void set_mask(const at::Tensor& mask) { mask_ = mask.defined() ? mask.contiguous() : mask; }

  /// What the loss of each row of the batch counts; undefined where all count alike.
  at::Tensor row_weights(std::span<const std::int64_t> rows) const {
    if (!weighs()) return {};
    at::Tensor weights = at::empty({targets_.size(0)});
    take_weights(rows, as_batch(targets_).values,
                 {weights.data_ptr<float>(), static_cast<std::size_t>(weights.numel())});
    return weights;
  }

  /// Tells the optimiser which variables are embeddings. Where a regulariser, or what the loop
  /// makes of gradients, gives every row one, they are like all others.
  void add_tables() {
    for (std::size_t i = 0; i < program_.layers.size(); ++i) {
      const program::ResolvedLayer& layer = program_.layers[i];
      if (program::kind_of(layer) != program::LayerKind::kEmbedding) continue;
      const Weights::Variable& table = weights_.of_layer(i)[0];
      tables_[layer.index] = table.extent.begin;
      if (layer.weights_of) continue;
      if (table.updated && table.reached &&
          program_.loop.zero_grad == program::LoopStyle::ZeroGrad::kEachStep &&
          !regularizer(layer.config, "embeddings_regularizer").active()) {
        optimizer_->add_embedding(table.extent, static_cast<std::size_t>(table.shape[1]));
      }
    }
  }

  Model model_;
  Loss loss_;
  at::Tensor x_, y_;
  at::Tensor output_, targets_;  ///< of the last step
  at::Tensor mask_;              ///< of that output's steps; undefined: all count
  std::vector<at::Tensor> activations_, output_gradients_;
  std::map<int, std::size_t> tables_;  ///< where the variable of each Embedding begins
  std::map<int, std::vector<std::int64_t>> looked_up_;
};

}  // namespace

std::unique_ptr<Engine> on_torch::make_eager_engine(const program::ResolvedProgram& program,
                                                    const Rows& training, RandomKey key) {
  at::set_num_threads(1);
  return std::make_unique<EagerEngine>(program, training, key);
}

}  // namespace neutra::training
