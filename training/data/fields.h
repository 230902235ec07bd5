#pragma once

#include <initializer_list>
#include <string>

#include "base/json.h"

namespace neutra::training {

/// What a field of a `data` section may be. Whole numbers and numbers lie in [low, high].
struct FieldRule {
  enum Type { kText, kFlag, kNumber, kWhole, kAny };
  const char* name;
  Type type;
  double low = -1e308, high = 1e308;
};
/// Throws input_error for an unknown field of `object` and for a value that breaks its rule; the
/// message says `place`.field, found and allowed.
void check_fields(const Json& object, const std::string& place,
                  std::initializer_list<FieldRule> rules);

/// The text `name` of `data.arguments`, which `source` can't do without. Throws input_error where
/// it is missing or no text.
std::string text_argument(const Json& arguments, const std::string& name, const char* source);

}  // namespace neutra::training
