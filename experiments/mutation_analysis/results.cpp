#include "experiments/mutation_analysis/results.h"

#include <algorithm>

namespace neutra::experiments {
namespace {

evaluators::OperatorScore score(const std::vector<OperatorSite>& sites,
                                evaluators::KillVariant variant, const MutationAnalysis& result,
                                const OperatorResult& o, TestSet set) {
  // Places with a range each have a score; configurations of all places are one list.
  evaluators::OperatorScore sum;
  int ranges = 0;
  std::vector<evaluators::ConfigurationVerdict> list;
  bool lists = false;
  for (const std::size_t site : o.sites) {
    const SiteResult& found = result.sites[site];
    if (sites[site].range) {
      const evaluators::OperatorScore own = evaluators::range_score(
          *sites[site].range, variant, found.searches.at(TestSet::kTrain), found.searches.at(set));
      if (!own.score) continue;
      sum.score = sum.score.value_or(0) + *own.score;
      sum.instability = std::max(sum.instability, own.instability);
      ++ranges;
      continue;
    }
    lists = true;
    for (const std::size_t index : found.mutants) {
      const AnalysedMutant& mutant = result.mutants[index];
      if (!mutant.program || mutant.status == training::RunStatus::kInvalid) continue;
      list.push_back({mutant.verdicts.at(TestSet::kTrain), mutant.verdicts.at(set)});
    }
  }
  if (lists) return evaluators::list_score(list, variant);
  if (ranges > 0) sum.score = *sum.score / ranges;
  return sum;
}

}  // namespace

std::string AnalysedMutant::id() const {
  return std::to_string(site) + ":" + op + (value.empty() ? "" : "=" + value);
}

void add_scores(const std::vector<OperatorSite>& sites, const std::vector<TestSet>& sets,
                evaluators::KillVariant variant, MutationAnalysis& result) {
  for (std::size_t site = 0; site < sites.size(); ++site) {
    auto it = std::find_if(result.operators.begin(), result.operators.end(),
                           [&](const OperatorResult& o) { return o.op == sites[site].op; });
    if (it == result.operators.end()) {
      it = result.operators.insert(it, {sites[site].op, sites[site].abbreviation, {}, {}});
    }
    it->sites.push_back(site);
  }
  const auto has = [&](TestSet set) {
    return std::find(sets.begin(), sets.end(), set) != sets.end();
  };
  if (!has(TestSet::kTrain)) return;
  for (const TestSet set : {TestSet::kTest, TestSet::kWeak}) {
    if (!has(set)) continue;
    std::vector<evaluators::OperatorScore> all;
    for (OperatorResult& o : result.operators) {
      o.scores[set] = score(sites, variant, result, o, set);
      all.push_back(o.scores[set]);
    }
    result.scores[set] = evaluators::mutation_score(all);
  }
}

}  // namespace neutra::experiments
