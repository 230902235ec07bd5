#include "mutators/model_mutants.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "program/edit.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/trained_mutations.h"

namespace neutra::mutators {
namespace {

using Kind = ModelMutant::Kind;

/// mutation_generator.py, MutationGenerator.__init__.
constexpr std::array kActivations{"relu",         "selu",     "elu",     "exponential",
                                  "hard_sigmoid", "linear",   "sigmoid", "softmax",
                                  "softsign",     "softplus", "tanh"};
/// The layer that the published DEL_LAYER leaves out, whichever it is asked to.
constexpr std::size_t kPublishedDeletion = 4;

class Generator {
 public:
  Generator(const program::Program& program, const program::ResolvedProgram& resolved,
            bool as_published)
      : program_(program), resolved_(resolved), as_published_(as_published) {}

  std::vector<ModelMutant> mutants() {
    for (layer_ = 0; layer_ < resolved_.layers.size(); ++layer_) {
      if (layer().weights_of) continue;  // it changes with the layer that it is
      change_weights();
      if (as_published_) {
        // The new shape doesn't fit the weights.
        if (config().contains("filters")) impossible("MATH_FILTERS", 2);
        if (config().contains("kernel_size")) impossible("MATH_KERNEL_SZ", 2);
      }
      change_windows("MATH_STRIDES", "strides");
      change_windows("MATH_POOL_SZ", "pool_size");
      change_padding();
      change_activation();
      if (program::kind_of(layer()) == program::LayerKind::kDense) {
        delete_layer();
        duplicate_layer();
      }
    }
    return std::move(mutants_);
  }

 private:
  const program::ResolvedLayer& layer() const { return resolved_.layers[layer_]; }
  const Json& config() const { return layer().config; }

  ModelMutant& add(const std::string& op, Kind kind) {
    ModelMutant& mutant = mutants_.emplace_back();
    mutant.op = op;
    mutant.layer = layer_;
    mutant.first = chain_ ? layer_ : 0;
    mutant.kind = kind;
    return mutant;
  }
  void impossible(const std::string& op, int count) {
    while (count-- > 0) add(op, Kind::kStructure);
  }
  /// The program with some fields of the layer's configuration changed.
  void add_changed(const std::string& op, const Json& fields) {
    ModelMutant& mutant = add(op, Kind::kStructure);
    mutant.structure = own_structure();
    program::layers_of(mutant.structure->program.document)[layer_]["config"].update(fields);
  }
  ModelStructure own_structure() const { return {program_, resolved_.layers.size()}; }

  void change_weights() {
    if (!program::has_kernel(layer())) return;
    const bool dense = program::kind_of(layer()) == program::LayerKind::kDense;
    for (std::size_t variable = 0; variable < layer().weights.size(); ++variable) {
      const std::string op = variable == 0 ? (dense ? "MATH_WEIGHT" : "MATH_WEIGHT_CONV")
                                           : (dense ? "MATH_BIAS" : "MATH_CONV_BIAS");
      const std::int64_t units = dense ? layer().weights[variable].shape.back() : 1;
      for (std::int64_t unit = 0; unit < units; ++unit) {
        for (const auto& [factor, term] :
             {std::pair{1.0f, 1.0f}, {1.0f, -1.0f}, {2.0f, 0.0f}, {0.5f, 0.0f}}) {
          add(op, Kind::kWeights).change = {variable, dense ? unit : -1, factor, term};
        }
      }
    }
  }

  /// One more and one less; the published tool takes two from the original.
  void change_windows(const std::string& op, const std::string& field) {
    if (!config().contains(field)) return;
    // Keras writes a pooling's strides down, also where they are the pool's size.
    const bool pooling = config().contains("pool_size");
    const Json& strides = config().at("strides");
    const Json& own_strides = pooling && strides.is_null() ? config().at("pool_size") : strides;
    const program::Shape window =
        (field == "strides" ? own_strides : config().at(field)).get<program::Shape>();
    for (const std::int64_t step :
         {std::int64_t{1}, as_published_ ? std::int64_t{-2} : std::int64_t{-1}}) {
      Json changed = Json::array();
      for (const std::int64_t extent : window) changed.push_back(extent + step);
      Json fields = {{"strides", own_strides}};
      fields[field] = std::move(changed);
      add_changed(op, fields);
    }
  }

  void change_padding() {
    if (!config().contains("padding") || !config().at("padding").is_string()) return;
    add_changed("PADDING", {{"padding", config().at("padding") == "valid" ? "same" : "valid"}});
  }

  void change_activation() {
    if (!config().contains("activation")) return;
    for (const char* activation : kActivations) {
      if (config().at("activation") != activation) {
        add_changed("ACT_FUNC_REP", {{"activation", activation}});
      }
    }
  }

  void delete_layer() {
    std::size_t deleted = layer_;
    if (as_published_) {
      // Keras counts layers without an InputLayer.
      deleted = kPublishedDeletion;
      if (program::kind_of(resolved_.layers.front()) == program::LayerKind::kInput) ++deleted;
      if (deleted >= resolved_.layers.size()) {
        add("DEL_LAYER", Kind::kEquivalent);
        return;
      }
    }
    ModelMutant& mutant = add("DEL_LAYER", Kind::kStructure);
    mutant.structure = own_structure();
    mutant.structure->repeat(deleted, 0);
    if (chain_) mutant.first = deleted;
  }

  void duplicate_layer() {
    if (as_published_) {
      // It inserts into a copy of Keras's list of layers.
      add("DUP_LAYER", Kind::kEquivalent);
      return;
    }
    ModelMutant& mutant = add("DUP_LAYER", Kind::kStructure);
    mutant.structure = own_structure();
    mutant.structure->repeat(layer_, 2);
  }

  const program::Program& program_;
  const program::ResolvedProgram& resolved_;
  const bool as_published_;
  const bool chain_ = program::is_chain(resolved_.layers);
  std::size_t layer_ = 0;
  std::vector<ModelMutant> mutants_;
};

}  // namespace

ModelStructure::ModelStructure(program::Program own, std::size_t layers)
    : program(std::move(own)), origin(layers) {
  std::iota(origin.begin(), origin.end(), std::size_t{0});
}

void ModelStructure::repeat(std::size_t position, std::int64_t count) {
  std::vector<std::size_t> repeated = program::repeat_layer(program.document, position, count);
  for (std::size_t& layer : repeated) layer = origin[layer];
  origin = std::move(repeated);
}

void apply(const WeightChange& change, const program::Shape& shape, std::span<float> values) {
  assert(!shape.empty() && values.size() % static_cast<std::size_t>(shape.back()) == 0);
  const auto units = static_cast<std::size_t>(shape.back());
  const std::size_t first = change.unit < 0 ? 0 : static_cast<std::size_t>(change.unit);
  const std::size_t step = change.unit < 0 ? 1 : units;
  for (std::size_t i = first; i < values.size(); i += step) {
    values[i] = change.factor * values[i] + change.term;
  }
}

std::vector<ModelMutant> deepmufl_mutants(const program::Program& program,
                                          const program::ResolvedProgram& resolved,
                                          bool as_published) {
  return Generator(program, resolved, as_published).mutants();
}

}  // namespace neutra::mutators
