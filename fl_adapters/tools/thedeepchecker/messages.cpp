#include "fl_adapters/tools/thedeepchecker/messages.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

bool belongs_to_layers(const std::string& type) {
  static const std::set<std::string> kOthers{"CPP", "HBS", "HDB", "HLR", "HNE", "IWS",
                                             "LCH", "OCG", "OCH", "RCP", "TAN", "TCL",
                                             "TCO", "TRD", "TUD", "VRM"};
  return !kOthers.contains(type);
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("thedeepchecker");
  return table;
}

double limit(const char* name) { return message_table().threshold(name); }
std::size_t count_limit(const char* name) { return static_cast<std::size_t>(limit(name)); }

ToolMessage make_message(const std::string& code, std::set<int> layers,
                         const std::vector<std::string>& values, const std::string& detail) {
  ToolMessage message = message_table().message(code, std::move(layers), detail);
  message.text = with_values(message.text, values);
  for (program::FaultEntry& fault : message.faults) {
    if (!belongs_to_layers(fault.type)) fault.layers.clear();
  }
  return message;
}
ToolMessage make_message(const std::string& code, const Place& place,
                         const std::vector<std::string>& values) {
  ToolMessage message = make_message(code, std::set<int>{place.layer}, values);
  for (program::FaultEntry& fault : message.faults) {
    if (fault.type == "ACH" && place.activation_layer >= 0) fault.layers = {place.activation_layer};
    if (fault.type == "WCI" && place.weight_layer >= 0) fault.layers = {place.weight_layer};
  }
  return message;
}
std::string kind(const Place& place, const char* code) {
  return (place.image ? "conv_" : "fc_") + std::string(code);
}

void add(Messages& out, ToolMessage message, std::int64_t iteration) {
  message.epochs = {iteration};
  out.push_back(std::move(message));
}

void record_all(Messages& into, Messages messages) {
  for (ToolMessage& message : messages) record(into, std::move(message));
}

bool almost_equal(double a, double b) { return std::abs(a - b) <= limit("almost"); }

bool is_due(std::int64_t iteration) {
  return static_cast<double>(iteration) >= limit("start") &&
         iteration % static_cast<std::int64_t>(limit("period")) == 0;
}

std::string rounded(double value) {
  if (!std::isfinite(value)) return python_repr(value);
  char text[512];
  std::snprintf(text, sizeof text, "%.3f", value);
  return python_repr(std::stod(text));
}

std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return shortest(value);
}

}  // namespace neutra::fl_adapters::thedeepchecker
