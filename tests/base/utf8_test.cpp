#include "base/utf8.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

TEST(Utf8, TheFirstByteThatIsNoUtf8IsFound) {
  constexpr std::size_t kNone = std::string_view::npos;
  for (const auto& [text, at] :
       std::vector<std::pair<std::string_view, std::size_t>>{{"", kNone},
                                                             {"Größe, 層\n", kNone},
                                                             {"\xff", 0},
                                                             {"ab\xc3", 2},
                                                             {"ab\xc3\xa9\x80", 4},
                                                             {"\xed\xa0\x80", 0}}) {  // a surrogate
    EXPECT_EQ(find_no_utf8(text), at);
  }
}

}  // namespace
}  // namespace neutra
