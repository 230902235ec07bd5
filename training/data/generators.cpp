#include "training/data/generators.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/numbers.h"
#include "training/data/fields.h"
#include "training/random.h"

namespace neutra::training {
namespace {

/// Draws for one data set; each call takes its own counter range.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : key_(random_key(seed, {}, 0)) {}
  std::vector<float> uniform(std::int64_t n, double low, double high) {
    std::vector<float> values(static_cast<std::size_t>(n));
    fill_uniform(next(), static_cast<float>(low), static_cast<float>(high), values);
    return values;
  }
  std::vector<float> normal(std::int64_t n, double stddev) {
    std::vector<float> values(static_cast<std::size_t>(n));
    fill_normal(next(), 0, static_cast<float>(stddev), values);
    return values;
  }

 private:
  RandomStream next() { return {key_, Stream::kNoise, 0, step_++}; }
  RandomKey key_;
  std::uint32_t step_ = 0;
};

struct Request {
  const Json& arguments;
  std::int64_t rows;
  double noise;  ///< standard deviation
  Draws draws;
  double number(const char* key, double fallback) const { return arguments.value(key, fallback); }
};

/// y = f(x) + noise for x uniform in [low, high).
template <typename F>
Part curve(Request& r, double low, double high, F f) {
  Part part{{{r.rows, 1}, {}}, {{r.rows}, {}}};
  const auto x = r.draws.uniform(r.rows, r.number("low", low), r.number("high", high));
  const auto noise = r.draws.normal(r.rows, r.noise);
  for (std::size_t i = 0; i < x.size(); ++i) {
    part.x.values.push_back(x[i]);
    part.y.values.push_back(f(x[i]) + noise[i]);
  }
  return part;
}

/// Points in the plane, classes in turn (row i is of class i mod classes).
template <typename F>
Part points(Request& r, std::int64_t classes, F place) {
  Part part{{{r.rows, 2}, {}}, {{r.rows}, {}}};
  const auto u = r.draws.uniform(r.rows, 0, 1);
  const auto noise = r.draws.normal(2 * r.rows, r.noise);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto label = static_cast<std::int64_t>(i) % classes;
    const auto [x, y] = place(label, static_cast<double>(u[i]));
    part.x.values.push_back(x + noise[2 * i]);
    part.x.values.push_back(y + noise[2 * i + 1]);
    part.y.values.push_back(static_cast<double>(label));
  }
  return part;
}

Part make(const std::string& name, Request& r) {
  using std::numbers::pi;
  using Point = std::pair<double, double>;
  if (name == "linear") {
    const double slope = r.number("slope", 1), intercept = r.number("intercept", 0);
    return curve(r, 0, 1, [=](double x) { return slope * x + intercept; });
  }
  if (name == "sine") {
    return curve(r, 0, 2 * pi, [](double x) { return std::sin(x); });
  }
  if (name == "blobs") {  // centres on a circle of radius 3
    const auto classes = static_cast<std::int64_t>(r.number("classes", 2));
    return points(r, std::max<std::int64_t>(classes, 1), [=](std::int64_t label, double) -> Point {
      const double angle = 2 * pi * static_cast<double>(label) / static_cast<double>(classes);
      return {3 * std::cos(angle), 3 * std::sin(angle)};
    });
  }
  if (name == "circles") {  // radius 1 and `factor`
    const double factor = r.number("factor", 0.5);
    return points(r, 2, [=](std::int64_t label, double u) -> Point {
      const double radius = label == 0 ? 1 : factor;
      return {radius * std::cos(2 * pi * u), radius * std::sin(2 * pi * u)};
    });
  }
  if (name == "moons") {  // two half circles that interlock
    return points(r, 2, [](std::int64_t label, double u) -> Point {
      const double x = std::cos(pi * u), y = std::sin(pi * u);
      return label == 0 ? Point{x, y} : Point{1 - x, 0.5 - y};
    });
  }
  if (name == "xor") {  // corners of the unit square in turn; the label is the exclusive or
    Part part = points(r, 4, [](std::int64_t corner, double) -> Point {
      return {static_cast<double>(corner & 1), static_cast<double>(corner >> 1)};
    });
    for (double& y : part.y.values) y = y == 1 || y == 2;
    return part;
  }
  throw input_error("data.arguments.name: found \"" + name +
                    "\"; allowed: blobs, circles, linear, moons, sine, xor");
}

}  // namespace

RawData generate(const Json& arguments, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"name", FieldRule::kText},
                {"rows", FieldRule::kWhole, 1, 1e8},
                {"noise", FieldRule::kNumber, 0},
                {"seed", FieldRule::kWhole, 0, kLargestExactWhole},
                {"slope", FieldRule::kNumber},
                {"intercept", FieldRule::kNumber},
                {"low", FieldRule::kNumber},
                {"high", FieldRule::kNumber},
                {"classes", FieldRule::kWhole, 1, 1e6},
                {"factor", FieldRule::kNumber}});
  const std::string name = arguments.value("name", "");
  const double rows = arguments.value("rows", 1000.0);
  const double default_noise = name == "blobs" ? 1 : name == "linear" || name == "sine" ? 0 : 0.1;
  const bool header = reading == Reading::kHeader;
  Request request{arguments, header ? 1 : static_cast<std::int64_t>(rows),
                  arguments.value("noise", default_noise),
                  Draws(static_cast<std::uint64_t>(arguments.value("seed", 0.0)))};
  RawData data{make(name, request), {}, false};
  if (header) {
    for (Table* table : {&data.train.x, &data.train.y}) {
      table->extents.front() = static_cast<std::int64_t>(rows);
      table->values.clear();
    }
  }
  return data;
}

}  // namespace neutra::training
