#include "base/printable.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const char* text : {"", "Größe, 層, \xf0\x9f\x98\x80 (0) \\x1b", "a\xc2\xa0z"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, SpellsWhatSteersATerminal) {
  struct Case {
    std::string_view text, shown;
  };
  for (const auto& [text, shown] : {
           Case{"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},
           Case{"one\r\ntwo\t3\x7f", "one\\x0d\\x0atwo\\x093\\x7f"},
           Case{{"\0", 1}, "\\x00"},
           Case{"\xc2\x9b"
                "31m",
                "\\xc2\\x9b31m"},
           Case{"\xe2\x80\xaeogol", "\\xe2\\x80\\xaeogol"},
       }) {
    EXPECT_EQ(printable(text), shown);
  }
  EXPECT_EQ(printable("a\tb\nc\x1b", "\n\t"), "a\tb\nc\\x1b");
}

TEST(Printable, SpellsBytesThatAreNoUtf8) {
  struct Case {
    std::string_view text, shown;
  };
  for (const auto& [text, shown] : {
           Case{"a\x9bz", "a\\x9bz"},                         // C1 of an 8-bit terminal
           Case{"\xc3", "\\xc3"},                             // cut off
           Case{"\xc0\xaf", "\\xc0\\xaf"},                    // longer than needed
           Case{"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
           Case{"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},  // beyond Unicode
       }) {
    EXPECT_EQ(printable(text), shown);
  }
}

}  // namespace
}  // namespace neutra
