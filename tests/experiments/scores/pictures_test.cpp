#include "experiments/scores/pictures.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/svg.h"
#include "tests/count.h"

namespace neutra::experiments {
namespace {

std::string drawing() {
  SvgPicture picture(120, 60);
  picture.circle(30, 30, 20, "fill=\"#0072b2\"");
  picture.text(60, 34, "a & b");
  return picture.document();
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes.at(at + i));
  }
  return number;
}

TEST(Picture, PngHasTwoPixelsForEachOfTheDrawing) {
  const std::string png = picture(drawing(), "png");
  ASSERT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(number_at(png, 16), 240U);
  EXPECT_EQ(number_at(png, 20), 120U);
  EXPECT_EQ(png.substr(png.size() - 8, 4), "IEND");
}

TEST(Picture, PdfIsOnePageOfTheSize) {
  const std::string pdf = picture(drawing(), "pdf");
  EXPECT_TRUE(pdf.starts_with("%PDF-1."));
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  EXPECT_EQ(count(pdf, "/Count 1"), 1U);
  EXPECT_NE(pdf.find("/MediaBox [ 0 0 90 45 ]"), std::string::npos);  // points
}

TEST(Picture, HasTheSameBytesAtAnotherTime) {
  const std::string pdf = picture(drawing(), "pdf"), png = picture(drawing(), "png");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // dates have seconds
  EXPECT_EQ(picture(drawing(), "pdf"), pdf);
  EXPECT_EQ(picture(drawing(), "png"), png);
  EXPECT_EQ(picture(drawing(), "svg"), drawing());
}

TEST(Picture, SaysWhatWentWrong) {
  try {
    picture("<svg", "png");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kFailed);
    EXPECT_NE(std::string(error.what()).find("rsvg-convert could not draw"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(laid_out("digraph {"), Error);
}

TEST(Picture, FormsAreEndings) {
  EXPECT_EQ(picture_form("a.b/c.png", "--plot"), "png");
  for (const char* file : {"c.gif", "png", "c", "c.PNG"}) {
    EXPECT_THROW(picture_form(file, "--plot"), Error) << file;
  }
}

TEST(LaidOut, IsSvgOfTheGraph) {
  const std::string svg = laid_out("digraph g { a -> b [label=\"x & y\"]; }");
  EXPECT_EQ(count(svg, "class=\"node\""), 2U) << svg;
  EXPECT_NE(svg.find("x &amp; y"), std::string::npos) << svg;
}

TEST(LaidOut, LargeNetworksAreLaidOutTheSameAgain) {
  std::string dot = "digraph g { layout=sfdp; overlap=prism; node [shape=box];\n";
  for (int i = 1; i < 300; ++i) {
    dot += "n" + std::to_string(i / 40) + " -> n" + std::to_string(i) + ";\n";
  }
  dot += "}";
  EXPECT_EQ(laid_out(dot), laid_out(dot));
}

}  // namespace
}  // namespace neutra::experiments
