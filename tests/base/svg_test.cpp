#include "base/svg.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

TEST(Svg, ShapesAndEscapedWords) {
  SvgPicture picture(100, 50.126);
  picture.line(0, 0.004, 10, 20, "stroke=\"black\"");
  picture.circle(1, 2, 3, "fill=\"red\"", "a < b & \"c\"\x01");
  picture.square(10, 10, 2, "fill=\"blue\"");
  picture.text(5, 6, "<F3>", "end", 9, true);
  const std::string text = picture.document();
  for (const char* part :
       {"width=\"100\" height=\"50.13\" viewBox=\"0 0 100 50.13\"",
        "<line x1=\"0\" y1=\"0\" x2=\"10\" y2=\"20\" stroke=\"black\"/>",
        "<circle cx=\"1\" cy=\"2\" r=\"3\" fill=\"red\"><title>a &lt; b &amp; "
        "&quot;c&quot;?</title></circle>",
        "<rect x=\"8\" y=\"8\" width=\"4\" height=\"4\" fill=\"blue\"/>",
        "text-anchor=\"end\" font-size=\"9\" transform=\"rotate(-90 5 6)\">&lt;F3&gt;</text>"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace neutra
