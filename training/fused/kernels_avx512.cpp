#include "training/fused/kernels_impl.h"

namespace neutra::training::fused {

const KernelTable<float>* avx512_kernels() {
  static constexpr KernelTable<float> kTable = KernelsOf<float, 16>::table();
  return &kTable;
}

}  // namespace neutra::training::fused
