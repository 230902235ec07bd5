#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <type_traits>

#include "base/hdf5_file.h"
#include "base/hdf5_handles.h"
#include "base/zip_file.h"

namespace neutra {
namespace {

using namespace hdf5;

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 23;  ///< about what is read at once
/// Bytes that a dataset may have without being stored.
constexpr std::uint64_t kUnwrittenBytes = std::uint64_t{1} << 20;

/// Number of elements; refuses more than `limit`.
std::size_t count_of(const Place& place, hid_t space, std::uint64_t limit) {
  if (place.check(H5Sget_simple_extent_type(space), "read the extents") == H5S_NULL) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents_of(place, space)) {
    if (extent != 0 && count > limit / extent) {
      place.fail("more than " + std::to_string(limit) + " elements");
    }
    count *= extent;
  }
  return count;
}

/// A layout of floating-point numbers: what H5Tget_precision, H5Tget_fields and H5Tget_ebias give.
struct FloatLayout {
  std::size_t bytes, precision, sign, exponent, exponent_bits, mantissa, mantissa_bits, bias;
  bool operator==(const FloatLayout&) const = default;
};
/// Half, bfloat16, single, double, and the extended precision of x86 in 16 bytes.
constexpr FloatLayout kFloatLayouts[] = {{2, 16, 15, 10, 5, 0, 10, 15},
                                         {2, 16, 15, 7, 8, 0, 7, 127},
                                         {4, 32, 31, 23, 8, 0, 23, 127},
                                         {8, 64, 63, 52, 11, 0, 52, 1023},
                                         {16, 80, 79, 64, 15, 0, 64, 16383}};

/// Refuses a type of numbers that no program writes. A file can claim any size and layout, and
/// HDF5 converts what does not fit its own description beyond the end of its buffers.
void require_plain_number(const Place& place, hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class != H5T_INTEGER && type_class != H5T_FLOAT) place.fail("does not hold numbers");
  const std::size_t bytes = H5Tget_size(type), precision = H5Tget_precision(type);
  const H5T_order_t order = H5Tget_order(type);
  bool plain =
      H5Tget_offset(type) == 0 && (order == H5T_ORDER_LE || order == H5T_ORDER_BE || bytes == 1);
  if (type_class == H5T_INTEGER) {
    const bool known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    plain = plain && known && precision == 8 * bytes;
  } else {
    FloatLayout layout{bytes, precision, 0, 0, 0, 0, 0, 0};
    plain = plain && H5Tget_fields(type, &layout.sign, &layout.exponent, &layout.exponent_bits,
                                   &layout.mantissa, &layout.mantissa_bits) >= 0;
    layout.bias = H5Tget_ebias(type);
    plain = plain && std::find(std::begin(kFloatLayouts), std::end(kFloatLayouts), layout) !=
                         std::end(kFloatLayouts);
  }
  if (!plain) {
    place.fail("claims numbers of " + std::to_string(bytes) + " bytes and " +
               std::to_string(precision) + " bits in a layout that nothing writes: it is damaged");
  }
}

/// Runs `read`, turning a lack of memory into an error about the file that asked for it.
template <typename Read>
auto within_memory(const Place& place, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    place.fail("too large for this machine's memory");
  }
}

/// HDF5 gives a fill value for what was never written: so a file of 2 kB can claim any number of
/// values. Refuses more than packing explains, but for little.
/// Returns the number of bytes that are stored of them.
std::uint64_t require_stored(const Place& place, hid_t file, hid_t dataset, hid_t type,
                             std::size_t count) {
  hsize_t size = 0;
  place.check(H5Fget_filesize(file, &size), "read the size of the file");
  // What chunks say of their sizes may be as wrong as the extents.
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(dataset), size);
  const std::uint64_t limit = std::max(stored * kMaxInflation, kUnwrittenBytes);
  if (count <= limit / std::max<std::size_t>(H5Tget_size(type), 1)) return stored;
  place.fail("claims " + std::to_string(count) + " values of " + std::to_string(H5Tget_size(type)) +
             " bytes, but the file stores " + std::to_string(stored) + " bytes of them");
}

/// Number of rows that are read at once: whole chunks, so that none is unpacked twice.
hsize_t rows_of_piece(const Place& place, hid_t dataset, hsize_t rows, std::uint64_t row_bytes) {
  const hsize_t wanted = std::max<hsize_t>(kPieceBytes / std::max<std::uint64_t>(row_bytes, 1), 1);
  const Handle creation(place.check(H5Dget_create_plist(dataset), "read the layout"), H5Pclose);
  hsize_t step = 1;
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    place.check(H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data()), "read the layout");
    step = std::max<hsize_t>(chunk.front(), 1);
  }
  return std::min(rows, wanted <= step ? step : wanted - wanted % step);
}

/// Reads all `count` values. Memory is taken for as many as there are bytes `stored`, which is
/// enough for what is not compressed, and for more as they are read: damaged data end it early.
template <typename T>
std::vector<T> read_in_pieces(const Place& place, hid_t dataset, hid_t space, hid_t memory_type,
                              std::size_t count, std::uint64_t stored) {
  std::vector<T> values;
  values.reserve(std::min<std::uint64_t>(count, stored));
  std::vector<hsize_t> extents;
  for (const std::uint64_t extent : extents_of(place, space)) extents.push_back(extent);
  if (extents.empty()) extents.push_back(1);
  const bool single = H5Sget_simple_extent_ndims(space) == 0;
  const hsize_t rows = extents.front(), width = count / rows;
  const hsize_t step = rows_of_piece(place, dataset, rows, width * sizeof(T));
  std::vector<hsize_t> start(extents.size(), 0);
  for (hsize_t row = 0; row < rows; row += step) {
    start.front() = row;
    extents.front() = std::min(step, rows - row);
    const hsize_t now = extents.front() * width;
    if (!single) {
      place.check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extents.data(),
                                      nullptr),
                  "read");
    }
    const Handle memory(place.check(H5Screate_simple(1, &now, nullptr), "read"), H5Sclose);
    const std::size_t before = values.size();
    values.resize(before + now);
    place.check(H5Dread(dataset, memory_type, memory, space, H5P_DEFAULT, values.data() + before),
                "read");
  }
  return values;
}

template <typename T>
std::vector<T> read_numbers(const Place& place, hid_t file, hid_t memory_type,
                            std::uint64_t limit) {
  const Handle dataset = open_dataset(place, file);
  const Handle type(place.check(H5Dget_type(dataset), "read the type"), H5Tclose);
  require_plain_number(place, type);
  if constexpr (std::is_integral_v<T>) {
    if (H5Tget_class(type) != H5T_INTEGER) place.fail("does not hold whole numbers");
  }
  if constexpr (sizeof(T) == 1) {
    if (H5Tget_size(type) != 1) place.fail("does not hold numbers of one byte");
  }
  const Handle space(place.check(H5Dget_space(dataset), "read the extents"), H5Sclose);
  return within_memory(place, [&] {
    const std::size_t count = count_of(place, space, limit);
    if (count == 0) return std::vector<T>();
    const std::uint64_t stored = require_stored(place, file, dataset, type, count);
    return read_in_pieces<T>(place, dataset, space, memory_type, count, stored);
  });
}

/// Strings of a dataset or attribute; `read(type, buffer)` reads all of its elements.
template <typename Read>
std::vector<std::string> read_texts(const Place& place, hid_t file_type, hid_t space,
                                    std::uint64_t limit, Read&& read) {
  if (H5Tget_class(file_type) != H5T_STRING) place.fail("does not hold strings");
  const std::size_t count = count_of(place, space, limit);
  std::vector<std::string> texts(count);
  if (count == 0) return texts;
  // The memory type copies the file's character set: HDF5 refuses to convert between them.
  const Handle type(place.check(H5Tcopy(file_type), "read the type"), H5Tclose);
  if (place.check(H5Tis_variable_str(type), "read the type") > 0) {
    std::vector<char*> pointers(count, nullptr);
    place.check(read(type, pointers.data()), "read");
    for (std::size_t i = 0; i < count; ++i) {
      if (pointers[i] != nullptr) texts[i] = pointers[i];
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > (std::uint64_t{1} << 32) / count) place.fail("more than 4 GiB of text");
  const H5T_str_t padding = H5Tget_strpad(type);
  std::vector<char> buffer(count * size);
  place.check(read(type, buffer.data()), "read");
  for (std::size_t i = 0; i < count; ++i) {
    const char* begin = buffer.data() + i * size;
    texts[i].assign(begin, std::find(begin, begin + size, '\0'));
    if (padding == H5T_STR_SPACEPAD) texts[i].erase(texts[i].find_last_not_of(' ') + 1);
  }
  return texts;
}

Handle open_attribute(const Place& object, hid_t file, const std::string& name) {
  const Handle owner = open_object(object, file);
  return {attribute_place(object, name)
              .check(H5Aopen(owner, name.c_str(), H5P_DEFAULT), "open the attribute"),
          H5Aclose};
}

}  // namespace

std::vector<float> Hdf5File::read_floats(const std::string& path,
                                         std::uint64_t max_elements) const {
  const Lock lock;
  return read_numbers<float>({file_, path}, id_, H5T_NATIVE_FLOAT, max_elements);
}

std::vector<double> Hdf5File::read_doubles(const std::string& path,
                                           std::uint64_t max_elements) const {
  const Lock lock;
  return read_numbers<double>({file_, path}, id_, H5T_NATIVE_DOUBLE, max_elements);
}

std::vector<std::int64_t> Hdf5File::read_integers(const std::string& path,
                                                  std::uint64_t max_elements) const {
  const Lock lock;
  return read_numbers<std::int64_t>({file_, path}, id_, H5T_NATIVE_INT64, max_elements);
}

std::vector<std::string> Hdf5File::read_strings(const std::string& path,
                                                std::uint64_t max_elements) const {
  const Lock lock;
  const Place place{file_, path};
  const Handle dataset = open_dataset(place, id_);
  const Handle type(place.check(H5Dget_type(dataset), "read the type"), H5Tclose);
  const Handle space(place.check(H5Dget_space(dataset), "read the extents"), H5Sclose);
  return within_memory(place, [&] {
    require_stored(place, id_, dataset, type, count_of(place, space, max_elements));
    return read_texts(place, type, space, max_elements, [&](hid_t memory_type, void* buffer) {
      return H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
    });
  });
}

std::string Hdf5File::read_bytes(const std::string& path, std::uint64_t max_elements) const {
  const Lock lock;
  const auto bytes = read_numbers<std::uint8_t>({file_, path}, id_, H5T_NATIVE_UINT8, max_elements);
  return {bytes.begin(), bytes.end()};
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const Lock lock;
  const Place place{file_, object};
  return place.check(H5Aexists(open_object(place, id_), name.c_str()), "look for attributes") > 0;
}

std::string Hdf5File::read_string_attribute(const std::string& object,
                                            const std::string& name) const {
  const Lock lock;
  const Place place = attribute_place({file_, object}, name);
  const auto texts = read_strings_attribute(object, name, 1);
  if (texts.size() != 1) place.fail("does not hold one string");
  return texts.front();
}

std::vector<std::string> Hdf5File::read_strings_attribute(const std::string& object,
                                                          const std::string& name,
                                                          std::uint64_t max_elements) const {
  const Lock lock;
  const Place owner{file_, object};
  const Place place = attribute_place(owner, name);
  const Handle attribute = open_attribute(owner, id_, name);
  const Handle type(place.check(H5Aget_type(attribute), "read the type"), H5Tclose);
  const Handle space(place.check(H5Aget_space(attribute), "read the extents"), H5Sclose);
  if (H5Tget_class(type) != H5T_STRING && count_of(place, space, max_elements) == 0) return {};
  return within_memory(place, [&] {
    return read_texts(place, type, space, max_elements, [&](hid_t memory_type, void* buffer) {
      return H5Aread(attribute, memory_type, buffer);
    });
  });
}

std::int64_t Hdf5File::read_integer_attribute(const std::string& object,
                                              const std::string& name) const {
  const Lock lock;
  const Place owner{file_, object};
  const Place place = attribute_place(owner, name);
  const Handle attribute = open_attribute(owner, id_, name);
  const Handle type(place.check(H5Aget_type(attribute), "read the type"), H5Tclose);
  const Handle space(place.check(H5Aget_space(attribute), "read the extents"), H5Sclose);
  if (H5Tget_class(type) != H5T_INTEGER || count_of(place, space, 1) != 1) {
    place.fail("does not hold one whole number");
  }
  require_plain_number(place, type);
  std::int64_t value = 0;
  place.check(H5Aread(attribute, H5T_NATIVE_INT64, &value), "read");
  return value;
}

}  // namespace neutra
