#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "training/data/table.h"

namespace neutra {

using SearchPath = std::vector<std::filesystem::path>;

constexpr double kMaxElements = 2147483648.0;  ///< of one table
constexpr double kMaxWhole = 9007199254740992.0;

/// What a field of `data` may be. Whole numbers and numbers lie in [low, high].
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

/// Reads `data.source` with `data.arguments`. Throws input_error: unknown source, missing file
/// (what is expected where and how to get it), malformed content.
RawData read_source(const Json& data, const SearchPath& search_path);

/// First existing candidate of a relative file in the search path. Throws input_error that lists
/// the folders and `advice`.
std::filesystem::path find_file(const std::string& file, const SearchPath& search_path,
                                const std::string& advice);

/// Steps of `data.preprocess` (docs/formats/data.md). A source in one piece is processed before
/// `split` by the steps for both parts; steps for one part come after it.
void preprocess(const Json& steps, RawData& data, bool after_split);

/// Named synthetic data sets: linear, sine, blobs, xor, circles, moons.
RawData generate(const Json& arguments);

}  // namespace neutra
