#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace neutra {

// What neutra writes and people don't edit knows its digest (docs/formats/seals.md).

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
/// Opens nothing that is damaged: throws input_error for a wrong digest, another format, a newer
/// version. A file of a format that had no seal before (HDF5 from its first byte on) passes, with
/// a warning; its content is still to be looked at.
void require_seal(const std::filesystem::path& file, std::string_view format, int version);

/// JSON documents that know their digest: their last member, "digest", is the XXH3-128 of the
/// others as a document of their own, compact (Json::dump()). So a change of blanks is none.
Json sealed(Json document);
/// The same with the text of an object, which stays as it is but for the new member.
std::string sealed_text(std::string_view text, const std::string& file);

enum class SealState { kWhole, kNone, kDamaged };
/// Takes the digest off a document.
SealState unseal(Json& document);
/// read_json() of a sealed document, without its digest. Throws input_error where that is wrong;
/// warns where one of this `format` has none.
Json read_sealed_json(const std::filesystem::path& file, std::string_view format);

/// Says on standard error, once for each file, that damage to it can't be noticed.
void warn_unsealed(const std::filesystem::path& file);

}  // namespace neutra
