#include "cli/fault_lines.h"

#include "cli/texts.h"

namespace neutra::cli {
namespace {

using Choice = std::vector<program::FaultEntry>;

std::string name_of(const Choice& choice) { return to_string(program::FaultSet{true, {choice}}); }

}  // namespace

experiments::Places FaultLines::places(const fl_adapters::ToolMessage& message) const {
  if (!known()) return {};
  if (!message.faults.empty()) return experiments::places_of(*script_, *program_, message.faults);
  if (message.layers.empty()) return {};
  return experiments::places_of(*script_, *program_, Choice{{"", message.layers}});
}

std::string FaultLines::text(const Choice& choice) const {
  return known() ? experiments::lines_text(experiments::places_of(*script_, *program_, choice))
                 : "";
}

std::string FaultLines::text(const program::FaultSet& answer) const {
  return known() ? experiments::lines_text(experiments::places_of(*script_, *program_, answer))
                 : "";
}

std::string FaultLines::text(const fl_adapters::ToolAnswers& answers) const {
  std::set<evaluators::CodeLines> own;
  for (const fl_adapters::Localisation& run : answers.runs) {
    const auto named = fl_adapters::lines_named(run);
    own.insert(named.begin(), named.end());
  }
  return own.empty() ? text(answers.answer()) : lines_text(own);
}

std::string FaultLines::text(const fl_adapters::ToolMessage& message) const {
  if (!message.lines.empty()) return lines_text({message.lines.begin(), message.lines.end()});
  return experiments::lines_text(places(message));
}

std::string FaultLines::summary(const std::vector<fl_adapters::Localisation>& runs) const {
  std::string text;
  std::set<Choice> named;
  std::set<evaluators::CodeLines> lines;
  for (const fl_adapters::Localisation& run : runs) {
    named.insert(run.faults.items.begin(), run.faults.items.end());
    const auto own = fl_adapters::lines_named(run);
    lines.insert(own.begin(), own.end());
  }
  for (const Choice& choice : named) {
    const std::string where = this->text(choice);
    if (!where.empty()) text += in_lines("  " + name_of(choice) + ": " + where);
  }
  if (!lines.empty()) {
    text += in_lines("  lines that the tool names: " + lines_text(lines));
  }
  return text;
}

Json FaultLines::json(const program::FaultSet& answer) const {
  Json list = Json::array();
  for (const Choice& choice : answer.items) {
    list.push_back({{"fault", name_of(choice)},
                    {"places", known() ? experiments::places_json(
                                             experiments::places_of(*script_, *program_, choice))
                                       : Json::array()}});
  }
  return list;
}

Json FaultLines::json(const fl_adapters::ToolMessage& message) const {
  return experiments::places_json(places(message));
}

std::string lines_text(const std::set<evaluators::CodeLines>& lines) {
  return evaluators::to_string(std::vector<evaluators::CodeLines>(lines.begin(), lines.end()));
}

Json lines_json(const std::set<evaluators::CodeLines>& lines) {
  Json list = Json::array();
  for (const evaluators::CodeLines& line : lines) list.push_back(lines_text({line}));
  return list;
}

}  // namespace neutra::cli
