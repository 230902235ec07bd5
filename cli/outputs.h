#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"

namespace neutra::cli {

/// Can the file of an option be written, and is it no store, benchmark or journal, which a text
/// would replace? Asked before any work. Throws input_error or usage_error.
void require_text_output(const std::string& file, const std::string& option);
/// Throws usage_error for a path in the folder of a benchmark, which anything else would damage.
void require_outside_benchmarks(const std::string& path, const std::string& option);
/// Throws usage_error where an output would take the place of a file that is read.
void require_not_read(const std::string& output, const std::string& option,
                      const std::vector<std::filesystem::path>& read);
/// Throws usage_error where two of these, each with what it is ("--report"), are one file.
void require_apart(const std::vector<std::pair<std::string, std::filesystem::path>>& files);
/// Can a model file be written there? A new file, or one in the place of another model: nothing of
/// neutra's own, and no text. Throws input_error or usage_error.
void require_model_output(const std::string& file, const std::string& option);
/// The same as require_text_output() for a picture: its ending says a form that can be made.
void require_picture_file(const std::string& file, const std::string& option);
/// Writes a picture in SVG in the form that the file's ending says.
void write_picture(const std::string& svg, const std::string& file);
/// require_text_output() of --output, if it is given.
void require_output(const Arguments& arguments);

/// Where a link leads; any other name as it is. A file that is replaced in one step would take the
/// place of the link.
std::filesystem::path link_target(const std::filesystem::path& file);

}  // namespace neutra::cli
