#include "fl_adapters/parser.h"

#include <map>

namespace neutra {
namespace {

/// One line for each parser.
const std::map<std::string, OutputParser, std::less<>>& parsers() {
  static const std::map<std::string, OutputParser, std::less<>> list;
  return list;
}

}  // namespace

OutputParser find_parser(std::string_view name) {
  const auto it = parsers().find(name);
  return it == parsers().end() ? OutputParser() : it->second;
}

std::vector<std::string> parser_names() {
  std::vector<std::string> names;
  for (const auto& [name, parser] : parsers()) names.push_back(name);
  return names;
}

}  // namespace neutra
