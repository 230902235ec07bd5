#pragma once

#include <set>
#include <string>
#include <vector>

#include "experiments/script_lines.h"
#include "fl_adapters/tool.h"

namespace neutra::cli {

/// Where the faults that tools name are in the script that a program was captured from. Of a
/// program that was captured from none it knows nothing, and all is empty.
class FaultLines {
 public:
  FaultLines() = default;
  /// Both outlive the object; `script` may be null.
  FaultLines(const experiments::Script* script, const program::Program& program)
      : script_(script), program_(&program) {}

  bool known() const { return script_ != nullptr; }
  /// "train.py:23, train.py:30" of a choice.
  std::string text(const std::vector<program::FaultEntry>& choice) const;
  /// Of a whole answer.
  std::string text(const program::FaultSet& answer) const;
  /// The lines that a tool names itself, else those of its answer.
  std::string text(const fl_adapters::ToolAnswers& answers) const;
  /// What a message is about: lines that it names, else its faults, else its layers; "" for none.
  std::string text(const fl_adapters::ToolMessage& message) const;
  /// A line for each fault that the runs name, "  ACH(1): train.py:23", and one of the lines that
  /// the tool itself names.
  std::string summary(const std::vector<fl_adapters::Localisation>& runs) const;
  /// [{fault, places}] of an answer (docs/methods/lines.md).
  Json json(const program::FaultSet& answer) const;
  /// The places of a message, as text() finds them.
  Json json(const fl_adapters::ToolMessage& message) const;

 private:
  experiments::Places places(const fl_adapters::ToolMessage& message) const;

  const experiments::Script* script_ = nullptr;
  const program::Program* program_ = nullptr;
};

/// Lines that a tool names: "27; train.py:30-31".
std::string lines_text(const std::set<evaluators::CodeLines>& lines);
/// The same as a list: ["27", "train.py:30-31"].
Json lines_json(const std::set<evaluators::CodeLines>& lines);

}  // namespace neutra::cli
