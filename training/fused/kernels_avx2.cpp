#include "training/fused/kernels_impl.h"

namespace neutra::training::fused {

const KernelTable<float>* avx2_kernels() {
  static constexpr KernelTable<float> kTable = KernelsOf<float, 8>::table();
  return &kTable;
}

}  // namespace neutra::training::fused
