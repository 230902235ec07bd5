#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/hdf5_file.h"
#include "base/hdf5_handles.h"

namespace neutra {
namespace {

using namespace hdf5;

constexpr std::uint64_t kCompressFrom = 1024;  ///< bytes; shorter datasets are stored as they are
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;  ///< about a compressed chunk
constexpr unsigned kCompression = 4;                           ///< gzip level

Handle text_type(const Place& place, std::size_t size, H5T_cset_t characters = H5T_CSET_UTF8) {
  Handle type(place.check(H5Tcopy(H5T_C_S1), "make a string type"), H5Tclose);
  place.check(H5Tset_size(type, size), "make a string type");
  place.check(H5Tset_cset(type, characters), "make a string type");
  if (size != H5T_VARIABLE) place.check(H5Tset_strpad(type, H5T_STR_NULLPAD), "make a string type");
  return type;
}

/// Creates an attribute (over one of the same name) with the values of a space.
void write_values(const Place& object, hid_t file, const std::string& name, hid_t type, hid_t space,
                  const void* values) {
  const Handle owner = open_object(object, file);
  const Place place = attribute_place(object, name);
  if (place.check(H5Aexists(owner, name.c_str()), "write") > 0) {
    place.check(H5Adelete(owner, name.c_str()), "replace");
  }
  const Handle attribute(
      place.check(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "write"),
      H5Aclose);
  if (values != nullptr) place.check(H5Awrite(attribute, type, values), "write");
}

/// The same with one value.
void write_one(const Place& object, hid_t file, const std::string& name, hid_t type,
               const void* value) {
  const Handle space(object.check(H5Screate(H5S_SCALAR), "write"), H5Sclose);
  write_values(object, file, name, type, space, value);
}

void require_no_nul(const Place& place, const std::string& text) {
  if (text.find('\0') != std::string::npos) place.fail("HDF5 strings cannot hold a NUL");
}

/// Fixed-length strings one behind the other, padded with NULs; `longest`: the length of each.
std::string packed(const Place& place, const std::vector<std::string>& texts, std::size_t longest) {
  std::string bytes(longest * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    require_no_nul(place, texts[i]);
    texts[i].copy(bytes.data() + i * longest, longest);
  }
  return bytes;
}

/// Creates missing groups on the way to `path`.
void make_groups(const Place& place, hid_t file, const std::string& path) {
  for (auto slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string group = path.substr(0, slash);
    if (place.check(H5Lexists(file, group.c_str(), H5P_DEFAULT), "write") > 0) continue;
    const Handle properties = tracked(place, H5P_GROUP_CREATE);
    const Handle created(
        place.check(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT), "write"),
        H5Gclose);
  }
}

/// Writes a new dataset of `count` elements, compressed where that pays.
void write_dataset(const Place& place, hid_t file, hid_t file_type, hid_t memory_type,
                   const void* values, std::size_t count, const std::vector<std::uint64_t>& extents,
                   bool compress = true) {
  std::vector<hsize_t> shape(extents.begin(), extents.end());
  if (shape.empty()) shape = {count};
  if (std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>()) != count) {
    place.fail("the extents don't match the " + std::to_string(count) + " values");
  }
  make_groups(place, file, place.object);
  const Handle space(
      place.check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "write"),
      H5Sclose);
  const Handle properties(place.check(H5Pcreate(H5P_DATASET_CREATE), "write"), H5Pclose);
  // Time stamps would make equal contents differ in their bytes.
  place.check(H5Pset_obj_track_times(properties, false), "write");
  const std::size_t element = H5Tget_size(file_type);
  const bool compressible = H5Tis_variable_str(file_type) <= 0;
  if (compress && compressible && count * element > kCompressFrom) {
    std::vector<hsize_t> chunk = shape;
    const hsize_t row = count / shape.front() * element;
    chunk.front() = std::clamp<hsize_t>(kChunkBytes / row, 1, shape.front());
    // HDF5 refuses chunks of 4 GiB: rows that large are stored as they are.
    if (chunk.front() * row < std::numeric_limits<std::uint32_t>::max()) {
      place.check(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()), "write");
      place.check(H5Pset_shuffle(properties), "write");
      place.check(H5Pset_deflate(properties, kCompression), "write");
    }
  }
  const Handle dataset(place.check(H5Dcreate2(file, place.object.c_str(), file_type, space,
                                              H5P_DEFAULT, properties, H5P_DEFAULT),
                                   "create the dataset"),
                       H5Dclose);
  if (count > 0) {
    place.check(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write");
  }
}

}  // namespace

void Hdf5File::write(const std::string& path, const std::vector<float>& values,
                     const std::vector<std::uint64_t>& extents) {
  const Lock lock;
  write_dataset({file_, path, true}, id_, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values.data(),
                values.size(), extents);
}

void Hdf5File::write(const std::string& path, const std::vector<double>& values,
                     const std::vector<std::uint64_t>& extents) {
  const Lock lock;
  write_dataset({file_, path, true}, id_, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(),
                values.size(), extents);
}

void Hdf5File::write(const std::string& path, const std::vector<std::int64_t>& values,
                     const std::vector<std::uint64_t>& extents) {
  const Lock lock;
  write_dataset({file_, path, true}, id_, H5T_STD_I64LE, H5T_NATIVE_INT64, values.data(),
                values.size(), extents);
}

void Hdf5File::write_bytes(const std::string& path, std::string_view bytes, bool compress) {
  const Lock lock;
  write_dataset({file_, path, true}, id_, H5T_STD_U8LE, H5T_NATIVE_UINT8, bytes.data(),
                bytes.size(), {}, compress);
}

void Hdf5File::write(const std::string& path, const std::vector<std::string>& values) {
  const Lock lock;
  const Place place{file_, path, true};
  std::size_t longest = 1, total = 0;
  for (const std::string& value : values) {
    require_no_nul(place, value);
    longest = std::max(longest, value.size());
    total += value.size();
  }
  // Fixed length compresses well; variable length wastes nothing when few strings are very long.
  if (longest * values.size() <= 4 * total + kCompressFrom) {
    const std::string bytes = packed(place, values, longest);
    const Handle type = text_type(place, longest);
    write_dataset(place, id_, type, type, bytes.data(), values.size(), {});
  } else {
    std::vector<const char*> pointers;
    for (const std::string& value : values) pointers.push_back(value.c_str());
    const Handle type = text_type(place, H5T_VARIABLE);
    write_dataset(place, id_, type, type, pointers.data(), values.size(), {});
  }
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name,
                               const std::string& value) {
  const Lock lock;
  const Place place{file_, object, true};
  require_no_nul(attribute_place(place, name), value);
  // Variable length: kept outside of the object's header, which holds 64 KiB only.
  const Handle type = text_type(place, H5T_VARIABLE);
  const char* text = value.c_str();
  write_one(place, id_, name, type, &text);
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name,
                               std::int64_t value) {
  const Lock lock;
  const Place place{file_, object, true};
  write_one(place, id_, name, H5T_NATIVE_INT64, &value);
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name,
                               const std::vector<std::string>& values) {
  const Lock lock;
  const Place place{file_, object, true};
  const hsize_t count = values.size();
  const Handle space(place.check(H5Screate_simple(1, &count, nullptr), "write"), H5Sclose);
  if (values.empty()) {
    write_values(place, id_, name, H5T_IEEE_F64LE, space, nullptr);
    return;
  }
  std::size_t longest = 1;
  for (const std::string& value : values) longest = std::max(longest, value.size());
  const std::string bytes = packed(attribute_place(place, name), values, longest);
  const Handle type = text_type(place, longest, H5T_CSET_ASCII);
  write_values(place, id_, name, type, space, bytes.data());
}

void Hdf5File::write_ascii_attribute(const std::string& object, const std::string& name,
                                     const std::string& value) {
  const Lock lock;
  const Place place{file_, object, true};
  require_no_nul(attribute_place(place, name), value);
  const Handle type = text_type(place, H5T_VARIABLE, H5T_CSET_ASCII);
  const char* text = value.c_str();
  write_one(place, id_, name, type, &text);
}

void Hdf5File::make_group(const std::string& path) {
  const Lock lock;
  make_groups({file_, path, true}, id_, path + "/");
}

}  // namespace neutra
