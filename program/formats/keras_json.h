#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

/// How the JSON of Keras's files is read, which may hold anything.
namespace neutra::program {

/// A member of an object; null where there is none, or where `object` is none.
const Json& value_of(const Json& object, std::string_view key);
/// A member that is a text; "" for anything else.
std::string text_of(const Json& object, std::string_view key);
/// "layer 'conv' (Conv2D)", for messages; "layer (Conv2D)" without a name.
std::string layer_title(const std::string& name, const std::string& class_name);

}  // namespace neutra::program
