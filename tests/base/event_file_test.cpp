#include "base/event_file.h"

#include <gtest/gtest.h>

#include <limits>

namespace neutra {
namespace {

std::string hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

/// The bytes that tensorboard 2.21 makes of the same events with its RecordWriter and its protocol
/// buffers.
TEST(EventFile, BytesAreThoseOfTensorBoard) {
  EventFile file(1.5);
  file.add_text(1.5, 0, "training", "| lr | 0.1 |\n");
  file.add_scalars(1700000000.25, 300,
                   {{"val_loss", -std::numeric_limits<double>::infinity()}, {"loss", 0.5}});
  EXPECT_EQ(hex(file.bytes()),
            "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c"
            "3800000000000000a3797d5709000000000000f83f2a2d0a2b0a08747261696e696e674213080712"
            "00420d7c206c72207c20302e31207c0a4a0a0a060a0474657874200230142c502c00000000000000"
            "f4aecc450900001040fc54d94110ac022a1e0a0b0a046c6f7373150000003f0a0f0a0876616c5f6c"
            "6f737315000080ffb259c124");
}

TEST(EventFile, LongTextsHaveLongLengths) {
  EventFile file(0);
  const std::size_t before = file.bytes().size();
  file.add_text(0, 0, "long", std::string(100'000, 'x'));
  const std::string record = file.bytes().substr(before);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(record[static_cast<std::size_t>(i)]);
  EXPECT_EQ(record.size(), length + 16);
  EXPECT_NE(record.find("\x42\xa0\x8d\x06" + std::string(100, 'x')), std::string::npos);
}

}  // namespace
}  // namespace neutra
