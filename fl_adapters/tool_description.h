#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/tool.h"
#include "program/formats/tool_scripts.h"

namespace neutra::fl_adapters {

/// Reads what a tool printed about a program, bytes of any kind, as one answer. Never throws for
/// what the text is. Thread safe.
using OutputParser =
    std::function<Localisation(std::string_view text, const FaultyProgram& faulty)>;

/// What an external tool gets besides program.json and request.json.
enum class ToolInput {
  kScript,  ///< train.py
  kData     ///< data.h5 and .npy files
};

/// A tool that is run as a command: docs/formats/tool.md.
struct ToolDescription {
  std::string name;     ///< of letters, digits, '_', '-', '.'
  std::string version;  ///< the tool's
  std::string description, source;
  std::vector<std::string> command;  ///< placeholders replaced except {folder}
  std::set<ToolInput> inputs;
  const program::ToolScript* script =
      program::find_tool_script("keras");                ///< how train.py is written
  double time_limit = 3600;                              ///< seconds
  std::uint64_t memory_limit = 0;                        ///< bytes; 0: none
  std::uint64_t output_limit = std::uint64_t{16} << 20;  ///< bytes
  OutputParser parser;  ///< reads what it prints; empty: it answers in JSON
  /// Of the description's text and of the files that the command names by an absolute path.
  std::string digest;
};

/// `text` with each `placeholder` replaced.
std::string filled_in(std::string text, std::string_view placeholder, const std::string& value);

/// Throws input_error: file, place in it, what was found, what is allowed.
ToolDescription read_tool_description(const std::filesystem::path& file);

}  // namespace neutra::fl_adapters
