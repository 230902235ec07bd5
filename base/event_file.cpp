#include "base/event_file.h"

#include <array>
#include <bit>

namespace neutra {
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7f) | 0x80);
  return text + static_cast<char>(value);
}

// Fields of a message by number and kind.
enum WireType : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
std::string tag(std::uint64_t number, WireType type) { return varint(number << 3 | type); }
std::string integer(std::uint64_t number, std::uint64_t value) {
  return tag(number, kVarint) + varint(value);
}
std::string real(std::uint64_t number, double value) {
  return tag(number, kFixed64) + little_endian(std::bit_cast<std::uint64_t>(value), 8);
}
std::string real(std::uint64_t number, float value) {
  return tag(number, kFixed32) + little_endian(std::bit_cast<std::uint32_t>(value), 4);
}
std::string field(std::uint64_t number, std::string_view value) {
  return tag(number, kBytes) + varint(value.size()) + std::string(value);
}

/// TFRecord keeps the checksums of data that may hold checksums apart from those.
std::string masked_checksum(std::string_view data) {
  const std::uint32_t crc = crc32c(data);
  return little_endian(std::rotr(crc, 15) + 0xa282ead8U, 4);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
      entries[i] = crc;
    }
    return entries;
  }();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

EventFile::EventFile(double time) { add_event(time, 0, field(3, "brain.Event:2")); }

void EventFile::add_event(double time, std::int64_t step, const std::string& rest) {
  std::string event = real(1, time);
  if (step != 0) event += integer(2, static_cast<std::uint64_t>(step));
  event += rest;
  const std::string length = little_endian(event.size(), 8);
  bytes_ += length + masked_checksum(length) + event + masked_checksum(event);
}

void EventFile::add_scalars(double time, std::int64_t step,
                            const std::map<std::string, double>& values) {
  std::string summary;
  for (const auto& [name, value] : values)
    summary += field(1, field(1, name) + real(2, static_cast<float>(value)));
  add_event(time, step, field(5, summary));
}

void EventFile::add_text(double time, std::int64_t step, std::string_view tag,
                         std::string_view markdown) {
  constexpr std::uint64_t kString = 7, kTensor = 2;  // DataType, DataClass
  const std::string metadata = field(1, field(1, "text")) + integer(4, kTensor);
  const std::string tensor = integer(1, kString) + field(2, "") + field(8, markdown);
  add_event(time, step, field(5, field(1, field(1, tag) + field(8, tensor) + field(9, metadata))));
}

}  // namespace neutra
