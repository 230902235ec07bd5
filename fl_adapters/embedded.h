#pragma once

#include <string_view>

/// Data files of this room, compiled in by neutra_embed.
namespace neutra::fl_adapters::embedded {

/// The text of tools/TOOL.json, or of parsers/TOOL.json; empty where there is no such file.
std::string_view tool_messages(std::string_view tool);
std::string_view recorded_messages(std::string_view tool);

extern const std::string_view allowed_by_task;  ///< task_rules.json

extern const std::string_view deepfd_faults;  ///< tools/deepfd/faults.json
extern const std::string_view deepfd_model;   ///< tools/deepfd/model.json

}  // namespace neutra::fl_adapters::embedded
