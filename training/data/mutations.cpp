#include "training/data/mutations.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/vocabulary.h"
#include "training/data/data_faults.h"
#include "training/data/fields.h"
#include "training/data/mutation_step.h"

namespace neutra::training {
namespace {

void add_normal(std::span<double> values, MutationStep& step, double stddev) {
  const std::vector<float> noise = step.normal(values.size(), stddev);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(noise[i]);
}

// DeepCrime's operators on training data.

void change_label(Part& part, MutationStep& step) {
  if (!step.classes) {
    require_numbers(step, part.y, "targets");
    add_normal(part.y.values, step, deviation(part.y.values) * step.percentage / 100);
    return;
  }
  const Groups groups = require_two_classes(step, part);
  const std::size_t from = groups.largest();
  const RowNumbers rows = step.choose(groups.rows[from]);
  const std::vector<std::size_t> labels = step.draw(rows.size(), groups.rows.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_target(part, rows[i], groups.targets[labels[i] + (labels[i] >= from ? 1 : 0)]);
  }
}

/// Classes of the rows, or buckets; and those that are smaller than the mean of all.
std::vector<RowNumbers> groups_of(Part& part, const MutationStep& step) {
  return step.classes ? classes_of(step, part).rows : buckets_of(step, part);
}
std::vector<RowNumbers> small_ones(std::vector<RowNumbers> groups, std::int64_t rows) {
  const double mean = static_cast<double>(rows) / static_cast<double>(groups.size());
  std::erase_if(groups, [&](const RowNumbers& group) {
    return group.empty() || static_cast<double>(group.size()) >= mean;
  });
  return groups;
}

/// Takes the step's share off each group.
void thin_out(Part& part, MutationStep& step, const std::vector<RowNumbers>& groups) {
  RowNumbers gone;
  for (const RowNumbers& rows : groups) {
    if (rows.empty()) continue;
    const RowNumbers chosen = step.choose(rows);
    gone.insert(gone.end(), chosen.begin(), chosen.end());
  }
  remove_rows(part, std::move(gone));
}

void delete_training_data(Part& part, MutationStep& step) {
  thin_out(part, step, groups_of(part, step));
}
void unbalance_train_data(Part& part, MutationStep& step) {
  const std::vector<RowNumbers> small = small_ones(groups_of(part, step), part.x.rows());
  if (small.empty()) {
    step.refuse("classes of equal size", "a class that is smaller than the mean of all");
  }
  thin_out(part, step, small);
}

void add_noise(Part& part, MutationStep& step) {
  require_numbers(step, part.x, "features");
  for (const std::int64_t row : step.choose(all_rows(part))) {
    const std::span<double> features = row_of(part.x, row);
    add_normal(features, step, deviation(features) * step.percentage / 100);
  }
}

void make_output_classes_overlap(Part& part, MutationStep& step) {
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
  const RowNumbers rows = step.choose(groups.rows[first]);
  append_rows(step, part, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_target(part, before + static_cast<std::int64_t>(i), targets[i % targets.size()]);
  }
}

// DeepMutation's operators on training data.

void data_repetition(Part& part, MutationStep& step) {
  append_rows(step, part, step.choose(all_rows(part)));
}
void data_missing(Part& part, MutationStep& step) {
  remove_rows(part, step.choose(all_rows(part)));
}

void data_shuffle(Part& part, MutationStep& step) {
  const RowNumbers chosen = step.choose(all_rows(part));
  RowNumbers places = chosen, order = all_rows(part);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    order[static_cast<std::size_t>(places[i])] = chosen[i];
  }
  part = {part.x.select(order), part.y.select(order)};
}

void label_error(Part& part, MutationStep& step) {
  const Groups groups = require_two_classes(step, part);
  const RowNumbers rows = step.choose(all_rows(part));
  const std::vector<std::size_t> labels = step.draw(rows.size(), groups.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_target(part, rows[i], groups.targets[labels[i]]);
  }
}

void noise_perturbation(Part& part, MutationStep& step) {
  for (const std::int64_t row : step.choose(all_rows(part))) {
    add_normal(row_of(part.x, row), step, step.number("stddev", 0.1));
  }
}

const std::map<std::string, DataOperation>& operations() {
  static const std::map<std::string, DataOperation> kOperations = [] {
    std::map<std::string, DataOperation> all = {
        {"add_noise", {add_noise, {"percentage", "seed"}}},
        {"change_label", {change_label, {"percentage", "seed", "targets"}}},
        {"data_missing", {data_missing, {"percentage", "seed"}}},
        {"data_repetition", {data_repetition, {"percentage", "seed"}}},
        {"data_shuffle", {data_shuffle, {"percentage", "seed"}}},
        {"delete_training_data", {delete_training_data, {"percentage", "seed", "targets"}}},
        {"label_error", {label_error, {"percentage", "seed"}}},
        {"make_output_classes_overlap",
         {make_output_classes_overlap, {"percentage", "seed", "targets"}}},
        {"noise_perturbation", {noise_perturbation, {"percentage", "seed", "stddev"}}},
        {"unbalance_train_data", {unbalance_train_data, {"percentage", "seed", "targets"}}}};
    all.insert(data_fault_operations().begin(), data_fault_operations().end());
    return all;
  }();
  return kOperations;
}

/// The names of the operations that take a field.
std::string takers(const std::string& field) {
  std::vector<std::string> names;
  for (const auto& [name, operation] : operations()) {
    if (operation.fields.contains(field)) names.push_back(name);
  }
  return join(names);
}

/// The operation of a step, whose fields are all there and belong to it.
const DataOperation& operation_of(const Json& config, const std::string& place) {
  if (!config.is_object()) throw input_error(place + ": found no object");
  check_fields(config, place,
               {{"op", FieldRule::kText},
                {"percentage", FieldRule::kNumber, 0, 100},
                {"seed", FieldRule::kWhole, 0, kLargestExactWhole},
                {"targets", FieldRule::kText},
                {"stddev", FieldRule::kNumber, 0},
                {"ratio", FieldRule::kNumber, 1},
                {"profile", FieldRule::kText},
                {"shift", FieldRule::kNumber},
                {"form", FieldRule::kText},
                {"fill", FieldRule::kAny},
                {"type", FieldRule::kText},
                {"factor", FieldRule::kNumber},
                {"layout", FieldRule::kText}});
  const std::string op = config.value("op", "");
  const auto found = operations().find(op);
  if (found == operations().end()) {
    std::vector<std::string> names;
    for (const auto& [name, operation] : operations()) names.push_back(name);
    throw input_error(describe("", place + ".op", "\"" + op + "\"", allowed_words(op, names)));
  }
  const DataOperation& operation = found->second;
  for (const auto& [field, value] : config.items()) {
    if (field == "op" || operation.fields.contains(field)) continue;
    throw input_error(
        describe("", place + "." + field, "one for op " + op, "one for " + takers(field)));
  }
  for (const auto& [field, allowed] : {std::pair{"percentage", "a number from 0 to 100"},
                                       {"ratio", "a number from 1"},
                                       {"layout", "the name of a layout"},
                                       {"type", "the name of a type"}}) {
    if (!operation.fields.contains(field) || config.contains(field)) continue;
    throw input_error(describe("", place + "." + field, "nothing", allowed));
  }
  return operation;
}

}  // namespace

bool has_small_class(const Array& targets, bool regression) {
  const Json config = {{"targets", regression ? "values" : "classes"}};
  const MutationStep step(config, 0);
  Part part;
  part.x.extents = {targets.rows()};  // features don't matter
  part.y.extents = targets.extents;
  part.y.values.assign(targets.values.begin(), targets.values.end());
  try {
    return !small_ones(groups_of(part, step), targets.rows()).empty();
  } catch (const Error&) {
    return true;
  }
}

void mutate(const Json& steps, Part& train) {
  if (steps.is_null()) return;
  if (!steps.is_array()) throw input_error("data.mutations: found no list of steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DataOperation& operation = operation_of(steps[i], step_place(i));
    MutationStep step(steps[i], i);
    operation.run(train, step);
    if (train.x.rows() == 0) {
      step.refuse("a percentage of " + shortest(step.percentage) + ", which leaves no training row",
                  "one that leaves some");
    }
  }
}

}  // namespace neutra::training
