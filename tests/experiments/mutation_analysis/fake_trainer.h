#pragma once

#include <cmath>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "experiments/mutation_analysis/analysis.h"
#include "tests/training/programs.h"

/// An original, mutants and their trainings, without training.
namespace neutra::experiments::tests {

inline constexpr std::size_t kInputs = 40;

/// A classification that is as good as its number of epochs says.
inline program::Program original() { return training::moons(50); }

inline program::Program with_epochs(const std::string& value) {
  program::Program p = original();
  p.document["fit"]["epochs"] = std::stoi(value);
  return p;
}
inline program::Program with_loss(const std::string& value) {
  if (value == "huber") throw input_error("huber: no loss for this task");
  program::Program p = original();
  p.document["compile"]["loss"] = value;
  return p;
}

inline OperatorSite epochs_site() {
  return {"change_epochs", "HNE", "", evaluators::SearchRange{50, 1, 1, 0}, {}, with_epochs};
}
inline OperatorSite loss_site() {
  return {"change_loss_function",
          "LCH",
          "",
          std::nullopt,
          {"binary_crossentropy", "mean_squared_error", "hinge", "poisson", "mean_absolute_error",
           "kullback_leibler_divergence", "huber", "logcosh"},
          with_loss};
}

/// Metrics without training: on the test rows less than 20, on the training rows less than 10
/// epochs are bad; hinge is bad; poisson and mean_absolute_error diverge, which leaves an accuracy,
/// a bad and a good one; kullback_leibler_divergence runs out of time; logcosh is refused.
class FakeTrainer final : public MutantTrainer {
 public:
  MutantRun run(const program::Program& program, int run) override {
    {
      const std::lock_guard lock(mutex_);
      if (trainings == limit) throw Error(Exit::kInterrupted, "interrupted");
      ++trainings;
    }
    const Json& document = program.document;
    const int epochs = document["fit"]["epochs"];
    const std::string loss = document["compile"]["loss"];
    const double noise = spread * static_cast<double>((run * 7 + epochs) % 5);
    MutantRun result;
    const auto metric = [&](bool bad) { return (bad ? 0.5 : 0.9) + noise; };
    const bool hinge = loss == "hinge", bad_loss = hinge || loss == "poisson";
    result.metrics = {{TestSet::kTrain, metric(epochs < 10 || bad_loss)},
                      {TestSet::kTest, metric(epochs < 20 || bad_loss)}};
    // The first half of the rows is easy and lost with hinge alone.
    for (std::size_t i = 0; i < kInputs; ++i) {
      const bool easy = i < kInputs / 2;
      result.right.push_back(easy ? !hinge
                                  : epochs >= 20 && i % 5 != static_cast<unsigned>(run) % 5);
      result.certainty.push_back(easy ? 1.0f : 0.6f);
    }
    if (loss == "poisson" || loss == "mean_absolute_error") {
      result.status = training::RunStatus::kDiverged;
      result.message = "weights are not finite";
    }
    if (loss == "kullback_leibler_divergence") {
      result.status = training::RunStatus::kTimeout;
      for (auto& [set, value] : result.metrics) value = std::nan("");
      result.right.clear();
    }
    result.seconds = 1;
    return result;
  }
  std::optional<std::string> refusal(const program::Program& program) override {
    if (program.document["compile"]["loss"] == "logcosh") return "refused";
    return std::nullopt;
  }
  int trainings = 0;
  int limit = -1;  ///< from there on interrupted
  double spread = 0.02;

 private:
  std::mutex mutex_;
};

inline MutationOptions options(bool early = true, int workers = 1) {
  MutationOptions o;
  o.runs = 10;
  o.early = early;
  o.workers = workers;
  return o;
}

struct Outcome {
  MutationAnalysis analysis;
  int trainings = 0;
};
inline Outcome analyse(const MutationOptions& o,
                       const std::vector<OperatorSite>& sites = {epochs_site(), loss_site()}) {
  FakeTrainer trainer;
  MutantRuns runs;
  return {analyse_mutants(original(), sites, o, trainer, runs), trainer.trainings};
}

inline const AnalysedMutant& mutant(const MutationAnalysis& analysis, const std::string& id) {
  for (const AnalysedMutant& m : analysis.mutants) {
    if (m.id() == id) return m;
  }
  throw std::runtime_error("no mutant " + id);
}

/// Everything that must not depend on how it was computed.
inline std::string text(const MutationAnalysis& analysis) {
  std::string text;
  for (const AnalysedMutant& m : analysis.mutants) {
    text += m.id() + " " + std::string(to_string(m.status)) + " " + std::to_string(m.runs);
    for (const auto& [set, v] : m.verdicts) {
      text += " " + std::string(to_string(set)) + (v.killed ? " killed " : " survived ") +
              shortest(v.p) + " " + shortest(v.d);
    }
    text += "\n";
  }
  return text;
}

}  // namespace neutra::experiments::tests
