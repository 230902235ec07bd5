#include "training/torch_script.h"

#include "base/file_kind.h"
#include "base/zip_file.h"
#include "training/on_torch.h"

namespace neutra::training {

bool is_torch_script(const std::filesystem::path& file) {
  if (start_of_file(file, kZipStart.size()) != kZipStart) return false;
  // All members lie in a folder of the archive's own name, which need not be the file's.
  return ZipFile(file, "a .keras or TorchScript file").has_end("/constants.pkl");
}

Array run_torch_script(const std::filesystem::path& file, const Array& inputs) {
  return torch_functions().run_torch_script(file, inputs);
}

Evaluation evaluate_outputs(Array outputs, const DataRows& rows, const std::string& loss,
                            const program::LossOptions& options, const std::string& metric) {
  return torch_functions().evaluate_outputs(std::move(outputs), rows, loss, options, metric);
}

std::string torchscript(const program::ResolvedProgram& program,
                        const program::ModelWeights& weights) {
  return torch_functions().torchscript(program, weights);
}

}  // namespace neutra::training
