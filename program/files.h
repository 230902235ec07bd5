#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace neutra {

/// Bytes of the largest file that is read as a whole, where nothing else is said.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

/// All bytes of a file. Reads to the limit instead of asking for the size: pipes have none, and
/// devices no end. `what` ("a JSON file") is what is allowed. Throws input_error that names the
/// file: missing, a folder, unreadable, more than `limit` bytes.
std::string read_file(const std::filesystem::path& file, std::string_view what,
                      std::uint64_t limit = kLargestFile);

/// The same of a regular file of any size; a device or pipe is refused.
std::string read_regular_file(const std::filesystem::path& file, std::string_view what);

/// XXH3-128 of the bytes, as 32 hex digits.
std::string digest(std::string_view bytes);
/// Of a file behind its first `skipped` bytes. Throws input_error where it can't be read.
std::string file_digest(const std::filesystem::path& file, std::uint64_t skipped = 0);

/// Can write_file_atomically() write `file`? To be asked before long work; what is there stays.
/// Throws input_error with `name` ("--output"), the file and the reason of the system.
void require_writable(const std::filesystem::path& file, const std::string& name);

/// The same for a folder that is there or shall be made, with all above it that are missing.
void require_writable_folder(const std::filesystem::path& folder, const std::string& name);

}  // namespace neutra
