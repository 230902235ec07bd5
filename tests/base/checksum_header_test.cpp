#include "base/checksum_header.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file_kind.h"
#include "base/hdf5_file.h"
#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::error_of;
using tests::TestFolder;

TEST(ChecksumHeader, EveryByteCounts) {
  const TestFolder folder;
  const auto path = folder / "a.h5";
  auto file = Hdf5File::create_in_memory(path, kChecksumHeaderBytes);
  file.write("/words", std::vector<std::string>{"a", "b"});
  file.write_bytes("/data/bytes", std::string("\0\1\377", 3));
  std::string bytes = file.image();
  file.close();
  put_checksum_header(bytes, "test-format", 3);
  const auto write = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  };
  write(bytes);
  const auto found = read_checksum_header(path);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format, "test-format");
  EXPECT_EQ(found->version, 3);
  EXPECT_EQ(found->digest, digest_behind_header(path));
  EXPECT_EQ(Hdf5File::open(path).read_bytes("/data/bytes"), std::string("\0\1\377", 3));

  const auto sound = [&] {
    const auto header = read_checksum_header(path);
    return header && header->format == "test-format" && header->version == 3 &&
           header->digest == digest_behind_header(path);
  };
  EXPECT_TRUE(sound());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);  // "a" to "A", zero to blank
    write(damaged);
    ASSERT_FALSE(sound()) << "byte " << i;
  }
  for (const std::size_t length : {0UL, 1UL, 511UL, 512UL, 513UL, bytes.size() - 1}) {
    write(bytes.substr(0, length));
    EXPECT_FALSE(sound()) << length;
  }
  write(bytes + '\0');
  EXPECT_FALSE(sound());
}

TEST(ChecksumHeader, IsRequiredOfAFormatThatHasIt) {
  const TestFolder folder;
  const auto path = folder / "a.h5";
  const auto write = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  };
  const auto image = [&](std::uint64_t block) {
    auto file = Hdf5File::create_in_memory(path, block);
    file.write("/words", std::vector<std::string>{"a", "b"});
    return file.image();
  };
  const auto error = [&] { return error_of([&] { require_format(path, "test-format", 3); }); };
  EXPECT_NE(error().find("there is no such file"), std::string::npos);
  write(image(0));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(error(), "");
  EXPECT_EQ(error(), "");
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("has no digest"), std::string::npos);
  EXPECT_EQ(told.find("has no digest"), told.rfind("has no digest"));  // once for a file
  std::string bytes = image(kChecksumHeaderBytes);
  write(bytes);
  EXPECT_NE(error().find("bytes at its start that are no checksum header"), std::string::npos);
  put_checksum_header(bytes, "test-format", 3);
  write(bytes);
  EXPECT_EQ(error(), "");
  write(bytes + "x");
  EXPECT_NE(error().find("the file is damaged"), std::string::npos);
  std::string other = image(kChecksumHeaderBytes);
  put_checksum_header(other, "test-format", 4);
  write(other);
  EXPECT_NE(error().find("a newer neutra made it"), std::string::npos);
  put_checksum_header(other, "neutra-store", 1);
  write(other);
  EXPECT_NE(error().find("found an HDF5 file; allowed: a file of test-format"), std::string::npos);
  write("a,b\n1,2\n");
  EXPECT_NE(error().find("a whole file of test-format"), std::string::npos);
}

}  // namespace
}  // namespace neutra
