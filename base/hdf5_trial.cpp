#include "base/hdf5_trial.h"

#include <sys/wait.h>

#include <exception>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/error.h"

namespace neutra::hdf5 {
namespace {

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

}  // namespace

void require_survivable(const Place& place, std::uint64_t bytes,
                        const std::function<hid_t()>& open) {
  const auto try_all = [&](int) {
    try {
      const hid_t file = open();
      if (file >= 0) {
        H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, &try_object, nullptr, H5O_INFO_BASIC);
        H5Fclose(file);
      }
    } catch (const std::exception&) {
    }
    return 0;
  };
  const std::uint64_t seconds = 1 + bytes / kTriedInASecond;
  const std::uint64_t patience = kTrialPatience * seconds;
  ChildAnswer answer;
  try {
    answer = run_copy(try_all, {.seconds = seconds, .patience = patience});
  } catch (const Error& error) {
    throw failure(describe(place.file.string(), place.object, "", "") + ": " + error.what());
  }
  if (answer.late) {
    throw failure(describe(place.file.string(), place.object, "", "") +
                  ": the process that tries it first gave no answer in " +
                  std::to_string(patience) + " seconds: this says nothing of the file; try again");
  }
  if (!WIFEXITED(answer.status) || WEXITSTATUS(answer.status) != 0) {
    place.fail("is damaged: HDF5 does not survive reading it");
  }
}

}  // namespace neutra::hdf5
