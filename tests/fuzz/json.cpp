// Any bytes as a JSON document, then as a program: errors are reported, nothing crashes, what was
// read is written in a form that reads back as the same, and a valid program has an identity,
// shapes and keys.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "program/faults.h"
#include "program/parameters.h"
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

  const program::Program program{document};
  const nlohmann::json identity = program::canonical(program);  // wrong documents have one too
  diff(program, program);
  const program::DataInfo rows{{28, 28, 1}, {}, 100, true, 0, 9};
  if (program::validate(document, &rows).empty()) program::resolve(program, &rows);
  if (!program::validate(document).empty()) return 0;
  program::resolve(program);
  if (program::canonical({Json(identity)}) != identity) std::abort();
  program::program_hash(program);
  program::stream_hash(program);
  const program::ProgramSpace space = program::ProgramSpace::with_default_keys(program);
  if (space.instantiate(space.base_parameters()).document != document) std::abort();
  return 0;
}
