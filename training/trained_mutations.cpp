#include "training/trained_mutations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "program/edit.h"
#include "program/trained_mutations.h"
#include "training/random.h"

namespace neutra::training {
namespace {

/// A kernel of Dense (input, neuron) or Conv2D (height, width, input channel, filter), as `places`
/// matrices of inputs and neurons.
struct Kernel {
  Kernel(const program::Shape& extents, std::vector<float>& all)
      : shape(extents),
        values(all),
        neurons(static_cast<std::size_t>(shape.back())),
        inputs(static_cast<std::size_t>(shape[shape.size() - 2])),
        places(values.size() / (neurons * inputs)) {}

  float& at(std::size_t place, std::size_t input, std::size_t neuron) {
    return values[(place * inputs + input) * neurons + neuron];
  }

  const program::Shape& shape;
  std::vector<float>& values;
  std::size_t neurons, inputs, places;
};

/// A step on weights, with the random numbers that belong to it.
class Step {
 public:
  Step(const Json& fields, std::size_t index)
      : fields_(fields),
        index_(static_cast<std::uint32_t>(index)),
        key_(random_key(fields.at("seed").get<std::uint64_t>(), {}, 0)) {}

  const Json& at(const char* field) const { return fields_.at(field); }

  std::vector<std::int64_t> permutation(std::size_t count) {
    std::vector<std::int64_t> order(count);
    fill_permutation(next(), order);
    return order;
  }
  /// The step's share of 0 .. count - 1, rounded down, in random order.
  std::vector<std::size_t> choose(std::size_t count) {
    const std::vector<std::int64_t> order = permutation(count);
    const double share = static_cast<double>(count) * at("percentage").get<double>() / 100;
    return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(share)};
  }
  std::vector<float> noise(std::size_t count) {
    std::vector<float> values(count);
    const auto deviation = at("stddev").get<float>();
    if (at("distribution") == "normal") {
      fill_normal(next(), 0, deviation, values);
    } else {
      const float bound = deviation * std::sqrt(3.0f);
      fill_uniform(next(), -bound, bound, values);
    }
    return values;
  }

 private:
  RandomStream next() { return {key_, Stream::kTrained, index_, draws_++}; }

  const Json& fields_;
  std::uint32_t index_, draws_ = 0;
  RandomKey key_;
};

void fuzz(Kernel& kernel, Step& step) {
  const std::vector<std::size_t> chosen = step.choose(kernel.values.size());
  const std::vector<float> noise = step.noise(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) kernel.values[chosen[i]] += noise[i];
}

/// The incoming weights of neurons, each neuron's among themselves.
void shuffle(Kernel& kernel, Step& step) {
  for (const std::size_t neuron : step.choose(kernel.neurons)) {
    std::vector<float> incoming;
    for (std::size_t i = neuron; i < kernel.values.size(); i += kernel.neurons) {
      incoming.push_back(kernel.values[i]);
    }
    std::size_t to = neuron;
    for (const std::int64_t from : step.permutation(incoming.size())) {
      kernel.values[to] = incoming[static_cast<std::size_t>(from)];
      to += kernel.neurons;
    }
  }
}

/// The weights of what neurons of the layer before give.
void block(Kernel& kernel, Step& step) {
  for (const std::size_t input : step.choose(kernel.inputs)) {
    for (std::size_t place = 0; place < kernel.places; ++place) {
      std::fill_n(&kernel.at(place, input, 0), kernel.neurons, 0.0f);
    }
  }
}

void invert(Kernel& kernel, Step& step) {
  for (const std::size_t neuron : step.choose(kernel.neurons)) {
    mutators::apply({0, static_cast<std::int64_t>(neuron), -1, 0}, kernel.shape, kernel.values);
  }
}

/// The chosen neurons of the layer before take each other's places.
void exchange(Kernel& kernel, Step& step) {
  const std::vector<std::size_t> chosen = step.choose(kernel.inputs);
  std::vector<std::size_t> places = chosen;
  std::sort(places.begin(), places.end());
  std::vector<float> values = kernel.values;
  Kernel before(kernel.shape, values);
  for (std::size_t place = 0; place < kernel.places; ++place) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::copy_n(&before.at(place, chosen[i], 0), kernel.neurons, &kernel.at(place, places[i], 0));
    }
  }
}

using Operation = void (*)(Kernel& kernel, Step& step);
/// nullptr: the step changes no weights.
Operation operation(const std::string& op) {
  static const std::map<std::string, Operation> kOperations{{"gaussian_fuzz", fuzz},
                                                            {"neuron_activation_inverse", invert},
                                                            {"neuron_effect_block", block},
                                                            {"neuron_switch", exchange},
                                                            {"weight_shuffle", shuffle}};
  const auto found = kOperations.find(op);
  return found != kOperations.end() ? found->second : nullptr;
}

}  // namespace

mutators::ModelStructure mutated_structure(const program::Program& program,
                                           const program::ResolvedProgram& resolved) {
  mutators::ModelStructure structure(program, resolved.layers.size());
  Json& document = structure.program.document;
  document.erase("trained");
  // Layers that only the training names.
  if (const Json::json_pointer loop("/fit/loop"); document.contains(loop)) {
    for (const char* field : {"left_out", "detached"}) document[loop].erase(field);
  }
  std::map<std::size_t, std::int64_t> counts;
  for (const Json& step : resolved.trained_mutations) {
    const std::string op = step.at("op");
    if (operation(op) != nullptr) continue;
    const std::size_t layer = step.at("layer");
    if (op == "activation_removal") {
      program::set_layer_field(document, layer, "activation", "linear");
      continue;
    }
    counts.emplace(layer, 1).first->second += op == "layer_copy" ? 1 : -1;
  }
  // From the last one, so that positions stay what they are.
  for (auto each = counts.rbegin(); each != counts.rend(); ++each) {
    structure.repeat(each->first, each->second);
  }
  return structure;
}

void mutate_weights(const program::ResolvedProgram& program, program::ModelWeights& weights) {
  for (std::size_t i = 0; i < program.trained_mutations.size(); ++i) {
    const Json& fields = program.trained_mutations[i];
    const Operation change = operation(fields.at("op"));
    if (change == nullptr) continue;
    Step step(fields, i);
    for (std::size_t layer = 0; layer < program.layers.size(); ++layer) {
      const bool asked = fields.at("layer").is_null() ? program::has_kernel(program.layers[layer])
                                                      : fields.at("layer") == layer;
      if (!asked) continue;
      Kernel kernel(program.layers[layer].weights.front().shape, weights[layer].front());
      change(kernel, step);
    }
  }
}

program::ModelWeights weights_of(const mutators::ModelStructure& structure,
                                 const program::ModelWeights& weights) {
  program::ModelWeights result;
  for (const std::size_t layer : structure.origin) result.push_back(weights[layer]);
  return result;
}

}  // namespace neutra::training
