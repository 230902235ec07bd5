#pragma once

#include <filesystem>
#include <string>

#include "base/byte_reader.h"
#include "base/zip_file.h"
#include "program/formats/pickle.h"
#include "training/data/array.h"
#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

/// Reads NumPy's .npy format, versions 1 to 3 (NumPy Enhancement Proposal 1 and
/// numpy.lib.format): booleans, integers and floats of 1 to 8 bytes of either byte order, in C or
/// Fortran order. Structures, texts, complex numbers and pickled objects are refused.
Table read_npy(ByteReader& reader, Reading reading = Reading::kAll);

/// Reads an .npy file of pickled Python objects that are lists of whole numbers, and runs nothing
/// (program/formats/pickle.h). Rows of whole numbers are such lists, too.
program::PickledLists read_npy_lists(ByteReader& reader);
/// Number of rows that the header of such a file gives.
std::int64_t read_npy_rows(ByteReader& reader);

/// Writes an .npy file of version 1 with float32 numbers. Throws failure() with the system's
/// reason.
void write_npy(const std::filesystem::path& file, const Array& array);

/// NumPy's .npz: a zip file, stored or deflated, with one .npy file for each array.
class NpzFile {
 public:
  /// Throws input_error for what is no zip file.
  explicit NpzFile(const std::filesystem::path& path)
      : file_(path.string()), zip_(path, "an .npz file") {}
  bool has(const std::string& array) const { return zip_.has(array + ".npy"); }
  /// Throws input_error: no such array, encrypted, packed in another way, damaged.
  Table read(const std::string& array, Reading reading = Reading::kAll) const;
  /// As read_npy_lists() reads a file. Throws like read().
  program::PickledLists read_lists(const std::string& array) const;
  /// As read_npy_rows() reads a file. Throws like read().
  std::int64_t read_rows(const std::string& array) const;

 private:
  template <typename Read>
  auto read_member(const std::string& array, Read&& read) const;

  std::string file_;
  ZipFile zip_;
};

/// Source `npy`: {x, y} or {x_train, y_train, x_test, y_test}, files of one array each.
RawData read_npy_source(const Json& arguments, const SearchPath& search_path, Reading reading);
/// Source `npz`: {file}, with arrays x and y, or x_train, y_train, x_test and y_test.
RawData read_npz_source(const Json& arguments, const SearchPath& search_path, Reading reading);

}  // namespace neutra::training
