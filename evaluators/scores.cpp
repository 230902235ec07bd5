#include "evaluators/scores.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "evaluators/statistics.h"

namespace neutra::evaluators {
namespace {

template <typename Enum, std::size_t n>
struct Words {
  std::array<std::pair<Enum, std::string_view>, n> list;

  std::optional<Enum> value(std::string_view word) const {
    for (const auto& [value, name] : list) {
      if (name == word) return value;
    }
    return std::nullopt;
  }
  std::string_view word(Enum value) const {
    return std::find_if(list.begin(), list.end(),
                        [&](const auto& entry) { return entry.first == value; })
        ->second;
  }
};

constexpr Words<Variant, 2> kVariants{
    {{{Variant::kCorrected, "corrected"}, {Variant::kAsPublished, "as-published"}}}};
constexpr Words<Match, 3> kMatches{
    {{{Match::kType, "type"}, {Match::kLayer, "layer"}, {Match::kLine, "line"}}}};
constexpr Words<Unlocated, 3> kUnlocated{
    {{{Unlocated::kCount, "count"}, {Unlocated::kExclude, "exclude"}, {Unlocated::kHalf, "half"}}}};

/// Types of DeepCrime's operators that are a special case of one that diff() finds.
std::string_view general_type(const program::FaultEntry& entry) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSpecial = {
      {{"AAL", "ACH"}, {"ARM", "ACH"}, {"HDB", "HBS"}}};
  for (const auto& [special, general] : kSpecial) {
    if (entry.type == special) return general;
  }
  return entry.type;
}

bool overlap(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int layer) { return b.contains(layer); });
}

/// 1 for a match, 0 for none, between them for one whose layer is open.
double entry_weight(const program::FaultEntry& answer, const program::FaultEntry& truth,
                    const ScoreOptions& options) {
  if (answer.type.empty()) return overlap(answer.layers, truth.layers) ? 1 : 0;
  if (general_type(answer) != general_type(truth)) return 0;
  if (options.match == Match::kType || truth.layers.empty()) return 1;
  if (answer.layers.empty()) {
    switch (options.unlocated) {
      case Unlocated::kCount:
        return 1;
      case Unlocated::kExclude:
        return 0;
      case Unlocated::kHalf:
        return 0.5;
    }
  }
  // The study's Table 6 takes WCI(3) for C3's WCI(2).
  if (options.variant == Variant::kAsPublished && truth.type == "WCI") return 1;
  return overlap(answer.layers, truth.layers) ? 1 : 0;
}

using Choice = std::vector<program::FaultEntry>;

/// The published recalls have two decimals before anything is computed from them.
double two_decimals(double value) { return std::nearbyint(value * 100) / 100; }

std::string_view fault_type(program::KeyKind kind) {
  switch (kind) {
    case program::KeyKind::kActivation:
      return "ACH";
    case program::KeyKind::kKernelInitializer:
      return "WCI";
    case program::KeyKind::kBiasInitializer:
      return "BCI";
    case program::KeyKind::kRepeat:
      return "LAD";
    case program::KeyKind::kUnits:
      return "LCN";
    case program::KeyKind::kDropout:
      return "RCD";
    case program::KeyKind::kLoss:
      return "LCH";
    case program::KeyKind::kLearningRate:
      return "HLR";
    case program::KeyKind::kOptimizer:
      return "OCH";
    case program::KeyKind::kBatchSize:
      return "HBS";
    case program::KeyKind::kEpochs:
      return "HNE";
  }
  return "";
}

/// Indices in paths such as "/model/config/layers/2/config/units".
std::set<int> layers_of(const program::Key& key) {
  constexpr std::string_view kPlace = "/layers/";
  std::set<int> layers;
  for (const std::string& path : key.paths) {
    const std::size_t at = path.find(kPlace);
    if (at == std::string::npos) continue;
    int layer = 0;
    const char* const start = path.data() + at + kPlace.size();
    if (std::from_chars(start, path.data() + path.size(), layer).ec == std::errc()) {
      layers.insert(layer);
    }
  }
  return layers;
}

bool belongs_to_layers(const program::FaultEntry& entry) {
  constexpr std::array<std::string_view, 11> kTypes = {"AAL", "ACH", "ARM", "BCI", "LAD", "LCF",
                                                       "LCN", "RAW", "RCD", "RRW", "WCI"};
  return std::find(kTypes.begin(), kTypes.end(), entry.type) != kTypes.end();
}

}  // namespace

std::optional<Variant> parse_variant(std::string_view word) { return kVariants.value(word); }
std::optional<Match> parse_match(std::string_view word) { return kMatches.value(word); }
std::optional<Unlocated> parse_unlocated(std::string_view word) { return kUnlocated.value(word); }
std::string_view to_string(Variant variant) { return kVariants.word(variant); }
std::string_view to_string(Match match) { return kMatches.word(match); }
std::string_view to_string(Unlocated unlocated) { return kUnlocated.word(unlocated); }

double f_beta(double precision, double recall, double beta) {
  const double weight = beta * beta;
  const double sum = weight * precision + recall;
  return sum > 0 ? (1 + weight) * precision * recall / sum : 0;
}

double match_weight(const Choice& answer, const Choice& truth, const ScoreOptions& options) {
  double best = 0;
  for (const program::FaultEntry& ours : answer) {
    for (const program::FaultEntry& theirs : truth) {
      best = std::max(best, entry_weight(ours, theirs, options));
    }
  }
  return best;
}

Score score(const program::FaultSet& answer, const program::FaultSet& truth,
            const ScoreOptions& options) {
  Score result;
  if (!answer.applicable || answer.items.empty() || truth.items.empty()) return result;
  const program::FaultSet found = by_type(answer);
  for (const Choice& item : truth.items) {
    double best = 0;
    for (const Choice& ours : found.items) best = std::max(best, match_weight(ours, item, options));
    result.recall += best;
  }
  for (const Choice& ours : found.items) {
    double best = 0;
    for (const Choice& item : truth.items) best = std::max(best, match_weight(ours, item, options));
    result.precision += best;
  }
  result.recall /= static_cast<double>(truth.items.size());
  result.precision /= static_cast<double>(found.items.size());
  if (options.variant == Variant::kAsPublished) result.recall = two_decimals(result.recall);
  result.f = f_beta(result.precision, result.recall, options.beta);
  return result;
}

BestScore best_score(const program::FaultSet& answer, const std::vector<program::FaultSet>& truths,
                     const ScoreOptions& options) {
  std::vector<Score> scores;
  for (const program::FaultSet& truth : truths) {
    if (!truth.items.empty()) scores.push_back(score(answer, truth, options));
  }
  return best_score(scores);
}

BestScore best_score(const std::vector<Score>& scores) {
  BestScore best;
  std::vector<double> precisions, fs;
  for (const Score& one : scores) {
    if (best.truths++ == 0 || one.recall > best.score.recall) {
      best.score.recall = one.recall;
      precisions.clear();
      fs.clear();
    }
    if (one.recall == best.score.recall) {
      precisions.push_back(one.precision);
      fs.push_back(one.f);
    }
  }
  if (best.truths == 0) return best;
  best.score.precision = mean(precisions);
  best.score.f = mean(fs);
  best.attaining = static_cast<int>(fs.size());
  return best;
}

program::FaultSet by_type(const program::FaultSet& faults) {
  program::FaultSet result{faults.applicable, {}};
  std::map<std::string, std::set<int>> merged;
  std::set<Choice> choices;
  for (const Choice& item : faults.items) {
    if (item.size() == 1 && !item.front().type.empty()) {
      merged[item.front().type].insert(item.front().layers.begin(), item.front().layers.end());
    } else {
      choices.insert(item);
    }
  }
  for (const auto& [type, layers] : merged) result.items.push_back({{type, layers}});
  result.items.insert(result.items.end(), choices.begin(), choices.end());
  std::sort(result.items.begin(), result.items.end());
  return result;
}

program::FaultSet changed_hyperparameters(const program::ProgramSpace& space,
                                          const program::Parameters& from,
                                          const program::Parameters& to) {
  program::FaultSet result;
  for (const program::Key& key : space.keys()) {
    const auto before = from.find(key.name), after = to.find(key.name);
    if (before == from.end() || after == to.end() || before->second == after->second) continue;
    Choice item{{std::string(fault_type(key.kind)), layers_of(key)}};
    if (key.kind == program::KeyKind::kRepeat) item.push_back({"LRM", layers_of(key)});
    result.items.push_back(std::move(item));
  }
  std::sort(result.items.begin(), result.items.end());
  return result;
}

bool leaves_layers_out(std::string_view tool, const std::vector<Answer>& answers) {
  std::string name;
  for (const char c : tool) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (name == "deepfd" || name == "dfd") return true;
  bool open = false;
  for (const Answer& answer : answers) {
    if (answer.tool != tool) continue;
    for (const Choice& item : answer.faults.items) {
      for (const program::FaultEntry& entry : item) {
        if (!entry.layers.empty()) return false;
        open = open || belongs_to_layers(entry);
      }
    }
  }
  return open;
}

}  // namespace neutra::evaluators
