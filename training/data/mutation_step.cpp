#include "training/data/mutation_step.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/vocabulary.h"

namespace neutra::training {

std::string step_place(std::size_t index) {
  return "data.mutations[" + std::to_string(index) + "]";
}

MutationStep::MutationStep(const Json& config, std::size_t index)
    : percentage(config.value("percentage", 0.0)),
      classes(config.value("targets", "classes") == "classes"),
      config_(config),
      index_(static_cast<std::uint32_t>(index)),
      key_(random_key(static_cast<std::uint64_t>(config.value("seed", std::int64_t{0})), {}, 0)) {
  word("targets", {"classes", "values"});
}

void MutationStep::refuse(const std::string& found, const std::string& allowed) const {
  throw input_error(describe("", place(), found, allowed));
}

std::string MutationStep::word(const char* name, const std::vector<std::string>& allowed) const {
  std::string value = config_.value(name, allowed.front());
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    throw input_error(
        describe("", place() + "." + name, "\"" + value + "\"", allowed_words(value, allowed)));
  }
  return value;
}

std::size_t MutationStep::share(std::size_t count) const {
  return static_cast<std::size_t>(static_cast<double>(count) * percentage / 100);
}

RowNumbers MutationStep::choose(const RowNumbers& rows, std::size_t count) {
  RowNumbers order(rows.size());
  fill_permutation(next(), order);
  order.resize(count);
  for (std::int64_t& at : order) at = rows[static_cast<std::size_t>(at)];
  return order;
}

std::vector<float> MutationStep::normal(std::size_t count, double deviation) {
  std::vector<float> values(count);
  fill_normal(next(), 0, static_cast<float>(deviation), values);
  return values;
}

std::vector<double> MutationStep::uniform(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  fill_words(next(), words);
  std::vector<double> values;
  values.reserve(count);
  for (const std::uint32_t word : words) values.push_back(word * 0x1p-32);
  return values;
}

std::vector<std::size_t> MutationStep::draw(std::size_t count, std::size_t choices) {
  std::vector<std::uint32_t> words(count);
  fill_words(next(), words);
  std::vector<std::size_t> drawn;
  for (const std::uint64_t word : words) drawn.push_back((word * choices) >> 32);
  return drawn;
}

RowNumbers all_rows(const Part& part) {
  RowNumbers rows(static_cast<std::size_t>(part.x.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return rows;
}

std::span<double> row_of(Table& table, std::int64_t row) {
  const auto width = static_cast<std::size_t>(table.row_size());
  return {table.values.data() + static_cast<std::size_t>(row) * width, width};
}

double deviation(std::span<const double> values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

void require_numbers(const MutationStep& step, const Table& table, const char* what) {
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (std::isfinite(table.values[i])) continue;
    step.refuse(std::string(std::isnan(table.values[i]) ? "NaN" : "infinity") + " in the " + what +
                    " of training row " +
                    std::to_string(i / static_cast<std::size_t>(table.row_size())),
                "numbers");
  }
}

std::size_t Groups::largest(std::optional<std::size_t> except) const {
  std::size_t best = except == std::size_t{0} ? 1 : 0;
  for (std::size_t i = best; i < rows.size(); ++i) {
    if (i != except && rows[i].size() > rows[best].size()) best = i;
  }
  return best;
}

std::vector<std::size_t> Groups::of_rows(std::int64_t count) const {
  std::vector<std::size_t> result(static_cast<std::size_t>(count));
  for (std::size_t group = 0; group < rows.size(); ++group) {
    for (const std::int64_t row : rows[group]) result[static_cast<std::size_t>(row)] = group;
  }
  return result;
}

Groups classes_of(const MutationStep& step, Part& part) {
  require_numbers(step, part.y, "targets");
  std::map<std::vector<double>, RowNumbers> found;
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

Groups require_two_classes(const MutationStep& step, Part& part) {
  Groups groups = classes_of(step, part);
  if (groups.rows.size() < 2) {
    step.refuse("training rows of one class", "at least two classes of targets");
  }
  return groups;
}

std::vector<RowNumbers> buckets_of(const MutationStep& step, Part& part) {
  require_numbers(step, part.y, "targets");
  const auto width = static_cast<std::size_t>(part.y.row_size());
  const auto rows = static_cast<std::size_t>(part.y.rows());
  const std::size_t columns = std::min<std::size_t>(width, 2);
  std::vector<RowNumbers> buckets(columns == 1 ? 3 : 9);
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

void remove_rows(Part& part, RowNumbers gone) {
  std::sort(gone.begin(), gone.end());
  const RowNumbers rows = all_rows(part);
  RowNumbers kept;
  std::set_difference(rows.begin(), rows.end(), gone.begin(), gone.end(), std::back_inserter(kept));
  part = part.select(kept);
}

void append_rows(const MutationStep& step, Part& part, const RowNumbers& rows) {
  const double after = static_cast<double>(part.x.rows()) + static_cast<double>(rows.size());
  if (after * static_cast<double>(part.x.row_size()) > kMaxNumbers) {
    step.refuse("more than " + shortest(kMaxNumbers) + " numbers after it", "fewer");
  }
  for (Table* table : {&part.x, &part.y, &part.weights}) {
    if (table->extents.empty()) continue;
    const Table copies = table->select(rows);
    table->values.insert(table->values.end(), copies.values.begin(), copies.values.end());
    table->extents.front() += copies.rows();
  }
}

void set_target(Part& part, std::int64_t row, const std::vector<double>& target) {
  std::copy(target.begin(), target.end(), row_of(part.y, row).begin());
}

}  // namespace neutra::training
