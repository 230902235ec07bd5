#pragma once

#include <string>
#include <vector>

#include "base/hdf5_file.h"
#include "program/formats/keras_layers.h"
#include "program/program.h"

namespace neutra::program {

/// Arrays of one layer of the file, or of a model in the model.
struct StoredLayer {
  std::string name;                 ///< as the file has it
  std::vector<std::string> arrays;  ///< paths of datasets
};

/// The texts of an attribute that Keras may have split: NAME, or NAME0, NAME1, ...; none where
/// there is none.
std::vector<std::string> split_attribute(const Hdf5File& file, const std::string& object,
                                         const std::string& name);

/// Where the weights of a Keras model lie in an HDF5 file, which a .keras file holds too.
struct KerasArrays {
  Hdf5File file;                    ///< open for reading
  std::string root;                 ///< of the layers' groups in an .h5 file: "/model_weights/"
  std::vector<std::string> layers;  ///< layer_names; empty in files of the .keras layout
  bool by_folder = false;           ///< variables lie in the folders of the .keras layout

  /// The layers that have arrays, in the file's order. `model`: which the file is of, or without
  /// one; then the program says which layers there are.
  std::vector<StoredLayer> stored_layers(const KerasModel& model,
                                         const ResolvedProgram& program) const;
  /// Makes the statistics that adapt() left in the file arguments of their layers, so that the
  /// model alone says what it computes. `folder`: of the model's variables in files of the .keras
  /// layout.
  void adopt_statistics(Json& model, const std::string& folder) const;

 private:
  /// Those of the layer with this folder: its own, those of a recurrent layer's cell, or those of
  /// the layers that a wrapper runs.
  std::vector<std::string> layer_variables(const std::string& folder, int depth = 0) const;
  /// Where weights of models in a model lie, the program of the whole doesn't say.
  void require_one_model(const std::string& path) const;
  /// "GROUP/0", "GROUP/1", ...
  std::vector<std::string> variables(const std::string& group) const;
};

}  // namespace neutra::program
