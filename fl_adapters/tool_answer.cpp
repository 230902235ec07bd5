#include "fl_adapters/tool_answer.h"

#include <algorithm>
#include <limits>

#include "base/json_section.h"
#include "base/words.h"
#include "program/layer.h"

namespace neutra::fl_adapters {
namespace {

constexpr std::int64_t kMostEpochs = std::numeric_limits<std::int32_t>::max();

class AnswerReader {
 public:
  AnswerReader(const std::string& file, const program::Program& program)
      : file_(file), layers_(program::resolve(program).layers) {}

  Localisation read(const Json& json) const {
    const JsonSection root(
        json, file_, "", {"format", "version", "faults", "ranking", "messages", "reason", "lines"});
    root.require_format("neutra-answer", 1);
    Localisation answer;
    const std::vector<Json> ranking = root.list("ranking"), messages = root.list("messages");
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      answer.ranking.push_back(suspect(ranking[i], "/" + JsonSection::item_name("ranking", i)));
    }
    std::stable_sort(answer.ranking.begin(), answer.ranking.end(),
                     [](const evaluators::Suspect& a, const evaluators::Suspect& b) {
                       return a.suspiciousness > b.suspiciousness;
                     });
    for (std::size_t i = 0; i < messages.size(); ++i) {
      record(answer.messages, message(messages[i], "/" + JsonSection::item_name("messages", i)));
    }
    answer.reason = root.text("reason", "");
    answer.lines = lines(root);
    if (root.has("faults")) {
      answer.faults = faults(root);
    } else if (root.has("ranking") || root.has("messages")) {
      answer.faults = answer_of(answer.messages);
    } else {
      root.fail_text("faults", "neither faults nor ranking nor messages", "at least one of them");
    }
    if (!answer.faults.applicable) answer.status = LocalisationStatus::kNotApplicable;
    return answer;
  }

 private:
  std::int64_t last_layer() const { return static_cast<std::int64_t>(layers_.size()) - 1; }

  std::string type(const JsonSection& section, const char* name) const {
    const std::string text = section.text(name);
    const auto& types = program::fault_types();
    if (std::none_of(types.begin(), types.end(),
                     [&](const auto& known) { return known.first == text; })) {
      std::vector<std::string> words;
      for (const auto& [known, meaning] : types) words.push_back(known);
      section.fail(name, text, join(words));
    }
    return text;
  }

  program::FaultSet faults(const JsonSection& section) const {
    const std::string text = section.text("faults");
    program::FaultSet faults =
        program::parse_fault_set(text, file_ + ": " + section.place_of("faults"));
    for (const auto& choice : faults.items) {
      for (const program::FaultEntry& fault : choice) {
        if (!fault.layers.empty() && *fault.layers.rbegin() > last_layer()) {
          section.fail_text("faults", "layer " + std::to_string(*fault.layers.rbegin()),
                            "layers 0 to " + std::to_string(last_layer()));
        }
      }
    }
    return faults;
  }

  /// Texts such as "train.py:23" and "train.py:30-31".
  std::vector<evaluators::CodeLines> lines(const JsonSection& section) const {
    std::vector<evaluators::CodeLines> lines;
    for (const std::string& text : section.texts("lines")) {
      const std::string name = JsonSection::item_name("lines", lines.size());
      const auto read = evaluators::parse_code_lines(text, file_ + ": " + section.place_of(name));
      if (read.size() != 1) section.fail(name, text, "one line or range: train.py:23");
      lines.push_back(read.front());
    }
    return lines;
  }

  evaluators::Suspect suspect(const Json& json, const std::string& place) const {
    const JsonSection section(json, file_, place, {"layer", "neuron", "type", "suspiciousness"});
    evaluators::Suspect suspect;
    if (section.has("layer")) {
      suspect.layer = static_cast<int>(section.whole("layer", 0, last_layer()));
    }
    if (section.has("neuron")) {
      if (suspect.layer < 0) section.fail_text("neuron", "no layer beside it", "layer and neuron");
      const program::Shape& outputs = layers_[static_cast<std::size_t>(suspect.layer)].output_shape;
      suspect.neuron = section.whole(
          "neuron", 0,
          (outputs.empty() ? program::kMaxElements : program::element_count(outputs)) - 1);
    }
    if (section.has("type")) suspect.type = type(section, "type");
    if (suspect.layer < 0 && suspect.type.empty()) {
      section.fail_text("", "neither layer nor type", "at least one of them");
    }
    constexpr double kMost = std::numeric_limits<double>::max();
    suspect.suspiciousness = section.number("suspiciousness", -kMost, kMost);
    return suspect;
  }

  ToolMessage message(const Json& json, const std::string& place) const {
    const JsonSection section(json, file_, place,
                              {"code", "severity", "text", "actionability", "epochs", "layers",
                               "detail", "faults", "ignored", "lines"});
    ToolMessage message;
    message.text = section.text("text");
    message.code = section.text("code", message.text);
    message.severity = section.text("severity", "message");
    message.detail = section.text("detail", "");
    message.ignored = section.text("ignored", "");
    message.lines = lines(section);
    message.epochs = section.wholes("epochs", 0, kMostEpochs);
    std::sort(message.epochs.begin(), message.epochs.end());
    for (const std::int64_t layer : section.wholes("layers", 0, last_layer())) {
      message.layers.insert(static_cast<int>(layer));
    }
    if (section.has("actionability")) {
      const std::string word = section.text("actionability");
      const auto known = {Actionability::kNone, Actionability::kLocation, Actionability::kFix};
      const auto it = std::find_if(known.begin(), known.end(),
                                   [&](Actionability one) { return to_string(one) == word; });
      if (it == known.end()) section.fail("actionability", word, "none, location, fix");
      message.actionability = *it;
    }
    if (section.has("faults")) {
      program::FaultSet said = faults(section);
      if (!said.applicable || said.items.size() > 1) {
        section.fail("faults", section.at("faults"), "one fault or one choice (LRM|LAD), or -");
      }
      if (!said.items.empty()) message.faults = std::move(said.items.front());
    }
    return message;
  }

  const std::string& file_;
  std::vector<program::ResolvedLayer> layers_;
};

}  // namespace

Localisation read_tool_answer(const Json& answer, const std::string& file,
                              const program::Program& program) {
  return AnswerReader(file, program).read(answer);
}

}  // namespace neutra::fl_adapters
