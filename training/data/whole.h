#pragma once

#include "base/json.h"
#include "training/data/data_places.h"

namespace neutra::training {

/// Are the files of a `data` section whole? Reads them, but keeps no table of large ones: of IDX
/// and CIFAR-10 files the header or length, and all bytes, so that the checksum of a packed one is
/// compared. Throws input_error where one is missing or damaged.
void require_whole(const Json& data, const SearchPath& search_path);

}  // namespace neutra::training
