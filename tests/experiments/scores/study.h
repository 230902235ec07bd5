#pragma once

#include <string>
#include <vector>

#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "experiments/scores/scoring.h"
#include "tests/source_file.h"

/// Answers and networks of the study, in excerpts.
namespace neutra::experiments::tests {

inline const std::vector<std::string> kTools{"deepfd", "deepdiagnosis", "neuralint", "umlaut"};

/// The answers of these tools.
inline std::vector<evaluators::Answer> study_answers() {
  return evaluators::read_answers(resource_directory() / "tables/answers.csv");
}

/// The recorded network as far as scores need it: a start and the repairs.
inline search::Network excerpt(const Fault& fault, const Json& record) {
  const auto changed = [&](const Json& changes) {
    const auto text = changes.get<std::string>();
    return fault.space.with_changes(text.empty() ? program::Parameters()
                                                 : program::parse_parameters(text, fault.id));
  };
  search::Network network;
  network.fault_id = fault.id;
  network.nodes.resize(2);
  network.nodes[0].parameters = fault.space.base_parameters();
  network.nodes[1].id = 1;
  network.nodes[1].parameters = changed(record.at("start"));
  for (const Json& changes : record.at("repairs")) {
    search::Node node;
    node.id = std::ssize(network.nodes);
    node.parameters = changed(changes);
    node.alternative = true;
    network.edges.push_back({1, node.id});
    network.nodes.push_back(std::move(node));
  }
  return network;
}

/// Faults of the study with such networks.
inline std::vector<ScoredFault> excerpts() {
  const Json file = read_json(source_file("tests/experiments/data/recorded_repairs.json"));
  std::vector<ScoredFault> faults;
  for (const auto& [id, record] : file.at("faults").items()) {
    Fault fault = load_fault(id);
    search::Network network = excerpt(fault, record);
    faults.push_back({std::move(fault), std::move(network), "recorded_repairs.json"});
  }
  return faults;
}

}  // namespace neutra::experiments::tests
