#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace neutra {

/// The bytes of a data file in order, unpacked where the file is packed. `capacity` bounds how many
/// there can be, so that a header that claims more is refused before memory is taken for it.
/// Every failure is an input_error that names the file and the byte.
class ByteReader {
 public:
  /// Fills the span; returns fewer bytes at the end only.
  using Read = std::function<std::size_t(std::span<char>)>;

  ByteReader(std::string file, std::uint64_t capacity, Read read)
      : file_(std::move(file)), capacity_(capacity), read_(std::move(read)) {}
  /// A file, unpacked if its content is gzip's.
  static ByteReader open(const std::filesystem::path& path);
  /// Bytes in memory, which must outlive the reader.
  static ByteReader of(std::string_view bytes, std::string file);

  const std::string& file() const { return file_; }
  /// Number of bytes read so far.
  std::uint64_t offset() const { return offset_; }
  /// Refuses `bytes` more bytes where the file can't hold them; `what` is what they would be.
  void require(std::uint64_t bytes, const std::string& what) const;
  /// Fills the span with the next bytes, which are (part of) `what`.
  void read(std::span<char> bytes, const std::string& what);
  /// The next `bytes` bytes as an unsigned number; at most 8.
  std::uint64_t read_number(int bytes, bool big_endian, const std::string& what);
  /// All bytes that are left; refuses more than `limit`.
  std::string rest(std::uint64_t limit, const std::string& what);
  /// Is there no byte left? At the end gzip and zip check their checksums.
  bool at_end();
  /// Refuses bytes behind `what`.
  void require_end(const std::string& what);
  /// Throws "FILE: byte OFFSET: found FOUND; allowed: ALLOWED" for what starts `back` bytes before
  /// the next one.
  [[noreturn]] void fail(const std::string& found, const std::string& allowed,
                         std::uint64_t back = 0) const;

 private:
  std::string file_;
  std::uint64_t capacity_, offset_ = 0;
  Read read_;
  std::optional<char> next_;  ///< read ahead
};

/// The number that 1 to 8 bytes spell.
inline std::uint64_t unsigned_number(const char* bytes, int count, bool big_endian) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[big_endian ? i : count - 1 - i]);
  }
  return value;
}

}  // namespace neutra
