#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/tool.h"

namespace neutra::fl_adapters {

/// A kind of message, as tools/TOOL.json has it.
struct MessageKind {
  std::string severity;
  std::string text;
  Actionability actionability{};
  std::vector<std::string> faults;  ///< types it maps to; several: a choice; empty: none
  std::string source;               ///< of text and condition, and of the mapping
};

/// The messages and thresholds of a tool (docs/formats/messages.md).
class MessageTable {
 public:
  /// `file` names it in messages. Throws input_error for what the format doesn't allow.
  MessageTable(std::string_view json, const std::string& file);

  /// Codes in the file's order.
  const std::vector<std::string>& codes() const { return codes_; }
  /// Precondition: the code is in the file.
  const MessageKind& kind(const std::string& code) const { return kinds_.at(code); }
  /// Precondition: the threshold is in the file.
  double threshold(const std::string& name) const { return thresholds_.at(name); }
  /// By problem: the names of the repairs that AutoTrainer tries, in order. Empty for other tools.
  const std::map<std::string, std::vector<std::string>>& repairs() const { return repairs_; }

  /// A message of this kind about `layers`, which its faults get too.
  ToolMessage message(const std::string& code, std::set<int> layers = {},
                      std::string detail = {}) const;

 private:
  std::vector<std::string> codes_;
  std::map<std::string, MessageKind> kinds_;
  std::map<std::string, double> thresholds_;
  std::map<std::string, std::vector<std::string>> repairs_;
};

/// The table of a native tool: tools/TOOL.json, which is compiled in.
MessageTable table_of_tool(const std::string& tool);
/// What recorded output of a real tool may say: parsers/TOOL.json, likewise.
MessageTable table_of_recordings(const std::string& tool);

/// A text with each "{}" replaced by the next value; braces beyond the last value stay.
std::string with_values(std::string text, const std::vector<std::string>& values);

}  // namespace neutra::fl_adapters
