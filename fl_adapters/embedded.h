#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::fl_adapters::embedded {

// messages/TOOL.json
extern const std::string_view autotrainer_messages;
extern const std::string_view deepdiagnosis_messages;
extern const std::string_view deepfault_messages;
extern const std::string_view deepfd_messages;
extern const std::string_view deeplocalize_messages;
extern const std::string_view deepmufl_messages;
extern const std::string_view neuralint_messages;
extern const std::string_view symptoms_messages;
extern const std::string_view thedeepchecker_messages;
extern const std::string_view umlaut_messages;

// parsers/TOOL.json
extern const std::string_view deepdiagnosis_outputs;
extern const std::string_view deepfd_outputs;
extern const std::string_view deeplocalize_outputs;

extern const std::string_view allowed_by_task;  ///< task_rules.json

extern const std::string_view deepfd_faults;  ///< deepfd/faults.json
extern const std::string_view deepfd_model;   ///< deepfd/model.json

}  // namespace neutra::fl_adapters::embedded
