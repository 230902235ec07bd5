#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/tool.h"

namespace neutra::fl_adapters {

/// What is known of the rows of a program; nullopt where they aren't at hand, or no trainer is.
std::optional<program::DataInfo> data_of(const program::Program& program,
                                         training::LocalTrainer* trainer);

/// What a program's task allows at its output, whatever a tool advises: the one place that repaired
/// tools ask. Ranges and families of losses: fl_adapters/task_rules.json; docs/methods/fl_tools.md
/// has the rules. Takes programs that Keras refuses, too.
class TaskRules {
 public:
  /// `data`: of the program's rows, where they are known.
  explicit TaskRules(const program::Program& program,
                     std::optional<program::DataInfo> data = std::nullopt);

  /// Is the task a regression, and not a classification?
  bool regression() const { return regression_; }
  std::int64_t outputs() const { return outputs_; }  ///< last extent of the output; 0: unknown
  /// Extent of a row's target: 1 for class numbers. 0: unknown.
  std::int64_t label_width() const;
  /// The same, but the number of classes where targets are class numbers.
  std::int64_t classes() const;
  int output_layer() const { return output_layer_; }  ///< that holds the output's activation
  const std::string& activation() const { return activation_; }  ///< of the output: "linear"

  /// May the output have it? A regression with a bounded function: only where all targets are known
  /// to be in its range.
  bool allows_activation(std::string_view activation) const;
  /// May the program be trained on it?
  bool allows_loss(std::string_view loss) const;
  /// Is what the program has right, and nothing else that tools advise?
  bool activation_is_settled() const;
  bool loss_is_settled() const;

  /// Takes advice out of messages that the task forbids: to change what is settled.
  void keep_to_task(std::vector<ToolMessage>& messages) const;

 private:
  bool class_numbers() const;

  bool regression_ = false;
  std::int64_t outputs_ = 0;
  int output_layer_ = -1;
  std::string activation_ = "linear", loss_;
  std::optional<program::DataInfo> data_;
};

}  // namespace neutra::fl_adapters
