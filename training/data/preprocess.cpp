#include "training/data/preprocess.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "training/data/columns.h"
#include "training/data/fields.h"
#include "training/random.h"

namespace neutra::training {
namespace {

/// One step on the tables it names. `fit` is where statistics come from: the training rows (or all,
/// before a split).
struct Step {
  const Json& config;
  std::string place;  ///< "data.preprocess[2]"
  const Table* fit;

  double number(const char* key) const {
    const auto it = config.find(key);
    if (it == config.end() || !it->is_number()) {
      throw input_error(place + "." + key + ": missing; a number is needed");
    }
    return it->get<double>();
  }
};

/// value -> (value - offset) / divisor by column; a divisor of 0 counts as 1 (as scikit-learn's
/// scalers do).
void rescale(Table& table, const std::vector<double>& offset, const std::vector<double>& divisor) {
  const std::size_t width = offset.size();
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const double d = divisor[i % width];
    table.values[i] = (table.values[i] - offset[i % width]) / (d == 0 ? 1 : d);
  }
}

void scale(Table& table, const Step& step) {
  const double by = step.number("by");
  if (by == 0) throw input_error(step.place + ".by: found 0; allowed: any other number");
  for (double& v : table.values) v /= by;
}

void add(Table& table, const Step& step) {
  const double value = step.number("value");
  for (double& v : table.values) v += value;
}

void standardize(Table& table, const Step& step) {
  const Columns c = describe_columns(*step.fit);
  rescale(table, c.mean, c.stddev);
}

void normalize(Table& table, const Step& step) {
  const Columns c = describe_columns(*step.fit);
  std::vector<double> width(c.min.size());
  for (std::size_t i = 0; i < width.size(); ++i) width[i] = c.max[i] - c.min[i];
  rescale(table, c.min, width);
}

/// Notes how a step on targets is taken back: value -> value * factor + offset, by column.
void take_back(const std::string& op, const Step& step, std::int64_t columns, TargetScale& scale) {
  std::vector<double> factor(static_cast<std::size_t>(columns), 1), offset(factor.size(), 0);
  if (op == "scale") {
    std::fill(factor.begin(), factor.end(), step.number("by"));
  } else if (op == "add") {
    std::fill(offset.begin(), offset.end(), -step.number("value"));
  } else if (op == "standardize" || op == "normalize") {
    const Columns c = describe_columns(*step.fit);
    for (std::size_t i = 0; i < factor.size(); ++i) {
      factor[i] = op == "standardize" ? c.stddev[i] : c.max[i] - c.min[i];
      offset[i] = op == "standardize" ? c.mean[i] : c.min[i];
      if (factor[i] == 0) factor[i] = 1;
    }
  } else {
    return;
  }
  if (scale.factor.empty()) {
    scale = {std::move(factor), std::move(offset)};
    return;
  }
  for (std::size_t i = 0; i < factor.size(); ++i) {  // taken back before the earlier steps
    scale.offset[i] += scale.factor[i] * offset[i];
    scale.factor[i] *= factor[i];
  }
}

void one_hot(Table& table, const Step& step) {
  const auto classes = static_cast<std::int64_t>(step.number("classes"));
  if (classes < 1) {
    throw input_error(step.place + ".classes: found " + std::to_string(classes) +
                      "; allowed: 1 or more");
  }
  if (table.extents.size() > 1 && table.extents.back() == 1) table.extents.pop_back();
  if (static_cast<double>(table.values.size()) * static_cast<double>(classes) > kMaxNumbers) {
    throw input_error(step.place + ".classes: found " + std::to_string(classes) + " for " +
                      std::to_string(table.values.size()) +
                      " labels; allowed: a table of at most 2147483648 numbers");
  }
  const auto labels_per_row = static_cast<std::size_t>(table.row_size());
  std::vector<double> hot(table.values.size() * static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const double v = table.values[i];
    if (!(v >= 0 && v < static_cast<double>(classes)) || v != std::floor(v)) {
      throw input_error(step.place + ": found the label " + shortest(v) + " in row " +
                        std::to_string(i / labels_per_row) + "; allowed: whole numbers from 0 to " +
                        std::to_string(classes - 1));
    }
    hot[i * static_cast<std::size_t>(classes) + static_cast<std::size_t>(v)] = 1;
  }
  table.values = std::move(hot);
  table.extents.push_back(classes);
}

void flatten(Table& table, const Step&) { table.extents = {table.rows(), table.row_size()}; }

void reshape(Table& table, const Step& step) {
  std::vector<std::int64_t> extents{table.rows()};
  std::int64_t size = 1;
  if (step.config.contains("shape") && step.config["shape"].is_array()) {
    for (const Json& n : step.config["shape"]) {
      extents.push_back(n.is_number_integer() ? n.get<std::int64_t>() : 0);
      if (extents.back() < 1 || extents.back() > table.row_size()) size = 0;
      size *= extents.back();
    }
  }
  if (extents.size() == 1 || size != table.row_size()) {
    throw input_error(step.place + ".shape: found " + step.config.value("shape", Json()).dump() +
                      "; allowed: extents whose product is " + std::to_string(table.row_size()));
  }
  table.extents = std::move(extents);
}

using Operation = void (*)(Table&, const Step&);
const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> kOperations{
      {"add", add},         {"flatten", flatten}, {"normalize", normalize},    {"one_hot", one_hot},
      {"reshape", reshape}, {"scale", scale},     {"standardize", standardize}};
  return kOperations;
}

/// Steps that choose or order rows.
bool select_rows(const std::string& op, const Step& step, Part& part) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(part.x.rows()));
  if (op == "shuffle") {
    const auto seed = static_cast<std::uint64_t>(step.config.value("seed", std::int64_t{0}));
    fill_permutation({random_key(seed, {}, 0), Stream::kSplit, 0, 0}, order);
  } else if (op == "take") {
    const auto rows = static_cast<std::int64_t>(step.number("rows"));
    if (rows < 1) throw input_error(step.place + ".rows: allowed: 1 or more");
    order.resize(std::min(order.size(), static_cast<std::size_t>(rows)));
    std::iota(order.begin(), order.end(), std::int64_t{0});
  } else {
    return false;
  }
  part = part.select(order);
  return true;
}

/// Arguments and the operation that takes each.
constexpr std::pair<const char*, const char*> kArguments[] = {
    {"by", "scale"},      {"value", "add"},    {"classes", "one_hot"},
    {"shape", "reshape"}, {"seed", "shuffle"}, {"rows", "take"}};

}  // namespace

void preprocess(const Json& steps, RawData& data, bool after_split, TargetScale* scale) {
  if (steps.is_null()) return;
  if (!steps.is_array()) throw input_error("data.preprocess: found no list of steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Json& config = steps[i];
    const std::string place = "data.preprocess[" + std::to_string(i) + "]";
    if (!config.is_object()) throw input_error(place + ": found no object");
    check_fields(config, place,
                 {{"op", FieldRule::kText},
                  {"on", FieldRule::kText},
                  {"part", FieldRule::kText},
                  {"by", FieldRule::kNumber},
                  {"value", FieldRule::kNumber},
                  {"classes", FieldRule::kWhole, 1, 1e6},
                  {"shape", FieldRule::kAny},
                  {"seed", FieldRule::kWhole, 0, kLargestExactWhole},
                  {"rows", FieldRule::kWhole, 1, kLargestExactWhole}});
    for (const auto& [field, owner] : kArguments) {
      if (config.contains(field) && config.value("op", "") != owner) {
        throw input_error(place + "." + field + ": found with op " +
                          config.value("op", Json()).dump() + "; allowed: with " + owner);
      }
    }
    const std::string part = config.value("part", "both"), on = config.value("on", "x");
    const std::string op = config.value("op", "");
    if (part != "both" && part != "train" && part != "test") {
      throw input_error(place + ".part: found \"" + part + "\"; allowed: both, test, train");
    }
    if (on != "x" && on != "y") {
      throw input_error(place + ".on: found \"" + on + "\"; allowed: x, y");
    }
    // A source in one piece: steps for both parts run before the split, the others after it. Else
    // all run in order, once.
    const bool before = !data.parted && part == "both";
    if (after_split == before) continue;

    const Table fit = op == "standardize" || op == "normalize"
                          ? (on == "x" ? data.train.x : data.train.y)
                          : Table{};
    const Step step{config, place, &fit};
    for (Part* target : {&data.train, &data.test}) {
      if (target->x.extents.empty() || part == (target == &data.train ? "test" : "train")) continue;
      if (select_rows(op, step, *target)) continue;
      const auto operation = operations().find(op);
      if (operation == operations().end()) {
        throw input_error(place + ".op: found \"" + op +
                          "\"; allowed: add, flatten, normalize, one_hot, reshape, scale, shuffle, "
                          "standardize, take");
      }
      operation->second(on == "x" ? target->x : target->y, step);
    }
    if (scale != nullptr && on == "y" && part != "train") {
      take_back(op, step, data.train.y.row_size(), *scale);
    }
  }
}

}  // namespace neutra::training
