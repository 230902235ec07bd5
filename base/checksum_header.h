#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace neutra {

// HDF5 files of neutra begin with a checksum header (docs/formats/checksums.md): the line "FORMAT
// version N xxh3-128 DIGEST" and zeros, in the user block that HDF5 passes over. The digest is
// that of all bytes behind the block. So HDF5 is never given a damaged file.

/// Size of the header, and of the user block that a file must be made with.
inline constexpr std::uint64_t kChecksumHeaderBytes = 512;

/// What a checksum header says.
struct ChecksumHeader {
  std::string format;
  int version = 0;
  std::string digest;  ///< XXH3-128 of the bytes behind the header, 32 hex digits
};

/// Writes the header into the user block of a file's bytes, `image`.
void put_checksum_header(std::string& image, std::string_view format, int version);

/// The header that a file begins with; nullopt where its first bytes are none. Throws input_error
/// where the file can't be read.
std::optional<ChecksumHeader> read_checksum_header(const std::filesystem::path& file);

/// file_digest() of the bytes behind the header: of a whole file what its header states.
std::string digest_behind_header(const std::filesystem::path& file);

/// The input_error for a file with the digest `found` that states another one.
Error damaged_file(const std::filesystem::path& file, const std::string& found,
                   const std::string& stated);

/// Says on standard error, once for each file, that damage to it can't be noticed, because it has
/// no digest.
void warn_no_digest(const std::filesystem::path& file);

}  // namespace neutra
