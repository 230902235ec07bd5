#include "evaluators/ranking.h"

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/strings.h"

namespace neutra::evaluators {
namespace {

bool same_place(const Suspect& a, const Suspect& b) {
  return a.layer == b.layer && a.type == b.type;
}

/// The order of places that are suspected alike.
bool before(const Suspect& a, const Suspect& b) {
  return std::tie(a.layer, a.type) < std::tie(b.layer, b.type);
}

bool tied(const Suspect& a, const Suspect& b) { return a.suspiciousness == b.suspiciousness; }

bool names(const Ranking& ranking, const Suspect& place) {
  return std::any_of(ranking.begin(), ranking.end(),
                     [&](const Suspect& one) { return same_place(one, place); });
}

std::string place_text(const Suspect& suspect) {
  if (suspect.layer < 0) return suspect.type;
  std::string text = suspect.type + "(" + std::to_string(suspect.layer);
  if (suspect.neuron >= 0) text += ":" + std::to_string(suspect.neuron);
  return text + ")";
}

template <typename Number>
bool read_whole(std::string_view text, Number& value) {
  const std::optional<Number> number = parse_number<Number>(text);
  if (number) value = *number;
  return number && value >= 0;
}

Suspect parse_place(std::string_view text, const std::string& where) {
  const auto fail = [&] {
    return input_error(describe("", where, "'" + std::string(text) + "'",
                                "a fault type, a layer or both, as ACH, (2), ACH(2) or (2:17)"));
  };
  Suspect suspect;
  const std::size_t bracket = text.find('(');
  suspect.type = trimmed(text.substr(0, bracket));
  const auto& types = program::fault_types();
  const bool known = std::any_of(types.begin(), types.end(),
                                 [&](const auto& type) { return type.first == suspect.type; });
  if (!suspect.type.empty() && !known) throw fail();
  if (bracket == std::string_view::npos) {
    if (suspect.type.empty()) throw fail();
    return suspect;
  }
  if (!text.ends_with(')')) throw fail();
  const std::string_view inside = text.substr(bracket + 1, text.size() - bracket - 2);
  const std::size_t colon = inside.find(':');
  if (!read_whole(inside.substr(0, colon), suspect.layer)) throw fail();
  if (colon != std::string_view::npos && !read_whole(inside.substr(colon + 1), suspect.neuron)) {
    throw fail();
  }
  return suspect;
}

}  // namespace

Ranking distinct_places(const Ranking& ranking) {
  Ranking places;
  for (Suspect suspect : ranking) {
    suspect.neuron = -1;
    if (!names(places, suspect)) places.push_back(std::move(suspect));
  }
  for (auto first = places.begin(); first != places.end();) {
    const auto end = std::find_if_not(first, places.end(),
                                      [&](const Suspect& one) { return tied(one, *first); });
    std::sort(first, end, before);
    first = end;
  }
  return places;
}

program::FaultSet top_places(const Ranking& ranking, std::size_t count) {
  program::FaultSet answer;
  const Ranking places = distinct_places(ranking);
  if (places.size() > 1 && tied(places.front(), places.back())) return answer;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i >= count && !tied(places[i], places[i - 1])) break;
    program::FaultEntry fault{places[i].type, {}};
    if (places[i].layer >= 0) fault.layers.insert(places[i].layer);
    answer.items.push_back({std::move(fault)});
  }
  std::sort(answer.items.begin(), answer.items.end());
  return answer;
}

Ranking merged(const std::vector<Ranking>& rankings) {
  std::map<Suspect, std::vector<double>, decltype(&before)> values(before);
  for (const Ranking& ranking : rankings) {
    for (const Suspect& place : distinct_places(ranking)) {
      values[place].push_back(place.suspiciousness);
    }
  }
  Ranking places;
  for (auto& [place, list] : values) {
    // Sums depend on their order: that of the values.
    std::sort(list.begin(), list.end(),
              [](double a, double b) { return std::strong_order(a, b) < 0; });
    places.push_back(place);
    places.back().suspiciousness =
        std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(rankings.size());
  }
  std::stable_sort(places.begin(), places.end(), [](const Suspect& a, const Suspect& b) {
    return a.suspiciousness > b.suspiciousness;
  });
  return places;
}

std::string to_string(const Ranking& ranking) {
  std::string text;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    if (i > 0) text += tied(ranking[i], ranking[i - 1]) ? " = " : " > ";
    text += place_text(ranking[i]);
  }
  return text;
}

Ranking parse_ranking(std::string_view text, const std::string& where) {
  Ranking ranking;
  if (trimmed(text).empty()) return ranking;
  double step = 0;
  for (;;) {
    const std::size_t end = text.find_first_of(">=");
    ranking.push_back(parse_place(trimmed(text.substr(0, end)), where));
    ranking.back().suspiciousness = step;
    if (end == std::string_view::npos) break;
    if (text[end] == '>') --step;
    text.remove_prefix(end + 1);
  }
  for (Suspect& suspect : ranking) suspect.suspiciousness += 1 - step;
  return ranking;
}

}  // namespace neutra::evaluators
