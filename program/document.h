#pragma once

#include <string>
#include <string_view>

#include "program/program.h"

/// Parts of a program's document, and its values as messages show them. Documents need not be
/// valid.
namespace neutra::program {

/// model.config.layers, which old Keras versions store as model.config itself; nullptr if the
/// document has no such array.
const Json* find_layers(const Json& document);
/// JSON pointer to that array: the path of layer N is layers_path + "/N".
std::string layers_path(const Json& document);

/// The layer itself; for a wrapper (TimeDistributed, Bidirectional) the layer inside, at any depth.
const Json& innermost_layer(const Json& layer);

/// A JSON pointer's token for `key`: '~' and '/' escaped.
std::string pointer_token(std::string_view key);
/// A value as a message shows it: JSON, shortened to 60 characters.
std::string shown(const Json& value);
/// The canonical word of a loss in normal form.
std::string loss_word(const Json& loss);
/// Its options; the defaults for a plain word.
LossOptions loss_options(const Json& loss);
/// Does a cross entropy whose fitting activation is `fitting` work on the input of an output's
/// `activation`?
bool takes_logits(const LossOptions& options, std::string_view fitting,
                  std::string_view activation);
/// Whole numbers as integers, however they are written (3.0 is 3); others unchanged.
Json normal_number(const Json& value);

}  // namespace neutra::program
