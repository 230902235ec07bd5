#include "fl_adapters/tools/thedeepchecker/mode_checks.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/numbers.h"
#include "fl_adapters/tools/thedeepchecker/measures.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

/// Blames dropout for a message.
ToolMessage blaming(ToolMessage message, const std::set<int>& dropouts) {
  for (program::FaultEntry& fault : message.faults) fault.layers = dropouts;
  if (dropouts.empty()) {
    message.faults.clear();
    message.ignored = "there is no dropout";
  }
  return message;
}

}  // namespace

Messages check_modes(const Place& place, bool is_output, const std::set<int>& dropouts,
                     std::span<const float> train, std::span<const float> inference,
                     std::size_t rows, std::int64_t epoch, ToolVariant variant) {
  double alike = similarity(train, inference, rows);
  // The published tool takes features that don't vary for different ones.
  if (std::isnan(alike) && variant == ToolVariant::kAsPublished) alike = 0;
  if (!(alike <= limit("mode_similarity"))) return {};
  Messages messages;
  add(messages,
      blaming(
          make_message(is_output ? "switch_mode_out_consistency" : "switch_mode_act_consistency",
                       place, {python_repr(alike), plain(limit("mode_similarity"))}),
          dropouts),
      epoch);
  return messages;
}

Messages check_mode_losses(const std::set<int>& dropouts, double train, double inference,
                           std::int64_t epoch) {
  if (!(std::abs(train - inference) / std::max(train, inference) > limit("mode_loss"))) return {};
  Messages messages;
  add(messages,
      blaming(make_message("switch_mode_loss_consistency", dropouts,
                           {rounded(train), rounded(inference)}),
              dropouts),
      epoch);
  return messages;
}

}  // namespace neutra::fl_adapters::thedeepchecker
