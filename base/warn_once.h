#pragma once

#include <string>

namespace neutra {

/// "warning: TEXT" on standard error, once for each text in a process: a file may be read again and
/// again.
void warn_once(const std::string& text);

}  // namespace neutra
