// Default options of the sanitizers. The environment variables ASAN_OPTIONS, ... still override
// them.

#ifdef NEUTRA_SYMBOLIZER
#define SYMBOLIZER ":external_symbolizer_path=" NEUTRA_SYMBOLIZER
#else
#define SYMBOLIZER ""
#endif

extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=1:strict_string_checks=1" SYMBOLIZER;
}

// LLVM's OpenMP run-time keeps a few tables of its threads until the end of the process, and so
// do MPI libraries of what it was started with.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libomp.so\nleak:libmpi.so\nleak:libmpich\nleak:libopen-\nleak:libpmix\nleak:"
         "libevent\nleak:mca_\n";
}

extern "C" const char* __ubsan_default_options() {
  return "print_stacktrace=1:halt_on_error=1" SYMBOLIZER;
}

// The OpenMP run-time is not instrumented: its locks and barriers are known through the Archer tool
// (OMP_TOOL_LIBRARIES, set in tests/CMakeLists.txt), and what it does inside must not be reported.
// Each process waits at its end for races of threads that go on: not for a second, since some tests
// start hundreds.
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1:halt_on_error=1:atexit_sleep_ms=50" SYMBOLIZER;
}
