#pragma once

#include <optional>
#include <string>

namespace neutra::experiments {

/// The fault that a name in the study's recorded outputs stands for ("48385830" -> "D4"), from
/// experiments/tables/recorded_names.csv; nullopt for other names. Doubled underscores count as
/// one.
std::optional<std::string> fault_of_recorded_name(const std::string& name);

}  // namespace neutra::experiments
