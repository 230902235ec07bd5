#include "program/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/numbers.h"
#include "program/document.h"

namespace neutra::program {

LearningRateSchedule rate_schedule(const Json& schedule) {
  using enum LearningRateSchedule::Kind;
  static const std::map<std::string, LearningRateSchedule::Kind> kinds{
      {"exponential", kExponential},
      {"inverse_time", kInverseTime},
      {"cosine", kCosine},
      {"polynomial", kPolynomial},
      {"piecewise", kPiecewise}};
  LearningRateSchedule made;
  made.kind = kinds.at(schedule.value("kind", "exponential"));
  made.every_batch = schedule.at("every") == "batch";
  made.decay_rate = schedule.value("decay_rate", made.decay_rate);
  made.steps = schedule.value("steps", made.steps);
  made.staircase = schedule.value("staircase", made.staircase);
  made.start = schedule.value("start", made.start);
  made.end = schedule.value("end", made.end);
  made.power = schedule.value("power", made.power);
  made.cycle = schedule.value("cycle", made.cycle);
  made.boundaries = schedule.value("boundaries", made.boundaries);
  made.factors = schedule.value("factors", made.factors);
  return made;
}

std::optional<LearningRateSchedule> schedule_of(const ResolvedProgram& program) {
  if (program.schedule) {
    LearningRateSchedule made;
    made.decay_rate = program.schedule->decay_rate;
    made.every_batch = program.schedule->every_batch;
    return made;
  }
  const Json& config = program.optimizer.at("config");
  const Json* schedule = member(config, "schedule");
  if (schedule == nullptr) return std::nullopt;
  return rate_schedule(*schedule);
}

void check_pieces(const Json& schedule, const std::string& path, std::vector<Problem>& problems) {
  const Json &boundaries = schedule.at("boundaries"), &factors = schedule.at("factors");
  double last = -1;
  bool fits = !boundaries.empty();
  for (const Json& each : boundaries) {
    const Json number = normal_number(each);
    fits = fits && number.is_number_integer() && number.get<double>() > last;
    if (fits) last = number.get<double>();
  }
  if (!fits) {
    problems.push_back({path + "/boundaries", shown(boundaries),
                        "whole numbers >= 0, each greater than the one before"});
  }
  const bool numbers = std::all_of(factors.begin(), factors.end(), [](const Json& each) {
    return each.is_number() && std::isfinite(each.get<double>()) && each.get<double>() >= 0;
  });
  if (!numbers || factors.size() != boundaries.size()) {
    problems.push_back(
        {path + "/factors", shown(factors), "a number >= 0 for each of the boundaries"});
  }
}

double LearningRateSchedule::factor(std::int64_t n) const {
  const double whole = static_cast<double>(n) / steps;
  const double decays = staircase ? std::floor(whole) : whole;
  const double way = std::min(whole, 1.0);
  switch (kind) {
    case Kind::kExponential:
      return std::pow(decay_rate, decays);
    case Kind::kInverseTime:
      return 1 / (1 + decay_rate * decays);
    case Kind::kCosine:
      return end + (1 - end) * (1 + std::cos(std::numbers::pi * (cycle ? whole : way))) / 2;
    case Kind::kPolynomial:
      return end + (start - end) * std::pow(1 - way, power);
    case Kind::kPiecewise:
      break;
  }
  const auto next = std::upper_bound(boundaries.begin(), boundaries.end(), n);
  return next == boundaries.begin()
             ? 1
             : factors[static_cast<std::size_t>(next - boundaries.begin()) - 1];
}

bool LearningRateSchedule::is_constant() const {
  switch (kind) {
    case Kind::kExponential:
      return decay_rate == 1;
    case Kind::kInverseTime:
      return decay_rate == 0;
    case Kind::kCosine:
      return end == 1;
    case Kind::kPolynomial:
      return start == end;
    case Kind::kPiecewise:
      break;
  }
  const double first = boundaries.front() == 0 ? factors.front() : 1;
  return std::all_of(factors.begin(), factors.end(), [&](double each) { return each == first; });
}

std::string python_factor(const LearningRateSchedule& schedule, const std::string& n) {
  const std::string steps = python_repr(schedule.steps);
  const std::string decays = schedule.steps == 1  ? n
                             : schedule.staircase ? "(" + n + " // " + steps + ")"
                                                  : "(" + n + " / " + steps + ")";
  const std::string way = "min(" + n + " / " + steps + ", 1.0)";
  const std::string end = python_repr(schedule.end);
  switch (schedule.kind) {
    case LearningRateSchedule::Kind::kExponential:
      return python_repr(schedule.decay_rate) + " ** " + decays;
    case LearningRateSchedule::Kind::kInverseTime:
      return "1 / (1 + " + python_repr(schedule.decay_rate) + " * " + decays + ")";
    case LearningRateSchedule::Kind::kCosine:
      return "(" + end + " + (1 - " + end + ") * (1 + math.cos(math.pi * " +
             (schedule.cycle ? n + " / " + steps : way) + ")) / 2)";
    case LearningRateSchedule::Kind::kPolynomial:
      return "(" + end + " + (" + python_repr(schedule.start) + " - " + end + ") * (1 - " + way +
             ") ** " + python_repr(schedule.power) + ")";
    case LearningRateSchedule::Kind::kPiecewise:
      break;
  }
  std::string pieces = "(1.0, ";
  for (const double factor : schedule.factors) pieces += python_repr(factor) + ", ";
  std::string place;
  for (const std::int64_t boundary : schedule.boundaries) {
    place += (place.empty() ? "" : ", ") + std::to_string(boundary);
  }
  return pieces + ")[sum(" + n + " >= each for each in (" + place + ",))]";
}

}  // namespace neutra::program
