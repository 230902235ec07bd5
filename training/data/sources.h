#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "training/data/dataset.h"
#include "training/data/table.h"
#include "training/data/target_scale.h"

namespace neutra::training {

using SearchPath = std::vector<std::filesystem::path>;

constexpr double kMaxNumbers = 2147483648.0;  ///< of one table
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
RawData read_source(const Json& data, const SearchPath& search_path,
                    Reading reading = Reading::kAll);

/// The first of `files` (spellings of one name) that exists in the earliest folder of the search
/// path. Throws input_error that lists where the first spelling was looked for and how to get it.
std::filesystem::path find_file(const std::vector<std::string>& files,
                                const SearchPath& search_path);

/// A text of `data.arguments` that the source can't do without.
std::string text_argument(const Json& arguments, const std::string& name, const char* source);

/// Refuses NaN and infinities, unless arguments.allow_nan is true.
void require_finite(const Table& table, const std::string& place, const Json& arguments);

/// Throws input_error unless x and y of each part have the same number of rows, at least one.
void require_rows(const RawData& data);

/// Arrays x and y, or x_train, y_train, x_test and y_test, of a place that has arrays by name.
/// Reads all headers first: rows that don't match are refused before memory is taken for them.
RawData read_arrays(const std::string& place, const char* noun,
                    const std::function<bool(const std::string&)>& has,
                    const std::function<Table(const std::string&, Reading)>& read, Reading reading);

/// NumPy's RandomState(seed).permutation(rows), which is also what its shuffle() makes of
/// arange(rows).
std::vector<std::int64_t> numpy_permutation(std::int64_t rows, std::uint32_t seed);

/// scikit-learn's train_test_split(shuffle=False): the last ceil(test_size * n) rows are the test
/// rows.
Split ordered_split(std::int64_t rows, double test_size);

/// Number of test rows of train_test_split(). Throws input_error where no training row is left.
std::int64_t test_row_count(std::int64_t rows, double test_size);

/// Steps of `data.preprocess` (docs/formats/data.md). A source in one piece is processed before
/// `split` by the steps for both parts; steps for one part come after it. `scale`: takes the steps
/// that the targets of test rows went through, unless null.
void preprocess(const Json& steps, RawData& data, bool after_split, TargetScale* scale = nullptr);

/// Steps of `data.mutations` (docs/formats/data.md), on the training rows as a program gets them.
void mutate(const Json& steps, Part& train);

/// Named synthetic data sets: linear, sine, blobs, xor, circles, moons.
RawData generate(const Json& arguments, Reading reading = Reading::kAll);

}  // namespace neutra::training
