#include "training/fused/kernels_impl.h"

namespace neutra::fused {

const KernelTable<float>* generic_kernels() {
  static constexpr KernelTable<float> kTable = KernelsOf<float, 4>::table();
  return &kTable;
}

}  // namespace neutra::fused
