#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace neutra::experiments {

/// Forms of pictures, which are the endings of their files: svg, png, pdf.
const std::vector<std::string>& picture_forms();

/// The form that a file's ending says. Throws usage_error, which names the option `name`, for
/// another ending.
std::string picture_form(const std::filesystem::path& file, const std::string& name);

/// Can pictures of this form be made? Asked before long work. Throws failure(), which names the
/// program that is missing.
void require_picture_form(const std::string& form);

/// A picture in SVG as a file of some form: itself, PNG with two pixels for each of its own, or PDF
/// with its fonts, by librsvg's rsvg-convert. The same SVG gives the same bytes with the same
/// version of librsvg and the same fonts. Throws failure() where that is missing or fails.
std::string picture(const std::string& svg, const std::string& form);

/// A graph in Graphviz's language as SVG, laid out by Graphviz's dot. Throws failure() where that
/// is missing or fails.
std::string laid_out(const std::string& dot);

}  // namespace neutra::experiments
