#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "source/rule.h"
#include "source/source_text.h"

namespace neutra::source {

/// A line that shows how a finding came about.
struct Step {
  std::uint32_t line = 1;
  std::string text;  ///< of the line, without its indentation
};

/// Another place that a finding names.
struct RelatedPlace {
  Position position;
  std::uint32_t begin = 0, end = 0;  ///< bytes of the expression
  std::string text;                  ///< what is there
};

/// A change of a text.
struct Edit {
  std::uint32_t begin = 0, end = 0;  ///< bytes that are replaced
  std::string text;
};

/// A silent bug at a place of a text.
struct Finding {
  const Rule* rule = nullptr;
  Position position;
  std::uint32_t begin = 0, end = 0;  ///< bytes of the expression or statement
  std::string message;
  std::vector<Step> path;
  std::optional<Edit> fix;
  std::vector<RelatedPlace> related = {};
};

}  // namespace neutra::source
