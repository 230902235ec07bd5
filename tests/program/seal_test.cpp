#include "program/seal.h"

#include <fstream>

#include "program/hdf5_file.h"
#include "support.h"

namespace neutra {
namespace {

using testing::TestFolder;

TEST(Seal, EveryByteCounts) {
  const TestFolder folder;
  const auto path = folder / "a.h5";
  auto file = Hdf5File::create_in_memory(path, kSealBytes);
  file.write("/words", std::vector<std::string>{"a", "b"});
  file.write_bytes("/data/bytes", std::string("\0\1\377", 3));
  std::string bytes = file.image();
  file.close();
  seal(bytes, "test-format", 3);
  const auto write = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  };
  write(bytes);
  const auto found = read_seal(path);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format, "test-format");
  EXPECT_EQ(found->version, 3);
  EXPECT_EQ(found->digest, sealed_digest(path));
  EXPECT_EQ(Hdf5File::open(path).read_bytes("/data/bytes"), std::string("\0\1\377", 3));

  const auto sound = [&] {
    const auto seal = read_seal(path);
    return seal && seal->format == "test-format" && seal->version == 3 &&
           seal->digest == sealed_digest(path);
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

}  // namespace
}  // namespace neutra
