#pragma once

#include "base/byte_reader.h"
#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

/// Reads an IDX file, the format of MNIST (Y. LeCun, C. Cortes, C. Burges, The MNIST database of
/// handwritten digits): two zero bytes, the type of the numbers, the number of extents, the extents
/// as 32-bit numbers, the numbers; all big-endian.
Table read_idx(ByteReader& reader, Reading reading = Reading::kAll);

/// Source `idx`: {train_images, train_labels, test_images, test_labels}, four files, each also
/// found with or without ".gz".
RawData read_idx_source(const Json& arguments, const SearchPath& search_path, Reading reading);

}  // namespace neutra::training
