#pragma once

#include <cstddef>

#include "base/byte_reader.h"
#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

inline constexpr std::size_t kCifar10Row = 1 + 32 * 32 * 3;  ///< bytes of a row

/// Reads one batch of the binary version of CIFAR-10 (A. Krizhevsky, Learning multiple layers of
/// features from tiny images, 2009; https://www.cs.toronto.edu/~kriz/cifar.html) and appends its
/// rows. A row is a label byte 0 to 9 and 32x32 bytes of red, of green and of blue; here, as in
/// Keras, an image is 32 x 32 x 3.
void read_cifar10(ByteReader& reader, Part& part);

/// Source `cifar10`: {train: [files], test: [files]}.
RawData read_cifar10_source(const Json& arguments, const SearchPath& search_path, Reading reading);

}  // namespace neutra::training
