#include "experiments/scores/ground_truths.h"

#include "experiments/network_file.h"

namespace neutra::experiments {
namespace {

/// Parameters of the program that the first alternative row starts from.
const program::Parameters& first_parent(const search::Network& network) {
  for (const search::Edge& edge : network.edges) {
    const search::Node* child = network.find(edge.child);
    const search::Node* parent = network.find(edge.parent);
    if (child != nullptr && child->alternative && parent != nullptr) return parent->parameters;
  }
  return network.nodes.front().parameters;
}

}  // namespace

program::FaultSet known_faults(const Fault& fault, evaluators::Variant variant) {
  const bool has_diff = fault.fixed.has_value();
  const bool declared = !fault.declared.items.empty();
  const bool use_declared = variant == evaluators::Variant::kAsPublished ? declared : !has_diff;
  return evaluators::by_type(use_declared ? fault.declared : fault.actual);
}

bool counts_as_minimal(const search::RepairSize& size) {
  return size.minimal.value_or(size.within == nullptr);
}

TruthMaker::TruthMaker(const ScoredFault& scored, evaluators::Variant variant)
    : scored_(scored), variant_(variant), start_(first_parent(*scored.network)) {
  if (variant == evaluators::Variant::kCorrected) {
    require_root(*scored.network, scored.fault, scored.file);
  }
}

program::FaultSet TruthMaker::operator()(const search::Node& node) const {
  const std::string place = scored_.file + ": node " + search::node_name(node);
  const program::Program program = scored_.fault.space.instantiate(node.parameters, place);
  return variant_ == evaluators::Variant::kCorrected
             ? program::diff(scored_.fault.buggy, program)
             : evaluators::changed_hyperparameters(scored_.fault.space, start_, node.parameters);
}

std::vector<program::FaultSet> ground_truths(const ScoredFault& scored,
                                             evaluators::Variant variant) {
  const Fault& fault = scored.fault;
  const program::ProgramSpace& space = fault.space;
  std::vector<program::FaultSet> truths;
  if (variant == evaluators::Variant::kAsPublished && fault.fixed_parameters) {
    truths.push_back(evaluators::changed_hyperparameters(space, space.base_parameters(),
                                                         *fault.fixed_parameters));
  } else {
    truths.push_back(known_faults(fault, variant));
  }
  if (!scored.network || scored.network->nodes.empty()) return truths;
  const TruthMaker truth_of(scored, variant);
  if (!scored.minimal) {
    for (const search::Node* node : scored.network->alternatives()) {
      truths.push_back(truth_of(*node));
    }
    return truths;
  }
  for (const search::RepairSize& size : repairs_by_size(*scored.network, &fault)) {
    if (counts_as_minimal(size)) truths.push_back(truth_of(*size.node));
  }
  return truths;
}

}  // namespace neutra::experiments
