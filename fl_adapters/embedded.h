#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::embedded {

extern const std::string_view neuralint_messages;  ///< messages/neuralint.json
extern const std::string_view umlaut_messages;     ///< messages/umlaut.json

}  // namespace neutra::embedded
