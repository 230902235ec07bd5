#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// A JSON value. Objects keep the order in which their keys were written: a file that is read and
/// written again looks the same.
using Json = nlohmann::ordered_json;

/// Parses strict JSON (RFC 8259). Throws input_error with `file`, line and column; refuses also
/// what the standard leaves open: text that is not UTF-8, duplicate keys, more than 100 levels of
/// brackets and numbers that don't fit a double (1e999).
Json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a file of at most kLargestFile bytes. Throws input_error that names a file
/// that is missing, unreadable, too large or of another kind.
Json read_json(const std::filesystem::path& file);

/// The value of `key`; nullptr if `object` is no object or has no such key.
const Json* member(const Json& object, std::string_view key);

/// The value as a file for people has it: indented by two spaces, a line end behind it.
std::string to_text(const Json& value);

/// A number that keeps its value: NaN and infinity, which JSON lacks, become the texts "nan",
/// "inf", "-inf". The second function reads what the first gives.
Json exact_number(double value);
double exact_number(const Json& json);
/// exact_number() of each.
Json exact_numbers(const std::vector<double>& values);

/// A number for other programs: NaN and infinity become null.
Json json_number(double value);

/// The value; null where there is none.
template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace neutra
