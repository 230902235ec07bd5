#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "program/parameters.h"

/// How keys read a document and how their values are spelled.
namespace neutra::program {

constexpr int kMaxRepeat = 2;  ///< copies of a layer that a kRepeat key may count

/// Is it one of the two kinds of initialisers?
bool is_initializer(KeyKind kind);
/// The one path of a kind that belongs to no layer: "/fit/epochs"; "" for kinds of layers.
std::string_view usual_path(KeyKind kind);

/// Normal form of a value of a kind; nullopt if it has a problem.
std::optional<Json> normal_value_of(KeyKind kind, const Json& value);
/// What the key's spelling `text` writes into the document; nullopt for an impossible value.
std::optional<Json> parse_value(const Key& key, const std::string& text);
/// The values that a key may have, as a message says them, the nearest to `text` among them.
std::string allowed_values(const Key& key, const std::string& text);
/// A value in the records' spelling. `raw`: as the document has it; `value`: its normal form.
/// nullopt if the key has no spelling for it.
std::optional<std::string> spell(const Key& key, const Json& raw, const Json& value);
/// The same for a value as the document has it; nullopt also where it has a problem.
std::optional<std::string> spell(const Key& key, const Json& raw);

/// A path into the layers: ".../layers/3/config/units" is layer 3, rest "/config/units".
struct LayerPath {
  std::size_t layer = 0;  ///< position over the layers
  std::string rest;       ///< JSON pointer within the layer
};

/// nullopt for a path that leads to no layer of the document.
std::optional<LayerPath> split_layer_path(const Json& document, const std::string& path);

/// A key's value as the document has it, defaults filled in; nullopt if there is none. `path`: of a
/// kind that belongs to layers; others have their own.
std::optional<Json> read_value(const Json& document, KeyKind kind, const std::string& path);

}  // namespace neutra::program
