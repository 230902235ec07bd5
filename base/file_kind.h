#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace neutra {

/// How every HDF5 file begins, where it has no user block.
inline constexpr std::string_view kHdf5Start = "\x89HDF\r\n\x1a\n";
/// How a zip archive begins that has a member: .keras, .npz and TorchScript files are such.
inline constexpr std::string_view kZipStart = "PK\x03\x04";
/// How every journal of neutra begins, and each of its records (docs/formats/store.md).
inline constexpr std::string_view kJournalBeginning = "NJR1";

/// The first bytes of a regular file, at most so many; "" for anything else: a pipe is not waited
/// for.
std::string start_of_file(const std::filesystem::path& file, std::size_t bytes);

/// Does it begin as an HDF5 file, with neutra's user block or without one?
bool is_hdf5_file(const std::filesystem::path& file);

/// Of files that hold no text; nullopt for others.
std::optional<std::string> kind_of_binary(const std::filesystem::path& file);
/// What a file is, as its first bytes tell, in words for messages: "the store of a search", "an
/// HDF5 file", "another kind of file".
std::string kind_of_file(const std::filesystem::path& file);

}  // namespace neutra
