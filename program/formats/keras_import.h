#pragma once

#include <string>
#include <vector>

#include "program/formats/import_notes.h"
#include "program/program.h"

namespace neutra::program {

/// A model as a program.
struct KerasImport {
  Json document;                        ///< a valid program
  std::vector<Assumption> assumptions;  ///< for the user to see
};

/// What a model file doesn't say.
struct ImportSources {
  std::string name;  ///< of the program
  Json data;         ///< its data section; null: none is known
  /// What the data deliver, where they are known: the program must fit them.
  const DataInfo* info = nullptr;
  /// Options of the training (docs/formats/keras_model.md): AutoTrainer's or sections of a program.
  /// They win over the file's. Null: none.
  Json training;
  std::string training_file;  ///< for messages
};

/// A model of Keras 1 to 3 as a program. Throws input_error that names all that a program cannot
/// represent, one a line: layers, settings, losses, optimisers.
KerasImport import_keras(const KerasModel& model, const ImportSources& sources);

}  // namespace neutra::program
