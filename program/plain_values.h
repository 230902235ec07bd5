#pragma once

#include <optional>
#include <string>
#include <variant>

#include "program/vocabulary.h"

namespace neutra::program {

/// What a field may hold, where its value is none of that: as a message says it.
struct NotAllowed {
  std::string text;  ///< behind "allowed: "
};

/// The normal form of a value of a field without parts of its own: numbers, texts, shapes, axes,
/// lists of layers; or what is allowed instead. nullopt for fields of other types, which have parts
/// (layers, optimisers, sections) or a vocabulary.
std::optional<std::variant<Json, NotAllowed>> plain_value(const Field& field, const Json& value);

/// " or null" where the field's default is null, else "".
std::string or_null(const Field& field);

/// What a missing field should hold, as a message says it.
std::string missing_value_text(const Field& field);

}  // namespace neutra::program
