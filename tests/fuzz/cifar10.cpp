// Any bytes as a CIFAR-10 batch: an error, or whole rows with a label of ten each.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "training/data/cifar10.h"

namespace {

void read(std::string_view bytes) {
  using namespace neutra;
  ByteReader reader = ByteReader::of(bytes, "input");
  training::Part part;
  try {
    training::read_cifar10(reader, part);
    const std::size_t rows = bytes.size() / 3073;
    if (bytes.size() % 3073 != 0 || part.y.values.size() != rows ||
        part.x.values.size() != 3072 * rows) {
      std::abort();
    }
    for (const double label : part.y.values) {
      if (label < 0 || label > 9) std::abort();
    }
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  // Filled up to whole rows, which the fuzzer would take long to find.
  read(bytes + std::string((3073 - size % 3073) % 3073, '\7'));
  return 0;
}
