#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/tools/deepfd/classifiers.h"
#include "fl_adapters/tools/deepfd/monitor.h"
#include "program/program.h"

namespace neutra::fl_adapters::deepfd {

/// The tool's words for its labels, in its order: opt, lr, act, loss, epoch.
std::string_view label_name(std::size_t label);

/// "lr, epoch"; "-" for none.
std::string to_string(const Labels& labels);

/// A correct program or a killed mutant, with the features of its trainings.
struct Example {
  std::string program;  ///< name of the base
  std::string faults;   ///< "lr_1e-12__epoch_2", "origin"
  Hash hash;
  Labels labels{};
  double accuracy = 0;  ///< mean over all trainings, on the validation rows
  /// [variant][training]
  std::array<std::vector<std::vector<float>>, std::size(kVariants)> features;
};

/// Trainings of each example that a model file keeps. More help little, and classifiers are trained
/// whenever it is read.
inline constexpr std::size_t kKeptTrainings = 2;

/// What classifiers learn from, or are judged by: a model file (docs/formats/deepfd_model.md).
struct Table {
  std::uint64_t seed = 0;
  std::vector<std::string> programs;  ///< names of the bases
  std::vector<Example> examples;
  std::size_t mutants = 0;  ///< that were trained, killed or not

  /// Rows and labels for the classifiers of a variant.
  LabelledRows rows(ToolVariant variant) const;
  /// The example whose program has this hash; nullptr for none.
  const Example* find(const Hash& hash) const;
};

/// At most `trainings` of each example are written.
std::string to_text(const Table& table, std::size_t trainings);
/// Throws input_error: file, place, what was found, what is allowed.
Table table_from_json(const Json& json, const std::string& file);
/// The table of a file, whose digest is checked where it has one.
Table read_table(const std::filesystem::path& file);

}  // namespace neutra::fl_adapters::deepfd
