#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"

namespace neutra {

// JSON documents that carry a checksum (docs/formats/checksums.md): the last member, "digest", is
// the XXH3-128 of the others as a document of their own in compact form, Json::dump(). So a change
// of blanks changes nothing.

/// `document`, an object without the member "digest", with it.
Json with_digest(Json document);
/// The same of the text of an object, which stays as it is but for the new member. Throws
/// input_error with `file` where it is no JSON.
std::string text_with_digest(std::string_view text, const std::string& file);

enum class DigestState { kRight, kMissing, kWrong };
/// Takes the member "digest" off a document and says whether it was right.
DigestState take_digest(Json& document);

/// read_json() of a document with a digest, which is taken off. Throws input_error where it is
/// wrong; warns where a document of this `format` has none.
Json read_checked_json(const std::filesystem::path& file, std::string_view format);

}  // namespace neutra
