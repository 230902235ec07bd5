#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace neutra {

/// HDF5 files that know their digest: the user block of 512 bytes holds the line "FORMAT version N
/// xxh3-128 DIGEST", of all bytes behind it, and zeros. So HDF5 is never given a damaged file.
inline constexpr std::uint64_t kSealBytes = 512;

/// Seals the image of a file that was made with a user block of kSealBytes.
void seal(std::string& image, std::string_view format, int version);

struct Seal {
  std::string format;
  int version = 0;
  std::string digest;  ///< 32 hex digits
};
/// What a file's first bytes say; nullopt unless they are a seal to the last byte. Throws
/// input_error where the file can't be read.
std::optional<Seal> read_seal(const std::filesystem::path& file);

/// file_digest() of what a seal is about.
std::string sealed_digest(const std::filesystem::path& file);

}  // namespace neutra
