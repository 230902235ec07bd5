#include "base/checksum_header.h"

#include <cassert>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "base/warn_once.h"

namespace neutra {
namespace {

std::string text_of(const ChecksumHeader& header) {
  std::string text = header.format + " version " + std::to_string(header.version) + " xxh3-128 " +
                     header.digest + "\n";
  text.resize(kChecksumHeaderBytes, '\0');
  return text;
}

}  // namespace

void put_checksum_header(std::string& image, std::string_view format, int version) {
  assert(image.size() > kChecksumHeaderBytes);
  const std::string text = text_of(
      {std::string(format), version, digest(std::string_view(image).substr(kChecksumHeaderBytes))});
  image.replace(0, kChecksumHeaderBytes, text);
}

std::optional<ChecksumHeader> read_checksum_header(const std::filesystem::path& file) {
  require_no_pipe(file, "an HDF5 file");
  std::ifstream in(file, std::ios::binary);
  std::string bytes(kChecksumHeaderBytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.bad() || !in.is_open()) {
    throw input_error(describe(file.string(), "", "a file that can't be read", ""));
  }
  if (in.gcount() != static_cast<std::streamsize>(kChecksumHeaderBytes)) return std::nullopt;
  ChecksumHeader header;
  std::string version, method;
  std::istringstream words(bytes);
  words >> header.format >> version >> header.version >> method >> header.digest;
  if (!words || header.version < 1 || text_of(header) != bytes) return std::nullopt;
  return header;
}

std::string digest_behind_header(const std::filesystem::path& file) {
  return file_digest(file, kChecksumHeaderBytes);
}

Error damaged_file(const std::filesystem::path& file, const std::string& found,
                   const std::string& stated) {
  return input_error(describe(file.string(), "", "digest " + found,
                              stated + ": the file is damaged or was changed; make it again, or "
                                       "take another copy"));
}

void warn_no_digest(const std::filesystem::path& file) {
  warn_once(file.string() +
            ": has no digest, as files of older versions; damage to it would not be noticed");
}

}  // namespace neutra
