#include "program/formats/libtorch_program.h"

#include "base/error.h"
#include "base/numbers.h"
#include "program/class_weights.h"
#include "program/embedded.h"
#include "program/formats/metric_script.h"
#include "program/formats/torch_program.h"

namespace neutra::program {
namespace {

class LibTorchWriter {
 public:
  LibTorchWriter(const ResolvedProgram& program, const TorchScriptOptions& options)
      : program_(program), options_(options), torch_(torch_program(program)) {}

  std::string text() const {
    const std::string body = model() + loss() + evaluate() + training();
    std::string text =
        "// c++ -std=c++17 train.cpp with LibTorch: find_package(Torch) in CMake, "
        "${TORCH_LIBRARIES}\n"
        "#include <torch/torch.h>\n\n#include <algorithm>\n#include <cmath>\n#include <cstdlib>\n"
        "#include <fstream>\n#include <iostream>\n#include <limits>\n#include <map>\n"
        "#include <optional>\n#include <sstream>\n#include <stdexcept>\n#include <string>\n"
        "#include <utility>\n#include <vector>\n\nusing torch::Tensor;\nusing Extents = "
        "std::vector<int64_t>;\n\nnamespace keras {\n\n";
    return text + parts_for(embedded::libtorch_parts, body) + "\n}  // namespace keras\n\n" + body;
  }

 private:
  std::string call(const TorchCall& call, const std::string& first) const {
    return syntax_.text(call, first, torch_);
  }

  std::string model() const {
    std::string text = "struct Model {\n", all;
    for (const TorchVariable& variable : torch_.variables) {
      text += "  Tensor " + variable.name + " = " + call(variable.initializer, "") +
              (variable.trainable ? ".requires_grad_()" : "") + ";\n";
      all += (all.empty() ? "" : ", ") + variable.name;
    }
    text += "  bool training = true;\n\n  std::vector<Tensor> variables() const { return {" + all +
            "}; }\n  /// Up to the output's activation.\n  Tensor forward(Tensor x) {\n";
    if (torch_.has_activity) text += "    keras::penalties.clear();\n";
    for (const TorchStep& one : torch_.forward) {
      text += "    " + syntax_.text(one, torch_) + ";\n";
    }
    text += "    return x;\n  }\n  Tensor output(const Tensor& x) const { return ";
    return text + (torch_.output ? call(*torch_.output, "x") : "x") + "; }\n};\n\n";
  }

  std::string loss() const {
    const bool weighs = this->weighs();
    std::string text = std::string("Tensor loss_of(const Model& model, Tensor z, const Tensor& y") +
                       (weighs ? ", const Tensor& weights = {}" : "") + ") {\n";
    text += torch_.loss_of_logits ? "  (void)model;\n" : "  z = model.output(z);\n";
    const bool sparse = program_.loss == "sparse_categorical_crossentropy";
    const std::string targets =
        torch_.smoothed ? call(*torch_.smoothed, "keras::squeezed(y, z)") : "keras::squeezed(y, z)";
    text += "  Tensor loss = keras::" + torch_.loss +
            (sparse ? "(z, y)" : "(keras::squeezed(z, y), " + targets + ")");
    if (weighs) {
      text += ";\n  if (weights.defined()) loss = keras::weighted(loss, weights)" +
              std::string(divides_by_weights(program_) ? " / weights.mean()" : "") +
              ";\n  loss = loss";
    }
    text += ".mean()";
    if (program_.loop.sum) text += " * y.size(0)";
    text += ";\n";
    std::string regularized;
    for (const TorchVariable& variable : torch_.variables) {
      if (variable.l1 == 0 && variable.l2 == 0) continue;
      regularized += (regularized.empty() ? "" : ", ") + ("{model." + variable.name) + ", " +
                     python_repr(variable.l1) + ", " + python_repr(variable.l2) + "}";
    }
    if (!regularized.empty()) text += "  loss = loss + keras::penalty({" + regularized + "});\n";
    if (torch_.has_activity) {
      text += "  for (const Tensor& one : keras::penalties) loss = loss + one;\n";
    }
    return text + "  return loss;\n}\n\n";
  }

  std::string evaluate() const {
    const bool weighs = validation_weighs();
    return std::string(
               "using Logs = std::map<std::string, double>;\n\n"
               "Logs evaluate(Model& model, const Tensor& x, const Tensor& y, int64_t batch_size,\n"
               "              const std::vector<std::string>& metrics") +
           (weighs ? ", const Tensor& weights = {}" : "") +
           ") {\n"
           "  const torch::NoGradGuard guard;\n"
           "  model.training = " +
           (program_.loop.eval_mode ? "false" : "true") +
           ";\n  std::map<std::string, keras::Measure> measures;\n"
           "  for (const std::string& name : metrics) measures.emplace(name, name);\n"
           "  double loss = 0;\n"
           "  for (int64_t begin = 0; begin < x.size(0); begin += batch_size) {\n"
           "    const int64_t end = std::min(begin + batch_size, x.size(0));\n"
           "    const Tensor t = y.slice(0, begin, end), z = model.forward(x.slice(0, begin, "
           "end));\n"
           "    loss += loss_of(model, z, t" +
           (weighs ? ", weights.defined() ? weights.slice(0, begin, end) : weights" : "") +
           ").item<double>() * static_cast<double>(end - begin);\n"
           "    for (auto& [name, measure] : measures) measure.add(model.output(z), t);\n"
           "  }\n"
           "  Logs logs{{\"loss\", loss / static_cast<double>(x.size(0))}};\n"
           "  for (auto& [name, measure] : measures) logs[name] = measure.value();\n"
           "  return logs;\n}\n\n";
  }

  std::string training() const { return rows_and_model() + epochs() + result(); }

  static std::string rows(const std::string& part) {
    return "  const Tensor x_" + part + " = keras::read_npy(\"x_" + part + ".npy\"), y_" + part +
           " = keras::read_npy(\"y_" + part + ".npy\", true);\n";
  }

  /// The line that sets the learning rate after so many `steps` of the schedule.
  std::string rate(const char* steps) const {
    return "optimizer.factor = std::pow(" + python_repr(program_.schedule->decay_rate) +
           ", static_cast<double>(" + steps + "));\n";
  }
  bool every_batch() const { return program_.schedule && program_.schedule->every_batch; }

  /// What is there before the first epoch.
  std::string rows_and_model() const {
    const bool split = program_.validation_split > 0;
    std::string text =
        "int main(int argc, char** argv) {\n  torch::manual_seed(argc > 1 ? std::strtoull(argv[1], "
        "nullptr, 10) : " +
        std::to_string(options_.seed) + ");\n";
    text += rows("train");
    if (program_.sample_weights) text += weights_of("train");
    text += "  const int64_t used = ";
    text += split ? "static_cast<int64_t>(static_cast<double>(x_train.size(0)) * (1 - " +
                        python_repr(program_.validation_split) + "));\n"
                  : "x_train.size(0);\n";
    if (validates() && split) {
      text +=
          "  const Tensor x_validation = x_train.slice(0, used), y_validation = y_train.slice(0, "
          "used);\n";
    } else if (validates()) {
      text += rows("validation");
    }
    if (validation_weighs()) {
      text += split ? "  const Tensor weights_validation = weights_train.slice(0, used);\n"
                    : weights_of("validation");
    }
    text += "  Model model;\n  " + optimizer() + ";\n";
    if (watches_) {
      text += "  std::vector<keras::EarlyStopping> callbacks;\n";
      for (const TorchCall& one : torch_.early_stopping) {
        text += "  callbacks.push_back(" + call(one, "") + ");\n";
      }
    }
    if (every_batch()) text += "  int64_t steps = 0;\n";
    return text;
  }

  std::string epochs() const {
    std::string text = "  for (int64_t epoch = 0; epoch < " + std::to_string(program_.epochs) +
                       "; ++epoch) {\n    model.training = true;\n";
    if (program_.schedule && !every_batch()) text += "    " + rate("epoch");
    if (program_.loop.zero_grad == LoopStyle::ZeroGrad::kEachEpoch) text += "    " + forget();
    text += program_.shuffle ? "    const Tensor order = torch::randperm(used, torch::kLong);\n"
                             : "    const Tensor order = torch::arange(used, torch::kLong);\n";
    if (watches_) {
      text +=
          "    std::map<std::string, keras::Measure> measures;\n"
          "    for (const std::string& name : std::vector<std::string>{" +
          torch_.watched_names() + "}) measures.emplace(name, name);\n    double total = 0;\n";
    }
    if (terminates_) text += "    bool stop = false;\n";
    return text + batches() + epoch_end() + "  }\n";
  }

  std::string batches() const {
    const std::string batch = std::to_string(program_.batch_size);
    std::string text =
        "    for (int64_t begin = 0; begin < used; begin += " + batch +
        ") {\n      const Tensor batch = order.slice(0, begin, std::min<int64_t>(begin + " + batch +
        ", used));\n";
    if (program_.loop.zero_grad == LoopStyle::ZeroGrad::kEachStep) text += "      " + forget();
    text +=
        "      const Tensor y = y_train.index_select(0, batch);\n"
        "      const Tensor z = model.forward(x_train.index_select(0, batch));\n"
        "      const Tensor loss = loss_of(model, z, y" +
        row_weights() +
        ");\n"
        "      if (loss.requires_grad()) loss.backward();\n";
    if (program_.loop.zero_grad == LoopStyle::ZeroGrad::kBeforeStep) {
      text +=
          "      for (Tensor p : model.variables()) {\n"
          "        if (p.mutable_grad().defined()) p.mutable_grad().zero_();\n      }\n";
    }
    if (every_batch()) text += "      " + rate("steps");
    if (program_.loop.step) {
      text += "      optimizer.step();\n";
      for (const TorchVariable& variable : torch_.variables) {
        if (!variable.constraint) continue;
        text += "      " + call(*variable.constraint, "model." + variable.name) + ";\n";
      }
      if (every_batch()) text += "      ++steps;\n";
    }
    if (watches_) {
      text +=
          "      total += loss.item<double>() * static_cast<double>(batch.size(0));\n"
          "      for (auto& [name, measure] : measures) measure.add(model.output(z).detach(), "
          "y);\n";
    }
    if (terminates_) {
      text += "      stop = !std::isfinite(loss.item<double>());\n      if (stop) break;\n";
    }
    return text + "    }\n";
  }

  /// What looks at the logs of an epoch.
  std::string epoch_end() const {
    std::string text;
    if (watches_) {
      text +=
          "    Logs logs{{\"loss\", total / static_cast<double>(used)}};\n"
          "    for (auto& [name, measure] : measures) logs[name] = measure.value();\n";
    }
    if (validates()) {
      text += "    const Logs validation = evaluate(model, x_validation, y_validation, " +
              std::to_string(program_.batch_size) + ", {" + torch_.watched_names() + "}" +
              (validation_weighs() ? ", weights_validation);\n" : ");\n");
      if (watches_) {
        text += "    for (const auto& [name, value] : validation) logs[\"val_\" + name] = value;\n";
      }
    }
    if (watches_) {
      text += std::string("    bool ends = ") + (terminates_ ? "stop" : "false") +
              ";\n    for (auto& one : callbacks) ends = one.epoch_end(logs, model.variables()) || "
              "ends;\n    if (ends) break;\n";
    } else if (terminates_) {
      text += "    if (stop) break;\n";
    }
    return text;
  }

  /// Prints the metric of the test rows.
  std::string result() const {
    std::string text;
    if (watches_) text += "  for (const auto& one : callbacks) one.finish(model.variables());\n";
    const bool loss = metric_ == "loss";
    std::vector<std::string> measured = torch_.watched;
    if (!loss) measured.push_back(metric_);
    for (const std::string& metric : measured) {
      if (is_streamed(metric)) continue;
      throw input_error(
          describe("", "/metric/name", metric,
                   "accuracy, loss, mae, mse (programs for LibTorch have no others)"));
    }
    text += rows("test");
    text += "  const Logs logs = evaluate(model, x_test, y_test, " +
            (program_.loop.eval_mode ? "32" : std::to_string(program_.batch_size)) + ", {" +
            (loss ? "" : '"' + metric_ + '"') +
            "});\n  std::cout.precision(9);\n  std::cout << \"" + metric_label(program_.metric) +
            ": \" << logs.at(\"" + metric_ + "\") << '\\n';\n}\n";
    return text;
  }

  /// What each row of a batch counts.
  std::string row_weights() const {
    std::string text;
    if (!program_.class_weights.empty()) {
      text = "keras::class_weights(y, " +
             syntax_.text(TorchNumbers(program_.class_weights), torch_) + ")";
    }
    if (program_.sample_weights) {
      text += std::string(text.empty() ? "" : " * ") + "weights_train.index_select(0, batch)";
    }
    return text.empty() ? text : ", " + text;
  }

  bool weighs() const { return program_.sample_weights || !program_.class_weights.empty(); }
  /// Are there weights of the rows to watch?
  bool validation_weighs() const {
    if (!validates()) return false;
    return program_.validation_split > 0 ? program_.sample_weights : options_.validation_weights;
  }
  static std::string weights_of(const std::string& rows) {
    return "  const Tensor weights_" + rows + " = keras::read_npy(\"sample_weight_" + rows +
           ".npy\");\n";
  }

  static std::string forget() {
    return "for (Tensor p : model.variables()) p.mutable_grad() = Tensor();\n";
  }

  bool validates() const { return program::validates(torch_, program_, options_.validation); }

  std::string optimizer() const {
    std::string parameters;
    for (const TorchVariable& variable : torch_.variables) {
      if (!variable.updated) continue;
      parameters += (parameters.empty() ? "" : ", ") + ("model." + variable.name);
    }
    const std::string made = call(torch_.optimizer, "{" + parameters + "}");
    const std::size_t open = made.find('(');
    return made.substr(0, open) + " optimizer" + made.substr(open);
  }

  const ResolvedProgram& program_;
  const TorchScriptOptions& options_;
  const TorchProgram torch_;
  const std::string metric_ = metric_of_rows(program_.metric);
  const TorchSyntax syntax_{true, "keras::", "", "training"};
  const bool terminates_ = torch_.terminates_on_nan;
  const bool watches_ = !torch_.early_stopping.empty();  ///< something looks at the logs
};

}  // namespace

std::string libtorch_program(const ResolvedProgram& program, const TorchScriptOptions& options) {
  return LibTorchWriter(program, options).text();
}

}  // namespace neutra::program
