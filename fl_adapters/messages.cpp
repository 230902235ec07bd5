#include "fl_adapters/messages.h"

#include <algorithm>
#include <optional>

#include "base/json_section.h"
#include "fl_adapters/embedded.h"

namespace neutra::fl_adapters {
namespace {

std::optional<Actionability> parse_actionability(std::string_view word) {
  for (const Actionability known :
       {Actionability::kNone, Actionability::kLocation, Actionability::kFix}) {
    if (word == to_string(known)) return known;
  }
  return std::nullopt;
}

std::vector<std::string> faults_of(const JsonSection& section) {
  section.at("faults");
  const std::vector<std::string> faults = section.texts("faults");
  const auto& types = program::fault_types();
  for (const std::string& fault : faults) {
    if (std::none_of(types.begin(), types.end(),
                     [&](const auto& known) { return known.first == fault; })) {
      section.fail_text("faults", fault, "types of program/fault_types.json");
    }
  }
  return faults;
}

}  // namespace

MessageTable::MessageTable(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonSection document(
      json, file, "", {"format", "version", "tool", "source", "thresholds", "messages", "repairs"});
  document.require_format("neutra-messages", 1);
  for (const auto& [name, entry] : document.object("thresholds").items()) {
    const JsonSection threshold(entry, file, "/thresholds/" + name, {"value", "source"});
    threshold.text("source");
    thresholds_[name] = threshold.number("value");
  }
  document.at("messages");
  const std::vector<Json> messages = document.list("messages");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const JsonSection message(messages[i], file, "/" + JsonSection::item_name("messages", i),
                              {"code", "severity", "text", "actionability", "faults", "source"});
    const std::string code = message.text("code");
    const bool added =
        kinds_
            .emplace(code, MessageKind{message.text("severity"), message.text("text"),
                                       message.word("actionability", parse_actionability,
                                                    "none, location, fix"),
                                       faults_of(message), message.text("source")})
            .second;
    if (!added) message.fail_text("code", code + " a second time", "each code once");
    codes_.push_back(code);
  }
  if (!document.has("repairs")) return;
  const Json& repairs = document.object("repairs");
  std::vector<std::string> problems;
  for (const auto& [problem, names] : repairs.items()) problems.push_back(problem);
  const JsonSection section(repairs, file, "/repairs", problems);
  for (const std::string& problem : problems) repairs_[problem] = section.texts(problem);
}

MessageTable table_of_tool(const std::string& tool) {
  return {embedded::tool_messages(tool), "fl_adapters/tools/" + tool + ".json"};
}

MessageTable table_of_recordings(const std::string& tool) {
  return {embedded::recorded_messages(tool), "fl_adapters/parsers/" + tool + ".json"};
}

ToolMessage MessageTable::message(const std::string& code, std::set<int> layers,
                                  std::string detail) const {
  const MessageKind& known = kind(code);
  ToolMessage message;
  message.code = code;
  message.severity = known.severity;
  message.text = known.text;
  message.actionability = known.actionability;
  message.detail = std::move(detail);
  for (const std::string& type : known.faults) message.faults.push_back({type, layers});
  message.layers = std::move(layers);
  return message;
}

std::string with_values(std::string text, const std::vector<std::string>& values) {
  std::size_t place = 0;
  for (const std::string& value : values) {
    place = text.find("{}", place);
    if (place == std::string::npos) break;
    text.replace(place, 2, value);
    place += value.size();
  }
  return text;
}

}  // namespace neutra::fl_adapters
