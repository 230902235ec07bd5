#include "training/trainer.h"

#include <array>
#include <utility>

namespace neutra {
namespace {

constexpr std::array<std::pair<RunStatus, std::string_view>, 6> kWords{{
    {RunStatus::kOk, "ok"},
    {RunStatus::kDiverged, "diverged"},
    {RunStatus::kInvalid, "invalid"},
    {RunStatus::kTimeout, "timeout"},
    {RunStatus::kOutOfMemory, "out_of_memory"},
    {RunStatus::kFailed, "failed"},
}};

}  // namespace

std::string_view to_string(RunStatus status) {
  for (const auto& [value, word] : kWords) {
    if (value == status) return word;
  }
  return "failed";
}

std::optional<RunStatus> parse_run_status(std::string_view word) {
  for (const auto& [value, known] : kWords) {
    if (known == word) return value;
  }
  return std::nullopt;
}

}  // namespace neutra
