#include "training/initializers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "training/registry_names.h"
#include "training/variables.h"

namespace neutra::training {
namespace {

/// Standard deviation of a unit normal truncated at two sigma: Keras divides by it so that the
/// result has the wanted one.
constexpr double kTruncatedStddev = 0.87962566103423978;

struct Request {
  const Json& config;
  const program::Shape& shape;
  RandomStream stream;
  std::span<float> values;

  double number(const char* key, double fallback) const { return number_or(config, key, fallback); }
};

/// tf.keras VarianceScaling: variance scale / n, n by mode.
void scale_variance(const Request& r, double scale, const std::string& mode,
                    const std::string& distribution) {
  const Fans fans = compute_fans(r.shape);
  const double n = mode == "fan_in"    ? fans.in
                   : mode == "fan_out" ? fans.out
                                       : (fans.in + fans.out) / 2;
  const double variance = scale / std::max(1.0, n);
  if (distribution == "uniform") {
    const auto limit = static_cast<float>(std::sqrt(3 * variance));
    fill_uniform(r.stream, -limit, limit, r.values);
  } else if (distribution == "untruncated_normal") {
    fill_normal(r.stream, 0, static_cast<float>(std::sqrt(variance)), r.values);
  } else {
    const double stddev = std::sqrt(variance) / kTruncatedStddev;
    fill_truncated_normal(r.stream, 0, static_cast<float>(stddev), r.values);
  }
}

void require_matrix(const Request& r, const std::string& name, bool exactly_two) {
  if (exactly_two ? r.shape.size() != 2 : r.shape.size() < 2) {
    throw input_error("initializer " + name + ": found a variable of shape " +
                      program::to_string(r.shape) +
                      "; allowed: " + (exactly_two ? "matrices" : "two dimensions or more"));
  }
}

/// Rows of a random matrix made orthonormal by Gram-Schmidt, twice for accuracy. The signs are
/// those of a QR decomposition with a positive diagonal, which is what Keras makes of its own: a
/// uniformly random orthogonal matrix.
void orthogonal(const Request& r) {
  require_matrix(r, "Orthogonal", false);
  const auto columns = static_cast<std::size_t>(r.shape.back());
  const std::size_t rows = r.values.size() / columns;
  const std::size_t count = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<float> draws(count * length);
  fill_normal(r.stream, 0, 1, draws);
  std::vector<double> q(draws.begin(), draws.end());
  for (std::size_t i = 0; i < count; ++i) {
    double* vector = &q[i * length];
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double* other = &q[j * length];
        const double dot = std::inner_product(vector, vector + length, other, 0.0);
        for (std::size_t k = 0; k < length; ++k) vector[k] -= dot * other[k];
      }
    }
    const double norm = std::sqrt(std::inner_product(vector, vector + length, vector, 0.0));
    for (std::size_t k = 0; k < length; ++k) vector[k] /= norm;
  }
  const double gain = r.number("gain", 1);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double value = rows >= columns ? q[j * length + i] : q[i * length + j];
      r.values[i * columns + j] = static_cast<float>(gain * value);
    }
  }
}

void identity(const Request& r) {
  require_matrix(r, "Identity", true);
  std::fill(r.values.begin(), r.values.end(), 0.0f);
  const auto columns = static_cast<std::size_t>(r.shape[1]);
  const std::size_t n = std::min(static_cast<std::size_t>(r.shape[0]), columns);
  for (std::size_t i = 0; i < n; ++i) {
    r.values[i * columns + i] = static_cast<float>(r.number("gain", 1));
  }
}

void fill_constant(const Request& r, double value) {
  std::fill(r.values.begin(), r.values.end(), static_cast<float>(value));
}

using Initializer = void (*)(const Request&);

const std::map<std::string, Initializer>& registry() {
  static const std::map<std::string, Initializer> kRegistry{
      {"Zeros", [](const Request& r) { fill_constant(r, 0); }},
      {"Ones", [](const Request& r) { fill_constant(r, 1); }},
      {"Constant", [](const Request& r) { fill_constant(r, r.number("value", 0)); }},
      {"RandomNormal",
       [](const Request& r) {
         fill_normal(r.stream, static_cast<float>(r.number("mean", 0)),
                     static_cast<float>(r.number("stddev", 0.05)), r.values);
       }},
      {"RandomUniform",
       [](const Request& r) {
         fill_uniform(r.stream, static_cast<float>(r.number("minval", -0.05)),
                      static_cast<float>(r.number("maxval", 0.05)), r.values);
       }},
      {"TruncatedNormal",
       [](const Request& r) {
         fill_truncated_normal(r.stream, static_cast<float>(r.number("mean", 0)),
                               static_cast<float>(r.number("stddev", 0.05)), r.values);
       }},
      {"VarianceScaling",
       [](const Request& r) {
         scale_variance(r, r.number("scale", 1), r.config.value("mode", "fan_in"),
                        r.config.value("distribution", "truncated_normal"));
       }},
      // Of a weight by itself; those of a layer come as a RandomUniform (program/shapes.h).
      {"FanInUniform", [](const Request& r) { scale_variance(r, 1.0 / 3, "fan_in", "uniform"); }},
      {"GlorotUniform", [](const Request& r) { scale_variance(r, 1, "fan_avg", "uniform"); }},
      {"GlorotNormal",
       [](const Request& r) { scale_variance(r, 1, "fan_avg", "truncated_normal"); }},
      {"HeUniform", [](const Request& r) { scale_variance(r, 2, "fan_in", "uniform"); }},
      {"HeNormal", [](const Request& r) { scale_variance(r, 2, "fan_in", "truncated_normal"); }},
      {"LecunUniform", [](const Request& r) { scale_variance(r, 1, "fan_in", "uniform"); }},
      {"LecunNormal", [](const Request& r) { scale_variance(r, 1, "fan_in", "truncated_normal"); }},
      {"Orthogonal", orthogonal},
      {"Identity", identity},
  };
  return kRegistry;
}

}  // namespace

double number_or(const Json& config, const char* key, double fallback) {
  const auto it = config.find(key);
  return it != config.end() && it->is_number() ? it->get<double>() : fallback;
}

bool flag_or(const Json& config, const char* key, bool fallback) {
  const auto it = config.find(key);
  return it != config.end() && it->is_boolean() ? it->get<bool>() : fallback;
}

Regularizer regularizer(const Json& config, const std::string& field) {
  const auto it = config.find(field);
  if (it == config.end() || !it->is_object()) return {};
  const Json& values = it->at("config");
  return {static_cast<float>(number_or(values, "l1", 0)),
          static_cast<float>(number_or(values, "l2", 0))};
}

Fans compute_fans(const program::Shape& shape) {
  if (shape.empty()) return {};
  if (shape.size() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double field = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) field *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[shape.size() - 2]) * field,
          static_cast<double>(shape.back()) * field};
}

void initialize(const Json& initializer, const program::Shape& shape, const RandomStream& stream,
                std::span<float> values) {
  const std::string name = initializer.at("class_name");
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("initializer " + name + " is not available yet");
  static const Json kEmpty = Json::object();
  const Json& config = initializer.contains("config") ? initializer["config"] : kEmpty;
  it->second({config, shape, stream, values});
}

std::vector<std::string> initializer_names() { return registry_names(registry()); }

}  // namespace neutra::training
