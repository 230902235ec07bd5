#include "program/document.h"

#include <cmath>

#include "base/numbers.h"

namespace neutra::program {
namespace {

constexpr std::size_t kShown = 60;  ///< longest value in a message

}  // namespace

const Json* find_layers(const Json& document) {
  const Json* model = member(document, "model");
  const Json* config = model != nullptr ? member(*model, "config") : nullptr;
  const Json* layers = config == nullptr || config->is_array() ? config : member(*config, "layers");
  return layers != nullptr && layers->is_array() ? layers : nullptr;
}

const Json& innermost_layer(const Json& layer) {
  const Json* config = member(layer, "config");
  const Json* wrapped = config != nullptr ? member(*config, "layer") : nullptr;
  return wrapped != nullptr && wrapped->is_object() ? innermost_layer(*wrapped) : layer;
}

std::string layers_path(const Json& document) {
  const Json* layers = find_layers(document);
  const bool bare = layers != nullptr && layers == member(document["model"], "config");
  return bare ? "/model/config" : "/model/config/layers";
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

std::string shown(const Json& value) {
  if (value.is_array() && value.size() > kShown) {
    return "an array of " + std::to_string(value.size()) + " values";
  }
  if (value.is_object() && value.size() > kShown) {
    return "an object of " + std::to_string(value.size()) + " fields";
  }
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

std::string loss_word(const Json& loss) { return loss.is_object() ? loss.at("class_name") : loss; }

LossOptions loss_options(const Json& loss) {
  const Json config = loss.is_object() ? loss.value("config", Json::object()) : Json::object();
  return {.from_logits = config.value("from_logits", false),
          .label_smoothing = config.value("label_smoothing", 0.0)};
}

bool takes_logits(const LossOptions& options, std::string_view fitting,
                  std::string_view activation) {
  return activation == fitting ||
         (options.any_logits && (activation == "softmax" || activation == "sigmoid"));
}

Json normal_number(const Json& value) {
  if (!value.is_number_float()) return value;
  const double number = value.get<double>();
  if (std::abs(number) < kLargestExactWhole && number == std::trunc(number)) {
    return static_cast<std::int64_t>(number);
  }
  return value;
}

}  // namespace neutra::program
