#pragma once

/// Compiles a function for several instruction sets; the loader picks. Only for code whose results
/// don't depend on the choice (integers, or floats without contraction and reordering). Off under
/// sanitizers, which can't follow ifuncs, and where the compiler lacks it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NEUTRA_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define NEUTRA_CLONES
#endif
