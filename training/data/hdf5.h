#pragma once

#include "base/json.h"
#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

/// Source `hdf5`: {file}, with data sets x and y, or x_train, y_train, x_test and y_test, of any
/// number type. Throws input_error: missing file or data set, extents of 0, too many numbers.
RawData read_hdf5_source(const Json& arguments, const SearchPath& search_path, Reading reading);

}  // namespace neutra::training
