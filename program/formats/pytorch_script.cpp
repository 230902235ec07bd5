#include "program/formats/pytorch_script.h"

#include "base/numbers.h"
#include "program/class_weights.h"
#include "program/embedded.h"
#include "program/formats/metric_script.h"
#include "program/formats/torch_program.h"
#include "program/rate_schedule.h"

namespace neutra::program {
namespace {

class PyTorchWriter {
 public:
  PyTorchWriter(const ResolvedProgram& program, const TorchScriptOptions& options)
      : program_(program), options_(options), torch_(torch_program(program)) {}

  std::string script() {
    const std::string body = model() + loss() + measures() + evaluate() + training();
    const std::string metrics = parts_for(embedded::metric_parts, body);
    std::string parts = parts_for(embedded::pytorch_parts, body);
    if (!metrics.empty()) parts += "\n\n" + metrics;
    std::string text = "import math\nimport sys\n";
    if (parts.find("Optional[") != std::string::npos || parts.find("List[") != std::string::npos) {
      text += "from typing import List, Optional\n";
    }
    text += "\nimport numpy as np\nimport torch\n";
    if (parts.find("[Tensor]") != std::string::npos) text += "from torch import Tensor\n";
    text += "\nseed = int(sys.argv[1]) if len(sys.argv) > 1 else " + std::to_string(options_.seed) +
            "\ntorch.manual_seed(seed)\n\n\n";
    return text + parts + "\n\n" + body;
  }

 private:
  std::string call(const TorchCall& call, const std::string& first) const {
    return syntax_.text(call, first, torch_);
  }

  std::string model() const {
    std::string text = "class Model(torch.nn.Module):\n    def __init__(self):\n";
    text += "        super().__init__()\n";
    for (const TorchVariable& variable : torch_.variables) {
      text += "        self." + variable.name + " = torch.nn.Parameter(" +
              call(variable.initializer, "") + (variable.trainable ? "" : ", requires_grad=False") +
              ")\n";
    }
    text += "\n    def forward(self, x):\n        \"\"\"Up to the output's activation.\"\"\"\n";
    if (torch_.has_activity) text += "        penalties.clear()\n";
    for (const TorchStep& one : torch_.forward) {
      text += "        " + syntax_.text(one, torch_) + "\n";
    }
    text += "        return x\n\n    def output(self, x):\n        return ";
    return text + (torch_.output ? call(*torch_.output, "x") : "x") + "\n\n\n";
  }

  std::string loss() const {
    const bool weighs = this->weighs();
    std::string text =
        std::string("def loss_of(model, z, y") + (weighs ? ", weights=None" : "") + "):\n";
    if (!torch_.loss_of_logits) text += "    z = model.output(z)\n";
    // Class indices of one rank less are what sparse losses expect.
    const bool sparse = program_.loss == "sparse_categorical_crossentropy";
    const std::string targets =
        torch_.smoothed ? call(*torch_.smoothed, "squeezed(y, z)") : "squeezed(y, z)";
    text += "    loss = " + torch_.loss +
            (sparse ? "(z, y)" : "(squeezed(z, y), " + targets + ")") + (weighs ? "" : ".mean()");
    if (weighs) {
      text += divides_by_weights(program_)
                  ? "\n    loss = loss.mean() if weights is None else "
                    "weighted(loss, weights).sum() / weights.sum()"
                  : "\n    loss = (loss if weights is None else weighted(loss, weights)).mean()";
    }
    if (program_.loop.sum) text += " * len(y)";
    text += "\n";
    std::string regularized;
    for (const TorchVariable& variable : torch_.variables) {
      if (variable.l1 == 0 && variable.l2 == 0) continue;
      regularized += (regularized.empty() ? "" : ", ") + ("(model." + variable.name) + ", " +
                     python_repr(variable.l1) + ", " + python_repr(variable.l2) + ")";
    }
    if (!regularized.empty()) text += "    loss = loss + penalty([" + regularized + "])\n";
    if (torch_.has_activity) text += "    loss = loss + sum(penalties)\n";
    return text + "    return loss\n\n\n";
  }

  /// A metric by its name, where some aren't taken batch by batch.
  std::string measures() {
    std::string functions;
    const auto add = [&](const std::string& metric) {
      if (metric == "loss" || is_streamed(metric)) return;
      functions += (functions.empty() ? "" : ", ") + ('"' + metric) +
                   "\": lambda y, o: " + metric_call(metric, "y", "o");
    };
    for (const std::string& name : torch_.watched) {
      if (name != metric_) add(name);
    }
    add(metric_);
    if (functions.empty()) return "";
    measure_ = "measure";
    return "def measure(name):\n    functions = {" + functions +
           "}\n    return Collected(name, functions[name]) if name in functions else "
           "Measure(name)\n\n\n";
  }

  std::string evaluate() const {
    const bool weighs = validation_weighs();
    return std::string("@torch.no_grad()\ndef evaluate(model, x, y, batch_size, metrics") +
           (weighs ? ", weights=None" : "") + "):\n    model." +
           (program_.loop.eval_mode ? "eval" : "train") +
           "()\n"
           "    measures = [" +
           measure_ +
           "(name) for name in metrics]\n"
           "    loss = 0.0\n"
           "    for begin in range(0, len(x), batch_size):\n"
           "        t = y[begin:begin + batch_size]\n"
           "        z = model(x[begin:begin + batch_size])\n"
           "        loss += loss_of(model, z, t" +
           (weighs ? ", None if weights is None else weights[begin:begin + batch_size]" : "") +
           ").item() * len(t)\n"
           "        for measure in measures:\n"
           "            measure.add(model.output(z), t)\n"
           "    return {\"loss\": loss / len(x), **{one.name: one.value() for one in "
           "measures}}\n\n\n"
           "def rows(part):\n"
           "    x, y = (torch.from_numpy(np.load(f\"{name}_{part}.npy\")) for name in \"xy\")\n"
           "    return x, y[:, None] if y.dim() == 1 else y\n\n\n";
  }

  std::string training() const { return rows_and_model() + epochs() + result(); }

  /// What is there before the first epoch.
  std::string rows_and_model() const {
    const bool split = program_.validation_split > 0;
    std::string text = "x_train, y_train = rows(\"train\")\n";
    if (program_.sample_weights) text += weights_of("train");
    text += "used = ";
    text += split ? "int(len(x_train) * (1 - " + python_repr(program_.validation_split) + "))\n"
                  : "len(x_train)\n";
    text += "model = Model()\noptimizer = " + optimizer() + "\n";
    if (watches_) {
      text += "callbacks = [\n";
      for (const TorchCall& one : torch_.early_stopping) text += "    " + call(one, "") + ",\n";
      text += "]\n";
    }
    if (validates() && split) {
      text += "x_validation, y_validation = x_train[used:], y_train[used:]\n";
    }
    if (validates() && !split) text += "x_validation, y_validation = rows(\"validation\")\n";
    if (validation_weighs()) {
      text += split ? "weights_validation = weights_train[used:]\n" : weights_of("validation");
    }
    return text;
  }

  std::string epochs() const {
    std::string text =
        "for epoch in range(" + std::to_string(program_.epochs) + "):\n    model.train()\n";
    const bool each_epoch = schedule_ && !schedule_->every_batch;
    if (each_epoch) text += "    " + rate("epoch");
    if (program_.loop.zero_grad == LoopStyle::ZeroGrad::kEachEpoch) text += "    " + zero() + "\n";
    text += program_.shuffle ? "    order = torch.randperm(used)\n"
                             : "    order = torch.arange(used)\n";
    if (watches_) {
      text += "    measures, total = [" + measure_ + "(name) for name in [" +
              torch_.watched_names() + "]], 0.0\n";
    }
    if (terminates_) text += "    stop = False\n";
    return text + batches() + epoch_end();
  }

  /// The line that sets the learning rate after so many `steps` of the schedule.
  std::string rate(const char* steps) const {
    return "optimizer.factor = " + python_factor(*schedule_, steps) + "\n";
  }

  std::string batches() const {
    const std::string batch = std::to_string(program_.batch_size);
    std::string text = "    for begin in range(0, used, " + batch +
                       "):\n        batch = order[begin:begin + " + batch + "]\n";
    if (program_.loop.zero_grad == LoopStyle::ZeroGrad::kEachStep) {
      text += "        " + zero() + "\n";
    }
    text +=
        "        z = model(x_train[batch])\n"
        "        loss = loss_of(model, z, y_train[batch]" +
        row_weights() +
        ")\n"
        "        if loss.requires_grad:\n            loss.backward()\n";
    if (program_.loop.zero_grad == LoopStyle::ZeroGrad::kBeforeStep) {
      text +=
          "        for p in optimizer.parameters:\n            if p.grad is not None:\n"
          "                p.grad.zero_()\n";
    }
    const bool each_batch = schedule_ && schedule_->every_batch;
    if (each_batch) text += "        " + rate("optimizer.steps");
    if (program_.loop.step) {
      text += "        optimizer.step()\n";
      for (const TorchVariable& variable : torch_.variables) {
        if (!variable.constraint) continue;
        text += "        " + call(*variable.constraint, "model." + variable.name) + "\n";
      }
    }
    if (watches_) {
      text +=
          "        total += loss.item() * len(batch)\n"
          "        for measure in measures:\n"
          "            measure.add(model.output(z).detach(), y_train[batch])\n";
    }
    if (terminates_) {
      text +=
          "        stop = not math.isfinite(loss.item())\n        if stop:\n            break\n";
    }
    return text;
  }

  /// What looks at the logs of an epoch.
  std::string epoch_end() const {
    std::string text;
    if (watches_) {
      text +=
          "    logs = {\"loss\": total / used, **{one.name: one.value() for one in measures}}\n";
    }
    if (validates()) {
      text += "    validation = evaluate(model, x_validation, y_validation, " +
              std::to_string(program_.batch_size) + ", [" + torch_.watched_names() + "]" +
              (validation_weighs() ? ", weights_validation)\n" : ")\n");
    }
    if (watches_) {
      if (validates()) {
        text += "    logs.update({\"val_\" + name: value for name, value in validation.items()})\n";
      }
      text += std::string("    if any([one.epoch_end(logs, model) for one in callbacks])") +
              (terminates_ ? " or stop" : "") + ":\n        break\n";
    } else if (terminates_) {
      text += "    if stop:\n        break\n";
    }
    return text;
  }

  /// Prints the metric of the test rows.
  std::string result() const {
    std::string text;
    if (watches_) text += "for one in callbacks:\n    one.finish(model)\n";
    const bool loss = metric_ == "loss";
    text += "\nx_test, y_test = rows(\"test\")\nlogs = evaluate(model, x_test, y_test, " +
            (program_.loop.eval_mode ? "32" : std::to_string(program_.batch_size)) + ", [" +
            (loss ? "" : '"' + metric_ + '"') + "])\n";
    return text + "print(\"" + metric_label(program_.metric) + ":\", logs[\"" + metric_ + "\"])\n";
  }

  /// What each row of a batch counts.
  std::string row_weights() const {
    std::string text;
    if (!program_.class_weights.empty()) {
      text = "class_weights(y_train[batch], " +
             syntax_.text(TorchNumbers(program_.class_weights), torch_) + ")";
    }
    if (program_.sample_weights)
      text += text.empty() ? "weights_train[batch]" : " * weights_train[batch]";
    return text.empty() ? text : ", " + text;
  }

  bool weighs() const { return program_.sample_weights || !program_.class_weights.empty(); }
  /// Are there weights of the rows to watch?
  bool validation_weighs() const {
    if (!validates()) return false;
    return program_.validation_split > 0 ? program_.sample_weights : options_.validation_weights;
  }
  static std::string weights_of(const std::string& rows) {
    return "weights_" + rows + " = torch.from_numpy(np.load(\"sample_weight_" + rows + ".npy\"))\n";
  }

  static std::string zero() { return "model.zero_grad(set_to_none=True)"; }

  bool validates() const { return program::validates(torch_, program_, options_.validation); }

  std::string optimizer() const {
    std::string parameters;
    bool all = true;
    for (const TorchVariable& variable : torch_.variables) {
      all = all && variable.updated == variable.trainable;
      if (!variable.updated) continue;
      parameters += (parameters.empty() ? "" : ", ") + ("model." + variable.name);
    }
    if (all) parameters = "p for p in model.parameters() if p.requires_grad";
    return call(torch_.optimizer, "[" + parameters + "]");
  }

  const ResolvedProgram& program_;
  const TorchScriptOptions& options_;
  const TorchProgram torch_;
  const std::optional<LearningRateSchedule> schedule_ = schedule_of(program_);
  const std::string metric_ = metric_of_rows(program_.metric);
  std::string measure_ = "Measure";  ///< what makes a metric of its name
  const TorchSyntax syntax_{false, "", "self.", "self.training"};
  const bool terminates_ = torch_.terminates_on_nan;
  const bool watches_ = !torch_.early_stopping.empty();  ///< something looks at the logs
};

}  // namespace

std::string pytorch_script(const ResolvedProgram& program, const TorchScriptOptions& options) {
  return PyTorchWriter(program, options).script();
}

}  // namespace neutra::program
