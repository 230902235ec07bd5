#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::embedded {

extern const std::string_view deepfd_faults;    ///< deepfd/faults.json
extern const std::string_view deepfd_messages;  ///< messages/deepfd.json
extern const std::string_view deepfd_model;     ///< deepfd/model.json
extern const std::string_view umlaut_messages;  ///< messages/umlaut.json

}  // namespace neutra::embedded
