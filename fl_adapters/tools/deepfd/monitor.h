#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/messages.h"
#include "training/observer.h"

/// DeepFD (Cao et al., ICSE 2022), after its public behaviour: docs/methods/deepfd.md has every
/// rule, and what `repaired` fixes.
namespace neutra::fl_adapters::deepfd {

/// Messages and thresholds: tools/deepfd.json.
const MessageTable& message_table();

/// What the tool writes down at each sampled batch. Flags and counts: a count grows by one each
/// time that its rule holds.
enum Series : std::size_t {
  kNotConverge,
  kUnstableLoss,
  kNanLoss,
  kTestNotWell,
  kTestTurnBad,
  kScAccuracy,
  kDiedRelu,
  kVanishGradient,
  kExplodeGradient,
  kNanGradient,
  kLargeWeight,
  kNanWeight,
  kWeightChangeLittle,
  kDecreaseAcc,
  kIncreaseLoss,
  kConsMeanWeight,
  kConsStdWeight,
  kNanAcc,
  kNamedSeries,  ///< the tool's table has names for those above
  kLoss = kNamedSeries,
  kAcc,
  kValLoss,
  kValAcc,
  kAllSeries
};
using Row = std::array<double, kAllSeries>;
std::string_view series_name(std::size_t series);  ///< "not_converge", ..., "val_acc"

/// One entry of the tool's history. The batches of a training have no validation values.
struct Record {
  double loss = 0, accuracy = 0;
  std::optional<double> val_loss, val_accuracy;
};

using Variables = std::vector<std::span<const float>>;

/// The rules on the gradients of one batch; `layers` has those of each layer with weights, the
/// kernel first.
void check_gradients(std::span<const Variables> layers, Row& row);

/// The rules on the weights, and on their change since the sample before; `last` is empty at the
/// first.
void check_weights(const Variables& weights, const std::vector<std::vector<float>>& last,
                   ToolVariant variant, Row& row);

/// The rules on losses and accuracies so far, of a training of `epochs` epochs.
void check_history(std::span<const Record> history, std::int64_t epochs, Row& row);

/// The tool's monitor during one training.
class Monitor {
 public:
  /// Of a training of `epochs` epochs.
  Monitor(std::int64_t epochs, ToolVariant variant) : epochs_(epochs), variant_(variant) {}
  /// Loss and accuracy after a batch.
  void batch_end(double loss, double accuracy);
  /// What an epoch ended with.
  void epoch_end(const Record& record) { history_.push_back(record); }
  /// Adds a row, from what the probe says about the first batch.
  void sample(std::span<const training::LayerView> layers);
  /// One for each sample, in their order.
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::int64_t epochs_;
  ToolVariant variant_;
  std::vector<Record> history_;
  std::vector<std::vector<float>> last_;
  Row row_{};
  std::vector<Row> rows_;
};

/// Both variants of the tool, and a classifier's features from each.
inline constexpr ToolVariant kVariants[] = {ToolVariant::kAsPublished, ToolVariant::kRepaired};
std::string_view to_string(ToolVariant variant);  ///< "as-published", "repaired"

/// The last epoch's values: val_loss, val_accuracy, loss, accuracy.
using Finals = std::array<double, 4>;

/// Names of the features of a variant: "ft_loss", "ft_died_relu_mean", ... 148 as published, 180
/// repaired.
const std::vector<std::string>& feature_names(ToolVariant variant);
/// Their values: the finals, then eight statistics of each series. What isn't finite is 0.
std::vector<float> features(std::span<const Row> rows, const Finals& finals, ToolVariant variant);

/// The tool's statistics of a series, as pandas has them: mean, std, skew, median, var, sem, max,
/// min. Undefined ones (of too few values) are 0.
std::array<double, 8> statistics_of(std::vector<double> values);

/// Watches a training as the tool's callback does.
class Watcher final : public training::Observer {
 public:
  /// Watches for these variants, at once.
  explicit Watcher(std::vector<ToolVariant> variants) : variants_(std::move(variants)) {}
  bool wants_validation() const override { return true; }
  void begin(const training::DataView& data, training::Probe&) override;
  training::BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return training::BatchDetail::kLogs;
  }
  void batch_end(const training::BatchEvent& event) override;
  void epoch_end(const training::EpochEvent& event) override;

  /// Of the variants asked for, in their order.
  const std::vector<Monitor>& monitors() const { return monitors_; }
  const Finals& finals() const { return finals_; }

 private:
  std::vector<ToolVariant> variants_;
  std::vector<Monitor> monitors_;
  std::vector<std::int64_t> first_batch_;
  std::int64_t steps_per_epoch_ = 1;
  Finals finals_{};
};

}  // namespace neutra::fl_adapters::deepfd
