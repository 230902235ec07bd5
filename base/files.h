#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace neutra {

/// Bytes of the largest file that is read as a whole, where nothing else is said.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

/// All bytes of a file, a pipe or a device (/dev/stdin), read once. Reads to the limit instead of
/// asking for the size: pipes have none, and devices no end, so of these kLargestFile is the most.
/// `what` ("a JSON file") is what is allowed. Throws input_error that names the file: missing, a
/// folder, unreadable, more than `limit` bytes.
std::string read_file(const std::filesystem::path& file, std::string_view what,
                      std::uint64_t limit = kLargestFile);

/// Is it there, and neither file nor folder, so that it can be read only once?
bool is_pipe_or_device(const std::filesystem::path& file);
/// Throws input_error for a pipe or device where `what` ("an HDF5 file") is needed, which is read
/// more than once or in no order.
void require_no_pipe(const std::filesystem::path& file, std::string_view what);

/// All bytes of a regular file of any size; otherwise as read_file(). A device or pipe is refused.
std::string read_regular_file(const std::filesystem::path& file, std::string_view what);

/// A size in bytes for people, two digits at least, rounded: "1 byte", "1.5 KiB", "64 MiB".
std::string size_text(std::uint64_t bytes);

/// The exit code where a write to standard output found that its reader has left (`| head`): no
/// error, and nobody to tell. 128 + SIGPIPE, as the shell says of a program that the signal ends.
inline constexpr Exit kReaderLeft = static_cast<Exit>(141);

/// XXH3-128 of the bytes, as 32 hex digits.
std::string digest(std::string_view bytes);
/// XXH3-128 of a file behind its first `skipped` bytes. Throws input_error where it can't be read.
std::string file_digest(const std::filesystem::path& file, std::uint64_t skipped = 0);

/// Can write_file_atomically() write `file`? To be asked before long work; what is there stays.
/// Throws input_error with `name` ("--output"), the file and the reason of the system.
void require_writable(const std::filesystem::path& file, const std::string& name);

/// The same for a folder that is there or shall be made, with all above it that are missing.
void require_writable_folder(const std::filesystem::path& folder, const std::string& name);

/// Writes `text` to `file` by way of a temporary file in the same folder, so that a reader sees the
/// old or the new content and a full disk leaves the old one. A pipe or device is written to as it
/// is. Throws failure() with the reason of the system.
void write_file_atomically(const std::filesystem::path& file, std::string_view text);

/// The step that makes such a write atomic, for those who name the temporary file themselves:
/// writes `bytes` to the open file `descriptor`, syncs it (fsync) and renames it from `temporary`
/// to `file`, in the same folder. False with errno set where that fails: then `temporary` is gone
/// and `file` as it was.
bool put_in_place(int descriptor, std::string_view bytes, const std::filesystem::path& temporary,
                  const std::filesystem::path& file);

/// Makes a rename or removal in `file`'s folder durable, where the file system can.
void sync_folder(const std::filesystem::path& file);

}  // namespace neutra
