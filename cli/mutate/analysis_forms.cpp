#include "cli/mutate/analysis_forms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "base/csv_table.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/words.h"
#include "cli/texts.h"
#include "evaluators/statistics.h"
#include "experiments/mutation_analysis/report.h"

namespace neutra::cli {
namespace {

std::string share_text(const std::optional<double>& value) { return value ? rounded(*value) : "-"; }

bool killed_by_any(const experiments::AnalysedMutant& mutant) {
  return std::any_of(mutant.verdicts.begin(), mutant.verdicts.end(),
                     [](const auto& v) { return v.second.killed; });
}

experiments::MutantStatus status_of(const experiments::AnalysedMutant& mutant) {
  if (!mutant.program || mutant.status == training::RunStatus::kInvalid)
    return experiments::MutantStatus::kInvalid;
  if (!mutant.same_as.empty()) return experiments::MutantStatus::kIgnored;
  if (killed_by_any(mutant)) return experiments::MutantStatus::kKilled;
  const bool judged = std::none_of(mutant.verdicts.begin(), mutant.verdicts.end(),
                                   [](const auto& v) { return v.second.missing; });
  if (judged) return experiments::MutantStatus::kSurvived;
  return mutant.status == training::RunStatus::kTimeout ? experiments::MutantStatus::kTimeout
                                                        : experiments::MutantStatus::kError;
}

/// Share of inputs that kill, where it compares with that of other mutants: over all runs.
std::optional<double> triviality_of(const experiments::AnalysedMutant& mutant,
                                    const experiments::MutationOptions& options) {
  return mutant.runs == options.runs ? mutant.triviality : std::nullopt;
}

/// The mean metric, or how many of the runs diverged; "-" where one was cut off, or none was made.
std::string mean_of(const experiments::AnalysedMutant& mutant, experiments::TestSet set) {
  const auto mean = mutant.means.find(set);
  if (mean == mutant.means.end()) return "-";
  const auto diverged = mutant.diverged.find(set);
  if (diverged == mutant.diverged.end() || diverged->second == 0) return rounded(mean->second);
  return evaluators::diverged_text(diverged->second, static_cast<std::size_t>(mutant.runs));
}

/// "killed", "killed, not stable", "survived", "the original"; where there is no verdict "not
/// applicable", "invalid", "-" (not tried), "failed", also "failed (timeout)", as published also
/// "diverged".
std::string outcome(const experiments::AnalysedMutant& mutant, experiments::TestSet set) {
  if (!mutant.program) return "not applicable";
  if (mutant.status == training::RunStatus::kInvalid) return "invalid";
  const auto verdict = mutant.verdicts.find(set);
  if (verdict == mutant.verdicts.end()) return "-";
  if (verdict->second.killed) return verdict->second.stable ? "killed" : "killed, not stable";
  if (mutant.same_as == "original") return "the original";
  if (!verdict->second.missing) return "survived";
  const std::string status(to_string(mutant.status));
  return training::has_metric(mutant.status) || mutant.status == training::RunStatus::kFailed
             ? status
             : "failed (" + status + ")";
}

/// How many mutants each test set kills, programs that occur twice counted once.
std::string counts_text(const experiments::MutationAnalysis& analysis,
                        const experiments::MutationOptions& options) {
  std::string text;
  for (const experiments::TestSet set : options.sets) {
    std::size_t killed = 0, judged = 0;
    for (const experiments::AnalysedMutant& mutant : analysis.mutants) {
      const auto verdict = mutant.verdicts.find(set);
      if (!mutant.same_as.empty() || verdict == mutant.verdicts.end() || verdict->second.missing)
        continue;
      ++judged;
      killed += verdict->second.killed ? 1 : 0;
    }
    text += "killed, " + std::string(to_string(set)) + ": " + std::to_string(killed) + " of " +
            std::to_string(judged) + " mutants\n";
  }
  std::int64_t invalid = 0, failed = 0;
  for (const experiments::AnalysedMutant& mutant : analysis.mutants) {
    if (!mutant.program || !mutant.same_as.empty()) continue;
    if (mutant.status == training::RunStatus::kInvalid)
      ++invalid;
    else
      failed += !training::has_metric(mutant.status);
  }
  if (const std::string lost = without_result_text(invalid, failed); !lost.empty())
    text += "no verdict: " + lost + "\n";
  return text + std::to_string(analysis.trainings) + " trainings, " +
         std::to_string(analysis.saved) + " saved\n\n";
}

Json verdict_json(const evaluators::KillVerdict& v) {
  const auto given = [&](Json value) { return v.missing ? Json() : value; };
  return {{"killed", given(v.killed)},
          {"p", given(json_number(v.p))},
          {"d", given(json_number(v.d))},
          {"power", given(json_number(v.power))},
          {"stable", given(v.stable)}};
}

Json mutants_json(const MutantAnalysis& whole) {
  const auto& [id, original, options, task, analysis] = whole;
  Json mutants = Json::array();
  for (const experiments::AnalysedMutant& m : analysis.mutants) {
    const experiments::OperatorSite& site = task.sites[m.site];
    Json entry = {{"id", m.id()},
                  {"operator", m.op},
                  {"site", site.site},
                  {"value", m.value},
                  {"status", to_string(m.program ? m.status : training::RunStatus::kInvalid)}};
    if (m.program) entry["hash"] = to_string(program::program_hash(*m.program));
    if (!m.reason.empty()) entry["reason"] = m.reason;
    if (!m.same_as.empty()) entry["same_as"] = m.same_as;
    entry["runs"] = m.runs;
    Json sets = Json::object();
    for (const auto& [set, verdict] : m.verdicts) {
      Json own = verdict_json(verdict);
      if (m.means.contains(set)) own["mean"] = json_number(m.means.at(set));
      if (m.diverged.contains(set)) own["diverged"] = m.diverged.at(set);
      sets[std::string(to_string(set))] = std::move(own);
    }
    entry["verdicts"] = std::move(sets);
    if (const auto share = triviality_of(m, options)) {
      entry["triviality"] = *share;
      entry["trivial"] = *share >= evaluators::kTrivial;
    }
    if (m.redundant) entry["redundant"] = *m.redundant;
    entry["seconds"] = m.seconds;
    mutants.push_back(std::move(entry));
  }
  return mutants;
}

Json operators_json(const MutantAnalysis& whole) {
  const auto& [id, original, options, task, analysis] = whole;
  Json operators = Json::array();
  for (const experiments::OperatorResult& o : analysis.operators) {
    Json scores = Json::object();
    for (const auto& [set, score] : o.scores) {
      scores[std::string(to_string(set))] = {{"score", json_or_null(score.score)},
                                             {"instability", score.instability}};
    }
    Json searches = Json::array();
    for (const std::size_t site : o.sites) {
      for (const auto& [set, search] : analysis.sites[site].searches) {
        searches.push_back({{"site", task.sites[site].site},
                            {"set", to_string(set)},
                            {"killed", json_or_null(search.killed)},
                            {"survived", json_or_null(search.survived)}});
      }
    }
    operators.push_back({{"operator", o.op},
                         {"abbreviation", o.abbreviation},
                         {"scores", std::move(scores)},
                         {"searches", std::move(searches)}});
  }
  return operators;
}

}  // namespace

Json json_of(const MutantAnalysis& whole) {
  const auto& [id, original_program, options, task, analysis] = whole;
  Json original = Json::object(), scores = Json::object();
  for (const auto& [set, values] : analysis.original)
    original[std::string(to_string(set))] = values;
  for (const auto& [set, score] : analysis.scores)
    scores[std::string(to_string(set))] = json_or_null(score);
  Json left_out = Json::array();
  for (const experiments::LeftOutOperator& o : task.left_out)
    left_out.push_back({{"operator", o.op->id}, {"reason", o.reason}});
  return {{"format", "neutra-mutation-analysis"},
          {"version", 1},
          {"program", id},
          {"runs", options.runs},
          {"variant",
           options.variant == evaluators::KillVariant::kCorrected ? "corrected" : "as-published"},
          {"original", std::move(original)},
          {"mutants", mutants_json(whole)},
          {"operators", operators_json(whole)},
          {"mutation_score", std::move(scores)},
          {"not_applicable", std::move(left_out)},
          {"trainings", analysis.trainings},
          {"saved", analysis.saved}};
}

std::string text_of(const MutantAnalysis& whole) {
  const auto& [id, original, options, task, analysis] = whole;
  std::string text = id;
  for (const auto& [set, values] : analysis.original) {
    text += ", " + std::string(to_string(set)) + " " + rounded(evaluators::mean(values));
  }
  text += " (mean of " + std::to_string(options.runs) + ")\n\n";
  std::vector<std::string> header{"operator", "site", "value", "runs"};
  for (const experiments::TestSet set : options.sets) {
    const std::string name(to_string(set));
    header.insert(header.end(), {name, "mean", "p", "d"});
  }
  header.emplace_back("triviality");
  TextTable table(header);
  for (const experiments::AnalysedMutant& m : analysis.mutants) {
    const experiments::OperatorSite& site = task.sites[m.site];
    std::vector<std::string> row{site.abbreviation, site.site.empty() ? "-" : site.site,
                                 m.value.empty() ? "-" : m.value, std::to_string(m.runs)};
    for (const experiments::TestSet set : options.sets) {
      const auto verdict = m.verdicts.find(set);
      const bool trained = verdict != m.verdicts.end() && m.means.contains(set);
      const bool measured = trained && !std::isnan(verdict->second.p) && !verdict->second.missing;
      row.push_back(outcome(m, set));
      row.push_back(mean_of(m, set));
      row.push_back(measured ? evaluators::p_text(verdict->second.p) : "-");
      row.push_back(measured ? rounded(verdict->second.d) : "-");
    }
    std::string inputs = "-";
    if (const auto share = triviality_of(m, options)) {
      inputs = rounded(*share);
      if (*share >= evaluators::kTrivial) {
        inputs += ", trivial";
      } else if (m.redundant && *m.redundant) {
        inputs += ", redundant";
      }
    }
    row.push_back(std::move(inputs));
    table.add(row);
  }
  text += table.text() + "\n" + counts_text(analysis, options);
  std::vector<std::string> columns{"operator", "id"};
  std::vector<experiments::TestSet> scored;
  for (const auto& [set, score] : analysis.scores) {
    scored.push_back(set);
    columns.insert(columns.end(), {std::string(to_string(set)) + " score", "instability"});
  }
  if (scored.empty()) {
    return text +
           "no mutation scores: they compare what test or weak kills with what train does "
           "(--test-set train --test-set test)\n";
  }
  TextTable scores(columns);
  for (const experiments::OperatorResult& o : analysis.operators) {
    std::vector<std::string> row{o.abbreviation, o.op};
    for (const experiments::TestSet set : scored) {
      row.push_back(share_text(o.scores.at(set).score));
      row.push_back(rounded(o.scores.at(set).instability));
    }
    scores.add(row);
  }
  text += scores.text() + "\n";
  for (const auto& [set, score] : analysis.scores)
    text += "mutation score, " + std::string(to_string(set)) + ": " + share_text(score) +
            (score ? "" : " (no operator has one with instability 0)") + "\n";
  return text;
}

std::string csv_of(const MutantAnalysis& whole) {
  const auto& [id, original, options, task, analysis] = whole;
  std::vector<std::string> header{"id",     "operator", "abbreviation", "site", "value",
                                  "status", "reason",   "same_as",      "runs"};
  for (const experiments::TestSet set : options.sets) {
    for (const char* column : {"killed", "mean", "p", "d", "power", "stable"})
      header.push_back(std::string(to_string(set)) + "_" + column);
  }
  header.insert(header.end(), {"triviality", "redundant"});
  std::string text = csv_line(header);
  for (const experiments::AnalysedMutant& m : analysis.mutants) {
    const experiments::OperatorSite& site = task.sites[m.site];
    std::vector<std::string> row{
        m.id(),
        m.op,
        site.abbreviation,
        site.site,
        m.value,
        std::string(to_string(m.program ? m.status : training::RunStatus::kInvalid)),
        m.reason,
        m.same_as,
        std::to_string(m.runs)};
    for (const experiments::TestSet set : options.sets) {
      const auto verdict = m.verdicts.find(set);
      if (verdict == m.verdicts.end() || !m.means.contains(set)) {
        row.insert(row.end(), 6, "");
        continue;
      }
      const evaluators::KillVerdict& v = verdict->second;
      const auto given = [&](const std::string& text) { return v.missing ? "" : text; };
      const auto number = [&](double value) {
        return std::isnan(value) ? "" : given(shortest(value));
      };
      row.insert(row.end(),
                 {given(v.killed ? "true" : "false"),
                  std::isfinite(m.means.at(set)) ? shortest(m.means.at(set)) : "", number(v.p),
                  number(v.d), number(v.power), given(v.stable ? "true" : "false")});
    }
    const auto share = triviality_of(m, options);
    row.push_back(share ? shortest(*share) : "");
    row.push_back(m.redundant ? (*m.redundant ? "true" : "false") : "");
    text += csv_line(row);
  }
  return text;
}

Json report_of(const MutantAnalysis& whole) {
  const auto& [id, original, options, task, analysis] = whole;
  std::map<std::string, std::string> tests;
  for (const experiments::TestSet set : options.sets) {
    const std::string name(to_string(set));
    tests[name] = set == experiments::TestSet::kTrain  ? "training rows"
                  : set == experiments::TestSet::kTest ? "test rows"
                                                       : "weak test rows";
  }
  std::vector<experiments::ReportedMutant> mutants;
  for (const experiments::AnalysedMutant& m : analysis.mutants) {
    experiments::ReportedMutant entry;
    entry.id = m.id();
    entry.op = m.op;
    entry.program = m.program ? &*m.program : &original;
    entry.status = status_of(m);
    entry.replacement = m.value;
    entry.seconds = m.seconds;
    std::vector<std::string> reasons;
    if (!m.reason.empty()) reasons.push_back(m.reason);
    if (!m.same_as.empty()) reasons.push_back("the same program as " + m.same_as);
    for (const auto& [set, v] : m.verdicts) {
      if (!m.means.contains(set)) continue;  // it was never trained
      const std::string name(to_string(set));
      entry.covered_by.push_back(name);
      if (v.killed) entry.killed_by.push_back(name);
      const auto diverged = m.diverged.find(set);
      const bool finite = diverged == m.diverged.end() || diverged->second == 0;
      reasons.push_back(name + ": " + (finite ? "" : mean_of(m, set) + ", ") +
                        (v.missing ? "no verdict"
                         : std::isnan(v.p)
                             ? "decided by one run"
                             : (evaluators::p_text(v.p).starts_with('<') ? "p " : "p = ") +
                                   evaluators::p_text(v.p) + ", d = " + rounded(v.d)) +
                        ", " + std::to_string(m.runs) + " runs");
    }
    entry.reason = join(reasons, "; ");
    mutants.push_back(std::move(entry));
  }
  return experiments::mutation_report(original, id + ".json", mutants, tests);
}

std::string form_of(const MutantAnalysis& analysis, const std::string& form) {
  if (form == "csv") return csv_of(analysis);
  return form == "json" ? to_text(json_of(analysis)) : text_of(analysis);
}

}  // namespace neutra::cli
