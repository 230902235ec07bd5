#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

/// The arrays of one layer in a file.
struct WeightGroup {
  std::string name;  ///< of the layer, as the file has it
  std::vector<Shape> shapes;
  std::vector<std::vector<float>> values;  ///< row-major
};

/// The layers that have arrays in an HDF5 file of the layout of Keras 2, a whole model or weights
/// alone (model.save_weights), in the file's order. `image`: the file's bytes. Throws input_error
/// with `file` and the place in it.
std::vector<WeightGroup> read_weight_groups(std::string_view image,
                                            const std::filesystem::path& file);

/// A file of that layout with the weights of all layers that have some. Precondition: `weights` fit
/// the program.
std::string weight_file(const ResolvedProgram& program, const ModelWeights& weights);

/// Gives the groups to the program's layers: in order, so that as many layers as possible get the
/// arrays of a group that has the very shapes of their variables; of several ways the one that
/// serves earlier layers. The other layers have no arrays. So a program keeps the weights of all
/// layers but those that a change added or gave another shape.
ModelWeights fitting_weights(const std::vector<WeightGroup>& groups,
                             const ResolvedProgram& program);

}  // namespace neutra::program
