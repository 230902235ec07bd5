#include "mutators/mutants.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>
#include <set>

#include "mutators/registry.h"
#include "program/error.h"

namespace neutra {
namespace {

/// A value as a user spells it: a number where the operator takes one.
Json parse_value(const MutationOperator& op, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool numeric = error == std::errc() && end == text.data() + text.size();
  if (op.parameter.type == ValueType::kWord || !numeric) return std::string(text);
  return number;
}

Mutant make_mutant(const Program& original, std::vector<Application> applications,
                   Program program) {
  FaultSet faults = diff(program, original);
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
    const bool taken = std::any_of(
        chosen.begin(), chosen.end(),
        [&](const MutationOperator* other) { return other->fault_type == op->fault_type; });
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
    current = make_target(std::get<Program>(std::move(mutant)),
                          target.data ? &*target.data : nullptr, target.subject);
  }
  return make_mutant(target.program, std::move(applications), std::move(current.program));
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
    const auto [end, error] =
        std::from_chars(layer.data(), layer.data() + layer.size(), application.site);
    if (error != std::errc() || end != layer.data() + layer.size() || application.site < 0) {
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
    const std::string mark = "-" + to_string(program_hash(program)).substr(0, 12);
    text = text.substr(0, kLongest - mark.size()) + mark;
  }
  return text;
}

Mutant apply_all(const Program& original, const std::vector<Application>& applications,
                 const DataInfo* data) {
  if (applications.empty() || applications.size() > static_cast<std::size_t>(kMaxOrder)) {
    throw input_error(describe("", "mutant", std::to_string(applications.size()) + " operators",
                               "1 to " + std::to_string(kMaxOrder)));
  }
  Program program = original;
  for (const Application& application : applications) {
    const Target target = make_target(program, data);
    auto mutant = apply(find_mutation_operator(application.op), target, application.site,
                        application.value, application.seed);
    if (const auto* reason = std::get_if<Inapplicable>(&mutant)) {
      throw input_error(describe("", to_string(application), reason->found, reason->allowed));
    }
    program = std::get<Program>(std::move(mutant));
  }
  return make_mutant(original, applications, std::move(program));
}

MutantList first_order_mutants(const Target& target,
                               const std::vector<const MutationOperator*>& operators,
                               std::uint64_t seed) {
  MutantList list;
  for (const MutationOperator* op : operators) {
    const Sites sites = find_sites(*op, target);
    if (sites.sites.empty()) list.skipped.push_back({std::string(op->id), sites.reason});
    for (const Site site : sites.sites) {
      for (const Candidate& candidate : candidates(*op, target, site)) {
        const Application application{std::string(op->id), site, candidate.value,
                                      op->random ? seed : 0};
        if (candidate.refusal) {
          list.skipped.push_back({to_string(application), to_string(*candidate.refusal)});
          continue;
        }
        auto mutant = apply(*op, target, site, candidate.value, seed);
        list.mutants.push_back(
            make_mutant(target.program, {application}, std::get<Program>(std::move(mutant))));
      }
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
  std::set<Hash> seen;
  for (int tries = 0; static_cast<int>(mutants.size()) < count; ++tries) {
    if (tries == count * kTriesForEach) {
      throw input_error(describe("", "mutants",
                                 std::to_string(mutants.size()) + " different ones of order " +
                                     std::to_string(order) + " in " + std::to_string(tries) +
                                     " tries",
                                 "a smaller count or order, or more operators"));
    }
    auto mutant = draw_mutant(target, operators, order, draws);
    if (mutant && seen.insert(program_hash(mutant->program)).second) {
      mutants.push_back(std::move(*mutant));
    }
  }
  return mutants;
}

}  // namespace neutra
