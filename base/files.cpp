#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "base/descriptor.h"
#include "base/hash.h"
#include "base/numbers.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& name) {
  throw input_error(describe(name, "",
                             file.string() + ", which can't be written: " + std::strerror(errno),
                             "a place to write to"));
}

/// Makes a file whose name begins so and removes it: only that tells what a system allows (quotas,
/// read-only disks). For `asked`.
void try_to_make(std::string beginning, const fs::path& asked, const std::string& name) {
  beginning += ".XXXXXX";
  const Descriptor made(::mkstemp(beginning.data()));
  if (!made) refuse(asked, name);
  ::unlink(beginning.c_str());
}

[[noreturn]] void fail_writing(const std::filesystem::path& file, int error) {
  throw failure(file.string() + ": cannot be written: " + std::strerror(error));
}

void write_to_open_file(const std::filesystem::path& file, int descriptor, std::string_view text) {
  if (write_all(descriptor, text)) return;
  if (errno == EPIPE && descriptor == STDOUT_FILENO) {
    throw Error(kReaderLeft, "the reader of standard output has left");
  }
  fail_writing(file, errno);
}

bool is_standard_output(const std::filesystem::path& file) {
  struct stat named {
  }, output{};
  return ::stat(file.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &output) == 0 &&
         named.st_dev == output.st_dev && named.st_ino == output.st_ino;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1023.5; size /= 1024) ++unit;
  const double tenths = std::round(size * 10) / 10;
  return shortest(tenths < 10 ? tenths : std::round(size)) + " " + kUnits[unit];
}

bool is_pipe_or_device(const fs::path& file) {
  std::error_code ignored;
  return fs::is_other(file, ignored);
}

void require_no_pipe(const fs::path& file, std::string_view what) {
  if (!is_pipe_or_device(file)) return;
  throw input_error(describe(file.string(), "", "a pipe or device, which can be read only once",
                             std::string(what) + " on a disk, which is read more than once"));
}

std::string read_file(const fs::path& file, std::string_view what, std::uint64_t limit) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) throw input_error(file.string() + ": there is no such file");
  if (fs::is_directory(status)) {
    throw input_error(describe(file.string(), "", "a folder", what));
  }
  const bool endless = is_pipe_or_device(file);
  if (endless) limit = std::min(limit, kLargestFile);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw input_error(describe(file.string(), "",
                               std::string("no readable file: ") + std::strerror(errno), what));
  }
  std::string text;
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limit) {
      throw input_error(describe(file.string(), "", "more than " + size_text(limit),
                                 std::string(what) + " of at most " + size_text(limit) +
                                     (endless ? " from a pipe or device" : "")));
    }
  }
  if (stream.bad())
    throw input_error(describe(file.string(), "", "a file that can't be read", what));
  return text;
}

std::string read_regular_file(const fs::path& file, std::string_view what) {
  require_no_pipe(file, what);
  return read_file(file, what, std::numeric_limits<std::uint64_t>::max());
}

std::string digest(std::string_view bytes) { return to_string(hash_of(bytes)); }

std::string file_digest(const fs::path& file, std::uint64_t skipped) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw input_error(describe(file.string(), "", "a file that can't be read", ""));
  in.seekg(static_cast<std::streamoff>(skipped));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(1 << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return to_string(Hash{hash.high64, hash.low64});
}

void require_writable(const fs::path& file, const std::string& name) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (fs::is_directory(status)) {
    throw input_error(describe(name, "", file.string() + ", a folder", "a file"));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(file.c_str(), W_OK) != 0) refuse(file, name);
    return;
  }
  const fs::path target = fs::weakly_canonical(file, error);
  try_to_make((error ? file : target).string(), file, name);
}

void require_writable_folder(const fs::path& folder, const std::string& name) {
  std::error_code error;
  fs::path there = fs::absolute(folder, error);
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  try_to_make((there / ".neutra").string(), folder, name);
}

void sync_folder(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open) ::fsync(open.number());  // some file systems can't; the content itself is durable
}

bool put_in_place(int descriptor, std::string_view bytes, const fs::path& temporary,
                  const fs::path& file) {
  if (!write_all(descriptor, bytes) || ::fsync(descriptor) != 0 ||
      ::rename(temporary.c_str(), file.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    errno = error;
    return false;
  }
  sync_folder(file);
  return true;
}

void write_file_atomically(const std::filesystem::path& file, std::string_view text) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // A pipe or device (/dev/stdout) has no content to keep and must not be replaced.
    // Standard output is there already; to open a pipe anew would wait for a reader that has left.
    if (is_standard_output(file)) return write_to_open_file(file, STDOUT_FILENO, text);
    const Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!out) fail_writing(file, errno);
    write_to_open_file(file, out.number(), text);
    return;
  }
  // Writes through a symbolic link instead of replacing it.
  auto target = std::filesystem::weakly_canonical(file, error);
  if (error) target = file;

  static std::atomic<unsigned> counter{0};
  auto temporary = target;
  temporary += ".tmp" + std::to_string(::getpid()) + "_" + std::to_string(counter++);
  const Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  // A file that is replaced keeps its permissions: a script stays executable.
  if (out && std::filesystem::exists(status))
    std::ignore = ::fchmod(out.number(), static_cast<mode_t>(status.permissions()) & 07777);
  if (!out || !put_in_place(out.number(), text, temporary, target)) fail_writing(file, errno);
}

}  // namespace neutra
