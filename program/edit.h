#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// Edits of a document that has layers, a compile section and a fit section. Everything else stays
/// as it is written: aliases, names, the order of keys. Steps of trained.mutations go on naming the
/// layers that they name.

/// The array of layers.
Json& layers_of(Json& document);

// What fit.loop says of layers goes with them; of a layer that is gone it says nothing any more.

// In a model whose layers name their inputs (program/graph.h), whoever took the output of a layer
// that goes takes its input, of several the first; whoever took that of the layer behind which one
// is put takes the new one's. A layer goes, and is doubled, wherever it is called.

/// Makes `count` layers of the one at `index`: 0 removes it (the model keeps the input that its
/// first layer declares), 2 puts a copy with a name of its own behind it. Returns for each layer
/// that there is now the position that it, or what it is a copy of, had before.
std::vector<std::size_t> repeat_layer(Json& document, std::size_t index, std::int64_t count);
/// Puts a layer before the one at `index`, behind the one before that. Precondition:
/// 0 < index <= number of layers.
void insert_layer(Json& document, std::size_t index, Json layer);
/// Sets a field of a layer's config, under whatever older name it is written there; of a layer that
/// is an earlier one called once more, of that.
void set_layer_field(Json& document, std::size_t index, std::string_view field, Json value);
/// Sets a field of `compile`, `fit` or `data`, under whatever older name it is written there.
void set_section_field(Json& document, std::string_view section, std::string_view field,
                       Json value);
/// Sets a field of fit.loop.
void set_loop_field(Json& document, std::string_view field, Json value);
/// The optimiser as {class_name, config}, whether it is written so, as a word or not at all.
Json& optimizer_of(Json& document);
/// Sets a field of the optimiser's config, under whatever older name it is written there.
void set_optimizer_field(Json& document, std::string_view field, Json value);

}  // namespace neutra::program
