#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "training/data/table.h"
#include "training/random.h"

namespace neutra::training {

/// Rows by number, from 0.
using RowNumbers = std::vector<std::int64_t>;

/// "data.mutations[2]"
std::string step_place(std::size_t index);

/// A step of data.mutations on the training rows, with the random numbers that belong to it.
class MutationStep {
 public:
  /// `config`: a step whose fields have been checked; it has to outlive this. `index`: its position
  /// in data.mutations.
  MutationStep(const Json& config, std::size_t index);

  [[noreturn]] void refuse(const std::string& found, const std::string& allowed) const;

  /// A field of the step; `fallback` where it is missing.
  Json field(const char* name, const Json& fallback) const { return config_.value(name, fallback); }
  double number(const char* name, double fallback) const { return config_.value(name, fallback); }
  /// One of `allowed`, the first without such a field. Throws input_error for any other.
  std::string word(const char* name, const std::vector<std::string>& allowed) const;
  /// The step's share of `count`, rounded down.
  std::size_t share(std::size_t count) const;

  /// `count` of the rows in random order; a greater count has those of a smaller one.
  RowNumbers choose(const RowNumbers& rows, std::size_t count);
  RowNumbers choose(const RowNumbers& rows) { return choose(rows, share(rows.size())); }
  /// Normal with mean 0.
  std::vector<float> normal(std::size_t count, double deviation);
  /// Uniform in [0, 1) with 32 bits.
  std::vector<double> uniform(std::size_t count);
  /// `count` numbers from 0 to choices - 1.
  std::vector<std::size_t> draw(std::size_t count, std::size_t choices);

  const double percentage;
  const bool classes;  ///< are equal targets a class, or are targets numbers of a scale?

 private:
  std::string place() const { return step_place(index_); }
  RandomStream next() { return {key_, Stream::kMutation, index_, draws_++}; }

  const Json& config_;
  std::uint32_t index_, draws_ = 0;
  RandomKey key_;
};

/// 0 to the number of rows - 1.
RowNumbers all_rows(const Part& part);
/// The numbers of a row.
std::span<double> row_of(Table& table, std::int64_t row);

/// NumPy's std: of the population.
double deviation(std::span<const double> values);

/// Refuses NaN and infinities; `what`: "features", "targets".
void require_numbers(const MutationStep& step, const Table& table, const char* what);

/// Training rows by target; `targets` are the distinct ones, in ascending order.
struct Groups {
  std::vector<std::vector<double>> targets;
  std::vector<RowNumbers> rows;

  /// The largest group, the first of several.
  std::size_t largest(std::optional<std::size_t> except = std::nullopt) const;
  /// For each of `count` rows its group.
  std::vector<std::size_t> of_rows(std::int64_t count) const;
};

/// Rows of equal targets.
Groups classes_of(const MutationStep& step, Part& part);
/// The same; refuses rows of one class.
Groups require_two_classes(const MutationStep& step, Part& part);

/// Three buckets by one target (below -std, within, above std), nine by two or more (the first two
/// count): DeepCrime's, whose middle bucket of two targets leaves its upper end out.
std::vector<RowNumbers> buckets_of(const MutationStep& step, Part& part);

/// The other rows keep their order.
void remove_rows(Part& part, RowNumbers gone);
/// Appends copies of rows. Refuses tables that would get too large.
void append_rows(const MutationStep& step, Part& part, const RowNumbers& rows);
/// Precondition: as many numbers as a target has.
void set_target(Part& part, std::int64_t row, const std::vector<double>& target);

}  // namespace neutra::training
