#pragma once

#include <string>

namespace neutra {

/// A picture of simple shapes in SVG 1.1. Lengths are in pixels, y grows downwards.
class SvgPicture {
 public:
  SvgPicture(double width, double height);
  /// `style`: attributes such as `stroke="#888"`. `title` shows when the pointer rests on the
  /// shape.
  void line(double x1, double y1, double x2, double y2, const std::string& style);
  void circle(double x, double y, double radius, const std::string& style,
              const std::string& title = "");
  void square(double x, double y, double half, const std::string& style,
              const std::string& title = "");
  /// `anchor`: start, middle or end. `turned`: upwards, for the name of an axis.
  void text(double x, double y, const std::string& words, const std::string& anchor = "start",
            double size = 12, bool turned = false);
  /// The whole document.
  std::string document() const;

 private:
  void shape(const std::string& tag, const std::string& style, const std::string& title);
  double width_, height_;
  std::string body_;
};

/// Shades that the colour-blind tell apart (Okabe and Ito, Color universal design, 2008).
inline constexpr const char* kSvgColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#000000", "#b0a000"};

}  // namespace neutra
