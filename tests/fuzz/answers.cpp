// Any bytes as an answers file: what reads without an error is written in a form that reads back as
// the same text.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "evaluators/answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string written;
  try {
    written = neutra::evaluators::to_csv(neutra::evaluators::parse_answers(text, "input"));
  } catch (const neutra::Error&) {
    return 0;
  }
  if (neutra::evaluators::to_csv(neutra::evaluators::parse_answers(written, "written")) != written)
    std::abort();
  return 0;
}
