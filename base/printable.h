#pragma once

#include <string>
#include <string_view>

namespace neutra {

/// A text of any origin as a terminal may have it: control characters (C0, DEL, C1; line breaks and
/// tabs too, except those in `kept`), characters that turn the direction of writing, and bytes that
/// are no UTF-8 are spelt "\x1b", each of their bytes.
std::string printable(std::string_view text, std::string_view kept = "");

}  // namespace neutra
