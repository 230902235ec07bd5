#pragma once

#include <string>
#include <string_view>

namespace neutra {

/// SHA-256 of the bytes (FIPS 180-4), as 64 lower-case hex digits: for files that other programs
/// made, whose digests they write. Digests of neutra's own are XXH3 (base/hash.h).
std::string sha256(std::string_view bytes);
/// Is it of that form?
bool is_sha256(std::string_view text);

}  // namespace neutra
