#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// An HDF5 file through the C library: every return code is checked, errors are input_error
/// (reading) or failure (writing) with the file, the object and HDF5's own words; HDF5's automatic
/// error printing is off. Handles close with the object. The library is serialised by a
/// process-wide lock, so objects may be used from several threads. A file never leads to another
/// one: external links, external and virtual storage are refused.
class Hdf5File {
 public:
  static Hdf5File open(const std::filesystem::path& file);  ///< read only
  /// The same of a file's bytes; `file` is a name for messages.
  static Hdf5File open_image(std::string_view bytes, const std::filesystem::path& file);
  /// Creates or truncates; `user_block` bytes (0 or a power of two >= 512) are left free at the
  /// start of the file.
  static Hdf5File create(const std::filesystem::path& file, std::uint64_t user_block = 0);
  /// Like create(), but nothing is written: `file` is a name for messages, image() has the bytes.
  static Hdf5File create_in_memory(const std::filesystem::path& file, std::uint64_t user_block = 0);
  /// The bytes of a file in memory, the user block (zeros) included.
  std::string image() const;
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();
  /// Flushes and closes; reports what a destructor could only swallow (full disk).
  void close();

  bool has(const std::string& path) const;  ///< "/group/name"
  std::vector<std::string> list(
      const std::string& group) const;  ///< names in creation or name order
  std::vector<std::uint64_t> extents(const std::string& path) const;
  /// What a dataset takes in the file, packed or not; 0 where nothing was ever written to it.
  std::uint64_t stored_bytes(const std::string& path) const;

  /// Whole datasets, converted by HDF5 from any integer or float type. Refuses other classes, more
  /// than `max_elements`, and more than the file can store, packed as well as gzip packs.
  std::vector<float> read_floats(const std::string& path,
                                 std::uint64_t max_elements = 1ULL << 31) const;
  std::vector<double> read_doubles(const std::string& path,
                                   std::uint64_t max_elements = 1ULL << 31) const;
  std::vector<std::int64_t> read_integers(const std::string& path,
                                          std::uint64_t max_elements = 1ULL << 31) const;
  /// Fixed- or variable-length strings, NUL padded or terminated, ASCII or UTF-8.
  std::vector<std::string> read_strings(const std::string& path,
                                        std::uint64_t max_elements = 1ULL << 24) const;
  /// Numbers of one byte as they are.
  std::string read_bytes(const std::string& path, std::uint64_t max_elements = 1ULL << 31) const;
  bool has_attribute(const std::string& object, const std::string& name) const;
  std::string read_string_attribute(const std::string& object, const std::string& name) const;
  /// Any number of strings. An empty attribute of another type has none: so h5py stores an empty
  /// list.
  std::vector<std::string> read_strings_attribute(const std::string& object,
                                                  const std::string& name,
                                                  std::uint64_t max_elements = 1ULL << 20) const;
  std::int64_t read_integer_attribute(const std::string& object, const std::string& name) const;

  /// Missing groups on the way are made. `extents` empty: one dimension. `compress`: gzip where
  /// longer than 1 KiB.
  void write(const std::string& path, const std::vector<float>& values,
             const std::vector<std::uint64_t>& extents = {});
  void write(const std::string& path, const std::vector<double>& values,
             const std::vector<std::uint64_t>& extents = {});
  void write(const std::string& path, const std::vector<std::int64_t>& values,
             const std::vector<std::uint64_t>& extents = {});
  void write(const std::string& path, const std::vector<std::string>& values);
  /// `compress`: as above; off: in one piece, as they are.
  void write_bytes(const std::string& path, std::string_view bytes, bool compress = true);
  void write_attribute(const std::string& object, const std::string& name,
                       const std::string& value);
  void write_attribute(const std::string& object, const std::string& name, std::int64_t value);
  /// ASCII strings of one length, NUL padded, as h5py writes bytes; none: an empty array of
  /// numbers, as h5py writes an empty list.
  void write_attribute(const std::string& object, const std::string& name,
                       const std::vector<std::string>& values);
  /// One ASCII string of any length. Old versions of h5py give readers bytes for it.
  void write_ascii_attribute(const std::string& object, const std::string& name,
                             const std::string& value);
  void make_group(const std::string& path);  ///< unless it is there, and those on the way

 private:
  explicit Hdf5File(std::int64_t id, std::filesystem::path file);
  std::int64_t id_ = -1;
  std::filesystem::path file_;
};

}  // namespace neutra
