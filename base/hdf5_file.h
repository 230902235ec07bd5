#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// An HDF5 file through the C library. Objects in it are named by paths: "/group/name".
///
/// Every mistake is an input_error (reading) or a failure (writing) with the file, the object and
/// HDF5's own words. A process-wide lock guards the library, so that several threads may use
/// objects. A file never leads to another one: external links, external and virtual storage are
/// refused. A file that nothing vouches for is first read by another process, which may die of it.
class Hdf5File {
 public:
  /// For reading.
  static Hdf5File open(const std::filesystem::path& file);
  /// For reading a file's bytes; `file` is a name for messages.
  static Hdf5File open_image(std::string_view bytes, const std::filesystem::path& file);
  /// Creates or truncates; `user_block` bytes (0 or a power of two >= 512) are left free at the
  /// start of the file.
  static Hdf5File create(const std::filesystem::path& file, std::uint64_t user_block = 0);
  /// Like create(), but nothing is written: `file` is a name for messages, image() has the bytes.
  static Hdf5File create_in_memory(const std::filesystem::path& file, std::uint64_t user_block = 0);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();
  /// The bytes of a file in memory, the user block (zeros) included.
  std::string image() const;
  /// Flushes and closes; reports what a destructor could only swallow (full disk).
  void close();

  /// Is there an object of this path?
  bool has(const std::string& path) const;
  /// The names of a group's members: in the order of creation where the file keeps it, else sorted.
  std::vector<std::string> list(const std::string& group) const;
  /// The extents of a dataset; empty for a single value.
  std::vector<std::uint64_t> extents(const std::string& path) const;
  /// Bytes that a dataset takes in the file, packed or not; 0 where nothing was ever written to it.
  std::uint64_t stored_bytes(const std::string& path) const;

  // The values of a whole dataset, rows one behind the other. All refuse more than `max_elements`,
  // and more than the file can store, packed as well as gzip packs.

  /// Numbers, converted by HDF5 from any integer or floating-point type; integers only from integer
  /// types.
  std::vector<float> read_floats(const std::string& path,
                                 std::uint64_t max_elements = 1ULL << 31) const;
  std::vector<double> read_doubles(const std::string& path,
                                   std::uint64_t max_elements = 1ULL << 31) const;
  std::vector<std::int64_t> read_integers(const std::string& path,
                                          std::uint64_t max_elements = 1ULL << 31) const;
  /// Strings of fixed or variable length, padded or terminated by NUL, in ASCII or UTF-8.
  std::vector<std::string> read_strings(const std::string& path,
                                        std::uint64_t max_elements = 1ULL << 24) const;
  /// Integers of one byte, as they are.
  std::string read_bytes(const std::string& path, std::uint64_t max_elements = 1ULL << 31) const;

  // Attributes of a group or dataset.

  bool has_attribute(const std::string& object, const std::string& name) const;
  std::string read_string_attribute(const std::string& object, const std::string& name) const;
  /// Any number of strings; none for an empty attribute of another type, as h5py stores an empty
  /// list.
  std::vector<std::string> read_strings_attribute(const std::string& object,
                                                  const std::string& name,
                                                  std::uint64_t max_elements = 1ULL << 20) const;
  std::int64_t read_integer_attribute(const std::string& object, const std::string& name) const;

  /// Writes a new dataset, compressed (gzip) where it is longer than 1 KiB. Missing groups on the
  /// way are made. `extents`: their product is the number of values; empty: one dimension.
  void write(const std::string& path, const std::vector<float>& values,
             const std::vector<std::uint64_t>& extents = {});
  void write(const std::string& path, const std::vector<double>& values,
             const std::vector<std::uint64_t>& extents = {});
  void write(const std::string& path, const std::vector<std::int64_t>& values,
             const std::vector<std::uint64_t>& extents = {});
  void write(const std::string& path, const std::vector<std::string>& values);
  /// The same with integers of one byte; without `compress` in one piece, as they are.
  void write_bytes(const std::string& path, std::string_view bytes, bool compress = true);
  /// Writes an attribute of a group or dataset, over one of the same name.
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
  /// Makes a group and those on the way to it, where they are missing.
  void make_group(const std::string& path);

 private:
  explicit Hdf5File(std::int64_t id, std::filesystem::path file);
  std::int64_t id_ = -1;
  std::filesystem::path file_;
};

}  // namespace neutra
