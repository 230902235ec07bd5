#include "mutators/mutants.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "mutators/registry.h"

namespace neutra::mutators {
namespace {

/// A value as a user spells it: a number where the operator takes one.
Json parse_value(const MutationOperator& op, std::string_view text) {
  const std::optional<double> number = neutra::parse_number<double>(text);
  if (op.parameter.type == ValueType::kWord || !number) return std::string(text);
  return *number;
}

const program::DataInfo* rows_of(const Target& target) {
  return target.data ? &*target.data : nullptr;
}

/// The mutant as the next operator looks at it.
Target mutated(const Target& before, program::Program program) {
  Target after = make_target(std::move(program), rows_of(before), before.subject);
  after.even_classes = before.even_classes && after.resolved.data == before.resolved.data;
  return after;
}

Mutant make_mutant(const program::Program& original, std::vector<Application> applications,
                   program::Program program) {
  program::FaultSet faults = program::diff(program, original);
  return {std::move(applications), std::move(program), std::move(faults)};
}

/// Draws that are the same on every machine: the standard fixes the generator, not its
/// distributions.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : generator_(seed) {}
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(generator_()) * count) >> 64);
  }
  /// In (0, 1].
  double unit() { return (static_cast<double>(generator_() >> 11) + 1) * 0x1p-53; }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 generator_;
};

/// A random value of an operator at a site; nullopt if none applies.
std::optional<Json> draw_value(const MutationOperator& op, const Target& target, Site site,
                               Draws& draws) {
  if (op.parameter.search == ValueSearch::kBinary) {
    const ValueRange range = search_range(op, target);
    const double value = range.from + (range.to - range.from) * draws.unit();
    const double rounded = python_round(value, range.decimals);
    return Json(rounded == range.from ? range.to : rounded);
  }
  std::vector<Candidate> values = candidates(op, target, site);
  std::erase_if(values, [](const Candidate& candidate) { return candidate.refusal.has_value(); });
  if (values.empty()) return std::nullopt;
  return values[draws.below(values.size())].value;
}

/// May both make one fault? A fault type is a choice, such as "LRM|ACH".
bool may_be_one_fault(const MutationOperator& a, const MutationOperator& b) {
  const auto words = [](std::string_view choice) {
    std::set<std::string_view> set;
    for (auto end = choice.find('|'); end != choice.npos; end = choice.find('|')) {
      set.insert(choice.substr(0, end));
      choice.remove_prefix(end + 1);
    }
    set.insert(choice);
    return set;
  };
  const std::set<std::string_view> types = words(a.fault_type), others = words(b.fault_type);
  return std::any_of(types.begin(), types.end(),
                     [&](std::string_view type) { return others.contains(type); });
}

/// Operators that replace or move what others set come first: an optimiser brings its own settings,
/// layers take theirs along.
int rank(const MutationOperator& op) {
  return op.group == OperatorGroup::kLayers ? 0 : op.group == OperatorGroup::kOptimisation ? 1 : 2;
}

std::optional<Mutant> draw_mutant(const Target& target,
                                  std::vector<const MutationOperator*> operators, int order,
                                  Draws& draws) {
  draws.shuffle(operators);
  std::vector<const MutationOperator*> chosen;
  for (const MutationOperator* op : operators) {
    if (static_cast<int>(chosen.size()) == order) break;
    const bool taken =
        std::any_of(chosen.begin(), chosen.end(),
                    [&](const MutationOperator* other) { return may_be_one_fault(*other, *op); });
    if (!taken && !find_sites(*op, target).sites.empty()) chosen.push_back(op);
  }
  if (static_cast<int>(chosen.size()) < order) return std::nullopt;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  Target current = target;
  std::vector<Application> applications;
  for (const MutationOperator* op : chosen) {
    const std::vector<Site> sites = find_sites(*op, current).sites;
    if (sites.empty()) return std::nullopt;
    const Site site = sites[draws.below(sites.size())];
    const auto value = draw_value(*op, current, site, draws);
    if (!value) return std::nullopt;
    const std::uint64_t seed = op->random ? draws.below(1'000'000) : 0;
    auto mutant = apply(*op, current, site, *value, seed);
    if (std::holds_alternative<Inapplicable>(mutant)) return std::nullopt;
    applications.push_back({std::string(op->id), site, *value, seed});
    current = mutated(current, std::get<program::Program>(std::move(mutant)));
  }
  Mutant mutant = make_mutant(target.program, std::move(applications), std::move(current.program));
  // One operator may have undone what another did.
  if (static_cast<int>(mutant.faults.items.size()) < order) return std::nullopt;
  return mutant;
}

}  // namespace

Json to_json(const Application& application) {
  Json json = {{"operator", application.op}};
  if (application.site != kWholeProgram) json["layer"] = application.site;
  if (!application.value.is_null()) json["value"] = application.value;
  const MutationOperator* op = known_mutation_operator(application.op);
  if (application.seed != 0 || (op != nullptr && op->random)) json["seed"] = application.seed;
  return json;
}

Application application_from_json(const Json& json, const std::string& where) {
  const Json* name = member(json, "operator");
  if (name == nullptr || !name->is_string()) {
    throw input_error(describe(where, "operator", name != nullptr ? name->dump() : "nothing",
                               "the id of a mutation operator"));
  }
  Application application;
  application.op = *name;
  if (const MutationOperator* op = known_mutation_operator(application.op)) application.op = op->id;
  for (const auto& [key, value] : json.items()) {
    const bool whole = value.is_number_integer() && value >= 0;
    if (key == "layer" && whole && value < 1'000'000) {
      application.site = value;
    } else if (key == "seed" && whole) {
      application.seed = value;
    } else if (key == "value") {
      application.value = value;
    } else if (key != "operator") {
      const bool known = key == "layer" || key == "seed";
      throw input_error(describe(where, key, known ? value.dump() : "an unknown field",
                                 known ? "a whole number" : "operator, layer, value, seed"));
    }
  }
  return application;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? shortest(value.get<double>()) : value.dump();
}

std::string to_string(const Application& application) {
  std::string text = application.op;
  if (application.site != kWholeProgram) text += "@" + std::to_string(application.site);
  if (!application.value.is_null()) text += "=" + value_text(application.value);
  return text;
}

Application parse_application(std::string_view text, std::uint64_t seed) {
  const auto equals = text.find('=');
  const std::string_view place = text.substr(0, equals);
  const auto at = place.find('@');
  const MutationOperator& op = find_mutation_operator(place.substr(0, at));
  Application application{std::string(op.id), kWholeProgram, Json(), op.random ? seed : 0};
  if (at != std::string_view::npos) {
    const std::string_view layer = place.substr(at + 1);
    application.site = neutra::parse_number<int>(layer).value_or(-1);
    if (application.site < 0) {
      throw input_error(describe("", std::string(op.id), "layer " + Json(layer).dump(),
                                 "a layer's index, such as " + std::string(op.id) + "@0"));
    }
  }
  if (equals != std::string_view::npos) {
    application.value = parse_value(op, text.substr(equals + 1));
  }
  return application;
}

std::string Mutant::name() const {
  constexpr std::size_t kLongest = 100;  // that of a fault's id
  std::string text;
  for (const Application& application : applications) {
    if (!text.empty()) text += "--";
    text += find_mutation_operator(application.op).abbreviation;
    if (application.site != kWholeProgram) text += "-" + std::to_string(application.site);
    if (!application.value.is_null()) text += "-" + value_text(application.value);
    if (application.seed != 0) text += "-s" + std::to_string(application.seed);
  }
  if (text.size() > kLongest) {
    const std::string mark = "-" + to_string(program::program_hash(program)).substr(0, 12);
    text = text.substr(0, kLongest - mark.size()) + mark;
  }
  return text;
}

Mutant apply_all(const Target& original, const std::vector<Application>& applications) {
  if (applications.empty() || applications.size() > static_cast<std::size_t>(kMaxOrder)) {
    throw input_error(describe("", "mutant", std::to_string(applications.size()) + " operators",
                               "1 to " + std::to_string(kMaxOrder)));
  }
  Target current = original;
  for (const Application& application : applications) {
    auto mutant = apply(find_mutation_operator(application.op), current, application.site,
                        application.value, application.seed);
    if (const auto* reason = std::get_if<Inapplicable>(&mutant)) {
      throw input_error(describe("", to_string(application), reason->found, reason->allowed));
    }
    current = mutated(current, std::get<program::Program>(std::move(mutant)));
  }
  if (current.identity == original.identity) {
    std::vector<std::string> words;
    for (const Application& application : applications) words.push_back(to_string(application));
    throw input_error(
        describe("", join(words), "operators that undo each other", "what changes the program"));
  }
  return make_mutant(original.program, applications, std::move(current.program));
}

Mutant apply_all(const program::Program& original, const std::vector<Application>& applications,
                 const program::DataInfo* data) {
  return apply_all(make_target(original, data), applications);
}

OperatorPlaces find_places(const Target& target,
                           const std::vector<const MutationOperator*>& operators,
                           const std::vector<Site>& layers) {
  const auto count = static_cast<Site>(target.resolved.layers.size());
  for (const Site layer : layers) {
    if (layer < 0 || layer >= count) {
      throw input_error(
          describe("", "layer", std::to_string(layer), "0 to " + std::to_string(count - 1)));
    }
  }
  OperatorPlaces result;
  for (const MutationOperator* op : operators) {
    const Sites found = find_sites(*op, target);
    if (found.sites.empty()) {
      result.left_out.push_back({op, kWholeProgram, found.reason});
      continue;
    }
    if (!layers.empty() && !op->by_layer) {
      result.left_out.push_back({op, kWholeProgram, "it changes the whole program, not a layer"});
      continue;
    }
    for (const Site site : layers.empty() ? found.sites : layers) {
      if (const auto refusal = site_refusal(*op, target, site)) {
        result.left_out.push_back({op, site, to_string(*refusal)});
        continue;
      }
      std::vector<Candidate> values = candidates(*op, target, site);
      if (values.empty()) {
        const std::string own =
            site == kWholeProgram ? "the program's own" : "that of layer " + std::to_string(site);
        result.left_out.push_back({op, site,
                                   op->parameter.name.empty()
                                       ? "it changes nothing"
                                       : "every value that is tried is " + own});
        continue;
      }
      result.places.push_back({op, site, std::move(values)});
    }
  }
  return result;
}

MutantList first_order_mutants(const Target& target,
                               const std::vector<const MutationOperator*>& operators,
                               std::uint64_t seed, const std::vector<Site>& layers) {
  const OperatorPlaces found = find_places(target, operators, layers);
  MutantList list;
  for (const auto& [op, site, reason] : found.left_out) {
    list.skipped.push_back({to_string(Application{std::string(op->id), site, Json(), 0}), reason});
  }
  for (const auto& [op, site, values] : found.places) {
    for (const Candidate& candidate : values) {
      const Application application{std::string(op->id), site, candidate.value,
                                    op->random ? seed : 0};
      if (candidate.refusal) {
        list.skipped.push_back({to_string(application), to_string(*candidate.refusal)});
        continue;
      }
      auto mutant = apply(*op, target, site, candidate.value, seed);
      list.mutants.push_back(make_mutant(target.program, {application},
                                         std::get<program::Program>(std::move(mutant))));
    }
  }
  return list;
}

std::vector<Mutant> random_mutants(const Target& target,
                                   const std::vector<const MutationOperator*>& operators, int order,
                                   int count, std::uint64_t seed) {
  if (order < 1 || order > kMaxOrder) {
    throw input_error(describe("", "order", std::to_string(order),
                               "1 to " + std::to_string(kMaxOrder) + " operators in a mutant"));
  }
  constexpr int kTriesForEach = 50;
  Draws draws(seed);
  std::vector<Mutant> mutants;
  std::set<Hash> seen{program::program_hash(target.program)};
  for (int tries = 0; static_cast<int>(mutants.size()) < count; ++tries) {
    if (tries == count * kTriesForEach) {
      throw input_error(describe("", "mutants",
                                 std::to_string(mutants.size()) + " different ones of order " +
                                     std::to_string(order) + " in " + std::to_string(tries) +
                                     " tries",
                                 "a smaller count or order, or more operators"));
    }
    auto mutant = draw_mutant(target, operators, order, draws);
    if (mutant && seen.insert(program::program_hash(mutant->program)).second) {
      mutants.push_back(std::move(*mutant));
    }
  }
  return mutants;
}

}  // namespace neutra::mutators
