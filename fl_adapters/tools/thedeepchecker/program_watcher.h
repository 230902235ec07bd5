#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/data_checks.h"
#include "fl_adapters/tools/thedeepchecker/model.h"
#include "training/observer.h"

namespace neutra::fl_adapters::thedeepchecker {

/// Watches the training of the program: the checks before and during it.
class ProgramWatcher final : public training::Observer {
 public:
  /// Both outlive the watcher. `messages` gets what the checks say.
  ProgramWatcher(const program::Program& program, ToolVariant variant, Messages& messages)
      : program_(program), variant_(variant), messages_(messages) {}

  void begin(const training::DataView& data, training::Probe& probe) override;
  void epoch_end(const training::EpochEvent& event) override;

 private:
  void add(Messages messages) { record_all(messages_, std::move(messages)); }
  void check_weights(training::Probe& probe, const Targets& targets);
  void check_loss(training::Probe& probe, const Targets& targets, std::span<const float> values,
                  std::size_t width);

  const program::Program& program_;
  ToolVariant variant_;
  Messages& messages_;
  std::optional<Model> model_;
  std::vector<std::int64_t> compared_;  ///< rows seen in both modes
};

}  // namespace neutra::fl_adapters::thedeepchecker
