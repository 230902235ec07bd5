#include <algorithm>

#include "program/document.h"
#include "program/graph.h"
#include "program/key_access.h"
#include "program/layer.h"
#include "program/parameters.h"

/// The keys that programs have which name none (program/parameters.h).
namespace neutra::program {
namespace {

/// A layer with a kernel, and where its settings are.
struct Parametric {
  std::size_t index;
  std::string config;  ///< path of the layer's, or of the wrapped layer's
  bool dense;
  bool units;
  std::string kernel_path;
  std::string activation_path;
  bool has_bias;
};

/// The layers of a document that have keys.
class KeyedLayers {
 public:
  explicit KeyedLayers(const Json& document) : document_(document) {
    const Json* layers = find_layers(document);
    if (layers == nullptr) return;
    const Wiring wiring = wiring_of(*layers);
    before_.resize(layers->size());
    for (std::size_t i = 0; i < layers->size(); ++i) {
      for (const std::size_t input : wiring.inputs[i]) {
        before_[i].insert(before_[input].begin(), before_[input].end());
      }
      if (wiring.weights_of[i]) {
        if (parametric_at_.contains(*wiring.weights_of[i]))
          before_[i] = before_[*wiring.weights_of[i]];
        continue;  // its keys are those of the layer that is called once more
      }
      add((*layers)[i], i);
    }
  }

  std::vector<Parametric> parametric;
  std::vector<std::string> dropouts;  ///< paths of their rates

 private:
  void add(const Json& outer, std::size_t index) {
    const Json* layer = &outer;
    const Layer* type = layer_of(outer);
    std::string own = layers_path(document_) + "/" + std::to_string(index) + "/config";
    // The settings of a wrapper are those of the layer it runs, where that is one alone.
    while (type != nullptr && type->kind == LayerKind::kWrapper) {
      const Json* config = member(*layer, "config");
      layer = config != nullptr ? member(*config, "layer") : nullptr;
      const bool two = config != nullptr && config->value("backward_layer", Json()).is_object();
      type = layer != nullptr && !two ? layer_of(*layer) : nullptr;
      own += "/layer/config";
    }
    if (type == nullptr) return;
    const auto path = [&](const char* field) { return own + "/" + field; };
    const auto has = [&](const char* field_name) {
      const Field* field = find_field(type->fields, field_name);
      return field != nullptr && field->type != FieldType::kIgnored;
    };
    if (type->kind == LayerKind::kDropout) dropouts.push_back(path("rate"));
    // A convolution by channel has its own name for it.
    const char* kernel =
        has("depthwise_initializer") ? "depthwise_initializer" : "kernel_initializer";
    if (has(kernel)) {
      const Json* config = member(*layer, "config");
      const Json* use_bias = config != nullptr ? member(*config, "use_bias") : nullptr;
      const Layer* whole = layer_of(outer);
      before_[index] = {parametric.size()};
      parametric_at_.insert(index);
      parametric.push_back({index, own, whole->kind == LayerKind::kDense, has("units"),
                            path(kernel), path("activation"),
                            use_bias == nullptr || *use_bias != false});
    } else if (has("activation")) {
      // The activation of the layer before, unless that has one of its own; behind a merge, of the
      // last one in the list.
      for (auto n = before_[index].rbegin(); n != before_[index].rend(); ++n) {
        std::string& place = parametric[*n].activation_path;
        const auto before = read_value(document_, KeyKind::kActivation, place);
        if (!before || normal_value_of(KeyKind::kActivation, *before) != Json("linear")) continue;
        place = path("activation");
        break;
      }
    }
  }

  const Json& document_;
  /// For each layer, the parametric ones that its output comes from without another between.
  std::vector<std::set<std::size_t>> before_;
  std::set<std::size_t> parametric_at_;  ///< positions of parametric layers
};

}  // namespace

ProgramSpace ProgramSpace::with_default_keys(Program base) {
  const KeyedLayers found(base.document);
  const std::vector<Parametric>& parametric = found.parametric;
  std::vector<Key> keys;
  const auto add = [&](const std::string& name, KeyKind kind, std::vector<std::string> paths) {
    Key key{name, kind, std::move(paths), {}};
    // A configuration that no word stands for gets a spelling of its own.
    if (is_initializer(kind)) {
      const auto raw = read_value(base.document, kind, key.paths.front());
      const auto value = raw ? normal_value_of(kind, *raw) : std::nullopt;
      if (value && !spell(key, *raw, *value)) key.values.emplace_back("custom", *raw);
    }
    keys.push_back(std::move(key));
  };
  const auto add_each = [&](const char* prefix, KeyKind kind, auto&& place) {
    for (std::size_t n = 0; n < parametric.size(); ++n) {
      const std::string where = place(n);
      if (!where.empty()) add(prefix + std::to_string(n + 1), kind, {where});
    }
  };
  const auto hidden = [&](std::size_t n) { return n + 1 < parametric.size(); };
  add_each("ki", KeyKind::kKernelInitializer,
           [&](std::size_t n) { return parametric[n].kernel_path; });
  add_each("bi", KeyKind::kBiasInitializer, [&](std::size_t n) {
    return parametric[n].has_bias ? parametric[n].config + "/bias_initializer" : "";
  });
  add_each("act", KeyKind::kActivation,
           [&](std::size_t n) { return parametric[n].activation_path; });
  const std::string root = layers_path(base.document) + "/";
  add_each("layer", KeyKind::kRepeat, [&](std::size_t n) {
    return hidden(n) && parametric[n].dense ? root + std::to_string(parametric[n].index) : "";
  });
  add_each("unit", KeyKind::kUnits, [&](std::size_t n) {
    return hidden(n) && parametric[n].units ? parametric[n].config + "/units" : "";
  });
  for (std::size_t n = 0; n < found.dropouts.size(); ++n) {
    add("dropout" + std::to_string(n + 1), KeyKind::kDropout, {found.dropouts[n]});
  }
  add("loss", KeyKind::kLoss, {});
  add("batch_size", KeyKind::kBatchSize, {});
  add("optimizer", KeyKind::kOptimizer, {});
  add("lr", KeyKind::kLearningRate, {});
  add("epochs", KeyKind::kEpochs, {});
  return ProgramSpace(std::move(base), std::move(keys), "");
}

}  // namespace neutra::program
