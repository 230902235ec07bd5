#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/losses/loss_function.h"
#include "training/random.h"

/// Loops of the fused back end, compiled once for each instruction set.
///
/// Batches are feature-major ("columns"): value (feature f, row b) lies at f * stride + b, where
/// the stride is the number of rows rounded up to whole vectors. A kernel thus runs over the rows
/// of a batch and has no tails over features, however few there are. What lies in the lanes past
/// the last row is arbitrary: kernels that add over rows mask it.
namespace neutra::training::fused {

/// Rows of one batch of columns.
struct Lanes {
  std::size_t rows = 0;
  std::size_t stride = 0;  ///< rows rounded up to a multiple of KernelTable::width
};

/// Elementwise activations; sources and gradients at kinks as in training/activations.cpp and
/// training/layers/activation_layers.cpp. Softmax works across features and is a kernel of its own.
enum class Function : std::uint8_t {
  kLinear,
  kRelu,
  kElu,  ///< a: alpha > 0
  kSelu,
  kSoftplus,
  kSoftsign,
  kSwish,
  kGelu,
  kTanh,
  kSigmoid,
  kExponential,
  kHardSigmoid,
  kLeakyRelu,    ///< a: slope
  kGeneralRelu,  ///< a: slope, b: threshold, c: maximum (infinite for none)
  kSoftmax
};
/// An elementwise activation with its parameters.
struct Activation {
  Function function = Function::kLinear;
  double a = 0, b = 0, c = 0;
};
/// Is the gradient computed from the function's input? Else from its output, which may then take
/// the input's place.
bool needs_input(Function function);

/// Is the loss a mean over features of a function of output and target?
bool is_pointwise(LossFunction function);

/// A row that is a sum: terms begin .. end - 1 of a list of pairs of an index and a value.
struct RowSum {
  std::size_t begin, end;
  std::size_t row;  ///< of the result
};

template <typename T>
struct KernelTable {
  std::size_t width;  ///< lanes of a vector

  /// y[m][b] = start[m] + sum over k < depth of a[m * step_m + k * step_k] x[k][b], m < count.
  /// `start` may be null: 0.
  void (*product)(std::size_t count, std::size_t depth, const T* a, std::size_t step_m,
                  std::size_t step_k, const T* start, const T* x, T* y, Lanes lanes);
  /// sums[i * outputs + o] = sum over rows of x[i][b] dy[o][b]. `scratch`: outputs rounded up to
  /// whole vectors, times rows.
  void (*outer)(std::size_t inputs, std::size_t outputs, const T* x, const T* dy, T* sums,
                T* scratch, Lanes lanes);
  /// Sums of few rows of a row-major matrix, for `count` rows of another (both `features` wide):
  /// to[s.row][o] = start[o] + sum over terms e of s of values[e] from[indices[e]][o], in the order
  /// of the terms. `start` may be null: 0.
  void (*sum_rows)(std::size_t count, const RowSum* sums, const std::uint32_t* indices,
                   const T* values, const T* start, std::size_t features, const T* from, T* to);
  /// sums[f] = sum over rows of x[f][b].
  void (*row_sums)(std::size_t features, const T* x, T* sums, Lanes lanes);
  /// columns[f][b] = data[rows[b] * features + f]; lanes past the last row repeat it.
  void (*gather)(const T* data, std::size_t features, const std::int64_t* rows, T* columns,
                 Lanes lanes);
  /// rows[b * features + f] = columns[f][b].
  void (*to_rows)(std::size_t features, const T* columns, T* rows, Lanes lanes);
  void (*from_rows)(std::size_t features, const T* rows, T* columns, Lanes lanes);

  /// y = f(x) for `count` values, a multiple of the width. In place where !needs_input.
  void (*activate)(const Activation& f, std::size_t count, const T* x, T* y);
  /// dy *= f' given `saved`: the input or the output (see needs_input).
  void (*differentiate)(const Activation& f, std::size_t count, const T* saved, T* dy);
  /// Softmax over the features of each row; in place or not.
  void (*softmax)(std::size_t features, const T* x, T* y, Lanes lanes);
  /// dy becomes the gradient for the input; y: the output.
  void (*differentiate_softmax)(std::size_t features, const T* y, T* dy, Lanes lanes);

  /// Gradient of the mean loss over rows, for outputs x and targets y (both `features` wide; sparse
  /// losses: y is 1 wide). Writes dx unless null. Returns the sum over rows of the loss if
  /// `with_value`, else 0.
  double (*loss)(LossFunction f, std::size_t features, const T* x, const T* y, T* dx,
                 bool with_value, Lanes lanes);

  /// mask[f][b] = 0 or 1 / (1 - rate), the numbers of fill_dropout_mask over row-major (rows,
  /// features); y = x * mask.
  void (*dropout)(const RandomStream& stream, float rate, std::size_t features, const T* x, T* mask,
                  T* y, Lanes lanes);
  /// y[i] = x[i] * by[i], `count` a multiple of the width; in place or not.
  void (*multiply)(std::size_t count, const T* x, const T* by, T* y);

  /// Batch normalisation over rows, for each feature: xhat = (x - mean) / sqrt(variance + epsilon),
  /// y = gamma xhat + beta (null: 1, 0). Writes mean, population variance and 1 / sqrt(..).
  void (*normalise)(std::size_t features, const T* x, const T* gamma, const T* beta, T epsilon,
                    T* mean, T* variance, T* scale, T* xhat, T* y, Lanes lanes);
  /// y = gamma (x - mean) scale + beta with given statistics.
  void (*scale)(std::size_t features, const T* x, const T* gamma, const T* beta, const T* mean,
                const T* scale, T* y, Lanes lanes);
  /// dy becomes the gradient for x; writes those of gamma and beta unless null.
  void (*differentiate_normalise)(std::size_t features, const T* xhat, const T* gamma,
                                  const T* scale, T* dgamma, T* dbeta, T* dy, Lanes lanes);
};

/// The kernels for this processor, or for NEUTRA_ISA.
const KernelTable<float>& kernels();
/// Every table that this processor can run, by name ("avx512", "avx2", "generic").
struct NamedKernels {
  const char* name;
  const KernelTable<float>* table;
};
/// The widest vectors first.
std::vector<NamedKernels> available_kernels();

/// One each in a file compiled for it, where the compiler targets x86-64.
const KernelTable<float>* avx512_kernels();
const KernelTable<float>* avx2_kernels();
const KernelTable<float>* generic_kernels();

}  // namespace neutra::training::fused
