#include "training/data/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>

namespace neutra::training {
namespace {

constexpr std::size_t kChunk = 1U << 16;  ///< numbers decoded at once

/// IEEE 754 binary16.
double half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<double>(bits & 1023);
  double value = exponent == 0    ? std::ldexp(fraction, -24)
                 : exponent == 31 ? (fraction == 0 ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN())
                                  : std::ldexp(fraction + 1024, exponent - 25);
  return (bits >> 15 & 1) != 0 ? -value : value;
}

double number(std::uint64_t bits, NumberType type) {
  switch (type.kind) {
    case NumberType::kBool:
      return bits != 0;
    case NumberType::kUnsigned:
      return static_cast<double>(bits);
    case NumberType::kSigned: {
      const int unused = 64 - 8 * type.bytes;
      return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
    }
    case NumberType::kFloat:
      return type.bytes == 2   ? half(bits)
             : type.bytes == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                               : std::bit_cast<double>(bits);
  }
  return 0;
}

}  // namespace

std::uint64_t require_extents(const ByteReader& reader, const std::vector<std::uint64_t>& extents) {
  constexpr auto kLimit = static_cast<std::uint64_t>(kMaxNumbers);
  std::string text;
  for (const std::uint64_t extent : extents) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  if (extents.empty()) reader.fail("a single number", "an array of rows");
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) {
    if (extent == 0) reader.fail("extents " + text, "extents of 1 or more");
    if (extent > kLimit / count) {
      reader.fail("extents " + text, "at most " + std::to_string(kLimit) + " numbers");
    }
    count *= extent;
  }
  return count;
}

Table read_table(ByteReader& reader, NumberType type, const std::vector<std::uint64_t>& extents,
                 Reading reading) {
  const std::uint64_t count = require_extents(reader, extents);
  const auto width = static_cast<std::size_t>(type.bytes);
  reader.require(count * width, "an array of " + std::to_string(count) + " numbers");
  Table table{{extents.begin(), extents.end()}, {}};
  if (reading == Reading::kHeader) return table;
  try {
    table.values.reserve(count);
  } catch (const std::bad_alloc&) {
    reader.fail(std::to_string(count) + " numbers", "a table that fits into memory");
  }
  std::vector<char> buffer(std::min<std::uint64_t>(count, kChunk) * width);
  while (table.values.size() < count) {
    const std::size_t now = std::min<std::size_t>(kChunk, count - table.values.size());
    reader.read(std::span(buffer).first(now * width), "the array");
    for (std::size_t i = 0; i < now; ++i) {
      table.values.push_back(
          number(unsigned_number(buffer.data() + i * width, type.bytes, type.big_endian), type));
    }
  }
  return table;
}

}  // namespace neutra::training
