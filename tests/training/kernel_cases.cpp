// Wide vectors as arguments, on processors that lack them: nobody else is called with them.
#pragma GCC diagnostic ignored "-Wpsabi"
#include "kernel_cases.h"

#include "training/fused/kernels_impl.h"

namespace neutra::training::fused::tests {

std::vector<NamedKernels> float_tables() {
  static constexpr KernelTable<float> k16 = KernelsOf<float, 16>::table();
  static constexpr KernelTable<float> k8 = KernelsOf<float, 8>::table();
  static constexpr KernelTable<float> k4 = KernelsOf<float, 4>::table();
  std::vector<NamedKernels> tables = available_kernels();
  tables.push_back({"16 lanes", &k16});
  tables.push_back({"8 lanes", &k8});
  tables.push_back({"4 lanes", &k4});
  return tables;
}

const KernelTable<double>& exact() {
  static constexpr KernelTable<double> kTable = KernelsOf<double, 4>::table();
  return kTable;
}

}  // namespace neutra::training::fused::tests
