#include "base/strings.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

TEST(Strings, LettersOfAsciiBecomeLower) {
  EXPECT_EQ(lower("AZ az [\xc3\x84]"), "az az [\xc3\x84]");
}

TEST(Strings, BlanksAtTheEndsAreTrimmed) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\"a\r\n", "\"\r\n"), "a");
}

TEST(Strings, XmlHasNoMarkupOfATextAndNoControlCharacters) {
  EXPECT_EQ(xml_escaped("<a b=\"c\"> & \xc3\xa9"), "&lt;a b=&quot;c&quot;&gt; &amp; \xc3\xa9");
  EXPECT_EQ(xml_escaped("\t\n\r\x1b"), "\t\n\r?");
  EXPECT_EQ(xml_escaped("\t\n\r\x1b", "\n"), "?\n??");
}

}  // namespace
}  // namespace neutra
