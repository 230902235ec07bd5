#include "training/fused/kernels_impl.h"

namespace neutra::training::fused {

const KernelTable<float>* generic_kernels() {
  static constexpr KernelTable<float> kTable = KernelsOf<float, 4>::table();
  return &kTable;
}

}  // namespace neutra::training::fused
