#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/loss_checks.h"
#include "fl_adapters/tools/thedeepchecker/model.h"
#include "fl_adapters/tools/thedeepchecker/output_checks.h"
#include "fl_adapters/tools/thedeepchecker/weight_checks.h"
#include "training/observer.h"

namespace neutra::fl_adapters::thedeepchecker {

/// Watches a training on one batch, each epoch one iteration.
class OverfitWatcher final : public training::Observer {
 public:
  /// Both outlive the watcher. `messages` gets what the checks say.
  OverfitWatcher(const program::Program& program, ToolVariant variant, Messages& messages)
      : program_(program), variant_(variant), messages_(messages) {}

  void begin(const training::DataView& data, training::Probe& probe) override;
  training::BatchDetail batch_detail(std::int64_t, std::int64_t) const override {
    return training::BatchDetail::kActivations;
  }
  void batch_end(const training::BatchEvent& event) override;
  bool stop() override { return patience_ == 0; }

 private:
  /// Of one layer.
  struct Checks {
    WeightCheck weight, bias;
    GradientCheck gradient;
    RegularizationCheck regularization;
    ActivationCheck activation;
    std::vector<float> kernel;  ///< before the update
  };

  template <typename Function>
  void for_kernels(const training::BatchEvent& event, Function function) {
    for (std::size_t i = 0; i < model_->parts.size(); ++i) {
      if (model_->parts[i].has_kernel) function(i, event.layers[i]);
    }
  }

  void count_down(double performance);
  const program::Program& program_;
  ToolVariant variant_;
  Messages& messages_;
  std::optional<Model> model_;
  std::vector<Checks> checks_;
  std::optional<OutputCheck> outputs_;
  std::size_t outputs_width_ = 1;
  LossCheck loss_;
  int patience_ = static_cast<int>(count_limit("patience"));
};

}  // namespace neutra::fl_adapters::thedeepchecker
