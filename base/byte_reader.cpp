#include "base/byte_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/zip_file.h"

namespace neutra {
namespace {

constexpr unsigned kBuffer = 1U << 17;  ///< bytes that zlib reads at once

}  // namespace

ByteReader ByteReader::open(const std::filesystem::path& path) {
  require_no_pipe(path, "a data file");
  const std::string name = path.string();
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const std::shared_ptr<gzFile_s> file(error ? nullptr : gzopen(name.c_str(), "rb"),
                                       [](gzFile f) { f != nullptr ? gzclose(f) : 0; });
  if (!file) throw input_error(describe(name, "", "a file that can't be read", ""));
  gzbuffer(file.get(), kBuffer);
  const std::uint64_t capacity = gzdirect(file.get()) != 0 ? size : size * kMaxInflation;
  return {name, capacity, [file, name](std::span<char> bytes) {
            std::size_t done = 0;
            while (done < bytes.size()) {
              const auto want =
                  static_cast<unsigned>(std::min<std::size_t>(bytes.size() - done, 1U << 30));
              const int got = gzread(file.get(), bytes.data() + done, want);
              int status = Z_OK;
              const char* words = gzerror(file.get(), &status);
              if (got < 0 || status < 0) {
                throw input_error(describe(
                    name, "",
                    status == Z_BUF_ERROR ? std::string("an end in the middle of the gzip data")
                    : status == Z_ERRNO   ? std::string("a file that can't be read")
                                          : "damaged gzip data (" + std::string(words) + ")",
                    "a whole file"));
              }
              if (got == 0) break;
              done += static_cast<std::size_t>(got);
            }
            return done;
          }};
}

ByteReader ByteReader::of(std::string_view bytes, std::string file) {
  return {std::move(file), bytes.size(), [bytes](std::span<char> to) mutable {
            const std::size_t count = std::min(bytes.size(), to.size());
            std::copy_n(bytes.data(), count, to.data());
            bytes.remove_prefix(count);
            return count;
          }};
}

void ByteReader::require(std::uint64_t bytes, const std::string& what) const {
  const std::uint64_t left = capacity_ - std::min(offset_, capacity_);
  if (bytes <= left) return;
  fail(what + " of " + std::to_string(bytes) + " bytes",
       "at most " + std::to_string(left) + " bytes, as the size of the file gives");
}

void ByteReader::read(std::span<char> bytes, const std::string& what) {
  require(bytes.size(), what);
  std::size_t count = 0;
  if (next_ && !bytes.empty()) {
    bytes[count++] = *std::exchange(next_, std::nullopt);
  }
  count += read_(bytes.subspan(count));
  if (count < bytes.size()) {
    offset_ += count;
    fail("the end of the data within " + what,
         std::to_string(bytes.size() - count) + " bytes more at least");
  }
  offset_ += count;
}

std::uint64_t ByteReader::read_number(int bytes, bool big_endian, const std::string& what) {
  std::array<char, 8> buffer{};
  read(std::span(buffer).first(static_cast<std::size_t>(bytes)), what);
  return unsigned_number(buffer.data(), bytes, big_endian);
}

std::string ByteReader::rest(std::uint64_t limit, const std::string& what) {
  std::string bytes;
  std::vector<char> block(kBuffer);
  while (!at_end()) {
    std::size_t got = 0;
    if (next_) block[got++] = *std::exchange(next_, std::nullopt);
    got += read_(std::span(block).subspan(got));
    offset_ += got;
    bytes.append(block.data(), got);
    if (bytes.size() > limit) {
      fail(what + " of more than " + std::to_string(limit) + " bytes", "at most that");
    }
  }
  return bytes;
}

bool ByteReader::at_end() {
  char byte = 0;
  if (!next_ && read_({&byte, 1}) != 0) next_ = byte;
  return !next_;
}

void ByteReader::require_end(const std::string& what) {
  if (!at_end()) fail("more bytes", "the end of the data behind " + what);
}

void ByteReader::fail(const std::string& found, const std::string& allowed,
                      std::uint64_t back) const {
  throw input_error(describe(file_, "byte " + std::to_string(offset_ - back), found, allowed));
}

}  // namespace neutra
