#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>

#include "base/hdf5_handles.h"

namespace neutra::hdf5 {

/// HDF5 can die of a file whose addresses or lengths are damaged. So where nothing vouches for a
/// file of so many bytes, another process first reads all that is in it; `open` opens it. Throws
/// input_error where that process dies or finds no end. One that only waits (for a lock that
/// another thread held when it was made) says nothing of the file: that is a failure().
void require_survivable(const Place& place, std::uint64_t bytes,
                        const std::function<hid_t()>& open);

}  // namespace neutra::hdf5
