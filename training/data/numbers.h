#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "training/data/table.h"

namespace neutra::training {

/// How a binary file stores a number.
struct NumberType {
  enum Kind { kBool, kUnsigned, kSigned, kFloat };
  Kind kind = kUnsigned;
  int bytes = 1;  ///< 1, 2, 4 or 8; a float has 2 or more
  bool big_endian = false;
};

/// Throws input_error unless the extents are those of a table: at least one, none of them 0, at
/// most kMaxNumbers numbers. Returns their number.
std::uint64_t require_extents(const ByteReader& reader, const std::vector<std::uint64_t>& extents);

/// Reads a row-major table. What the extents claim is held against the size of the file first.
Table read_table(ByteReader& reader, NumberType type, const std::vector<std::uint64_t>& extents,
                 Reading reading = Reading::kAll);

}  // namespace neutra::training
