#pragma once

/// Of a function that must be compiled with the instruction set, and into the loop, of its caller.
#define NEUTRA_INLINE inline __attribute__((always_inline))
