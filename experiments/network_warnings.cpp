#include "experiments/network_warnings.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "experiments/scoring_metric.h"
#include "mutators/reach.h"
#include "program/warnings.h"
#include "training/trainer.h"

namespace neutra::experiments {
namespace {

/// "the known fix is ..." as a sentence.
std::string sentence(std::string text) {
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  if (!text.ends_with('.')) text += '.';
  return text;
}

/// What the header says of the search; nullopt: it isn't one of a search, or of a later version.
std::optional<search::SearchConfig> config_of(const NetworkFile& loaded) {
  const Json* config = member(loaded.header, "config");
  if (config == nullptr) return std::nullopt;
  try {
    return search::search_config_from_json(*config, "");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool buggy_reaches_level(const search::Network& network) {
  if (network.nodes.empty() || !network.ground_truth || network.improve) return false;
  const search::Node& buggy = network.nodes.front();
  if (buggy.metrics.empty()) return false;
  return network.goal == program::Goal::kMaximize ? buggy.mean >= *network.ground_truth
                                                  : buggy.mean <= *network.ground_truth;
}

std::vector<std::string> reach_lines(const Fault& fault, mutators::Preset preset,
                                     std::optional<int> max_depth) {
  std::vector<std::string> lines;
  if (!fault.fixed) return lines;
  const mutators::Reach reach =
      mutators::reach_of(fault.space, *fault.fixed, fault.fixed_parameters, preset);
  for (const mutators::OutOfReach& part : reach.missing) {
    lines.push_back("the known fix is out of reach: " + part.reason);
  }
  if (max_depth && reach.missing.empty() && reach.changes > *max_depth) {
    lines.push_back("the known fix is out of reach: it takes " + std::to_string(reach.changes) +
                    " changes, the search makes " + std::to_string(*max_depth) + " at most");
  }
  return lines;
}

std::vector<std::string> network_warnings(const NetworkFile& loaded) {
  const search::Network& network = loaded.network;
  std::vector<std::string> warnings;
  if (buggy_reaches_level(network)) {
    warnings.push_back(
        "The buggy program reaches the level itself, so a repair here need not repair anything. "
        "neutra search --improve asks for programs that are significantly better than it.");
  }
  if (loaded.fault) {
    const Fault& fault = *loaded.fault;
    if (const auto config = config_of(loaded)) {
      for (const std::string& line :
           reach_lines(fault, config->preset, search::depth_limit(*config))) {
        warnings.push_back(sentence(line));
      }
    }
    if (const std::string text = scale_warning(fault); !text.empty()) {
      warnings.push_back(sentence(text));
    }
    std::vector<std::string> said;
    const auto add = [&](const char* which, const program::Program& program) {
      for (const program::Warning& warning : program::warnings_of(program)) {
        if (std::find(said.begin(), said.end(), warning.text) != said.end()) continue;
        said.push_back(warning.text);
        warnings.push_back(sentence(std::string(which) + ": " + warning.text));
      }
    };
    add("buggy program", fault.buggy);
    if (fault.fixed) add("known fix", *fault.fixed);
  }
  const auto failed =
      std::count_if(network.nodes.begin(), network.nodes.end(), [](const search::Node& n) {
        const training::RunStatus status =
            training::parse_run_status(n.status).value_or(training::RunStatus::kOk);
        return status != training::RunStatus::kInvalid && !training::has_metric(status);
      });
  if (failed > 0) {
    warnings.push_back(std::to_string(failed) + (failed == 1 ? " program has" : " programs have") +
                       " no result: the process died, or ran out of time or memory.");
  }
  if (loaded.finished && !network.nodes.empty() && network.alternatives().empty()) {
    warnings.push_back("No repair was found.");
  }
  return warnings;
}

}  // namespace neutra::experiments
