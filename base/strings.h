#pragma once

#include <string>
#include <string_view>

namespace neutra {

/// `text` with the letters A to Z as a to z; all other bytes stay.
std::string lower(std::string_view text);

/// `text` without the characters of `blanks` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

/// Does `text` have `part` in it? (std::string::contains() of C++23.)
bool contains(std::string_view text, std::string_view part);

/// `text` as the content of an XML 1.0 element or of an attribute in double quotes. Control
/// characters become '?', for XML has no way to write them; those in `kept` stay.
std::string xml_escaped(std::string_view text, std::string_view kept = "\t\n\r");

/// Now in UTC, as ISO 8601 has it: "2024-01-31T23:59:59Z".
std::string utc_now();

}  // namespace neutra
