#include <algorithm>
#include <array>
#include <functional>

#include "program/document.h"
#include "program/graph.h"
#include "program/key_access.h"
#include "program/layer.h"
#include "program/parameters.h"

/// The parameters of a program of a space (program/parameters.h): which layers of the base became
/// which of the program's must be found out, since layers can be left out and repeated.
namespace neutra::program {
namespace {

constexpr std::array<int, 3> kRepeatCounts = {1, 0, 2};  ///< likely ones first
constexpr int kImpossible = 1 << 30;
constexpr int kMostAlignments = 100, kMostSteps = 20000;  ///< that are tried

/// How unlike two layers are: the number of settings that differ. A layer's name counts nothing.
int difference(const Json& a, const Json& b) {
  const Json *one = member(a, "config"), *other = member(b, "config");
  if (one == nullptr || other == nullptr || !one->is_object()) return one == other ? 0 : 1;
  int count = 0;
  for (const auto& [field, value] : one->items()) {
    const Json* same = member(*other, field);
    count += field != "name" && (same == nullptr || *same != value);
  }
  return count;
}

/// Tries ways in which the layers of a base can have become those of a program.
class Alignment {
 public:
  Alignment(const ProgramSpace& space, const Program& program)
      : space_(space),
        program_(program),
        base_layers_(*find_layers(space.base().document)),
        layers_(*find_layers(program.document)),
        identity_(canonical(program)),
        repeat_keys_(base_layers_.size(), nullptr),
        moved_(base_layers_.size()) {
    for (const Key& key : space.keys()) {
      if (key.kind != KeyKind::kRepeat) continue;
      for (const std::string& path : key.paths) {
        const std::size_t layer = split_layer_path(space.base().document, path)->layer;
        for (const std::size_t call : calls_of(wiring_of(base_layers_), layer)) {
          repeat_keys_[call] = &key;
        }
      }
    }
  }

  /// Repeat counts whose layers line up with the program's are exponentially many. The cost of the
  /// cheapest way from each pair (base layer, layer) to the end leads to the likely ones; few are
  /// tried. First with as few changed counts as possible, then by likeness of the layers.
  std::optional<Parameters> find() {
    for (const int change : {10000, 1}) {
      change_ = change;
      fill_costs();
      if (rest_[0] == kImpossible) return std::nullopt;
      alignments_ = steps_ = 0;
      if (auto found = match(0, 0)) return found;
      repeats_.clear();
    }
    return std::nullopt;
  }

 private:
  std::size_t width() const { return layers_.size() + 1; }

  /// Reads the values of all keys, given where each base layer went.
  std::optional<Parameters> read_all() const {
    Parameters parameters = space_.base_parameters();
    for (const Key& key : space_.keys()) {
      if (key.kind == KeyKind::kRepeat) {
        parameters[key.name] = std::to_string(repeats_.at(&key));
        continue;
      }
      for (const std::string& path : key.paths) {
        std::string place = path;
        if (const auto split = split_layer_path(space_.base().document, path)) {
          if (!moved_[split->layer]) continue;  // lost with its layer: as in the base
          place = layers_path(program_.document) + "/" + std::to_string(*moved_[split->layer]) +
                  split->rest;
        }
        const auto raw = read_value(program_.document, key.kind, place);
        const auto text = raw ? spell(key, *raw) : std::nullopt;
        if (!text) return std::nullopt;
        parameters[key.name] = *text;
        break;
      }
    }
    if (canonical(space_.instantiate(parameters)) != identity_) return std::nullopt;
    return parameters;
  }

  /// Cost of making `count` layers at j of base layer i; nullopt where the types don't line up.
  std::optional<int> cost(std::size_t i, std::size_t j, int count) const {
    int sum = 0;
    for (std::size_t at = j; at < j + static_cast<std::size_t>(count); ++at) {
      if (at >= layers_.size() || layer_of(layers_[at]) != layer_of(base_layers_[i])) {
        return std::nullopt;
      }
      sum += difference(base_layers_[i], layers_[at]);
    }
    return sum;
  }

  /// The same, with the cheapest way from there to the end.
  int total(std::size_t i, std::size_t j, int count) const {
    const auto own = cost(i, j, count);
    if (!own) return kImpossible;
    const int behind = rest_[(i + 1) * width() + j + static_cast<std::size_t>(count)];
    return behind == kImpossible ? behind : behind + *own + (count == 1 ? 0 : change_);
  }

  void fill_costs() {
    rest_.assign((base_layers_.size() + 1) * width(), kImpossible);
    rest_.back() = 0;
    for (std::size_t i = base_layers_.size(); i-- > 0;) {
      for (std::size_t j = 0; j < width(); ++j) {
        int& best = rest_[i * width() + j];
        best = total(i, j, 1);
        if (repeat_keys_[i] != nullptr) best = std::min({best, total(i, j, 0), total(i, j, 2)});
      }
    }
  }

  /// Base layers from i on become layers from j on.
  std::optional<Parameters> match(std::size_t i, std::size_t j) {
    if (alignments_ >= kMostAlignments || ++steps_ > kMostSteps) return std::nullopt;
    if (i == base_layers_.size()) {
      ++alignments_;
      return read_all();
    }
    const Key* key = repeat_keys_[i];
    const bool chosen = key != nullptr && repeats_.contains(key);
    std::array<std::pair<int, int>, 3> choices;  // cost, count
    std::transform(kRepeatCounts.begin(), kRepeatCounts.end(), choices.begin(),
                   [&](int count) { return std::pair(total(i, j, count), count); });
    std::stable_sort(choices.begin(), choices.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [price, count] : choices) {
      if (price == kImpossible) break;
      if (key == nullptr ? count != 1 : chosen && repeats_.at(key) != count) continue;
      if (key != nullptr) repeats_[key] = count;
      moved_[i] = count > 0 ? std::optional(j) : std::nullopt;
      if (auto found = match(i + 1, j + static_cast<std::size_t>(count))) return found;
      if (key != nullptr && !chosen) repeats_.erase(key);
    }
    return std::nullopt;
  }

  const ProgramSpace& space_;
  const Program& program_;
  const Json &base_layers_, &layers_;
  nlohmann::json identity_;
  std::vector<const Key*> repeat_keys_;            ///< of each base layer
  std::vector<std::optional<std::size_t>> moved_;  ///< where each base layer went; nullopt: removed
  std::map<const Key*, int> repeats_;
  int change_ = 0;         ///< what a count other than 1 costs
  std::vector<int> rest_;  ///< cheapest way to the end, by base layer and layer
  int alignments_ = 0, steps_ = 0;
};

}  // namespace

std::optional<Parameters> ProgramSpace::parameters_of(const Program& program) const {
  if (find_layers(base_.document) == nullptr || find_layers(program.document) == nullptr) {
    return std::nullopt;
  }
  return Alignment(*this, program).find();
}

}  // namespace neutra::program
