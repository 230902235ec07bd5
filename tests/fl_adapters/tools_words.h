#pragma once

#include <regex>
#include <string>

namespace neutra::fl_adapters {

/// A message with layers as the tool tells them: "layer 3, dense_2 (the tool's layer 2)" is its
/// "layer 2".
inline std::string in_the_tools_words(const std::string& text) {
  static const std::regex other(R"((layer ?: |layer )\d+, [\w ]+ \(the tool's layer (\d+)\))");
  static const std::regex same(R"((layer ?: |layer )(\d+), (behind the last layer|\w+))");
  return std::regex_replace(std::regex_replace(text, other, "$1$2"), same, "$1$2");
}

}  // namespace neutra::fl_adapters
