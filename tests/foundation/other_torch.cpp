// A LibTorch of another version than any, for torch_test.cmake: it only says so.

#include <string>

namespace at {
std::string show_config() { return "PyTorch built with:\n  - TORCH_VERSION=2.99.0, \n"; }
}  // namespace at
