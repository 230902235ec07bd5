#include "training/fused/layers/dense.h"

#include <dnnl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "program/layer.h"
#include "training/fused/layers/convolution.h"
#include "training/fused/layers/registry.h"

namespace neutra::training::fused {
namespace {

/// Kernels of at least this many weights go to sgemm, which packs its operands into blocks that fit
/// the caches; smaller ones stay in the first or second cache anyway (tests/performance).
constexpr std::size_t kSgemmWeights = 24 * 1024;

bool large(std::size_t inputs, std::size_t outputs) { return inputs * outputs >= kSgemmWeights; }

/// Row-major C (m x n) = op(A) op(B) + beta C.
void sgemm(char transpose_a, char transpose_b, std::size_t m, std::size_t n, std::size_t k,
           const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
           std::size_t ldc) {
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  const dnnl_status_t status = dnnl_sgemm(transpose_a, transpose_b, size(m), size(n), size(k), 1, a,
                                          size(lda), b, size(ldb), beta, c, size(ldc));
  if (status != dnnl_success) throw failure("oneDNN's dnnl_sgemm failed");
}

bool all_finite(std::span<const float> values) {
  int others = 0;
  for (const float v : values) others |= std::abs(v) <= std::numeric_limits<float>::max() ? 0 : 1;
  return others == 0;
}

/// y = x kernel + bias over columns; x in rows or columns, or sparse.
class Product final : public Step {
 public:
  Product(const Tensor& x, const Tensor& y, Parameter kernel, Parameter bias, float* scratch,
          std::size_t sparse_rows)
      : x_(x),
        y_(y),
        kernel_(kernel),
        bias_(bias),
        scratch_(scratch),
        large_(large(x.features, y.features)),
        counting_(sparse_rows) {
    std::iota(counting_.begin(), counting_.end(), std::int64_t{0});
  }

  void forward(const Pass& pass) override {
    const auto [rows, stride] = pass.lanes;
    const std::size_t inputs = x_.features, outputs = y_.features;
    if (pass.sparse && !counting_.empty()) {
      // Each row's sum over its values of kernel rows.
      const SparseBatch& x = *pass.sparse;
      table_.sum_rows(rows, x.row_sums().data(), x.indices(), x.values(), bias_.values, outputs,
                      kernel_.values, scratch_);
      table_.gather(scratch_, outputs, counting_.data(), y_.values, pass.lanes);
      return;
    }
    if (!large_) {
      table_.product(outputs, inputs, kernel_.values, 1, outputs, bias_.values, x_.values,
                     y_.values, pass.lanes);
      return;
    }
    const auto bias_of = [this](std::size_t o) { return bias_.values ? bias_.values[o] : 0.0f; };
    if (x_.layout == Layout::kColumns) {
      for (std::size_t o = 0; o < outputs; ++o) {
        std::fill_n(y_.values + o * stride, stride, bias_of(o));
      }
      sgemm('T', 'N', outputs, rows, inputs, kernel_.values, outputs, x_.values, stride, 1,
            y_.values, stride);
      return;
    }
    // Where neither operand has to be transposed, sgemm takes two thirds of the time.
    sgemm('N', 'N', rows, outputs, inputs, x_.values, inputs, kernel_.values, outputs, 0, scratch_,
          outputs);
    table_.from_rows(outputs, scratch_, y_.values, pass.lanes);
    for (std::size_t o = 0; o < outputs; ++o) {
      for (std::size_t b = 0; b < rows; ++b) y_.values[o * stride + b] += bias_of(o);
    }
  }

  void backward(const Pass& pass) override {
    const auto [rows, stride] = pass.lanes;
    const std::size_t inputs = x_.features, outputs = y_.features;
    const bool in_rows = x_.layout == Layout::kRows;
    const float* dy = y_.gradient;
    if (bias_.gradient) table_.row_sums(outputs, dy, bias_.gradient, pass.lanes);
    if (kernel_.gradient) {
      if (pass.sparse && !counting_.empty()) {
        // Each kernel row's sum over the batch's rows where its input isn't zero; no other row.
        SparseBatch& x = *pass.sparse;
        table_.to_rows(outputs, dy, scratch_, pass.lanes);
        table_.sum_rows(x.columns().size(), x.column_sums().data(), x.column_rows(),
                        x.column_values(), nullptr, outputs, scratch_, kernel_.gradient);
        if (!all_finite({scratch_, rows * outputs})) x.refuse();
      } else if (!large_) {
        table_.outer(inputs, outputs, x_.values, dy, kernel_.gradient, scratch_, pass.lanes);
      } else if (in_rows) {
        sgemm('T', 'T', inputs, outputs, rows, x_.values, inputs, dy, stride, 0, kernel_.gradient,
              outputs);
      } else {
        sgemm('N', 'T', inputs, outputs, rows, x_.values, stride, dy, stride, 0, kernel_.gradient,
              outputs);
      }
    }
    if (!x_.needs_gradient) return;
    if (!large_) {
      table_.product(inputs, outputs, kernel_.values, outputs, 1, nullptr, dy, x_.gradient,
                     pass.lanes);
    } else if (in_rows) {
      table_.to_rows(outputs, dy, scratch_, pass.lanes);
      sgemm('N', 'T', rows, inputs, outputs, scratch_, outputs, kernel_.values, outputs, 0,
            x_.gradient, inputs);
    } else {
      sgemm('N', 'N', inputs, rows, outputs, kernel_.values, outputs, dy, stride, 0, x_.gradient,
            stride);
    }
  }

 private:
  Tensor x_, y_;
  Parameter kernel_, bias_;
  float* scratch_;
  bool large_;
  std::vector<std::int64_t> counting_;  ///< 0, 1, ... as many as sparse batches have rows
  const KernelTable<float>& table_ = kernels();
};

}  // namespace

Layout input_layout(const program::ResolvedProgram& program) {
  for (const program::ResolvedLayer& layer : program.layers) {
    if (program::kind_of(layer) == program::LayerKind::kDense && layer.input_shape.size() == 1) {
      return large(static_cast<std::size_t>(layer.weights[0].shape[0]),
                   static_cast<std::size_t>(layer.weights[0].shape[1]))
                 ? Layout::kRows
                 : Layout::kColumns;
    }
    if (layer.output_shape.size() > 1 && program::kind_of(layer) != program::LayerKind::kInput) {
      return Layout::kRows;
    }
  }
  return Layout::kColumns;
}

/// activation(x kernel + bias). Source: tf.keras 2.4 layers/ops/core.py.
void layers::dense(Builder& builder, const program::ResolvedLayer& layer) {
  Tensor x = builder.current();
  if (x.shape.size() > 1) {  // along the last axis
    const program::ResolvedLayer pointwise = as_pointwise(layer);
    rename(builder, pointwise.input_shape);
    add_convolution(builder, pointwise, builder.parameter(0),
                    layer.weights.size() > 1 ? builder.parameter(1) : Parameter{});
    return rename(builder, layer.output_shape);
  }
  const bool needs_gradient = x.needs_gradient || builder.has_trainable();
  const Parameter kernel = builder.parameter(0);
  const Parameter bias = layer.weights.size() > 1 ? builder.parameter(1) : Parameter{};
  const auto outputs = static_cast<std::size_t>(layer.output_shape[0]);
  if (x.layout == Layout::kRows && !large(x.features, outputs)) x = to_columns(builder);
  const Tensor y = builder.tensor(layer.output_shape, Layout::kColumns, needs_gradient);
  const bool own = !large(x.features, outputs), sparse = builder.take_sparse_input();
  const std::size_t rows = sparse || !own ? builder.capacity() : builder.batch();
  float* scratch = builder.floats(Builder::batch_floats(rows, outputs));
  builder.add(std::make_unique<Product>(x, y, kernel, bias, scratch,
                                        sparse ? builder.capacity() : std::size_t{0}));
  builder.set_current(y);
  add_activation(builder, named_activation(layer.config.at("activation")), true);
}

}  // namespace neutra::training::fused
