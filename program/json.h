#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace neutra {

/// Objects keep the order in which their keys were written, so that a file read and written again
/// looks the same.
using Json = nlohmann::ordered_json;

/// Parses strict JSON. Throws input_error with `file`, line and column. Refuses text that is not
/// UTF-8, duplicate keys, nesting deeper than 100 levels and numbers that don't fit a double
/// (1e999).
Json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a file of at most 64 MiB; a missing, unreadable or oversized file is an
/// input_error that names it.
Json read_json(const std::filesystem::path& file);

/// The value of `key`; nullptr if `object` is no object or has no such key.
const Json* member(const Json& object, std::string_view key);

/// Two-space indented text with a final newline, short arrays of numbers on one line not required.
std::string to_text(const Json& value);

/// Writes `text` to `file` by way of a temporary file in the same folder, fsync and rename, so that
/// a reader sees the old or the new content and a full disk leaves the old one. Throws failure()
/// with the reason of the system.
void write_file_atomically(const std::filesystem::path& file, std::string_view text);

/// Python's repr of a float: shortest decimal that reads back ("0.001", "3.0", "1e-05", "nan",
/// "inf"). The published records spell numbers this way.
std::string python_repr(double value);

/// Shortest decimal that reads back, without a trailing ".0" ("0.1", "3", "1e-05").
std::string shortest(double value);

/// `value` to so many decimals as Python's round() has it: the exact binary value is rounded, ties
/// to even. NaN and infinity as they are.
double python_round(double value, int decimals);

/// A number, also one that JSON has no word for: "nan", "inf", "-inf".
Json exact_number(double value);
double exact_number(const Json& json);

}  // namespace neutra
