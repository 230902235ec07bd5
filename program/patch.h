#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/json.h"

namespace neutra::program {

/// A JSON Patch (RFC 6902) of add, remove and replace that makes `to` of `from`: for people, so
/// that an item that is added to or removed from an array is one step, whatever is behind it. The
/// order of an object's keys means nothing. Empty where they are equal.
Json json_patch(const Json& from, const Json& to);

/// A document that the steps of a JSON Patch change one after the other. What limits hold for a
/// document that is read hold after each step: a few dozen steps that copy could double it each.
class PatchedDocument {
 public:
  /// `where`: the place of the patch, for messages.
  PatchedDocument(Json document, std::string where);
  /// Throws Json::exception for a step that is none or doesn't fit, input_error (place: the step)
  /// where the steps so far copy more than 64 MiB in memory, or nest deeper than 100 levels.
  void apply(const Json& step);
  /// As the steps so far left it.
  const Json& document() const& { return document_; }
  Json document() && { return std::move(document_); }

 private:
  Json document_;
  std::string where_;
  std::size_t steps_ = 0, copied_ = 0;
};

/// `document` with the patch applied. Throws input_error (place: `where`) for a patch that is
/// malformed, doesn't fit the document or makes it too large (PatchedDocument).
Json with_patch(const Json& document, const Json& patch, const std::string& where);

/// A line for each step: "replace /fit/epochs: 12 -> 1", behind the indent.
std::string patch_text(const Json& document, const Json& patch, const std::string& indent = "");

}  // namespace neutra::program
