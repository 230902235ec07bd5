/* What Debian's static OpenCV refers to in parts that neutra never calls: OpenGL, LAPACK and BLAS (cmake/packages.cmake).
   Hidden, so that LibTorch, which may be loaded later, finds the real ones. */

#include <stdlib.h>

#define UNUSED(name)                                         \
  __attribute__((visibility("hidden"))) void name(void);     \
  __attribute__((visibility("hidden"))) void name(void) {    \
    abort();                                                 \
  }

UNUSED(glXGetCurrentContext)
UNUSED(glXGetCurrentDisplay)
UNUSED(glXGetProcAddressARB)

UNUSED(sgesv_)
UNUSED(dgesv_)
UNUSED(sposv_)
UNUSED(dposv_)
UNUSED(sgels_)
UNUSED(dgels_)
UNUSED(sgesdd_)
UNUSED(dgesdd_)
UNUSED(sgeqrf_)
UNUSED(dgeqrf_)
UNUSED(sgetrf_)
UNUSED(dgetrf_)
UNUSED(spotrf_)
UNUSED(dpotrf_)

UNUSED(cblas_sgemm)
UNUSED(cblas_dgemm)
UNUSED(cblas_cgemm)
UNUSED(cblas_zgemm)
