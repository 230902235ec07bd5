#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::embedded {

extern const std::string_view deepfault_messages;  ///< messages/deepfault.json
extern const std::string_view deepmufl_messages;   ///< messages/deepmufl.json
extern const std::string_view umlaut_messages;     ///< messages/umlaut.json
extern const std::string_view neuralint_messages;  ///< messages/neuralint.json
extern const std::string_view umlaut_messages;     ///< messages/umlaut.json

extern const std::string_view deepdiagnosis_outputs;  ///< parsers/deepdiagnosis.json
extern const std::string_view deepfd_outputs;         ///< parsers/deepfd.json
extern const std::string_view deeplocalize_outputs;   ///< parsers/deeplocalize.json
// messages/TOOL.json
extern const std::string_view autotrainer_messages;
extern const std::string_view thedeepchecker_messages;
extern const std::string_view umlaut_messages;
extern const std::string_view deepfd_faults;    ///< deepfd/faults.json
extern const std::string_view deepfd_messages;  ///< messages/deepfd.json
extern const std::string_view deepfd_model;     ///< deepfd/model.json
extern const std::string_view umlaut_messages;  ///< messages/umlaut.json
extern const std::string_view deepdiagnosis_messages;  ///< messages/deepdiagnosis.json
extern const std::string_view deeplocalize_messages;   ///< messages/deeplocalize.json
extern const std::string_view umlaut_messages;         ///< messages/umlaut.json

}  // namespace neutra::embedded
