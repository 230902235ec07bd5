#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::embedded {

// messages/TOOL.json
extern const std::string_view autotrainer_messages;
extern const std::string_view thedeepchecker_messages;
extern const std::string_view umlaut_messages;

}  // namespace neutra::embedded
