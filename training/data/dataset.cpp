#include "training/data/dataset.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "training/data/data_header.h"
#include "training/data/mutations.h"
#include "training/data/preprocess.h"
#include "training/data/raw_data.h"
#include "training/data/sources.h"
#include "training/data/split.h"

namespace neutra::training {
namespace {

/// Keras casts inputs to floatx. A table that is moved here is gone afterwards.
Array rounded(Table table) { return {table.extents, {table.values.begin(), table.values.end()}}; }

struct SplitRequest {
  double test_size;
  std::optional<std::uint32_t> seed;  ///< nullopt: the rows keep their order
};
SplitRequest split_request(const Json& data, const std::string& name) {
  const Json& request = data[name];
  auto field = [&](const char* key, double low, double high) {
    const auto it = request.is_object() ? request.find(key) : request.end();
    if (!request.is_object() || it == request.end() || !it->is_number() ||
        !(it->get<double>() >= low && it->get<double>() <= high)) {
      throw input_error("data." + name + "." + key + ": found " +
                        (request.is_object() && it != request.end() ? it->dump() : "nothing") +
                        "; allowed: a number, see docs/formats/data.md");
    }
    return it->get<double>();
  };
  const double test_size = field("test_size", std::numeric_limits<double>::min(), 1e15);
  if (test_size >= 1 && test_size != std::floor(test_size)) {
    throw input_error("data." + name + ".test_size: found " + shortest(test_size) +
                      "; allowed: a share below 1 or a whole number of rows");
  }
  if (!request.value("shuffle", true)) return {test_size, std::nullopt};
  return {test_size, static_cast<std::uint32_t>(field("seed", 0, 4294967295.0))};
}

program::Shape row_shape(const Table& table) {
  return {table.extents.begin() + 1, table.extents.end()};
}

bool has(const Json& data, const char* name) {
  return data.contains(name) && !data[name].is_null();
}

/// Are the training rows the test rows, too?
bool tests_on_training_rows(const Json& data) { return has(data, "test"); }

/// A source in one piece needs a split, one with test rows of its own must have none.
void require_split(const Json& data, bool parted) {
  if (tests_on_training_rows(data)) {
    if (data["test"] != "train") {
      throw input_error("data.test: found " + data["test"].dump() + "; allowed: \"train\"");
    }
    if (has(data, "split") || parted) {
      throw input_error(std::string("data.test: found beside ") +
                        (parted ? "test rows of the source" : "data.split") +
                        "; allowed: with a source in one piece and no split");
    }
    return;
  }
  if (has(data, "split") && parted) {
    throw input_error(
        "data.split: found one for a source that has training and test rows; "
        "allowed: none, use data.holdout");
  }
  if (!has(data, "split") && !parted) {
    throw input_error("data.split: missing; a source in one piece needs {test_size, seed}");
  }
}

void require_same_rows(const RawData& raw) {
  for (const auto& [name, train, test] : {std::tuple{"features", &raw.train.x, &raw.test.x},
                                          std::tuple{"targets", &raw.train.y, &raw.test.y}}) {
    if (row_shape(*train) == row_shape(*test)) continue;
    throw input_error("data: found " + std::string(name) + " of the shape " +
                      program::to_string(row_shape(*train)) + " in a training row and " +
                      program::to_string(row_shape(*test)) + " in a test row; allowed: the same");
  }
}

/// Keras makes a column of a vector of features.
void make_column(Table& x) {
  if (x.extents.size() == 1) x.extents.push_back(1);
}

}  // namespace

program::DataInfo Dataset::info() const {
  program::DataInfo info;
  info.x.assign(x_train.extents.begin() + 1, x_train.extents.end());
  info.y.assign(y_train.extents.begin() + 1, y_train.extents.end());
  info.training_rows = x_train.rows();
  info.y_is_integer = true;
  bool has_nan = false;
  info.y_min = std::numeric_limits<double>::infinity();
  info.y_max = -info.y_min;
  for (const Array* y : {&y_train, &y_test, &y_validation}) {
    for (const float v : y->values) {
      info.y_is_integer = info.y_is_integer && v == std::floor(v);
      info.y_min = std::min(info.y_min, static_cast<double>(v));
      info.y_max = std::max(info.y_max, static_cast<double>(v));
      has_nan = has_nan || std::isnan(v);
    }
  }
  if (has_nan) info.y_min = info.y_max = std::numeric_limits<double>::quiet_NaN();
  return info;
}

namespace {

/// Takes the rows that the split `name` asks for off a part.
Part cut(const Json& data, Part& part, const char* name) {
  const auto [test_size, seed] = split_request(data, name);
  const Split split = seed ? train_test_split(part.x.rows(), test_size, *seed)
                           : ordered_split(part.x.rows(), test_size);
  Part taken = part.select(split.test);
  part = part.select(split.train);
  return taken;
}

/// Training and test rows behind all steps of `preprocess`.
RawData preprocessed(const Json& data, const SearchPath& search_path,
                     TargetScale* scale = nullptr) {
  RawData raw = read_source(data, search_path);
  require_rows(raw);
  const Json steps = data.value("preprocess", Json());
  preprocess(steps, raw, false, scale);
  require_split(data, raw.parted);
  if (tests_on_training_rows(data)) {
    raw.test = raw.train;
  } else if (!raw.parted) {
    raw.test = cut(data, raw.train, "split");
  }
  preprocess(steps, raw, true, scale);
  return raw;
}

std::shared_ptr<const Dataset> load(const Json& data, const SearchPath& search_path) {
  RawData raw = preprocessed(data, search_path);
  make_column(raw.train.x);
  make_column(raw.test.x);
  require_same_rows(raw);

  Part holdout = raw.test, validation;
  if (has(data, "validation")) {
    validation = data["validation"] == "test" ? raw.test : cut(data, raw.train, "validation");
  }
  if (has(data, "holdout")) holdout = cut(data, holdout, "holdout");
  mutate(data.value("mutations", Json()), raw.train);

  auto dataset = std::make_shared<Dataset>();
  dataset->x_train = rounded(std::move(raw.train.x));
  dataset->y_train = rounded(std::move(raw.train.y));
  dataset->weights_train = rounded(std::move(raw.train.weights));
  dataset->x_test = rounded(std::move(raw.test.x));
  dataset->y_test = rounded(std::move(raw.test.y));
  dataset->x_holdout = rounded(std::move(holdout.x));
  dataset->y_holdout = rounded(std::move(holdout.y));
  dataset->x_validation = rounded(std::move(validation.x));
  dataset->y_validation = rounded(std::move(validation.y));
  dataset->weights_validation = rounded(std::move(validation.weights));
  return dataset;
}

constexpr std::int64_t kMaxZeros = std::int64_t{1} << 27;  ///< a gigabyte

/// Makes one row of zeros of each table: whatever the numbers are, steps give rows of one shape.
void zero(RawData& raw) {
  for (Table* table : {&raw.train.x, &raw.train.y, &raw.train.weights, &raw.test.x, &raw.test.y,
                       &raw.test.weights}) {
    if (table->extents.empty()) continue;
    table->extents.front() = 1;
    if (table->row_size() > kMaxZeros) {
      throw input_error("data: found rows of " + std::to_string(table->row_size()) +
                        " numbers; allowed: at most " + std::to_string(kMaxZeros));
    }
    table->values.assign(static_cast<std::size_t>(table->row_size()), 0);
  }
}

/// Numbers of rows as the steps and splits of a `data` section leave them; 0: unknown.
struct RowCounts {
  std::int64_t train = 0, test = 0;

  void take(const Json& step) {
    if (step.value("op", "") != "take" || !step.contains("rows")) return;
    const std::string part = step.value("part", "both");
    const auto rows = static_cast<std::int64_t>(step["rows"].get<double>());
    if (part != "test") train = std::min(train, rows);
    if (part != "train") test = std::min(test, rows);
  }
};

DataHeader header(const Json& data, const SearchPath& search_path) {
  RawData raw = read_source(data, search_path, Reading::kHeader);
  DataHeader result;
  require_split(data, raw.parted);
  RowCounts rows{raw.train.x.rows(), raw.test.x.rows()};
  const bool known = rows.train > 0 && (!raw.parted || rows.test > 0);
  const auto cut = [&](std::int64_t& from, const char* name) {
    const double test_size = split_request(data, name).test_size;
    const std::int64_t taken = known ? test_row_count(from, test_size) : 0;
    from -= taken;
    return taken;
  };
  const Json steps = data.value("preprocess", Json::array());
  // One at a time: a step's numbers may be no labels for the next.
  const auto process = [&](bool after_split) {
    for (const Json& step : steps.is_array() ? steps : Json::array()) {
      zero(raw);
      preprocess(Json::array({step}), raw, after_split);
      const bool before = !raw.parted && step.value("part", "both") == "both";
      if (after_split != before) rows.take(step);
    }
  };
  zero(raw);
  process(false);
  if (!raw.parted) {
    raw.test = raw.train;
    rows.test = tests_on_training_rows(data) ? rows.train : cut(rows.train, "split");
  }
  process(true);
  make_column(raw.train.x);
  make_column(raw.test.x);
  require_same_rows(raw);
  result.x = row_shape(raw.train.x);
  result.y = row_shape(raw.train.y);
  if (!known) return result;
  if (has(data, "validation")) {
    result.validation = data["validation"] == "test" ? rows.test : cut(rows.train, "validation");
  }
  result.training = rows.train;
  result.test = rows.test;
  result.holdout = has(data, "holdout") ? cut(rows.test, "holdout") : rows.test;
  return result;
}

template <typename Load>
auto with_messages(Load load) {
  try {
    return load();
  } catch (const Json::exception&) {
    throw input_error("data: found a field of a wrong type; allowed: see docs/formats/data.md");
  }
}

}  // namespace

std::optional<std::string> left_out_classes(const Json& data, const Dataset& dataset) {
  const Json* split = member(data, "split");
  const Json* shuffle = split != nullptr ? member(*split, "shuffle") : nullptr;
  if (shuffle == nullptr || *shuffle != false) return std::nullopt;
  constexpr float kLargestClass = 1e6F;  // what is larger, or NaN, is the target of a regression
  const auto classes = [](const Array& y) {
    std::set<std::int64_t> found;
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(y.row_size(), 1));
    for (std::size_t i = 0; i + width <= y.values.size(); i += width) {
      const auto row = y.values.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = row + static_cast<std::ptrdiff_t>(width);
      if (width > 1) {
        found.insert(std::max_element(row, end) - row);
      } else if (std::abs(*row) < kLargestClass) {
        found.insert(static_cast<std::int64_t>(std::round(*row)));
      }
    }
    return found;
  };
  const std::set<std::int64_t> trained = classes(dataset.y_train), tested = classes(dataset.y_test);
  for (const auto& [from, in, rows] :
       {std::tuple{&tested, &trained, "training"}, std::tuple{&trained, &tested, "test"}}) {
    std::set<std::int64_t> missing;
    std::set_difference(from->begin(), from->end(), in->begin(), in->end(),
                        std::inserter(missing, missing.end()));
    if (missing.empty()) continue;
    return "data.split keeps the order of the rows, and leaves " +
           std::string(missing.size() > 1 ? "the classes " : "the class ") + ranges(missing) +
           " out of the " + rows + " rows; \"shuffle\": true mixes them";
  }
  return std::nullopt;
}

DataHeader read_data_header(const Json& data,
                            const std::vector<std::filesystem::path>& search_path) {
  return with_messages([&] { return header(data, search_path); });
}

std::shared_ptr<const Dataset> load_dataset(const Json& data,
                                            const std::vector<std::filesystem::path>& search_path) {
  return with_messages([&] { return load(data, search_path); });
}

TargetScale target_scale(const Json& data, const std::vector<std::filesystem::path>& search_path) {
  return with_messages([&] {
    TargetScale scale;
    preprocessed(data, search_path, &scale);
    return scale;
  });
}

Hash digest(const Dataset& data) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<const Array*> arrays{&data.x_train,      &data.y_train,  &data.x_validation,
                                   &data.y_validation, &data.x_test,   &data.y_test,
                                   &data.x_holdout,    &data.y_holdout};
  for (const Array* weights : {&data.weights_train, &data.weights_validation}) {
    if (!weights->values.empty()) arrays.push_back(weights);
  }
  for (const Array* array : arrays) {
    const auto dimensions = static_cast<std::int64_t>(array->extents.size());
    XXH3_128bits_update(state.get(), &dimensions, sizeof dimensions);
    XXH3_128bits_update(state.get(), array->extents.data(),
                        array->extents.size() * sizeof array->extents.front());
    XXH3_128bits_update(state.get(), array->values.data(), array->values.size() * sizeof(float));
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.high64, hash.low64};
}

}  // namespace neutra::training
