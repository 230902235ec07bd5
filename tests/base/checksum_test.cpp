#include "base/checksum.h"

#include <fstream>
#include <iterator>

#include "base/hdf5_file.h"
#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::error_of;
using tests::TestFolder;

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

TEST(Seal, FilesOfAFormatThatHadNone) {
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
  const auto error = [&] { return error_of([&] { require_seal(path, "test-format", 3); }); };
  EXPECT_NE(error().find("there is no such file"), std::string::npos);
  write(image(0));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(error(), "");
  EXPECT_EQ(error(), "");
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("has no digest"), std::string::npos);
  EXPECT_EQ(told.find("has no digest"), told.rfind("has no digest"));  // once for a file
  std::string bytes = image(kSealBytes);
  write(bytes);
  EXPECT_NE(error().find("bytes at its start that are no seal"), std::string::npos);
  seal(bytes, "test-format", 3);
  write(bytes);
  EXPECT_EQ(error(), "");
  write(bytes + "x");
  EXPECT_NE(error().find("the file is damaged"), std::string::npos);
  std::string other = image(kSealBytes);
  seal(other, "test-format", 4);
  write(other);
  EXPECT_NE(error().find("a newer neutra made it"), std::string::npos);
  seal(other, "neutra-store", 1);
  write(other);
  EXPECT_NE(error().find("the store of a search"), std::string::npos);
  write("a,b\n1,2\n");
  EXPECT_NE(error().find("a whole file of test-format"), std::string::npos);
}

TEST(Seal, AJsonDocumentKnowsItsDigest) {
  const TestFolder folder;
  const auto path = folder / "a.json";
  const Json document = {{"format", "x"}, {"values", {1, 0.1, -0.0, "a\u00e4"}}, {"empty", {}}};
  const std::string text = to_text(sealed(document));
  EXPECT_EQ(sealed_text(to_text(document), "a"), text);
  EXPECT_EQ(sealed_text("{\"a\":\n [1]\n}\n", "a").substr(0, 14), "{\"a\":\n [1],\n  ");
  std::size_t same = 0;
  const auto attempt = [&](const std::string& damaged) {
    std::ofstream(path, std::ios::binary) << damaged;
    ::testing::internal::CaptureStderr();
    try {
      const Json read = read_sealed_json(path, "x");
      Json found = read;  // where the digest is not known as one, its member stays
      if (found.size() > document.size()) found.erase(std::prev(found.end()));
      EXPECT_EQ(found, document);
      same += read == document;
    } catch (const Error&) {
    }
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(attempt(text), "");
  EXPECT_EQ(same, 1U);
  EXPECT_NE(attempt(to_text(document)).find("has no digest"), std::string::npos);
  EXPECT_EQ(same, 2U);
  // One of another kind is refused by who reads it: nothing is said of its digest.
  const auto other = folder / "b.json";
  std::ofstream(other, std::ios::binary) << R"({"format": "y"})";
  ::testing::internal::CaptureStderr();
  read_sealed_json(other, "x");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    attempt(damaged);
  }
  for (std::size_t length = 0; length < text.size(); ++length) attempt(text.substr(0, length));
}

}  // namespace
}  // namespace neutra
