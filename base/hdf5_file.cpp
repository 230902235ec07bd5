#include "base/hdf5_file.h"
#include "base/checksum_header.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/zip_file.h"

namespace neutra {
namespace {

constexpr std::uint64_t kPieceBytes = 1U << 23;  ///< about what is read at once
constexpr std::uint64_t kUnwrittenBytes = 1U
                                          << 20;  ///< that a dataset may have without being stored
constexpr std::uint64_t kCompressFrom = 1024;    ///< bytes; shorter datasets are stored as they are
constexpr std::uint64_t kChunkBytes = 1U << 20;  ///< about the size of a compressed chunk
constexpr std::size_t kMemoryIncrement = 1U << 20;  ///< by which a file in memory grows
constexpr unsigned kCompression = 4;                ///< gzip level

/// Debian's HDF5 is built without thread safety; recursive because closing a handle locks too.
class Lock {
 public:
  Lock() : guard_(mutex()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    static const herr_t no_external_links = H5Lunregister(H5L_TYPE_EXTERNAL);
    (void)no_external_links;
  }

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex instance;
    return instance;
  }
  std::lock_guard<std::recursive_mutex> guard_;
};

/// The innermost message of HDF5's error stack.
std::string own_words() {
  std::string words;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && error->desc != nullptr) text = error->desc;
        return 0;
      },
      &words);
  return words.empty() ? "HDF5 gives no reason" : words;
}

/// Why a file can't be opened. HDF5 says of one that is cut off "truncated file: eof = 10,
/// sblock->base_addr = 0, stored_eof = 20".
std::string why_unreadable() {
  const std::string words = own_words();
  unsigned long long has = 0, base = 0, wanted = 0;
  constexpr const char* kCut =
      "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu";
  if (std::sscanf(words.c_str(), kCut, &has, &base, &wanted) != 3) return words;
  return "it is cut off: it has " + std::to_string(has) + " of its " + std::to_string(wanted) +
         " bytes";
}

/// Where in which file, and whether a failure is the reader's input or the writer's machine.
struct Place {
  const std::filesystem::path& file;
  std::string object;
  bool writing = false;

  [[noreturn]] void fail(const std::string& reason) const {
    const std::string message = describe(file.string(), object, "", "");
    throw writing ? failure(message + ": " + reason) : input_error(message + ": " + reason);
  }
  /// Passes on a result that is not negative.
  template <typename T>
  T check(T result, const char* action) const {
    if (result < 0) fail(std::string("cannot ") + action + " (" + own_words() + ")");
    return result;
  }
};

/// An HDF5 identifier with its closing function.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

Handle open_dataset(const Place& place, hid_t file) {
  Handle dataset(place.check(H5Dopen2(file, place.object.c_str(), H5P_DEFAULT), "open the dataset"),
                 H5Dclose);
  const Handle creation(place.check(H5Dget_create_plist(dataset), "open the dataset"), H5Pclose);
  if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0) {
    place.fail("keeps its values in other files");
  }
  return dataset;
}

std::vector<std::uint64_t> extents_of(const Place& place, hid_t space) {
  const int rank = place.check(H5Sget_simple_extent_ndims(space), "read the extents");
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  place.check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read the extents");
  return {extents.begin(), extents.end()};
}

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

Handle text_type(const Place& place, std::size_t size, H5T_cset_t characters = H5T_CSET_UTF8) {
  Handle type(place.check(H5Tcopy(H5T_C_S1), "make a string type"), H5Tclose);
  place.check(H5Tset_size(type, size), "make a string type");
  place.check(H5Tset_cset(type, characters), "make a string type");
  if (size != H5T_VARIABLE) place.check(H5Tset_strpad(type, H5T_STR_NULLPAD), "make a string type");
  return type;
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

Handle open_object(const Place& place, hid_t file) {
  return {place.check(H5Oopen(file, place.object.c_str(), H5P_DEFAULT), "open"), H5Oclose};
}

/// The attribute's own place in messages: "/group@name".
Place attribute_place(const Place& object, const std::string& name) {
  return {object.file, object.object + "@" + name, object.writing};
}

Handle open_attribute(const Place& object, hid_t file, const std::string& name) {
  const Handle owner = open_object(object, file);
  return {attribute_place(object, name)
              .check(H5Aopen(owner, name.c_str(), H5P_DEFAULT), "open the attribute"),
          H5Aclose};
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

/// Groups list their members in the order of creation.
Handle tracked(const Place& place, hid_t property_class) {
  Handle properties(place.check(H5Pcreate(property_class), "create"), H5Pclose);
  place.check(H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
              "create");
  return properties;
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

/// Datasets of a trial are read as a whole up to so many bytes, of others the first and the last
/// value.
constexpr std::uint64_t kTried = std::uint64_t{4} << 20;
/// Processor time that a trial may take: a second, and one for each so many bytes of the file.
constexpr std::uint64_t kTriedInASecond = std::uint64_t{32} << 20;
/// Of so many times its processor time, a trial that has not ended gives no answer.
constexpr int kTrialPatience = 10;

/// Reads what is kept under a type and a space; `read(type, memory_space, file_space, buffer)`.
template <typename Read>
void try_values(hid_t type, hid_t space, Read&& read) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const std::size_t size = H5Tget_size(type);
  if (count <= 0 || size == 0 || size > kTried) return;
  const bool whole = static_cast<std::uint64_t>(count) <= kTried / size;
  std::vector<char> buffer(whole ? static_cast<std::size_t>(count) * size : size);
  if (whole) {
    read(type, H5S_ALL, H5S_ALL, buffer.data());
    return;
  }
  std::vector<hsize_t> first(H5S_MAX_RANK, 0), last(H5S_MAX_RANK), one(H5S_MAX_RANK, 1);
  const int rank = H5Sget_simple_extent_dims(space, last.data(), nullptr);
  for (int i = 0; i < rank; ++i) --last[static_cast<std::size_t>(i)];
  const Handle single(H5Screate(H5S_SCALAR), H5Sclose);
  for (const auto& at : {first, last}) {
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at.data(), nullptr, one.data(), nullptr);
    read(type, single, space, buffer.data());
  }
}

herr_t try_attribute(hid_t object, const char* name, const H5A_info_t*, void*) {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  try_values(type, space, [&](hid_t memory_type, hid_t, hid_t, void* buffer) {
    H5Aread(attribute, memory_type, buffer);
  });
  return 0;
}

herr_t try_object(hid_t file, const char* name, const H5O_info_t* info, void*) {
  const Handle object(H5Oopen(file, name, H5P_DEFAULT), H5Oclose);
  if (object < 0) return 0;
  hsize_t from = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &from, &try_attribute, nullptr);
  if (info->type != H5O_TYPE_DATASET) return 0;
  const Handle type(H5Dget_type(object), H5Tclose), space(H5Dget_space(object), H5Sclose);
  try_values(type, space,
             [&](hid_t memory_type, hid_t memory_space, hid_t file_space, void* buffer) {
               H5Dread(object, memory_type, memory_space, file_space, H5P_DEFAULT, buffer);
             });
  return 0;
}

/// HDF5 can die of a file whose addresses or lengths are damaged. So another process looks first
/// at all that there is in a file of so many bytes that nothing vouches for; `open` opens it. Fails
/// where that process dies, or finds no end. One that waits (for a lock that another thread held as
/// it was made) says nothing of the file: that is another failure.
template <typename Open>
void require_survivable(const Place& place, std::uint64_t bytes, Open&& open) {
  const std::uint64_t seconds = 1 + bytes / kTriedInASecond;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto limit = [](auto resource, rlim_t most) {
      const rlimit both{most, most};
      ::setrlimit(resource, &both);
    };
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, seconds);
    std::signal(SIGXCPU, SIG_DFL);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, SIG_DFL);
    // Ctrl-C is for the process that asks.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDERR_FILENO);
    try {
      const hid_t file = open();
      if (file >= 0) {
        H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, &try_object, nullptr, H5O_INFO_BASIC);
        H5Fclose(file);
      }
    } catch (const std::exception&) {
    }
    ::_exit(0);
  }
  if (child < 0) place.fail(std::string("cannot be tried: ") + std::strerror(errno));
  const std::chrono::seconds patience(kTrialPatience * seconds);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  for (auto pause = std::chrono::microseconds(200);;
       pause = std::min(2 * pause, std::chrono::microseconds(20000))) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return;  // somebody else has waited for it
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      throw failure(describe(place.file.string(), place.object, "", "") +
                    ": the process that tries it first gave no answer in " +
                    std::to_string(patience.count()) +
                    " seconds: this says nothing of the file; try again");
    }
    std::this_thread::sleep_for(pause);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    place.fail("is damaged: HDF5 does not survive reading it");
  }
}

/// Does it begin with a checksum header that is right? Then it is as neutra wrote it.
bool is_whole(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  const std::optional<ChecksumHeader> header = read_checksum_header(file);
  return header && header->digest == digest_behind_header(file);
}

}  // namespace

Hdf5File::Hdf5File(std::int64_t id, std::filesystem::path file) : id_(id), file_(std::move(file)) {}

Hdf5File Hdf5File::open(const std::filesystem::path& file) {
  const Lock lock;
  const Place place{file, ""};
  std::error_code error;
  if (!std::filesystem::exists(file, error)) place.fail("there is no such file");
  require_no_pipe(file, "an HDF5 file");
  const Handle access(place.check(H5Pcreate(H5P_FILE_ACCESS), "open"), H5Pclose);
  place.check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "open");
  const auto open = [&] { return H5Fopen(file.c_str(), H5F_ACC_RDONLY, access); };
  if (!is_whole(file)) {
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    require_survivable(place, error ? 0 : bytes, open);
  }
  const hid_t id = open();
  if (id < 0) place.fail("is no readable HDF5 file (" + why_unreadable() + ")");
  return Hdf5File(id, file);
}

Hdf5File Hdf5File::open_image(std::string_view bytes, const std::filesystem::path& file) {
  const Lock lock;
  const Place place{file, ""};
  const Handle access(place.check(H5Pcreate(H5P_FILE_ACCESS), "open"), H5Pclose);
  place.check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "open");
  place.check(H5Pset_fapl_core(access, kMemoryIncrement, false), "open");
  if (bytes.empty()) place.fail("is empty");
  // HDF5 copies the bytes.
  place.check(H5Pset_file_image(access, const_cast<char*>(bytes.data()), bytes.size()), "open");
  // HDF5 takes files in memory for the same one if they have the same name.
  static std::uint64_t opened = 0;
  const std::string name = file.string() + " " + std::to_string(++opened);
  const auto open = [&] { return H5Fopen(name.c_str(), H5F_ACC_RDONLY, access); };
  require_survivable(place, bytes.size(), open);
  const hid_t id = open();
  if (id < 0) place.fail("is no readable HDF5 file (" + why_unreadable() + ")");
  return Hdf5File(id, file);
}

Hdf5File Hdf5File::create(const std::filesystem::path& file, std::uint64_t user_block) {
  const Lock lock;
  const Place place{file, "", true};
  const Handle creation = tracked(place, H5P_FILE_CREATE);
  place.check(H5Pset_userblock(creation, user_block), "reserve the user block");
  const Handle access(place.check(H5Pcreate(H5P_FILE_ACCESS), "create"), H5Pclose);
  place.check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "create");
  return Hdf5File(place.check(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation, access), "create"),
                  file);
}

Hdf5File Hdf5File::create_in_memory(const std::filesystem::path& file, std::uint64_t user_block) {
  const Lock lock;
  const Place place{file, "", true};
  const Handle creation = tracked(place, H5P_FILE_CREATE);
  place.check(H5Pset_userblock(creation, user_block), "reserve the user block");
  const Handle access(place.check(H5Pcreate(H5P_FILE_ACCESS), "create"), H5Pclose);
  place.check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "create");
  place.check(H5Pset_fapl_core(access, kMemoryIncrement, false), "create");
  return Hdf5File(place.check(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation, access), "create"),
                  file);
}

std::string Hdf5File::image() const {
  const Lock lock;
  const Place place{file_, "", true};
  place.check(H5Fflush(id_, H5F_SCOPE_LOCAL), "write");
  const ssize_t size = place.check(H5Fget_file_image(id_, nullptr, 0), "write");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  place.check(H5Fget_file_image(id_, bytes.data(), bytes.size()), "write");
  // HDF5 counts from the end of the user block.
  const Handle creation(place.check(H5Fget_create_plist(id_), "write"), H5Pclose);
  hsize_t user_block = 0;
  place.check(H5Pget_userblock(creation, &user_block), "write");
  if (bytes.compare(0, 4, "\x89HDF") == 0) bytes.insert(0, user_block, '\0');
  return bytes;
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : id_(std::exchange(other.id_, -1)), file_(std::move(other.file_)) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(file_, other.file_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (id_ < 0) return;
  const Lock lock;
  H5Fclose(id_);
}

void Hdf5File::close() {
  if (id_ < 0) return;
  const Lock lock;
  const Place place{file_, "", true};
  const hid_t id = std::exchange(id_, -1);
  const herr_t flushed = H5Fflush(id, H5F_SCOPE_LOCAL);
  const std::string reason = flushed < 0 ? own_words() : "";
  const herr_t closed = H5Fclose(id);
  if (flushed < 0) place.fail("cannot write (" + reason + ")");
  place.check(closed, "close");
}

bool Hdf5File::has(const std::string& path) const {
  const Lock lock;
  const Place place{file_, path};
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (part == "/") return true;
    // A link on the way may be missing, or lead to something that is no group.
    if (H5Lexists(id_, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return H5Oexists_by_name(id_, path.c_str(), H5P_DEFAULT) > 0;
  }
}

std::vector<std::string> Hdf5File::list(const std::string& group) const {
  const Lock lock;
  const Place place{file_, group};
  const Handle opened(place.check(H5Gopen2(id_, group.c_str(), H5P_DEFAULT), "open the group"),
                      H5Gclose);
  const Handle properties(place.check(H5Gget_create_plist(opened), "list"), H5Pclose);
  unsigned order = 0;
  place.check(H5Pget_link_creation_order(properties, &order), "list");
  const H5_index_t index =
      (order & H5P_CRT_ORDER_INDEXED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  H5G_info_t info;
  place.check(H5Gget_info(opened, &info), "list");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto name = [&](char* buffer, std::size_t size) {
      return place.check(
          H5Lget_name_by_idx(opened, ".", index, H5_ITER_INC, i, buffer, size, H5P_DEFAULT),
          "list");
    };
    std::string text(static_cast<std::size_t>(name(nullptr, 0)), '\0');
    name(text.data(), text.size() + 1);
    names.push_back(std::move(text));
  }
  return names;
}

std::vector<std::uint64_t> Hdf5File::extents(const std::string& path) const {
  const Lock lock;
  const Place place{file_, path};
  const Handle dataset = open_dataset(place, id_);
  const Handle space(place.check(H5Dget_space(dataset), "read the extents"), H5Sclose);
  return extents_of(place, space);
}

std::uint64_t Hdf5File::stored_bytes(const std::string& path) const {
  const Lock lock;
  return H5Dget_storage_size(open_dataset({file_, path}, id_));
}

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
