#include "training/eager.h"

#include <algorithm>

#include "program/layer.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

/// Memory for a while: LibTorch convolves a single image by way of the matrix of its windows, and
/// makes a gradient of a whole table. The largest one's size, in wrappers too.
std::int64_t temporary_elements(const std::vector<program::ResolvedLayer>& layers) {
  std::int64_t largest = 0;
  for (const program::ResolvedLayer& layer : layers) {
    largest = std::max(largest, temporary_elements(program::wrapped_layers(layer)));
    const program::Layer& type = *program::find_layer(layer.class_name);
    const bool table = type.kind == program::LayerKind::kEmbedding;
    if (!table && type.kind != program::LayerKind::kConvolution) continue;
    std::int64_t elements = program::element_count(layer.weights.front().shape);
    if (!table) {
      const program::Shape& output =
          type.transposed_kernel ? layer.input_shape : layer.output_shape;
      elements = elements / layer.weights.front().shape.back() *
                 (program::element_count(output) / output.back());
    }
    largest = std::max(largest, elements);
  }
  return largest;
}

}  // namespace

std::int64_t eager_evaluation_rows(const program::ResolvedProgram& program) {
  return std::clamp<std::int64_t>((16 << 20) / row_elements(program), 32, 8192);
}

std::uint64_t eager_bytes(const program::ResolvedProgram& program, const Rows& training) {
  const std::int64_t floats =
      kept_elements(program) +
      3 * std::min(program.batch_size, training.count()) * row_elements(program) +
      2 * eager_evaluation_rows(program) * row_elements(program) +
      temporary_elements(program.layers);
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

std::unique_ptr<Engine> make_eager_engine(const program::ResolvedProgram& program,
                                          const Rows& training, RandomKey key) {
  return torch_functions().make_eager_engine(program, training, key);
}

}  // namespace neutra::training
