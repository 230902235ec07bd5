#pragma once

#include <memory>
#include <string>
#include <vector>

#include "program/formats/import_notes.h"

namespace neutra::program {

/// The layers of a Keras model as those of a program.
struct ImportedLayers {
  Json layers = Json::array();      ///< of {class_name, config}, wired where they are no chain
  std::vector<std::string> titles;  ///< where each is from, for messages: "layer 'a' (Dense)"
  Json batch_size;                  ///< that the model declares; null for none
};

/// Layers and settings that a program cannot represent become problems of `notes`. Where the layers
/// are no chain, those of models in the model are named after these, "encoder/dense", and further
/// calls of a layer "dense_again".
ImportedLayers import_layers(const std::vector<KerasLayer>& calls, ImportNotes& notes);

}  // namespace neutra::program
