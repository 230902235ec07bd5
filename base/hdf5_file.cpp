#include "base/hdf5_file.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "base/checksum_header.h"
#include "base/files.h"
#include "base/hdf5_handles.h"
#include "base/hdf5_trial.h"

namespace neutra {
namespace {

using namespace hdf5;

constexpr std::size_t kMemoryIncrement = std::size_t{1} << 20;  ///< by which a file in memory grows

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

/// Does it begin with a checksum header that is right? Then it is as neutra wrote it.
bool is_whole(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  const std::optional<ChecksumHeader> header = read_checksum_header(file);
  return header && header->digest == digest_behind_header(file);
}

/// A new file, on the disk or in memory alone. The caller holds the lock.
hid_t created(const std::filesystem::path& file, std::uint64_t user_block, bool in_memory) {
  const Place place{file, "", true};
  const Handle creation = tracked(place, H5P_FILE_CREATE);
  place.check(H5Pset_userblock(creation, user_block), "reserve the user block");
  const Handle access(place.check(H5Pcreate(H5P_FILE_ACCESS), "create"), H5Pclose);
  place.check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "create");
  if (in_memory) place.check(H5Pset_fapl_core(access, kMemoryIncrement, false), "create");
  return place.check(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation, access), "create");
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
  return Hdf5File(created(file, user_block, false), file);
}

Hdf5File Hdf5File::create_in_memory(const std::filesystem::path& file, std::uint64_t user_block) {
  const Lock lock;
  return Hdf5File(created(file, user_block, true), file);
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

}  // namespace neutra
