#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Does it begin as an HDF5 file, with a user block of kChecksumHeaderBytes or without one?
bool is_hdf5_file(const std::filesystem::path& file);

/// What messages call a format that files name in their checksum header or in the first record of
/// a journal.
struct FormatWords {
  std::string_view format;            ///< "neutra-store"
  std::string_view file, as_journal;  ///< "the store of a search", "the journal of a search"
};
/// The words that the functions below use from now on. To be called before there are threads.
void set_format_words(std::vector<FormatWords> formats);

/// What a file is that holds no text, as its first bytes tell, in words for messages: those of its
/// format, else "an HDF5 file", "a journal of neutra", "a zip archive", "a pickle, which is Python
/// code". nullopt for other files.
std::optional<std::string> kind_of_binary(const std::filesystem::path& file);
/// The same of anything: also "a folder", "something that is no file", "an empty file", "another
/// kind of file".
std::string kind_of_file(const std::filesystem::path& file);
/// What a path leads to that is no regular file: "a folder", "a pipe", "a socket", "a device".
std::string kind_of_no_file(const std::filesystem::path& path);

/// Throws input_error for a file that is damaged, of another format than `format` or of a newer
/// version than `version`, as its checksum header says. One without a header, HDF5 from its first
/// byte on, passes with a warning: older versions of neutra wrote none, and its content is still
/// to be looked at.
void require_format(const std::filesystem::path& file, std::string_view format, int version);

}  // namespace neutra
