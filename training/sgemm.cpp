#include <dnnl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace {

thread_local std::uint64_t calls = 0;

bool transposed(char c) { return c != 'N' && c != 'n'; }

}  // namespace

/// How often this thread's products came here: proves that LibTorch's calls do.
extern "C" std::uint64_t neutra_sgemm_calls() { return calls; }

/// BLAS's sgemm: C = alpha op(A) op(B) + beta C, column major, answered by oneDNN, whose dnnl_sgemm
/// is row major: the same memory read row by row is the transpose, so the operands change places.
/// Debian's LibTorch otherwise ends in reference BLAS, about 35 times slower. Must be linked into
/// the executable itself so that it goes before the library's.
extern "C" void sgemm_(const char* transa, const char* transb, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda,
                       const float* b, const int* ldb, const float* beta, float* c,
                       const int* ldc) {
  ++calls;
  if (*m <= 0 || *n <= 0) return;
  if (*k <= 0 || *alpha == 0) {  // BLAS: C = beta C without reading A and B; beta 0 overwrites NaN
    for (int j = 0; j < *n; ++j) {
      float* column = c + static_cast<std::ptrdiff_t>(j) * *ldc;
      if (*beta == 0) {
        std::fill(column, column + *m, 0.0f);
      } else {
        for (int i = 0; i < *m; ++i) column[i] *= *beta;
      }
    }
    return;
  }
  const dnnl_status_t status =
      dnnl_sgemm(transposed(*transb) ? 'T' : 'N', transposed(*transa) ? 'T' : 'N', *n, *m, *k,
                 *alpha, b, *ldb, a, *lda, *beta, c, *ldc);
  if (status != dnnl_success) throw std::runtime_error("oneDNN's dnnl_sgemm failed");
}
