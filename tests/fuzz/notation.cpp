// Any bytes as a parameter string and as a set of faults: what reads without an error is written in
// a form that reads back as the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "program/faults.h"
#include "program/parameters.h"

namespace {

template <typename Read>
void check_round_trip(std::string_view text, Read read) {
  try {
    using neutra::program::to_string;
    const auto value = read(text);
    if (read(to_string(value)) != value) std::abort();
  } catch (const neutra::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_round_trip(
      text, [](std::string_view t) { return neutra::program::parse_parameters(t, "input"); });
  check_round_trip(text,
                   [](std::string_view t) { return neutra::program::parse_fault_set(t, "input"); });
  return 0;
}
