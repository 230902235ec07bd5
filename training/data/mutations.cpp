#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "program/error.h"
#include "program/words.h"
#include "training/data/sources.h"
#include "training/random.h"

namespace neutra {
namespace {

using Rows = std::vector<std::int64_t>;

/// One step on the training rows, with the random numbers that belong to it.
class Step {
 public:
  Step(const Json& config, std::size_t index)
      : place("data.mutations[" + std::to_string(index) + "]"),
        index_(static_cast<std::uint32_t>(index)) {
    if (!config.is_object()) throw input_error(place + ": found no object");
    check_fields(config, place,
                 {{"op", FieldRule::kText},
                  {"percentage", FieldRule::kNumber, 0, 100},
                  {"seed", FieldRule::kWhole, 0, kMaxWhole},
                  {"targets", FieldRule::kText},
                  {"stddev", FieldRule::kNumber, 0}});
    op = config.value("op", "");
    if (!config.contains("percentage")) {
      throw input_error(describe("", place + ".percentage", "nothing", "a number from 0 to 100"));
    }
    percentage = config.at("percentage");
    stddev = config.value("stddev", stddev);
    const std::string targets = config.value("targets", "classes");
    if (targets != "classes" && targets != "values") {
      throw input_error(describe("", place + ".targets", "\"" + targets + "\"", "classes, values"));
    }
    classes = targets == "classes";
    key_ = random_key(static_cast<std::uint64_t>(config.value("seed", std::int64_t{0})), {}, 0);
  }

  [[noreturn]] void refuse(const std::string& found, const std::string& allowed) const {
    throw input_error(describe("", place, found, allowed));
  }

  /// The step's share of `rows`, rounded down, in random order.
  Rows choose(const Rows& rows) {
    const auto count =
        static_cast<std::size_t>(static_cast<double>(rows.size()) * percentage / 100);
    Rows order(rows.size());
    fill_permutation(next(), order);
    order.resize(count);
    for (std::int64_t& at : order) at = rows[static_cast<std::size_t>(at)];
    return order;
  }

  std::vector<float> normal(std::size_t count, double deviation) {
    std::vector<float> values(count);
    fill_normal(next(), 0, static_cast<float>(deviation), values);
    return values;
  }

  /// `count` numbers from 0 to choices - 1.
  std::vector<std::size_t> draw(std::size_t count, std::size_t choices) {
    std::vector<std::uint32_t> words(count);
    fill_words(next(), words);
    std::vector<std::size_t> drawn;
    for (const std::uint64_t word : words) drawn.push_back((word * choices) >> 32);
    return drawn;
  }

  std::string place;  ///< "data.mutations[2]"
  std::string op;
  double percentage = 0;
  double stddev = 0.1;  ///< of noise_perturbation, as in DeepMutation
  bool classes = true;  ///< are equal targets a class, or are targets numbers of a scale?

 private:
  RandomStream next() { return {key_, Stream::kMutation, index_, draws_++}; }

  std::uint32_t index_, draws_ = 0;
  RandomKey key_;
};

Rows all_rows(const Part& part) {
  Rows rows(static_cast<std::size_t>(part.x.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

std::span<double> row_of(Table& table, std::int64_t row) {
  const auto width = static_cast<std::size_t>(table.row_size());
  return {table.values.data() + static_cast<std::size_t>(row) * width, width};
}

/// NumPy's std: of the population.
double deviation(std::span<const double> values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

void require_numbers(const Step& step, const Table& table, const char* what) {
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!std::isnan(table.values[i])) continue;
    step.refuse("NaN in the " + std::string(what) + " of training row " +
                    std::to_string(i / static_cast<std::size_t>(table.row_size())),
                "numbers");
  }
}

/// Training rows by target; `targets` are the distinct ones, in ascending order.
struct Groups {
  std::vector<std::vector<double>> targets;
  std::vector<Rows> rows;

  /// The largest group, the first of several.
  std::size_t largest(std::optional<std::size_t> except = std::nullopt) const {
    std::size_t best = except == std::size_t{0} ? 1 : 0;
    for (std::size_t i = best; i < rows.size(); ++i) {
      if (i != except && rows[i].size() > rows[best].size()) best = i;
    }
    return best;
  }
};

/// Rows of equal targets.
Groups classes_of(const Step& step, Part& part) {
  require_numbers(step, part.y, "targets");
  std::map<std::vector<double>, Rows> found;
  for (const std::int64_t row : all_rows(part)) {
    const std::span<double> target = row_of(part.y, row);
    found[{target.begin(), target.end()}].push_back(row);
  }
  Groups groups;
  for (auto& [target, rows] : found) {
    groups.targets.push_back(target);
    groups.rows.push_back(std::move(rows));
  }
  return groups;
}

Groups require_two_classes(const Step& step, Part& part) {
  Groups groups = classes_of(step, part);
  if (groups.rows.size() < 2) {
    step.refuse("training rows of one class", "at least two classes of targets");
  }
  return groups;
}

/// Three buckets by one target (below -std, within, above std), nine by two or more (the first two
/// count): DeepCrime's, whose middle bucket of two targets leaves its upper end out.
std::vector<Rows> buckets_of(const Step& step, Part& part) {
  require_numbers(step, part.y, "targets");
  const auto width = static_cast<std::size_t>(part.y.row_size());
  const auto rows = static_cast<std::size_t>(part.y.rows());
  const std::size_t columns = std::min<std::size_t>(width, 2);
  std::vector<Rows> buckets(columns == 1 ? 3 : 9);
  std::vector<double> limit;
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> column;
    for (std::size_t r = 0; r < rows; ++r) column.push_back(part.y.values[r * width + c]);
    limit.push_back(deviation(column));
  }
  for (const std::int64_t row : all_rows(part)) {
    std::size_t bucket = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = row_of(part.y, row)[c];
      const bool above = columns == 1 ? value > limit[c] : value >= limit[c];
      bucket = bucket * 3 + (value < -limit[c] ? 0 : above ? 2 : 1);
    }
    buckets[bucket].push_back(row);
  }
  return buckets;
}

void remove_rows(Part& part, Rows gone) {
  std::sort(gone.begin(), gone.end());
  const Rows rows = all_rows(part);
  Rows kept;
  std::set_difference(rows.begin(), rows.end(), gone.begin(), gone.end(), std::back_inserter(kept));
  part = {part.x.select(kept), part.y.select(kept)};
}

/// Appends copies of rows.
void append_rows(Part& part, const Rows& rows) {
  for (Table* table : {&part.x, &part.y}) {
    const Table copies = table->select(rows);
    table->values.insert(table->values.end(), copies.values.begin(), copies.values.end());
    table->extents.front() += copies.rows();
  }
}

void set_target(Part& part, std::int64_t row, const std::vector<double>& target) {
  std::copy(target.begin(), target.end(), row_of(part.y, row).begin());
}

void add_normal(std::span<double> values, Step& step, double stddev) {
  const std::vector<float> noise = step.normal(values.size(), stddev);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(noise[i]);
}

// DeepCrime's operators on training data.

void change_label(Part& part, Step& step) {
  if (!step.classes) {
    require_numbers(step, part.y, "targets");
    add_normal(part.y.values, step, deviation(part.y.values) * step.percentage / 100);
    return;
  }
  const Groups groups = require_two_classes(step, part);
  const std::size_t from = groups.largest();
  const Rows rows = step.choose(groups.rows[from]);
  const std::vector<std::size_t> labels = step.draw(rows.size(), groups.rows.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_target(part, rows[i], groups.targets[labels[i] + (labels[i] >= from ? 1 : 0)]);
  }
}

/// Takes the step's share off each group, or off those that are smaller than the mean of all.
void thin_out(Part& part, Step& step, bool small_only) {
  const std::vector<Rows> groups =
      step.classes ? classes_of(step, part).rows : buckets_of(step, part);
  const double mean = static_cast<double>(part.x.rows()) / static_cast<double>(groups.size());
  Rows gone;
  bool any = false;
  for (const Rows& rows : groups) {
    if (rows.empty() || (small_only && static_cast<double>(rows.size()) >= mean)) continue;
    any = true;
    const Rows chosen = step.choose(rows);
    gone.insert(gone.end(), chosen.begin(), chosen.end());
  }
  if (!any) step.refuse("classes of equal size", "a class that is smaller than the mean of all");
  remove_rows(part, std::move(gone));
}

void delete_training_data(Part& part, Step& step) { thin_out(part, step, false); }
void unbalance_train_data(Part& part, Step& step) { thin_out(part, step, true); }

void add_noise(Part& part, Step& step) {
  require_numbers(step, part.x, "features");
  for (const std::int64_t row : step.choose(all_rows(part))) {
    const std::span<double> features = row_of(part.x, row);
    add_normal(features, step, deviation(features) * step.percentage / 100);
  }
}

void make_output_classes_overlap(Part& part, Step& step) {
  Groups groups;
  if (step.classes) {
    groups = require_two_classes(step, part);
  } else {
    groups.rows = buckets_of(step, part);
  }
  const std::size_t first = groups.largest(), second = groups.largest(first);
  if (groups.rows[second].empty()) {
    step.refuse("targets that all lie in one bucket",
                "targets below, within or above one standard deviation from 0, of two kinds");
  }
  // Copies get the second class, or in turn the distinct targets of the second bucket.
  std::vector<std::vector<double>> targets;
  if (step.classes) {
    targets = {groups.targets[second]};
  } else {
    for (const std::int64_t row : groups.rows[second]) {
      const std::span<double> target = row_of(part.y, row);
      targets.emplace_back(target.begin(), target.end());
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  }
  const std::int64_t before = part.x.rows();
  const Rows rows = step.choose(groups.rows[first]);
  append_rows(part, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_target(part, before + static_cast<std::int64_t>(i), targets[i % targets.size()]);
  }
}

// DeepMutation's operators on training data.

void data_repetition(Part& part, Step& step) {
  const Rows chosen = step.choose(all_rows(part));
  const double rows = static_cast<double>(part.x.rows()) + static_cast<double>(chosen.size());
  const double width =
      static_cast<double>(part.x.values.size()) / static_cast<double>(part.x.rows());
  if (rows * width > kMaxNumbers) {
    step.refuse("more than " + shortest(kMaxNumbers) + " numbers after it", "fewer");
  }
  append_rows(part, chosen);
}
void data_missing(Part& part, Step& step) { remove_rows(part, step.choose(all_rows(part))); }

void data_shuffle(Part& part, Step& step) {
  const Rows chosen = step.choose(all_rows(part));
  Rows places = chosen, order = all_rows(part);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    order[static_cast<std::size_t>(places[i])] = chosen[i];
  }
  part = {part.x.select(order), part.y.select(order)};
}

void label_error(Part& part, Step& step) {
  const Groups groups = require_two_classes(step, part);
  const Rows rows = step.choose(all_rows(part));
  const std::vector<std::size_t> labels = step.draw(rows.size(), groups.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    set_target(part, rows[i], groups.targets[labels[i]]);
}

void noise_perturbation(Part& part, Step& step) {
  for (const std::int64_t row : step.choose(all_rows(part))) {
    add_normal(row_of(part.x, row), step, step.stddev);
  }
}

struct Operation {
  void (*run)(Part& part, Step& step);
  bool by_target = false;  ///< does it take `targets`?
};
const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> kOperations{
      {"add_noise", {add_noise}},
      {"change_label", {change_label, true}},
      {"data_missing", {data_missing}},
      {"data_repetition", {data_repetition}},
      {"data_shuffle", {data_shuffle}},
      {"delete_training_data", {delete_training_data, true}},
      {"label_error", {label_error}},
      {"make_output_classes_overlap", {make_output_classes_overlap, true}},
      {"noise_perturbation", {noise_perturbation}},
      {"unbalance_train_data", {unbalance_train_data, true}}};
  return kOperations;
}

}  // namespace

void mutate(const Json& steps, Part& train) {
  if (steps.is_null()) return;
  if (!steps.is_array()) throw input_error("data.mutations: found no list of steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step step(steps[i], i);
    const auto operation = operations().find(step.op);
    if (operation == operations().end()) {
      std::vector<std::string> names;
      for (const auto& [name, run] : operations()) names.push_back(name);
      throw input_error(describe("", step.place + ".op", "\"" + step.op + "\"", join(names)));
    }
    if (steps[i].contains("targets") && !operation->second.by_target) {
      throw input_error(describe("", step.place + ".targets", "one for op " + step.op, "none"));
    }
    if (steps[i].contains("stddev") && step.op != "noise_perturbation") {
      throw input_error(
          describe("", step.place + ".stddev", "one for op " + step.op, "with noise_perturbation"));
    }
    operation->second.run(train, step);
    if (train.x.rows() == 0) {
      step.refuse("a percentage of " + shortest(step.percentage) + ", which leaves no training row",
                  "one that leaves some");
    }
  }
}

}  // namespace neutra
