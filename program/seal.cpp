#include "program/seal.h"

#include <cassert>
#include <fstream>
#include <sstream>

#include "program/error.h"
#include "program/files.h"

namespace neutra {
namespace {

std::string text_of(const Seal& seal) {
  std::string text =
      seal.format + " version " + std::to_string(seal.version) + " xxh3-128 " + seal.digest + "\n";
  text.resize(kSealBytes, '\0');
  return text;
}

}  // namespace

void seal(std::string& image, std::string_view format, int version) {
  assert(image.size() > kSealBytes);
  const std::string text =
      text_of({std::string(format), version, digest(std::string_view(image).substr(kSealBytes))});
  image.replace(0, kSealBytes, text);
}

std::optional<Seal> read_seal(const std::filesystem::path& file) {
  require_no_pipe(file, "an HDF5 file");
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kSealBytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad() || !in.is_open()) {
    throw input_error(describe(file.string(), "", "a file that can't be read", ""));
  }
  if (in.gcount() != static_cast<std::streamsize>(kSealBytes)) return std::nullopt;
  Seal seal;
  std::string version, method;
  std::istringstream words(bytes);
  words >> seal.format >> version >> seal.version >> method >> seal.digest;
  if (!words || seal.version < 1 || text_of(seal) != bytes) return std::nullopt;
  return seal;
}

std::string sealed_digest(const std::filesystem::path& file) {
  return file_digest(file, kSealBytes);
}

}  // namespace neutra
