#include "base/checked_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::TestFolder;

TEST(CheckedJson, ADocumentKnowsItsDigest) {
  const TestFolder folder;
  const auto path = folder / "a.json";
  const Json document = {{"format", "x"}, {"values", {1, 0.1, -0.0, "a\u00e4"}}, {"empty", {}}};
  const std::string text = to_text(with_digest(document));
  EXPECT_EQ(text_with_digest(to_text(document), "a"), text);
  EXPECT_EQ(text_with_digest("{\"a\":\n [1]\n}\n", "a").substr(0, 14), "{\"a\":\n [1],\n  ");
  std::size_t same = 0;
  const auto attempt = [&](const std::string& damaged) {
    std::ofstream(path, std::ios::binary) << damaged;
    ::testing::internal::CaptureStderr();
    try {
      const Json read = read_checked_json(path, "x");
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
  read_checked_json(other, "x");
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
