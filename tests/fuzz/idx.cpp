// Any bytes as an IDX file: an error, or a table with as many numbers as its extents say, which are
// no more than there are bytes.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "training/data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  ByteReader reader = ByteReader::of({reinterpret_cast<const char*>(data), size}, "input");
  try {
    const training::Table table = training::read_idx(reader);
    const auto count = static_cast<std::size_t>(table.rows() * table.row_size());
    if (table.values.size() != count || count > size) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
