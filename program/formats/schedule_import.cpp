#include "program/formats/schedule_import.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "program/document.h"
#include "program/formats/keras_json.h"
#include "program/formats/keras_versions.h"

namespace neutra::program {
namespace {

/// a / b to 12 digits: the rounding of a division is nobody's wish.
double share(double a, double b) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.12g", a / b);
  return std::strtod(text.data(), nullptr);
}

constexpr const char* kPlace = "optimizer: learning_rate";

class ScheduleImport {
 public:
  ScheduleImport(const Json& schedule, const RefuseSetting& refuse)
      : class_name_(text_of(schedule, "class_name")),
        settings_(value_of(schedule, "config")),
        refuse_(refuse) {}

  ImportedSchedule run() {
    if (class_name_ == "ExponentialDecay") {
      exponential();
    } else if (class_name_ == "InverseTimeDecay") {
      inverse_time();
    } else if (class_name_ == "CosineDecay") {
      cosine();
    } else if (class_name_ == "PolynomialDecay") {
      polynomial();
    } else if (class_name_ == "PiecewiseConstantDecay") {
      piecewise();
    } else {
      refuse_(
          kPlace, class_name_ + " " + shown(settings_),
          "a number, CosineDecay, ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay or "
          "PolynomialDecay");
      return {};
    }
    return good_ ? made_ : ImportedSchedule();
  }

 private:
  static bool is_positive(double x) { return x > 0; }
  static bool is_not_negative(double x) { return x >= 0; }

  void fail(const std::string& field, const std::string& allowed) {
    good_ = false;
    refuse_(std::string(kPlace) + ": " + class_name_ + ": " + field,
            shown(value_of(settings_, field)), allowed);
  }

  double number(const char* field, bool fits(double), const std::string& allowed,
                std::optional<double> fallback = std::nullopt) {
    const Json& value = value_of(settings_, field);
    if (value.is_null() && fallback) return *fallback;
    if (value.is_number() && fits(value.get<double>())) {
      return without_float_noise(value).get<double>();
    }
    fail(field, allowed);
    return 1;
  }

  double steps() { return number("decay_steps", is_positive, "a number > 0"); }
  bool flag(const char* field) {
    const Json& value = value_of(settings_, field);
    return !value.is_null() && value != false;
  }

  /// The first rate; other ones are shares of it.
  double first_rate(bool zero_allowed = true) {
    const double rate = zero_allowed
                            ? number("initial_learning_rate", is_not_negative, "a number >= 0")
                            : number("initial_learning_rate", is_positive, "a number > 0");
    made_.learning_rate = without_float_noise(value_of(settings_, "initial_learning_rate"));
    return rate;
  }

  void exponential() {
    const double steps = this->steps();
    const double rate = number(
        "decay_rate", [](double x) { return x > 0 && x <= 1; }, "a number in (0, 1]");
    first_rate();
    if (flag("staircase")) {
      made_.schedule = {
          {"decay_rate", rate}, {"every", "batch"}, {"steps", steps}, {"staircase", true}};
    } else {
      made_.schedule = {{"decay_rate", std::pow(rate, 1 / steps)}, {"every", "batch"}};
    }
  }

  void inverse_time() {
    const double steps = this->steps();
    const double rate = number("decay_rate", is_not_negative, "a number >= 0");
    first_rate();
    if (flag("staircase")) {
      made_.schedule = {{"kind", "inverse_time"},
                        {"decay_rate", rate},
                        {"every", "batch"},
                        {"steps", steps},
                        {"staircase", true}};
    } else {
      made_.decay = rate / steps;
    }
  }

  void cosine() {
    const Json& warm = value_of(settings_, "warmup_target");
    const Json& warm_steps = value_of(settings_, "warmup_steps");
    if (!warm.is_null() && !warm_steps.is_null() && warm_steps != 0) fail("warmup_target", "null");
    made_.schedule = {{"kind", "cosine"}, {"every", "batch"}, {"steps", steps()}};
    made_.schedule["end"] = number("alpha", is_not_negative, "a number >= 0", 0.0);
    first_rate();
  }

  void polynomial() {
    if (flag("cycle")) fail("cycle", "false");
    const double end = number("end_learning_rate", is_not_negative, "a number >= 0", 0.0001);
    const double first = first_rate(end == 0);
    made_.schedule = {{"kind", "polynomial"},
                      {"every", "batch"},
                      {"steps", steps()},
                      {"end", end == 0 ? 0 : share(end, first)}};
    made_.schedule["power"] = number("power", is_positive, "a number > 0", 1.0);
  }

  void piecewise() {
    const Json& boundaries = value_of(settings_, "boundaries");
    const Json& values = value_of(settings_, "values");
    const auto numbers = [](const Json& list) {
      for (const Json& each : list) {
        if (!each.is_number() || each.get<double>() < 0) return false;
      }
      return list.is_array();
    };
    if (!numbers(values) || values.empty() || !(values.front().get<double>() > 0)) {
      return fail("values", "an array of numbers >= 0, the first > 0");
    }
    if (!numbers(boundaries) || boundaries.empty() || boundaries.size() + 1 != values.size()) {
      return fail("boundaries", "one number less than there are values");
    }
    const double first = values.front();
    Json from = Json::array(), factors = Json::array();
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      // The value before a boundary is that of the step at it, too.
      from.push_back(static_cast<std::int64_t>(std::floor(boundaries[i].get<double>())) + 1);
      factors.push_back(share(without_float_noise(values[i + 1]).get<double>(),
                              without_float_noise(values.front()).get<double>()));
    }
    made_.learning_rate = without_float_noise(first);
    made_.schedule = {
        {"kind", "piecewise"}, {"every", "batch"}, {"boundaries", from}, {"factors", factors}};
  }

  std::string class_name_;
  const Json& settings_;
  const RefuseSetting& refuse_;
  ImportedSchedule made_;
  bool good_ = true;
};

}  // namespace

ImportedSchedule import_schedule(const Json& schedule, const RefuseSetting& refuse) {
  return ScheduleImport(schedule, refuse).run();
}

}  // namespace neutra::program
