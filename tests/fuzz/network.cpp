// Any bytes as a published network file: what reads without an error is written in a form that
// reads back and is written the same again.

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "search/network_reader.h"

namespace {

std::string written(const neutra::search::Network& network) {
  std::ostringstream text;
  neutra::search::write_tsv(network, text);
  return text.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  search::Network network;
  try {
    network = search::parse_network_tsv({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error&) {
    return 0;
  }
  const std::string text = written(network);
  if (written(search::parse_network_tsv(text, "own output")) != text) std::abort();
  return 0;
}
