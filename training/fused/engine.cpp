#include "training/fused/engine.h"

#include <gnu/libc-version.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "training/fused/plan.h"
#include "training/keras_release.h"

namespace neutra::training {
namespace {

using namespace fused;

/// Rows of a forward pass when evaluating: a batch whose values stay in the second cache, within
/// reason. A function of the program alone, since the rounding of a product may depend on its size.
std::size_t evaluation_rows(const program::ResolvedProgram& program) {
  constexpr std::int64_t kValues = 1 << 18, kMultiple = 32;
  const std::int64_t rows = kValues / row_elements(program) / kMultiple * kMultiple;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(rows, kMultiple, 1024));
}

std::size_t batch_rows(const program::ResolvedProgram& program, const Rows& training) {
  return static_cast<std::size_t>(std::min(program.batch_size, training.count()));
}

std::size_t capacity(const program::ResolvedProgram& program, const Rows& training) {
  return std::max(batch_rows(program, training), evaluation_rows(program));
}

program::Shape target_shape(const Rows& rows) {
  const program::Shape& extents = rows.y->extents;
  return extents.size() > 1 ? program::Shape(extents.begin() + 1, extents.end())
                            : program::Shape{1};
}

class FusedEngine final : public Engine {
 public:
  FusedEngine(const program::ResolvedProgram& program, const Rows& training, RandomKey key)
      : Engine(program, training, key),
        evaluation_rows_(evaluation_rows(program)),
        plan_(program, target_shape(training), batch_rows(program, training),
              capacity(program, training), weights_),
        indices_(capacity(program, training)),
        class_targets_(takes_class_indices(program.loss)) {
    // Every kernel row has a gradient where a regulariser or earlier steps give it one.
    if (!training.sparse || !plan_.sparse_layer() || adds_gradients(program.loop)) return;
    const program::ResolvedLayer& layer = program.layers[*plan_.sparse_layer()];
    const Weights::Variable& kernel = weights_.of_layer(*plan_.sparse_layer())[0];
    if (kernel.trainable && (regularizer(layer.config, "kernel_regularizer").active() ||
                             layer.config.at("kernel_constraint").is_object() || !kernel.updated ||
                             !optimizer_->can_be_lazy())) {
      return;
    }
    sparse_ = Sparse{kernel, SparseBatch(plan_.input().features), {}, false};
    sparse_->written.resize(plan_.input().features);
    if (kernel.trainable) optimizer_->begin_lazy(kernel.extent, sparse_->outputs());
  }

  const char* backend() const override { return "fused"; }
  std::unique_ptr<Engine> twin(const program::ResolvedProgram& program, const Rows& training,
                               RandomKey key) const override {
    return make_fused_engine(program, training, key);
  }
  bool resumable() const override { return !left_sparse_; }

  Batch output() override {
    const std::size_t n = plan_.output().features;
    output_rows_.resize(lanes_.rows * n);
    table_.to_rows(n, outputs(), output_rows_.data(), lanes_);
    return batch(output_rows_, n);
  }
  Batch targets() override {
    const std::size_t n = plan_.target_features();
    target_rows_.resize(lanes_.rows * n);
    table_.to_rows(n, plan_.targets(), target_rows_.data(), lanes_);
    return batch(target_rows_, n);
  }
  std::vector<std::span<const float>> activations() override {
    activation_rows_.resize(plan_.outputs().size());
    std::vector<std::span<const float>> spans;
    for (std::size_t i = 0; i < activation_rows_.size(); ++i) {
      const Tensor& tensor = plan_.outputs()[i];
      const bool last = i >= plan_.output_position();
      const std::size_t size = lanes_.rows * tensor.features;
      const bool in_rows = !last && tensor.layout != Layout::kColumns;
      if (in_rows && !tensor.relu_due) {
        spans.emplace_back(tensor.values, size);
        continue;
      }
      std::vector<float>& rows = activation_rows_[i];
      rows.resize(size);
      if (!in_rows) {
        table_.to_rows(tensor.features, last ? outputs() : tensor.values, rows.data(), lanes_);
      }
      if (tensor.relu_due) {
        const float* values = in_rows ? tensor.values : rows.data();
        std::transform(values, values + size, rows.begin(),
                       [](float value) { return value < 0 ? 0 : value; });
      }
      spans.emplace_back(rows);
    }
    return spans;
  }

  double look(std::span<const std::int64_t> rows) override {
    settle();
    choose_route();
    const Pass pass = forward(training_, rows, {false, key_, 0, {}});
    if (pass.sparse) gather(training_, rows);
    return batch_loss(loss(0, nullptr, true, lanes_)) + weights_.penalty();
  }

  double evaluate(const Rows& rows, const OutputListener& listener,
                  std::int64_t loss_rows) override {
    settle();
    choose_route();
    double sum = 0;
    auto chunk = static_cast<std::int64_t>(evaluation_rows_);
    if (loss_rows > 0) {
      // Whole batches of Keras's, each at the beginning of a vector; one may be larger than a
      // chunk.
      const bool aligned = loss_rows % static_cast<std::int64_t>(table_.width) == 0;
      chunk = aligned ? std::max<std::int64_t>(1, chunk / loss_rows) * loss_rows : loss_rows;
      chunk = std::min(chunk, static_cast<std::int64_t>(indices_.size()));
    }
    for (std::int64_t begin = 0; begin < rows.count(); begin += chunk) {
      const std::int64_t count = std::min(chunk, rows.count() - begin);
      std::iota(indices_.begin(), indices_.begin() + count, begin);
      Pass pass{false, key_, 0, {}};
      pass.keeps_values = false;
      forward(rows, {indices_.data(), static_cast<std::size_t>(count)}, pass);
      if (listener) listener(output(), targets());
      for (std::int64_t at = 0; loss_rows > 0 && at < count; at += loss_rows) {
        const Lanes part{static_cast<std::size_t>(std::min(loss_rows, count - at)), lanes_.stride};
        const auto lane = static_cast<std::size_t>(at);
        sum += (rows.weights ? weighted_loss(lane, weights_of(rows, begin + at, part.rows))
                             : loss(lane, nullptr, true, part)) *
               loss_scale(part.rows);
      }
    }
    if (loss_rows <= 0) return 0;
    return sum / static_cast<double>(rows.count()) + weights_.penalty();
  }

 protected:
  double pass(std::span<const std::int64_t> rows, std::uint32_t step, Wanted wanted) override {
    choose_route();
    Pass pass{true, key_, step, {}};
    pass.keeps_values = wanted.layers;
    pass = forward(training_, rows, pass);
    if (wanted.layers && pass.sparse) gather(training_, rows);
    const Tensor& output = plan_.output();
    double sum = loss(0, output.gradient, wanted.loss && !weighs(), lanes_);
    if (weighs()) sum = weigh(rows, output, wanted.loss);
    if (program_.loop.sum && output.needs_gradient) {
      const float scale = loss_scale(lanes_.rows);
      const std::size_t size = output.features * lanes_.stride;
      for (std::size_t i = 0; i < size; ++i) output.gradient[i] *= scale;
    }
    if (output.needs_gradient) plan_.backward(pass);
    if (pass.sparse && sparse_->kernel.trainable) check_gradient(pass, rows);
    return batch_loss(sum);
  }

  void settle() override {
    if (!sparse_) return;
    optimizer_->catch_up_all(weights_.updated());
    sparse_->checked = false;
    if (!sparse_->kernel.trainable) return;
    // Earlier batches' gradients.
    for (const std::size_t column : sparse_->batch.columns()) sparse_->written[column] = 0;
    for (std::size_t column = 0; column < sparse_->written.size(); ++column) {
      if (sparse_->written[column] == 0) continue;
      const std::span<float> row = sparse_->row(column).of(weights_.gradients());
      std::fill(row.begin(), row.end(), 0.0f);
      sparse_->written[column] = 0;
    }
    for (const std::size_t column : sparse_->batch.columns()) sparse_->written[column] = 1;
  }

 private:
  /// The training on sparse batches. It leaves out all products with zeros, so it ends, for good,
  /// as soon as one of them could be anything but zero: a weight or gradient that isn't finite.
  struct Sparse {
    Weights::Variable kernel;
    SparseBatch batch;
    std::vector<std::uint8_t> written;  ///< for each kernel row: may its gradient not be 0?
    bool checked = false;  ///< are the weights bounded but for what the optimiser has changed?
    std::size_t outputs() const { return static_cast<std::size_t>(kernel.shape[1]); }
    Extent row(std::size_t column) const {
      return {kernel.extent.begin + column * outputs(), outputs()};
    }
  };

  /// Before a pass: can it still be sparse?
  void choose_route() {
    if (!sparse_) return;
    if (!sparse_->checked && !Optimizer::bounded(sparse_->kernel.extent.of(weights_.all()))) {
      return leave_sparse();
    }
    sparse_->checked = true;
    if (!optimizer_->stays_bounded()) leave_sparse();
  }
  void leave_sparse() {
    settle();
    optimizer_->end_lazy(weights_.updated());
    sparse_.reset();
    left_sparse_ = true;
  }
  /// After a backward pass over a sparse batch.
  void check_gradient(Pass pass, std::span<const std::int64_t> rows) {
    for (const std::size_t column : sparse_->batch.columns()) sparse_->written[column] = 1;
    if (!sparse_->batch.refused()) return;
    leave_sparse();
    gather(training_, rows);
    pass.sparse = nullptr;
    plan_.backward_first(pass);
  }

  void gather(const Rows& source, std::span<const std::int64_t> rows) {
    const Tensor& input = plan_.input();
    const auto first = static_cast<std::size_t>(source.begin);
    const float* x = source.x->values.data() + first * input.features;
    if (input.layout == Layout::kColumns) {
      table_.gather(x, input.features, rows.data(), input.values, lanes_);
      return;
    }
    float* to = input.values;
    for (const std::int64_t row : rows) {
      std::memcpy(to, x + static_cast<std::size_t>(row) * input.features,
                  input.features * sizeof(float));
      to += input.features;
    }
  }

  /// Runs the steps on those rows, counted from the source's first.
  Pass forward(const Rows& source, std::span<const std::int64_t> rows, Pass pass) {
    lanes_ = {rows.size(), (rows.size() + table_.width - 1) / table_.width * table_.width};
    pass.lanes = lanes_;
    if (sparse_ && source.sparse) {
      pass.sparse = &sparse_->batch;
      pass.sparse->take(*source.sparse, source.begin, rows);
      if (pass.training && sparse_->kernel.trainable) {
        pass.sparse->sort();
        optimizer_->catch_up(weights_.updated(), pass.sparse->columns());
      }
    } else {
      gather(source, rows);
    }
    const float* y =
        source.y->values.data() + static_cast<std::size_t>(source.begin) * plan_.target_features();
    table_.gather(y, plan_.target_features(), rows.data(), plan_.targets(), lanes_);
    for (std::size_t f = plan_.target_features(); f < plan_.loss_features() && !class_targets_;
         ++f) {
      std::copy_n(plan_.targets(), lanes_.stride, plan_.targets() + f * lanes_.stride);
    }
    if (plan_.smoothed() != nullptr) smooth();
    plan_.forward(pass);
    return pass;
  }

  /// Targets as the loss takes them, beside those that metrics look at.
  void smooth() {
    const auto share = static_cast<float>(program_.loss_options.label_smoothing);
    const std::size_t classes =
        program_.loss == "binary_crossentropy" ? 2 : plan_.target_features();
    const float rest = share / static_cast<float>(classes);
    const float* from = plan_.targets();
    float* to = plan_.smoothed();
    const std::size_t size = plan_.loss_features() * lanes_.stride;
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i] * (1 - share) + rest;
  }

  /// Gives each row of the last batch its weight, in the gradient of the loss. Returns the sum of
  /// its rows' losses if wanted.
  double weigh(std::span<const std::int64_t> rows, const Tensor& output, bool with_value) {
    row_weights_.resize(lanes_.rows);
    const bool by_class = !program_.class_weights.empty();
    take_weights(rows, by_class ? targets().values : std::span<const float>(), row_weights_);
    const std::size_t stride = lanes_.stride;
    for (std::size_t f = 0; output.needs_gradient && f < output.features; ++f) {
      for (std::size_t b = 0; b < lanes_.rows; ++b) {
        output.gradient[f * stride + b] *= row_weights_[b];
      }
    }
    return with_value ? weighted_loss(0, row_weights_) : 0;
  }

  static std::span<const float> weights_of(const Rows& rows, std::int64_t from, std::size_t count) {
    return std::span(rows.weights->values)
        .subspan(static_cast<std::size_t>(rows.begin + from), count);
  }

  /// The sum of the losses of the rows that begin at lane `begin`, each times its weight.
  double weighted_loss(std::size_t begin, std::span<const float> weights) {
    // The kernels give sums over rows alone, so each row is a batch of its own.
    const Tensor& output = plan_.output();
    const std::size_t stride = lanes_.stride;
    const std::size_t width = table_.width, features = plan_.loss_features();
    const std::size_t target_features = class_targets_ ? 1 : features;
    if (row_.size() == 0) row_ = Buffer(whole_lines(features * width) + target_features * width);
    float *x = row_.data(), *y = x + whole_lines(features * width);
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t b = begin + i;
      for (std::size_t f = 0; f < features; ++f) {
        const std::size_t from = std::min(f, output.features - 1);
        std::fill_n(x + f * width, width, output.values[from * stride + b]);
      }
      for (std::size_t f = 0; f < target_features; ++f) {
        std::fill_n(y + f * width, width, loss_targets()[f * stride + b]);
      }
      sum += static_cast<double>(weights[i]) *
             table_.loss(plan_.loss(), features, x, y, nullptr, true, {1, width});
    }
    return sum;
  }
  const float* loss_targets() const {
    return plan_.smoothed() != nullptr ? plan_.smoothed() : plan_.targets();
  }

  /// The loss of the last batch, from the sum of its rows' losses.
  double batch_loss(double sum) const {
    return sum / static_cast<double>(lanes_.rows) * loss_scale(lanes_.rows);
  }

  /// Loss of the rows that begin at lane `begin`: their sum, and the gradient of their mean.
  double loss(std::size_t begin, float* gradient, bool with_value, Lanes lanes) {
    const Tensor& output = plan_.output();
    const float* targets = loss_targets() + begin;
    if (plan_.output_copies() == nullptr) {
      return table_.loss(plan_.loss(), output.features, output.values + begin, targets, gradient,
                         with_value, lanes);
    }
    float *copies = plan_.output_copies() + begin, *gradients = plan_.gradient_copies();
    const std::size_t stride = lanes.stride;
    for (std::size_t f = 0; f < plan_.loss_features(); ++f) {
      std::copy_n(output.values + begin, stride - begin, copies + f * stride);
    }
    const double sum = table_.loss(plan_.loss(), plan_.loss_features(), copies, targets,
                                   gradient ? gradients : nullptr, with_value, lanes);
    for (std::size_t b = 0; gradient && b < stride; ++b) {
      gradient[b] = 0;
      for (std::size_t f = 0; f < plan_.loss_features(); ++f) {
        gradient[b] += gradients[f * stride + b];
      }
    }
    return sum;
  }

  /// The model's outputs in columns, output activation included.
  const float* outputs() {
    const Tensor& output = plan_.output();
    if (!plan_.output_activation()) return output.values;
    if (plan_.output_activation()->function == Function::kSoftmax) {
      table_.softmax(output.features, output.values, plan_.scratch(), lanes_);
    } else {
      table_.activate(*plan_.output_activation(), output.features * lanes_.stride, output.values,
                      plan_.scratch());
    }
    return plan_.scratch();
  }

  Batch batch(const std::vector<float>& values, std::size_t features) const {
    return {values, {static_cast<std::int64_t>(lanes_.rows), static_cast<std::int64_t>(features)}};
  }

  const KernelTable<float>& table_ = kernels();
  std::size_t evaluation_rows_;
  Plan plan_;
  Lanes lanes_;  ///< of the last pass
  std::vector<std::int64_t> indices_;
  bool class_targets_;  ///< are targets class indices?
  std::optional<Sparse> sparse_;
  bool left_sparse_ = false;
  Buffer row_;                      ///< outputs and targets of one row, in columns
  std::vector<float> row_weights_;  ///< of the last batch
  std::vector<float> output_rows_, target_rows_;
  std::vector<std::vector<float>> activation_rows_;
};

}  // namespace

std::optional<std::string> fused_refusal(const program::ResolvedProgram& program,
                                         const Rows& training) {
  if (training.weights != nullptr && program.loss.ends_with("hinge")) {
    return "sample weights with the loss " + program.loss;  // whose rows aren't their own
  }
  try {
    Plan::measure(program, target_shape(training), batch_rows(program, training),
                  capacity(program, training));
  } catch (const NotCovered& refusal) {
    return refusal.reason;
  }
  return std::nullopt;
}

std::unique_ptr<Engine> make_fused_engine(const program::ResolvedProgram& program,
                                          const Rows& training, RandomKey key) {
  return std::make_unique<FusedEngine>(program, training, key);
}

std::uint64_t fused_bytes(const program::ResolvedProgram& program, const Rows& training) {
  return static_cast<std::uint64_t>(kept_elements(program)) * sizeof(float) +
         Plan::measure(program, target_shape(training), batch_rows(program, training),
                       capacity(program, training));
}

std::string fused_fingerprint() {
  std::string name;
  for (const NamedKernels& named : available_kernels()) {
    if (named.table == &kernels()) name = named.name;
  }
  return name + ", glibc " + gnu_get_libc_version();
}

}  // namespace neutra::training
