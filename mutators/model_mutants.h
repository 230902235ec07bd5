#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

/// Mutants of a trained model: other weights, or another structure over the same weights.
namespace neutra::mutators {

/// v -> factor v + term for some values of one variable of a layer.
struct WeightChange {
  std::size_t variable = 0;  ///< of the layer, in Keras's order
  /// Along the variable's last extent: of a Dense kernel the weights of one neuron, of a
  /// convolution's those of one filter, of a bias one value. -1: all.
  std::int64_t unit = -1;
  float factor = 1, term = 0;  ///< of the new values
};
/// Changes `values`: the variable of extents `shape`, in Keras's layout.
void apply(const WeightChange& change, const program::Shape& shape, std::span<float> values);

/// Another structure over the weights of a trained model.
struct ModelStructure {
  /// The program's own, of so many layers.
  ModelStructure(program::Program program, std::size_t layers);
  program::Program program;         ///< with its layers
  std::vector<std::size_t> origin;  ///< for each layer the one of the model whose weights it has
  /// Makes `count` layers of the one at a position: 0 removes it.
  void repeat(std::size_t position, std::int64_t count);
};

/// One mutant. It belongs to a layer, by position in ResolvedProgram::layers.
struct ModelMutant {
  /// What it changes.
  enum class Kind {
    kWeights,    ///< `change` of the layer's weights
    kStructure,  ///< `structure`
    kEquivalent  ///< the model as it is
  };
  std::string op;                           ///< the tool's name for it: "MATH_WEIGHT"
  std::size_t layer = 0;                    ///< that it belongs to
  Kind kind = Kind::kWeights;               ///< which of the next two counts
  WeightChange change;                      ///< of kWeights
  std::optional<ModelStructure> structure;  ///< nullopt: one that cannot be
  /// Layers before this one are as they are in the model, and their last output is all that those
  /// behind take of them; 0 where the layers are no chain.
  std::size_t first = 0;
};

/// The mutants that deepmufl makes (Ghanbari et al., ASE 2023; mutation_generator.py), by layer and
/// in its order. `as_published`: with its slips (docs/methods/deepmufl.md).
std::vector<ModelMutant> deepmufl_mutants(const program::Program& program,
                                          const program::ResolvedProgram& resolved,
                                          bool as_published);

}  // namespace neutra::mutators
