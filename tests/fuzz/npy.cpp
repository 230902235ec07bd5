// Any bytes as an .npy file, and as the header of one: an error, or a table with as many numbers as
// its extents say, which are no more than there are bytes.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "training/data/npy.h"

namespace {

void read(std::string_view bytes) {
  using namespace neutra;
  ByteReader reader = ByteReader::of(bytes, "input");
  try {
    const training::Table table = training::read_npy(reader);
    const auto count = static_cast<std::size_t>(table.rows() * table.row_size());
    if (table.values.size() != count || count > bytes.size()) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  if (size < 256) {
    const std::string framed =
        std::string("\x93NUMPY\x01") + '\0' + static_cast<char>(size) + '\0' + std::string(bytes);
    read(framed + std::string(64, '\1'));
  }
  return 0;
}
