#include <torch/script.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "training/losses.h"
#include "training/metrics.h"
#include "training/on_torch.h"

namespace neutra::training {
namespace {

constexpr std::int64_t kRows = 256;  ///< given to a module at once

at::Tensor rows_of(const float* values, program::Shape extents, std::int64_t begin,
                   std::int64_t count) {
  std::int64_t width = 1;
  for (std::size_t i = 1; i < extents.size(); ++i) width *= extents[i];
  extents.front() = count;
  // LibTorch has no constant tensors; the clone is written to.
  return at::from_blob(const_cast<float*>(values) + begin * width, extents, at::kFloat).clone();
}

/// The module's own words in what LibTorch says: its interpreter puts them last, behind a traceback
/// whose lines are indented or name the code.
std::string cause_of(const std::string& text) {
  const std::string first = text.substr(0, text.find('\n'));
  if (!first.starts_with("The following operation failed in the TorchScript interpreter")) {
    return first;
  }
  std::istringstream lines(text);
  std::string cause = first;
  for (std::string line; std::getline(lines, line);) {
    const bool of_traceback = line.starts_with("Traceback ") || line.starts_with(" ");
    if (!line.empty() && !of_traceback) cause = line;
  }
  return cause;
}

}  // namespace

Array on_torch::run_torch_script(const std::filesystem::path& file, const Array& inputs) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    throw input_error(describe(file.string(), "", found, allowed));
  };
  at::set_num_threads(1);
  Array outputs;
  try {
    torch::jit::Module module = torch::jit::load(file.string(), at::kCPU);
    module.eval();
    const c10::InferenceMode guard;
    for (std::int64_t begin = 0; begin < inputs.rows(); begin += kRows) {
      const std::int64_t count = std::min(kRows, inputs.rows() - begin);
      const torch::jit::IValue value =
          module.forward({rows_of(inputs.values.data(), inputs.extents, begin, count)});
      if (!value.isTensor()) fail("an output of type " + value.tagKind(), "one tensor");
      const at::Tensor tensor = value.toTensor().to(at::kFloat).contiguous();
      if (tensor.numel() == 0 || tensor.dim() == 0 || tensor.size(0) != count) {
        fail("an output of extents " + program::to_string(tensor.sizes().vec()) + " for " +
                 std::to_string(count) + " rows",
             "a row for each row");
      }
      if (outputs.extents.empty()) outputs.extents = tensor.sizes().vec();
      const auto* values = tensor.data_ptr<float>();
      outputs.values.insert(outputs.values.end(), values, values + tensor.numel());
    }
  } catch (const c10::Error& e) {
    fail("a module that fails: " + cause_of(e.what_without_backtrace()), "TorchScript");
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    fail("a module that fails: " + cause_of(e.what()), "TorchScript");
  }
  outputs.extents.front() = inputs.rows();
  return outputs;
}

Evaluation on_torch::evaluate_outputs(Array outputs, const DataRows& rows, const std::string& loss,
                                      const program::LossOptions& options,
                                      const std::string& metric) {
  Evaluation result;
  result.rows = rows.count;
  result.backend = "torchscript";
  program::Shape targets = rows.target;
  if (targets.empty()) targets = {1};  // Keras makes a column of a vector
  targets.insert(targets.begin(), rows.count);
  result.loss = std::numeric_limits<double>::quiet_NaN();
  if (!loss.empty()) {
    const c10::InferenceMode guard;
    const Loss function(loss, "linear", options);
    try {
      result.loss = function
                        .mean(rows_of(outputs.values.data(), outputs.extents, 0, rows.count),
                              rows_of(rows.targets.data(), targets, 0, rows.count))
                        .item<double>();
    } catch (const c10::Error&) {
      throw input_error(describe("", "",
                                 "outputs " + program::to_string(outputs.extents) +
                                     " for targets " + program::to_string(targets),
                                 "those that the loss " + loss + " can compare"));
    }
  }
  if (metric == "loss") {
    result.metric = result.loss;
  } else {
    Metric sum(metric);
    sum.add({outputs.values, outputs.extents}, {rows.targets, targets});
    result.metric = sum.value();
    result.correct = sum.correct();
    result.total = sum.total();
  }
  result.outputs = std::move(outputs);
  return result;
}

}  // namespace neutra::training
