#pragma once

#include <string>

#include "base/json.h"

/// Names and settings of other Keras versions (program/formats/keras_history.json).
namespace neutra::program {

/// The whole table.
const Json& keras_history();
/// Is `value` one that the table lists as being without effect for a key of a family ("layer",
/// "loss", "optimizer", "compile")?
bool is_off(const std::string& family, const std::string& key, const Json& value);
/// What a setting may be, where a layer doesn't know it: the values that switch it off.
std::string known_values(const std::string& family, const std::string& key);
/// Today's word for a value of a kind ("activation", "loss", ...); the value itself where it has no
/// other name.
const Json& renamed_value(const std::string& kind, const Json& value);
/// Today's name of a class of layers.
std::string new_class(const std::string& class_name);
/// Today's name of a field of a class of layers.
std::string new_name(const std::string& class_name, const std::string& key);
/// Classes of the user's own have a package before their name: "Custom>MyDense".
bool is_custom(const Json& object);
/// Keras prints float32 settings as doubles (0.009999999776482582): the shortest decimal that is
/// the same float32 (0.01). Other numbers as they are.
Json without_float_noise(const Json& value);

}  // namespace neutra::program
