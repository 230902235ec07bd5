#include "base/svg.h"

#include <cmath>

#include "base/numbers.h"
#include "base/strings.h"

namespace neutra {
namespace {

/// Two decimals are enough for a picture, and the same on every machine.
std::string length(double value) { return shortest(std::round(value * 100) / 100); }

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + length(value) + "\"";
}

}  // namespace

SvgPicture::SvgPicture(double width, double height) : width_(width), height_(height) {}

void SvgPicture::shape(const std::string& tag, const std::string& style, const std::string& title) {
  body_ += "  <" + tag + " " + style;
  if (title.empty()) {
    body_ += "/>\n";
  } else {
    body_ +=
        "><title>" + xml_escaped(title, "\n") + "</title></" + tag.substr(0, tag.find(' ')) + ">\n";
  }
}

void SvgPicture::line(double x1, double y1, double x2, double y2, const std::string& style) {
  shape("line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
            attribute("y2", y2),
        style, "");
}

void SvgPicture::circle(double x, double y, double radius, const std::string& style,
                        const std::string& title) {
  shape("circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius), style, title);
}

void SvgPicture::square(double x, double y, double half, const std::string& style,
                        const std::string& title) {
  shape("rect" + attribute("x", x - half) + attribute("y", y - half) +
            attribute("width", 2 * half) + attribute("height", 2 * half),
        style, title);
}

void SvgPicture::text(double x, double y, const std::string& words, const std::string& anchor,
                      double size, bool turned) {
  body_ += "  <text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor +
           "\" font-size=\"" + length(size) + "\"";
  if (turned) {
    body_ += " transform=\"rotate(-90 ";
    body_ += length(x) + " " + length(y) + ")\"";
  }
  body_ += ">" + xml_escaped(words, "\n") + "</text>\n";
}

std::string SvgPicture::document() const {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\"" +
         attribute("width", width_) + attribute("height", height_) + " viewBox=\"0 0 " +
         length(width_) + " " + length(height_) +
         "\" font-family=\"sans-serif\">\n"
         "  <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         body_ + "</svg>\n";
}

}  // namespace neutra
