#include "fl_adapters/callback_model.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/strings.h"
#include "fl_adapters/watch.h"
#include "program/layer.h"
#include "program/layer_titles.h"

namespace neutra::fl_adapters {
namespace {

/// The function that a layer ends with.
std::string activation_of(const program::ResolvedLayer& layer) {
  if (const Json* value = member(layer.config, "activation")) return value->get<std::string>();
  if (layer.class_name == "Softmax") return "softmax";
  if (layer.class_name == "ReLU") return "relu";
  if (layer.class_name == "ELU") return "elu";
  return "linear";
}

/// Keras 2.2.4's name for the `count`-th layer of a class, "dense_1", without underscores in the
/// class.
std::string default_name(const std::string& class_name, int count) {
  return lower(class_name) + "_" + std::to_string(count);
}

void replace(std::string& text, std::string_view place, const std::string& by) {
  if (const std::size_t at = text.find(place); at != std::string::npos) {
    text.replace(at, place.size(), by);
  }
}

}  // namespace

std::string CallbackModel::told(std::size_t layer) const {
  const bool exists = layer < layers.size();
  const Layer& known = layers[exists ? layer : last()];
  const int behind = static_cast<int>(layer) - static_cast<int>(exists ? layer : last());
  const int number = known.index + behind;
  std::string text = exists ? known.title : std::to_string(number) + ", behind the last layer";
  if (number != static_cast<int>(layer)) {
    text += " (the tool's layer " + std::to_string(layer) + ")";
  }
  return text;
}

std::vector<std::optional<std::size_t>> CallbackModel::gradient_sources(
    const std::vector<bool>& has_weights) const {
  std::vector<std::optional<std::size_t>> sources(layers.size());
  std::size_t unread = layers.size();  // layers from here on have had their gradients read
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    if (!layers[layer].dense) continue;
    if (repaired) {
      if (has_weights[layer]) sources[layer] = layer;
      continue;
    }
    while (unread > 0 && !has_weights[unread - 1]) --unread;
    if (unread > 0) sources[layer] = --unread;
  }
  return sources;
}

CallbackModel callback_model(const program::Program& program, ToolVariant variant) {
  CallbackModel model;
  model.repaired = variant == ToolVariant::kRepaired;
  const Json& config = program.document.at("model").at("config");
  const Json& documents = config.is_array() ? config : config.at("layers");
  const program::LayerTitles titles(program.document);
  std::map<std::string, int> counts;
  for (const program::ResolvedLayer& layer : program::resolve(program).layers) {
    if (program::kind_of(layer) == program::LayerKind::kInput) continue;
    CallbackModel::Layer seen;
    seen.index = layer.index;
    seen.title = titles(layer.index);
    seen.class_name = layer.class_name;
    seen.activation = activation_of(layer);
    const Json* own = member(documents.at(static_cast<std::size_t>(layer.index)), "config");
    const Json* name = own != nullptr ? member(*own, "name") : nullptr;
    seen.name = name != nullptr && name->is_string()
                    ? name->get<std::string>()
                    : default_name(layer.class_name, ++counts[layer.class_name]);
    seen.dense = model.repaired ? layer.class_name == "Dense" : contains(seen.name, "dense");
    seen.flatten = model.repaired ? layer.class_name == "Flatten" : contains(seen.name, "flatten");
    seen.softmax = seen.activation == "softmax";
    const bool alone = seen.class_name == "Activation" || seen.class_name == "Softmax";
    if (seen.softmax && alone && !model.layers.empty()) model.layers.back().softmax = true;
    model.layers.push_back(std::move(seen));
  }
  return model;
}

std::string unpacking_error(std::size_t weights) {
  if (weights == 0 || weights == 2) return "";
  return std::string("the tool stops with an error: ") + (weights > 2 ? "too many" : "not enough") +
         " values to unpack (a layer's weights as kernel and bias)";
}

ToolMessage callback_message(const MessageTable& table, const std::string& code, std::int64_t epoch,
                             std::int64_t batch, const CallbackModel& model,
                             std::optional<std::size_t> layer) {
  // A layer behind the last has a number but no place.
  std::set<int> layers;
  if (layer && *layer < model.layers.size()) layers.insert(model.layers[*layer].index);
  ToolMessage message = table.message(code, std::move(layers));
  message.epochs = {epoch};
  replace(message.text, "{batch}", std::to_string(batch));
  if (layer) replace(message.text, "{layer}", model.told(*layer));
  return message;
}

Localisation run_callback(
    const FaultyProgram& faulty, const LocaliseContext& context,
    const std::function<std::unique_ptr<training::Observer>(Finding&)>& watcher) {
  Watch watch(context, context.variant == ToolVariant::kAsPublished
                           ? training::KerasRelease::k224
                           : training::KerasRelease::kTf24);
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return watch.finish({}, LocalisationStatus::kNotApplicable, to_string(problems.front()));
  }
  Finding finding;
  const std::unique_ptr<training::Observer> observer = watcher(finding);
  const LocalisationStatus status = watch.train(faulty.program, *observer);
  Localisation result;
  result.messages = std::move(finding.messages);
  if (!finding.failure.empty()) {
    return watch.finish(std::move(result), LocalisationStatus::kNotApplicable, finding.failure);
  }
  return watch.finish(std::move(result), status, watch.reason());
}

}  // namespace neutra::fl_adapters
