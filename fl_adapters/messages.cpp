#include "fl_adapters/messages.h"

#include <algorithm>

#include "program/error.h"
#include "program/json.h"

namespace neutra {
namespace {

/// Reads fields of one object; errors name the file and the place.
class Reader {
 public:
  Reader(const Json& object, const std::string& file, std::string place)
      : object_(object), file_(file), place_(std::move(place)) {
    if (!object.is_object()) fail("", object.dump().substr(0, 80), "an object");
  }

  std::string text(const char* name) const {
    const Json& value = field(name);
    if (!value.is_string() || value.get<std::string>().empty()) {
      fail(name, value.dump().substr(0, 80), "a text");
    }
    return value;
  }
  double number(const char* name) const {
    const Json& value = field(name);
    if (!value.is_number()) fail(name, value.dump().substr(0, 80), "a number");
    return value;
  }
  const Json& field(const char* name) const {
    const Json* value = member(object_, name);
    if (value == nullptr) fail(name, "nothing", "a value");
    return *value;
  }
  [[noreturn]] void fail(const std::string& name, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(file_, name.empty() ? place_ : place_ + "/" + name, found, allowed));
  }

 private:
  const Json& object_;
  const std::string& file_;
  std::string place_;
};

Actionability actionability_of(const Reader& reader) {
  const std::string word = reader.text("actionability");
  for (const Actionability known :
       {Actionability::kNone, Actionability::kLocation, Actionability::kFix}) {
    if (word == to_string(known)) return known;
  }
  reader.fail("actionability", word, "none, location, fix");
}

std::vector<std::string> faults_of(const Reader& reader) {
  const Json& list = reader.field("faults");
  if (!list.is_array()) reader.fail("faults", list.dump().substr(0, 80), "a list of fault types");
  std::vector<std::string> faults;
  for (const Json& fault : list) {
    const auto& types = fault_types();
    if (!fault.is_string() || std::none_of(types.begin(), types.end(), [&](const auto& known) {
          return known.first == fault.get<std::string>();
        })) {
      reader.fail("faults", fault.dump().substr(0, 80), "types of program/fault_types.json");
    }
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace

MessageTable::MessageTable(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  const Reader document(json, file, "");
  if (document.text("format") != "neutra-messages") {
    document.fail("format", document.text("format"), "neutra-messages");
  }
  if (document.number("version") != 1) {
    document.fail("version", shortest(document.number("version")), "1");
  }
  const Json& thresholds = document.field("thresholds");
  if (!thresholds.is_object()) document.fail("thresholds", thresholds.dump(), "an object");
  for (const auto& [name, entry] : thresholds.items()) {
    const Reader threshold(entry, file, "/thresholds/" + name);
    threshold.text("source");
    thresholds_[name] = threshold.number("value");
  }
  const Json& messages = document.field("messages");
  if (!messages.is_array()) document.fail("messages", messages.dump(), "a list");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Reader message(messages[i], file, "/messages/" + std::to_string(i));
    const std::string code = message.text("code");
    const bool added =
        kinds_
            .emplace(code, MessageKind{message.text("severity"), message.text("text"),
                                       actionability_of(message), faults_of(message),
                                       message.text("source")})
            .second;
    if (!added) message.fail("code", code + " a second time", "each code once");
    codes_.push_back(code);
  }
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

}  // namespace neutra
