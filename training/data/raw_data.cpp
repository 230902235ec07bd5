#include "training/data/raw_data.h"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/program.h"

namespace neutra::training {

void require_finite(const Table& table, const std::string& place, const Json& arguments) {
  if (arguments.value("allow_nan", false)) return;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (std::isfinite(table.values[i])) continue;
    const std::size_t row = i / static_cast<std::size_t>(table.row_size());
    throw input_error(describe(place, "row " + std::to_string(row), python_repr(table.values[i]),
                               "finite numbers, unless data.arguments.allow_nan is true"));
  }
}

void require_rows(const RawData& data) {
  for (const auto& [part, name] : {std::pair{&data.train, "training"}, {&data.test, "test"}}) {
    if (part == &data.test && !data.parted) continue;
    const std::int64_t x = part->x.rows(), y = part->y.rows();
    if (x == y && x > 0) continue;
    throw input_error("data: found " + std::to_string(x) + " rows of features and " +
                      std::to_string(y) + " of targets for " + name +
                      "; allowed: the same number, at least one");
  }
}

namespace {

/// The weights of so many rows; `name`: of their array. Keras takes a column, too.
Table read_weights(const std::string& place, const std::string& name, std::int64_t rows,
                   const std::function<Table(const std::string&, Reading)>& read, Reading reading) {
  Table weights = read(name, reading);
  if (weights.rows() != rows || weights.row_size() != 1) {
    throw input_error(describe(place, name,
                               "weights of the shape " + program::to_string(weights.extents),
                               "(" + std::to_string(rows) + ",), one for each row"));
  }
  for (std::size_t row = 0; row < weights.values.size(); ++row) {
    if (std::isfinite(static_cast<float>(weights.values[row]))) continue;
    throw input_error(describe(place, name + ", row " + std::to_string(row),
                               python_repr(weights.values[row]), "finite weights (float32)"));
  }
  weights.extents = {rows};
  return weights;
}

}  // namespace

RawData read_arrays(const std::string& place, const char* noun,
                    const std::function<bool(const std::string&)>& has,
                    const std::function<Table(const std::string&, Reading)>& read, Reading reading,
                    bool weighted) {
  const bool whole = has("x") || has("y");
  std::vector<std::string> missing, surplus;
  for (const char* name : {"x", "y", "x_train", "y_train", "x_test", "y_test"}) {
    const bool of_whole = std::string_view(name).size() == 1;
    if (of_whole == whole && !has(name)) missing.emplace_back(name);
    if (of_whole != whole && has(name)) surplus.emplace_back(name);
  }
  if (!missing.empty()) {
    throw input_error(describe(place, "", std::string("no ") + noun + " " + join(missing),
                               "x and y, or x_train, y_train, x_test and y_test"));
  }
  if (!surplus.empty()) {
    throw input_error(describe(place, "", std::string(noun) + " " + join(surplus) + " beside x, y",
                               "x and y, or x_train, y_train, x_test and y_test"));
  }
  const std::string weights = whole ? "sample_weight" : "sample_weight_train";
  if (weighted && !has(weights)) {
    throw input_error(describe(place, "", std::string("no ") + noun + " " + weights,
                               weights + ", which data.arguments.sample_weight asks for"));
  }
  const auto all = [&](Reading what) -> RawData {
    RawData data;
    data.parted = !whole;
    data.train = whole ? Part{read("x", what), read("y", what)}
                       : Part{read("x_train", what), read("y_train", what)};
    if (!whole) data.test = {read("x_test", what), read("y_test", what)};
    require_rows(data);
    if (weighted)
      data.train.weights = read_weights(place, weights, data.train.x.rows(), read, what);
    if (weighted && !whole && has("sample_weight_test")) {
      data.test.weights = read_weights(place, "sample_weight_test", data.test.x.rows(), read, what);
    }
    return data;
  };
  RawData headers = all(Reading::kHeader);
  return reading == Reading::kHeader ? headers : all(reading);
}

}  // namespace neutra::training
