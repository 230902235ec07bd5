#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed (embedded.cmake).
namespace neutra::program::embedded {

extern const std::string_view keras_names;
extern const std::string_view fault_types;
extern const std::string_view keras_history;
extern const std::string_view pytorch_parts;
extern const std::string_view libtorch_parts;
extern const std::string_view metric_parts;

}  // namespace neutra::program::embedded
