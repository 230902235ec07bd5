#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::evaluators::embedded {

extern const std::string_view bundled_symptom_rules;  ///< symptoms.json

}  // namespace neutra::evaluators::embedded
