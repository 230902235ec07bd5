#include "cli/tool_answers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/words.h"
#include "cli/texts.h"
#include "experiments/scores/alike_tools.h"

namespace neutra::cli {
namespace {

/// Messages of all runs, equal ones together.
TextTable message_table(const std::vector<fl_adapters::Localisation>& runs,
                        const program::LayerTitles& titles, const FaultLines& lines) {
  std::vector<std::string> heads{"message", "layers", "when", "runs", "actionable", "answer"};
  if (lines.known()) heads.emplace_back("lines");
  TextTable table(heads);
  for (const fl_adapters::HeardMessage& line : fl_adapters::messages_heard(runs)) {
    const fl_adapters::ToolMessage& message = *line.message;
    const std::string layers = titles(message.layers);
    std::vector<std::string> row{
        message.severity + ": " + message.text,
        layers.empty() ? "-" : layers,
        fl_adapters::when_said(line),
        std::to_string(line.runs),
        std::string(to_string(message.actionability)),
        answer_text(message) + (message.ignored.empty() ? "" : " (" + message.ignored + ")")};
    if (lines.known()) {
      const std::string where = lines.text(message);
      row.push_back(where.empty() ? "-" : where);
    }
    table.add(row);
  }
  return table;
}

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kSuspiciousness = 3;  ///< its place in a row of a ranking

/// The first places of the rankings: layers, by their mean rank over the runs that rank them. Equal
/// suspiciousness shares the mean of its ranks.
Rows ranking_rows(const std::vector<fl_adapters::Localisation>& runs,
                  const program::LayerTitles& titles, const FaultLines& lines) {
  constexpr std::size_t kShown = 10;
  struct Place {
    std::pair<int, std::string> id;  ///< layer, fault type
    double ranks = 0, suspiciousness = 0;
    int runs = 0, first = 0;
  };
  std::vector<Place> places;
  for (const fl_adapters::Localisation& run : runs) {
    const auto end =
        std::find_if(run.ranking.begin(), run.ranking.end(),
                     [](const evaluators::Suspect& suspect) { return suspect.neuron >= 0; });
    for (auto begin = run.ranking.begin(); begin != end;) {
      const auto next = std::find_if(begin, end, [&](const evaluators::Suspect& suspect) {
        return suspect.suspiciousness != begin->suspiciousness;
      });
      const double rank =
          static_cast<double>(begin - run.ranking.begin() + 1 + (next - run.ranking.begin())) / 2;
      const bool first = begin == run.ranking.begin();
      for (; begin != next; ++begin) {
        const std::pair id(begin->layer, begin->type);
        auto place = std::find_if(places.begin(), places.end(),
                                  [&](const Place& known) { return known.id == id; });
        if (place == places.end()) place = places.insert(places.end(), Place{id});
        place->ranks += rank;
        place->suspiciousness += begin->suspiciousness;
        ++place->runs;
        place->first += first;
      }
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tuple(a.ranks / a.runs, a.id) < std::tuple(b.ranks / b.runs, b.id);
  });
  Rows rows;
  for (std::size_t i = 0; i < std::min(kShown, places.size()); ++i) {
    const Place& place = places[i];
    const auto& [layer, type] = place.id;
    rows.push_back({rounded(place.ranks / place.runs), layer < 0 ? "-" : titles(layer),
                    type.empty() ? "-" : type, rounded(place.suspiciousness / place.runs),
                    std::to_string(place.first) + " runs", std::to_string(place.runs) + " runs"});
    if (lines.known()) {
      program::FaultEntry suspect{type, {}};
      if (layer >= 0) suspect.layers.insert(layer);
      const std::string where = lines.text({suspect});
      rows.back().push_back(where.empty() ? "-" : where);
    }
  }
  return rows;
}

/// What a tool said, as it is shown.
struct Said {
  const fl_adapters::ToolAnswers* answers = nullptr;
  std::string summary;  ///< the answers and what went wrong, a line each
  Rows ranking;
  std::string messages;
  std::vector<std::string> alike;  ///< others of its family that said the same

  std::string name() const {
    const std::string& name = answers->tool->name;
    return alike.empty() ? name : name + " (+" + std::to_string(alike.size()) + ")";
  }
};

Said said_by(const fl_adapters::ToolAnswers& answers, const program::LayerTitles& titles,
             const FaultLines& lines) {
  Said said;
  said.answers = &answers;
  const std::string total = std::to_string(answers.runs.size());
  for (const auto& [answer, count] : answers.counted()) {
    said.summary +=
        in_lines("  answer in " + std::to_string(count) + " of " + total + " runs: " + answer);
  }
  said.summary += lines.summary(answers.runs);
  std::map<std::string, int> troubles;
  for (const fl_adapters::Localisation& run : answers.runs) {
    if (run.status != fl_adapters::LocalisationStatus::kOk || !run.reason.empty())
      ++troubles[std::string(to_string(run.status)) + ": " + run.reason];
  }
  for (const auto& [trouble, count] : troubles)
    said.summary += in_lines("  " + std::to_string(count) + " of " + total + " runs " + trouble);
  said.ranking = ranking_rows(answers.runs, titles, lines);
  if (!fl_adapters::messages_heard(answers.runs).empty())
    said.messages = message_table(answers.runs, titles, lines).text();
  return said;
}

/// Do both say the same, but for how suspicious, which formulas measure on scales of their own?
bool say_the_same(const Said& a, const Said& b) {
  return experiments::tool_family(a.answers->tool->name) ==
             experiments::tool_family(b.answers->tool->name) &&
         a.summary == b.summary && a.messages == b.messages &&
         std::equal(a.ranking.begin(), a.ranking.end(), b.ranking.begin(), b.ranking.end(),
                    [](std::vector<std::string> ours, std::vector<std::string> theirs) {
                      ours[kSuspiciousness] = theirs[kSuspiciousness] = "";
                      return ours == theirs;
                    });
}

/// What each tool said; those of one family that said the same are one.
std::vector<Said> said_by(const std::vector<fl_adapters::ToolAnswers>& results,
                          const program::LayerTitles& titles, const FaultLines& lines) {
  std::vector<Said> all;
  for (const fl_adapters::ToolAnswers& answers : results) {
    Said said = said_by(answers, titles, lines);
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Said& other) { return say_the_same(other, said); });
    if (same != all.end())
      same->alike.push_back(answers.tool->name);
    else
      all.push_back(std::move(said));
  }
  return all;
}

/// A row for each tool.
std::string overview(const std::vector<Said>& all, const FaultLines& lines) {
  std::vector<std::string> heads{"tool", "answer", "runs", "first place", "a run"};
  if (lines.known()) heads.emplace_back("lines");
  TextTable table(heads);
  for (const Said& said : all) {
    const fl_adapters::ToolAnswers& answers = *said.answers;
    const std::size_t runs = answers.runs.size();
    const auto counted = answers.counted();
    std::string first = "-";
    if (!said.ranking.empty()) {
      const std::string &layer = said.ranking.front()[1], &fault = said.ranking.front()[2];
      first = layer == "-" ? fault : layer;
    }
    std::vector<std::string> row{said.name(), counted.empty() ? "-" : counted.front().first,
                                 (counted.empty() ? "0" : std::to_string(counted.front().second)) +
                                     " of " + std::to_string(runs),
                                 first, duration_text(answers.mean_seconds())};
    if (lines.known()) {
      const std::string where = counted.empty() ? "" : lines.text(answers);
      row.push_back(where.empty() ? "-" : where);
    }
    table.add(row);
  }
  return table.text();
}

std::string text_of(const Said& said) {
  const fl_adapters::Tool& tool = *said.answers->tool;
  std::string text = said.name() + " " + tool.version + " (" + std::string(to_string(tool.kind)) +
                     "), " + duration_text(said.answers->mean_seconds()) + " a run\n";
  if (!said.alike.empty()) text += in_lines("  the same of " + join(said.alike));
  text += said.summary;
  if (!said.ranking.empty()) {
    std::vector<std::string> heads{"rank",           "layer",    "fault",
                                   "suspiciousness", "first in", "ranked in"};
    if (said.ranking.front().size() > heads.size()) heads.emplace_back("lines");
    TextTable table(heads);
    for (const auto& row : said.ranking) table.add(row);
    text += "\n" + table.text();
  }
  return said.messages.empty() ? text : text + "\n" + said.messages;
}

}  // namespace

std::string answers_text(const std::vector<fl_adapters::ToolAnswers>& results,
                         const program::LayerTitles& titles, const FaultLines& lines) {
  const std::vector<Said> all = said_by(results, titles, lines);
  std::string text;
  if (results.size() > 1) text += "\n" + overview(all, lines);
  for (const Said& said : all) text += "\n" + text_of(said);
  return text;
}

std::string answer_text(const fl_adapters::ToolMessage& message) {
  return to_string(program::FaultSet{
      true, message.faults.empty() ? decltype(program::FaultSet::items){}
                                   : decltype(program::FaultSet::items){message.faults}});
}

}  // namespace neutra::cli
