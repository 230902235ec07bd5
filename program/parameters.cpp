#include "program/parameters.h"

#include "base/error.h"
#include "base/strings.h"
#include "program/document.h"

namespace neutra::program {

std::string to_string(const Parameters& parameters) {
  std::string text;
  for (const auto& [key, value] : parameters) {
    if (!text.empty()) text += ",";
    text.append(key).append("=").append(value);
  }
  return text;
}

Parameters parse_parameters(std::string_view text, const std::string& where) {
  Parameters parameters;
  if (trimmed(text).empty()) return parameters;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = trimmed(text.substr(begin, end - begin));
    const std::size_t equals = item.find('=');
    const auto fail = [&](const std::string& found) {
      return input_error(describe(where, "column " + std::to_string(begin + 1), found,
                                  "key=value items separated by commas"));
    };
    if (item.empty()) throw fail("an empty item");
    if (equals == std::string_view::npos) throw fail(shown(std::string(item)) + " without '='");
    const std::string key(trimmed(item.substr(0, equals))), value(trimmed(item.substr(equals + 1)));
    if (key.empty()) throw fail("a value without a key");
    if (value.empty()) throw fail("no value for " + shown(key));
    if (!parameters.emplace(key, value).second) throw fail(shown(key) + " a second time");
    begin = end + 1;
  }
  return parameters;
}

}  // namespace neutra::program
