#include "cli/printable_text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace neutra::cli {
namespace {

TEST(PrintableText, PrintsLinesThatSteerNothing) {
  std::ostringstream out;
  {
    const PrintableText text(out);
    out << "Gr\xc3"
        << "\xb6\xc3\x9f"
        << "e\t1\n\x1b[2J" << 'x' << std::flush;
    EXPECT_EQ(out.str(),
              "Gr\xc3\xb6\xc3\x9f"
              "e\t1\n\\x1b[2Jx");
    out << "rest\r";
  }
  EXPECT_EQ(out.str(),
            "Gr\xc3\xb6\xc3\x9f"
            "e\t1\n\\x1b[2Jxrest\\x0d");
  out << "\x1b";
  EXPECT_EQ(out.str().back(), '\x1b');  // the stream is as it was
}

TEST(PrintableText, AStreamThatFailsStaysFailed) {
  struct Full : std::streambuf {
    std::streamsize xsputn(const char*, std::streamsize) override { return 0; }
  } full;
  std::ostream out(&full);
  {
    const PrintableText text(out);
    out << "line\n" << std::flush;
  }
  EXPECT_FALSE(out);
}

}  // namespace
}  // namespace neutra::cli
