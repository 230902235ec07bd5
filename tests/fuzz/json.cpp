// Any bytes as a JSON document, then as a program: errors are reported, nothing crashes, and what
// was read is written in a form that reads back as the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "program/error.h"
#include "program/json.h"
#include "program/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  Json document;
  try {
    document = parse_json({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error&) {
    return 0;
  }
  if (parse_json(to_text(document), "own output") != document) std::abort();
  if (validate(document).empty()) {
    const Program program{document};
    resolve(program);
    program_hash(program);
  }
  return 0;
}
