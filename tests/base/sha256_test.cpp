#include "base/sha256.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

// Of FIPS 180-4's examples, and lengths around a block's end (Python's hashlib).
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(std::string(64, '\0')),
            "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

TEST(Sha256, Form) {
  EXPECT_TRUE(is_sha256(sha256("x")));
  EXPECT_FALSE(is_sha256(sha256("x").substr(1)));
  EXPECT_FALSE(is_sha256(std::string(64, 'A')));
}

}  // namespace
}  // namespace neutra
