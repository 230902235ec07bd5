#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluators/scores.h"
#include "experiments/catalog.h"
#include "search/minimal.h"
#include "search/network.h"

namespace neutra::experiments {

/// A fault and, where it was searched, its network.
struct ScoredFault {
  Fault fault;
  std::optional<search::Network> network;
  std::string file;      ///< of the network, for messages
  bool minimal = false;  ///< score against small repairs alone: counts_as_minimal()
};

/// Does a repair count where only 1-minimal ones do? It does where it is known to be 1-minimal, and
/// where that is not known but no smaller repair within it is.
bool counts_as_minimal(const search::RepairSize& size);

/// The faults of the known fix. Corrected: diff(buggy, fixed), what is declared where no fix is
/// known; as published: what is declared, the diff where nothing is.
program::FaultSet known_faults(const Fault& fault, evaluators::Variant variant);

/// The known fix and the network's alternatives, with those that minimising found; the small ones
/// alone where the fault is scored so. Corrected: each as diff(buggy, alternative). As published:
/// each as one item for every hyperparameter in which it differs from the parent of the
/// first alternative row, the known fix from the buggy program. Throws input_error when a recorded
/// program is not one of the fault's subject or, corrected, when the network's root is not the
/// fault's buggy program.
std::vector<program::FaultSet> ground_truths(const ScoredFault& fault, evaluators::Variant variant);

/// The faults of a repair, as a ground truth. The fault outlives it.
class TruthMaker {
 public:
  /// Throws input_error when, corrected, the network's root is not the fault's buggy program.
  /// Precondition: the network has nodes.
  TruthMaker(const ScoredFault& scored, evaluators::Variant variant);
  /// Throws input_error for a program that is none of the fault's subject.
  program::FaultSet operator()(const search::Node& node) const;

 private:
  const ScoredFault& scored_;
  const evaluators::Variant variant_;
  const program::Parameters& start_;
};

}  // namespace neutra::experiments
