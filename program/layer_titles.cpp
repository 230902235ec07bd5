#include "program/layer_titles.h"

#include "base/json.h"
#include "program/document.h"
#include "program/formats/keras_graph.h"

namespace neutra::program {

LayerTitles::LayerTitles(const Json& document) {
  const Json* layers = find_layers(document);
  if (layers == nullptr) return;
  std::vector<std::string> classes;
  for (const Json& layer : *layers) {
    const Json* class_name = member(layer, "class_name");
    classes.push_back(class_name != nullptr && class_name->is_string()
                          ? class_name->get<std::string>()
                          : "layer");
  }
  names_ = keras_layer_names(classes);
  for (std::size_t i = 0; i < layers->size(); ++i) {
    const Json* config = member((*layers)[i], "config");
    const Json* name = config != nullptr ? member(*config, "name") : nullptr;
    if (name != nullptr && name->is_string() && !name->get_ref<const std::string&>().empty()) {
      names_[i] = *name;
    }
  }
}

std::string LayerTitles::operator()(int layer) const {
  const std::string number = std::to_string(layer);
  const auto position = static_cast<std::size_t>(layer);
  return layer >= 0 && position < names_.size() ? number + ", " + names_[position] : number;
}

std::string LayerTitles::operator()(const std::set<int>& layers) const {
  std::string text;
  for (const int layer : layers) text += (text.empty() ? "" : "; ") + (*this)(layer);
  return text;
}

}  // namespace neutra::program
