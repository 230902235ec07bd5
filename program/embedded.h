#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed (embedded.cmake).
namespace neutra::program::embedded {

extern const std::string_view keras_names;     ///< keras_names.json
extern const std::string_view fault_types;     ///< fault_types.json
extern const std::string_view keras_history;   ///< formats/keras_history.json
extern const std::string_view pytorch_parts;   ///< formats/pytorch_parts.py
extern const std::string_view libtorch_parts;  ///< formats/libtorch_parts.inc
extern const std::string_view metric_parts;    ///< formats/metric_parts.py

}  // namespace neutra::program::embedded
