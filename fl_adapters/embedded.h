#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::embedded {

extern const std::string_view deepdiagnosis_messages;  ///< messages/deepdiagnosis.json
extern const std::string_view deeplocalize_messages;   ///< messages/deeplocalize.json
extern const std::string_view umlaut_messages;         ///< messages/umlaut.json

}  // namespace neutra::embedded
