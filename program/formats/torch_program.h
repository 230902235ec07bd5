#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// A program as calls of functions that have Keras's semantics: what scripts for PyTorch, programs
/// for LibTorch and TorchScript have in common. The functions are the parts in
/// program/formats/pytorch_parts.py and libtorch_parts.inc.

/// A variable of the model, by position in TorchProgram::variables.
struct TorchVariableRef {
  std::size_t index = 0;  ///< from 0
};
/// Is the model in training mode?
struct TorchTraining {};
/// Numbers as a tensor of one extent.
using TorchNumbers = std::vector<double>;
/// std::monostate: nothing.
using TorchArgument = std::variant<std::monostate, bool, std::int64_t, double, std::string, Shape,
                                   TorchNumbers, TorchVariableRef, TorchTraining>;
/// A call of a function of the parts, or of a class.
struct TorchCall {
  std::string function;                  ///< its name in the parts
  std::vector<TorchArgument> arguments;  ///< behind x, where there is one
};

/// `to` = call(from, arguments); with no function, `to` = `from`.
struct TorchStep {
  TorchCall call;
  /// Names of values: "x" is the one that was made last, others were kept. Several go as a list.
  std::vector<std::string> from{"x"};
  std::string to = "x";  ///< each other name is made once
};

/// A variable of the model.
struct TorchVariable {
  std::string name;                                    ///< "dense_1_kernel"
  Shape shape;                                         ///< its extents
  TorchCall initializer;                               ///< makes its first value
  bool trainable = true;                               ///< has a gradient
  bool updated = true;                                 ///< the optimiser was given it
  double l1 = 0, l2 = 0;                               ///< of its regulariser
  std::optional<TorchCall> constraint = std::nullopt;  ///< that follows each update
};

/// What a program does, in calls.
struct TorchProgram {
  std::vector<TorchVariable> variables;  ///< in the order of ModelWeights
  std::vector<TorchStep> forward;        ///< x to the input of the output's activation
  std::optional<TorchCall> output;       ///< that activation; nullopt: linear
  std::string loss;                      ///< a function of outputs, or of what they are made of
  bool loss_of_logits = false;           ///< it works on what `output` is applied to
  /// The targets that the loss takes, made of those of the rows; nullopt: these themselves.
  std::optional<TorchCall> smoothed = std::nullopt;
  bool has_activity = false;              ///< forward has activity regularisers
  TorchCall optimizer;                    ///< class and settings, in the order of the parts
  std::vector<TorchCall> early_stopping;  ///< the callbacks
  std::vector<std::string> watched;       ///< metrics that early stopping looks at
  std::string watched_names() const;      ///< "a", "b", as both languages write them in a list
  bool terminates_on_nan = false;         ///< a loss that is not finite ends the training
};

/// Does anything depend on rows to watch, where there are some? Without inference mode a validation
/// moves averages.
bool validates(const TorchProgram& torch, const ResolvedProgram& program, bool rows_to_watch);

/// Throws input_error for what has no such function, and names it. Precondition: `program` has all
/// shapes.
TorchProgram torch_program(const ResolvedProgram& program);

/// The text of calls in one of the languages.
struct TorchSyntax {
  bool cpp = false;       ///< C++; else Python
  std::string functions;  ///< before a function's name: "keras::", "self."
  std::string variables;  ///< before a variable's name: "self."
  std::string training;   ///< says whether the model is in training mode
  /// An argument, whose variables are those of `program`.
  std::string text(const TorchArgument& argument, const TorchProgram& program) const;
  /// function(first, arguments); `first` may be "".
  std::string text(const TorchCall& call, const std::string& first,
                   const TorchProgram& program) const;
  /// A step as an assignment, without what ends a statement.
  std::string text(const TorchStep& step, const TorchProgram& program) const;
};

/// Those parts of a text that `needs` mentions, and those that they mention, in the text's order.
/// A part begins behind a line "# part: NAME" or "// part: NAME".
std::string parts_for(std::string_view parts, const std::string& needs);

}  // namespace neutra::program
