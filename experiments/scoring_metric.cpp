#include "experiments/scoring_metric.h"

#include <iostream>
#include <set>

#include "base/error.h"
#include "program/document.h"
#include "program/normal.h"
#include "program/vocabulary.h"
#include "search/store_reader.h"

namespace neutra::experiments {
namespace {

/// The metric in normal form without defaults; null where the document has none that is valid.
Json metric_in(const program::Program& program) {
  std::vector<program::Problem> problems;
  const Json normal = program::normal_form(program.document, program::Defaults::kDrop, problems);
  return problems.empty() ? normal.at("metric") : Json();
}

/// Its loss in normal form.
Json loss_of(const program::Program& program) {
  std::vector<program::Problem> problems;
  return program::normal_form(program.document, program::Defaults::kDrop, problems)
      .at("compile")
      .at("loss");
}

/// The steps of data.preprocess that change the scale of targets.
Json scale_of_targets(const program::Program& program) {
  static const std::set<std::string> kRescales{"add", "normalize", "scale", "standardize"};
  Json steps = Json::array();
  const Json data = program.document.value("data", Json::object());
  const Json* all = member(data, "preprocess");
  if (all == nullptr || !all->is_array()) return steps;
  for (const Json& step : *all) {
    if (step.is_object() && step.value("on", "x") == "y" &&
        kRescales.contains(step.value("op", ""))) {
      steps.push_back(step);
    }
  }
  return steps;
}

/// The metric that has the loss's name; of logits where that is.
Json named_after_loss(const Json& metric, const Json& loss) {
  const program::Entry& entry =
      *program::find(program::Vocabulary::kMetric, program::loss_word(loss));
  Json named = {{"name", entry.name}};
  if (program::loss_options(loss).from_logits) named["from_logits"] = true;
  if (metric.contains("goal")) {  // not the usual one
    named["goal"] = entry.facts.at("goal") == "minimize" ? "maximize" : "minimize";
  }
  return named;
}

}  // namespace

program::Program scored_by_name(program::Program program) {
  const Json metric = metric_in(program);
  if (metric.is_object() && metric.at("name") == "loss") {
    program.document["metric"] = named_after_loss(metric, loss_of(program));
  }
  return program;
}

Fault scored_alike(Fault fault) {
  Json metric = metric_in(fault.buggy);
  if (metric.is_null()) return fault;
  if (metric.at("name") == "loss") {
    fault.buggy = scored_by_name(std::move(fault.buggy));
    fault.space = program::ProgramSpace(fault.buggy, fault.space.keys(), fault.file.string());
    metric = metric_in(fault.buggy);
  }
  if (fault.fixed && metric_in(*fault.fixed) != metric) fault.fixed->document["metric"] = metric;
  return fault;
}

Fault scored_as_begun(Fault fault, const std::filesystem::path& store, std::string& warning) {
  const Json metric = metric_in(fault.buggy);
  const bool by_loss = metric.is_object() && metric.at("name") == "loss";
  Fault alike = scored_alike(fault);
  if (!by_loss) return alike;
  Json header;
  try {
    header = search::read_store(store).header;
  } catch (const Error&) {  // none yet, or one that the search itself refuses
    return alike;
  }
  if (header.value("metric", "") != "loss") return alike;
  warning =
      store.string() +
      " was begun with the loss of each program as its own metric, and goes on so: numbers of "
      "programs with different losses can't be compared. --fresh begins anew, " +
      scoring_text(fault);
  return fault;
}

std::string scoring_text(const Fault& fault) {
  const Json metric = metric_in(fault.buggy);
  if (metric.is_null()) return "";
  const Json loss = loss_of(fault.buggy);
  const Json compile = fault.buggy.document.value("compile", Json::object());
  const bool by_loss = metric == named_after_loss(Json::object(), loss) &&
                       compile.value("metrics", Json::array()).empty();
  if (!by_loss && metric.at("name") != "loss") return "";
  return "scored by " + program::loss_word(loss) +
         (program::loss_options(loss).from_logits ? " of logits" : "") +
         ", the buggy program's loss";
}

std::string scale_warning(const Fault& fault) {
  if (!fault.fixed) return "";
  Json metric = metric_in(fault.buggy);
  if (metric.is_null() || metric.value("scale", "") == "original") return "";
  if (metric.at("name") == "loss") metric = named_after_loss(metric, loss_of(fault.buggy));
  const std::string name = metric.at("name");
  if (!program::find(program::Vocabulary::kMetric, name)->facts.value("scale", false)) return "";
  const Json buggy = scale_of_targets(fault.buggy), fixed = scale_of_targets(*fault.fixed);
  if (buggy == fixed) return "";
  return fault.id +
         ": the targets of the buggy program and of the known fix have different scales (" +
         "/data/preprocess on y: " + buggy.dump() + " and " + fixed.dump() + "), and " + name +
         " depends on it; {\"name\": \"" + name +
         "\", \"scale\": \"original\"} or r2 as the metric can be compared";
}

void tell_scoring(const Fault& fault, bool quiet) {
  if (const std::string text = scoring_text(fault); !text.empty() && !quiet) {
    std::cerr << fault.id << ": " << text << '\n';
  }
  if (const std::string warning = scale_warning(fault); !warning.empty()) {
    std::cerr << "warning: " << warning << '\n';
  }
}

}  // namespace neutra::experiments
