#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::mutators::embedded {

extern const std::string_view keras_preset;     ///< presets/keras.json
extern const std::string_view likely_changes;   ///< presets/likely.json
extern const std::string_view operator_values;  ///< values/operators.json
extern const std::string_view paper_preset;     ///< presets/paper.json

}  // namespace neutra::mutators::embedded
