#include "fl_adapters/tool.h"

#include <algorithm>
#include <map>

#include "base/words.h"
#include "evaluators/scores.h"

namespace neutra::fl_adapters {

std::string_view to_string(ToolKind kind) {
  switch (kind) {
    case ToolKind::kNative:
      return "native";
    case ToolKind::kExternal:
      return "external";
    case ToolKind::kRecorded:
      return "recorded";
  }
  return "";
}

std::string_view to_string(ToolNeed need) {
  switch (need) {
    case ToolNeed::kProgram:
      return "program";
    case ToolNeed::kSource:
      return "source";
    case ToolNeed::kTraining:
      return "training run";
    case ToolNeed::kCommand:
      return "external command";
  }
  return "";
}

std::string_view to_string(Actionability actionability) {
  switch (actionability) {
    case Actionability::kNone:
      return "none";
    case Actionability::kLocation:
      return "location";
    case Actionability::kFix:
      return "fix";
  }
  return "";
}

std::string_view to_string(Said said) {
  switch (said) {
    case Said::kInEpochs:
      return "epochs";
    case Said::kInIterations:
      return "iterations";
    case Said::kAfterTraining:
      return "after training";
  }
  return "";
}

bool broken(LocalisationStatus status) {
  return status == LocalisationStatus::kTimeout || status == LocalisationStatus::kFailed;
}

std::string_view to_string(LocalisationStatus status) {
  switch (status) {
    case LocalisationStatus::kOk:
      return "ok";
    case LocalisationStatus::kNotApplicable:
      return "not_applicable";
    case LocalisationStatus::kTimeout:
      return "timeout";
    case LocalisationStatus::kFailed:
      return "failed";
  }
  return "";
}

namespace {

/// The entry of a list that is about the same message. `message_of` gives that of an entry.
template <typename List, typename F>
auto find_same(List& list, const ToolMessage& message, F message_of) {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) {
    const ToolMessage& known = message_of(entry);
    return known.code == message.code && known.layers == message.layers;
  });
}

}  // namespace

void record(std::vector<ToolMessage>& messages, ToolMessage message) {
  const auto same = find_same(messages, message,
                              [](const ToolMessage& known) -> const ToolMessage& { return known; });
  if (same == messages.end()) {
    messages.push_back(std::move(message));
  } else {
    same->epochs.insert(same->epochs.end(), message.epochs.begin(), message.epochs.end());
    for (const evaluators::CodeLines& line : message.lines) {
      if (std::find(same->lines.begin(), same->lines.end(), line) == same->lines.end()) {
        same->lines.push_back(line);
      }
    }
  }
}

std::string when_said(const HeardMessage& heard) {
  const Said said = heard.message->said;
  if (said == Said::kAfterTraining) return std::string(to_string(said));
  if (heard.epochs.empty()) return "before training";
  return (said == Said::kInIterations ? "iterations " : "") + ranges(heard.epochs);
}

std::vector<HeardMessage> messages_heard(const std::vector<Localisation>& runs) {
  std::vector<HeardMessage> list;
  for (const Localisation& run : runs) {
    for (const ToolMessage& message : run.messages) {
      auto entry = find_same(list, message, [](const HeardMessage& known) -> const ToolMessage& {
        return *known.message;
      });
      if (entry == list.end()) entry = list.insert(list.end(), {&message, {}, 0});
      entry->epochs.insert(message.epochs.begin(), message.epochs.end());
      entry->lines.insert(message.lines.begin(), message.lines.end());
      ++entry->runs;
    }
  }
  return list;
}

std::vector<evaluators::CodeLines> lines_named(const Localisation& run) {
  std::set<evaluators::CodeLines> lines(run.lines.begin(), run.lines.end());
  for (const ToolMessage& message : run.messages) {
    lines.insert(message.lines.begin(), message.lines.end());
  }
  return {lines.begin(), lines.end()};
}

program::FaultSet answer_of(const std::vector<ToolMessage>& messages) {
  program::FaultSet answer{true, {}};
  const auto alike = [](const std::vector<program::FaultEntry>& a,
                        const std::vector<program::FaultEntry>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const program::FaultEntry& x, const program::FaultEntry& y) {
                        return x.type == y.type && x.layers.empty() == y.layers.empty();
                      });
  };
  for (const ToolMessage& message : messages) {
    if (message.faults.empty()) continue;
    std::vector<program::FaultEntry> item = message.faults;
    std::sort(item.begin(), item.end());
    const auto known = std::find_if(answer.items.begin(), answer.items.end(),
                                    [&](const auto& other) { return alike(item, other); });
    if (item.size() == 1 || known == answer.items.end()) {
      answer.items.push_back(std::move(item));
      continue;
    }
    for (std::size_t i = 0; i < item.size(); ++i) (*known)[i].layers.merge(item[i].layers);
  }
  return evaluators::by_type(answer);
}

std::vector<std::pair<std::string, int>> ToolAnswers::counted() const {
  std::map<std::string, int> counts;
  for (const Localisation& run : runs) ++counts[to_string(run.faults)];
  std::vector<std::pair<std::string, int>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

const program::FaultSet& ToolAnswers::answer() const {
  const std::string text = counted().front().first;
  return std::find_if(runs.begin(), runs.end(),
                      [&](const Localisation& run) { return to_string(run.faults) == text; })
      ->faults;
}

double ToolAnswers::mean_seconds() const {
  double sum = 0;
  for (const Localisation& run : runs) sum += run.seconds;
  return sum / static_cast<double>(runs.size());
}

}  // namespace neutra::fl_adapters
