#pragma once

#include "program/json.h"

namespace neutra {

/// A JSON Patch (RFC 6902) of add, remove and replace that makes `to` of `from`: for people, so
/// that an item that is added to or removed from an array is one step, whatever is behind it. The
/// order of an object's keys means nothing. Empty where they are equal.
Json json_patch(const Json& from, const Json& to);

/// `document` with the patch applied. Throws input_error (place: `where`) for a patch that is none
/// or doesn't fit the document.
Json with_patch(const Json& document, const Json& patch, const std::string& where);

/// A line for each step: "replace /fit/epochs: 12 -> 1", behind the indent.
std::string patch_text(const Json& document, const Json& patch, const std::string& indent = "");

}  // namespace neutra
