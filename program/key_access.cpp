#include "program/key_access.h"

#include <charconv>

#include "base/numbers.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "program/document.h"
#include "program/layers/fields.h"
#include "program/normal.h"

namespace neutra::program {
namespace {

struct KindInfo {
  KeyKind kind;
  std::string_view word;
  std::string_view usual_path;  ///< "" for kinds that belong to a layer
  Field field;                  ///< what a value of this kind may be
};

const KindInfo& info(KeyKind kind) {
  static const std::vector<KindInfo> infos = [] {
    const auto section = [](const char* name, const char* field) {
      return *find_field(section_fields(name), field);
    };
    const Field rate = *find_field(find_layer("Dropout")->fields, "rate");
    const Field units = *find_field(find_layer("Dense")->fields, "units");
    const Field learning_rate =
        *find_field(find(Vocabulary::kOptimizer, "SGD")->fields, "learning_rate");
    // In the order of the enumeration.
    return std::vector<KindInfo>{
        {KeyKind::kActivation, "activation", "", activation_field()},
        {KeyKind::kKernelInitializer, "kernel_initializer", "", initializer_field("", "zeros")},
        {KeyKind::kBiasInitializer, "bias_initializer", "", initializer_field("", "zeros")},
        {KeyKind::kRepeat,
         "repeat",
         "",
         {.name = "repeat", .type = FieldType::kInteger, .low = 0, .high = kMaxRepeat}},
        {KeyKind::kUnits, "units", "", units},
        {KeyKind::kDropout, "dropout", "", rate},
        {KeyKind::kLoss, "loss", "/compile/loss", section("compile", "loss")},
        {KeyKind::kLearningRate, "learning_rate", "/compile/optimizer/config/learning_rate",
         learning_rate},
        {KeyKind::kOptimizer, "optimizer", "/compile/optimizer", section("compile", "optimizer")},
        {KeyKind::kBatchSize, "batch_size", "/fit/batch_size", section("fit", "batch_size")},
        {KeyKind::kEpochs, "epochs", "/fit/epochs", section("fit", "epochs")}};
  }();
  return infos[static_cast<std::size_t>(kind)];
}

const Json* at_pointer(const Json& document, const std::string& path) {
  try {
    return &document.at(Json::json_pointer(path));
  } catch (const Json::exception&) {
    return nullptr;
  }
}

/// Keras's default of a layer's field that the document leaves out; nullptr if the layer has no
/// such field or the field has no default.
const Json* layer_default(const Json& layer, const std::string& rest) {
  constexpr std::string_view kWrapped = "/config/layer";
  if (rest.starts_with(std::string(kWrapped) + "/")) {
    const Json* config = member(layer, "config");
    const Json* wrapped = config != nullptr ? member(*config, "layer") : nullptr;
    return wrapped != nullptr ? layer_default(*wrapped, rest.substr(kWrapped.size())) : nullptr;
  }
  const Json* name = member(layer, "class_name");
  if (name == nullptr || !name->is_string() || !rest.starts_with("/config/")) return nullptr;
  const Layer* type = find_layer(name->get<std::string>());
  const Field* field = type != nullptr ? find_field(type->fields, rest.substr(8)) : nullptr;
  return field != nullptr && field->fallback ? &*field->fallback : nullptr;
}

/// The stored optimiser, under the name that the document uses.
const char* optimizer_name(const Json& document) {
  const Json* compile = member(document, "compile");
  return compile != nullptr && compile->contains("optimizer_config") ? "optimizer_config"
                                                                     : "optimizer";
}

}  // namespace

std::string_view to_string(KeyKind kind) { return info(kind).word; }

std::optional<KeyKind> parse_key_kind(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(KeyKind::kEpochs); ++i) {
    if (const auto kind = static_cast<KeyKind>(i); info(kind).word == word) return kind;
  }
  return std::nullopt;
}

std::string_view usual_path(KeyKind kind) { return info(kind).usual_path; }

bool is_initializer(KeyKind kind) {
  return kind == KeyKind::kKernelInitializer || kind == KeyKind::kBiasInitializer;
}

std::optional<Json> normal_value_of(KeyKind kind, const Json& value) {
  std::vector<Problem> problems;
  Json result = normal_value(info(kind).field, value, Defaults::kFill, "", problems);
  if (!problems.empty()) return std::nullopt;
  return result;
}

std::optional<Json> parse_value(const Key& key, const std::string& text) {
  for (const auto& [spelling, json] : key.values) {
    if (spelling == text) return json;
  }
  Json value = text;
  switch (key.kind) {
    case KeyKind::kActivation:
    case KeyKind::kLoss:
    case KeyKind::kOptimizer: {
      const auto name = normal_value_of(key.kind, value);
      if (!name) return std::nullopt;
      return key.kind == KeyKind::kOptimizer ? name->at("class_name") : *name;
    }
    case KeyKind::kKernelInitializer:
    case KeyKind::kBiasInitializer: {
      const Entry* entry = find(Vocabulary::kInitializer, text);
      if (entry == nullptr) return std::nullopt;
      return entry->word;
    }
    default: {
      const auto number = parse_number<double>(text);
      if (!number) return std::nullopt;
      return normal_value_of(key.kind, *number);
    }
  }
}

std::string allowed_values(const Key& key, const std::string& text) {
  std::vector<std::string> list;
  for (const auto& [spelling, json] : key.values) list.push_back(spelling);
  const auto add = [&](Vocabulary vocabulary) {
    for (std::string& word : words(vocabulary)) list.push_back(std::move(word));
    return allowed_words(text, list);
  };
  switch (key.kind) {
    case KeyKind::kActivation:
      return add(Vocabulary::kActivation);
    case KeyKind::kKernelInitializer:
    case KeyKind::kBiasInitializer:
      return add(Vocabulary::kInitializer);
    case KeyKind::kLoss:
      return add(Vocabulary::kLoss);
    case KeyKind::kOptimizer:
      return add(Vocabulary::kOptimizer);
    case KeyKind::kRepeat:
      return "0, 1, 2";
    case KeyKind::kDropout:
      return "a number in [0, 1)";
    case KeyKind::kLearningRate:
      return "a number >= 0";
    default:
      return "a whole number >= 1";
  }
}

std::optional<std::string> spell(const Key& key, const Json& raw, const Json& value) {
  for (const auto& [spelling, json] : key.values) {
    if (normal_value_of(key.kind, json) == value) return spelling;
  }
  switch (key.kind) {
    case KeyKind::kActivation:
    case KeyKind::kLoss:
      return loss_word(value);
    case KeyKind::kOptimizer:
      return find(Vocabulary::kOptimizer, value.at("class_name").get<std::string>())->word;
    case KeyKind::kKernelInitializer:
    case KeyKind::kBiasInitializer: {
      // The document's own word where it has one: "constant" is zeros in normal form.
      const std::string name =
          raw.is_string() ? raw.get<std::string>() : value.at("class_name").get<std::string>();
      const std::string word = find(Vocabulary::kInitializer, name)->word;
      if (normal_value_of(key.kind, word) != value) return std::nullopt;
      return word;
    }
    case KeyKind::kLearningRate:
    case KeyKind::kDropout:
      return python_repr(value.get<double>());
    default:
      return std::to_string(value.get<std::int64_t>());
  }
}

std::optional<std::string> spell(const Key& key, const Json& raw) {
  const auto value = normal_value_of(key.kind, raw);
  return value ? spell(key, raw, *value) : std::nullopt;
}

std::optional<LayerPath> split_layer_path(const Json& document, const std::string& path) {
  const std::string prefix = layers_path(document) + "/";
  const Json* layers = find_layers(document);
  if (layers == nullptr || !path.starts_with(prefix)) return std::nullopt;
  LayerPath result;
  const char* begin = path.data() + prefix.size();
  const char* end = path.data() + path.size();
  const auto [after, error] = std::from_chars(begin, end, result.layer);
  if (error != std::errc() || result.layer >= layers->size()) return std::nullopt;
  result.rest.assign(after, end);
  return result;
}

std::optional<Json> read_value(const Json& document, KeyKind kind, const std::string& path) {
  const auto of_section = [&](const char* section, const char* field) -> std::optional<Json> {
    const Json* values = member(document, section);
    if (const Json* value = values != nullptr ? member(*values, field) : nullptr) return *value;
    return find_field(section_fields(section), field)->fallback;
  };
  switch (kind) {
    case KeyKind::kLoss:
      return of_section("compile", "loss");
    case KeyKind::kBatchSize:
      return of_section("fit", "batch_size");
    case KeyKind::kEpochs:
      return of_section("fit", "epochs");
    case KeyKind::kOptimizer:
      return of_section("compile", optimizer_name(document));
    case KeyKind::kLearningRate: {
      const auto optimizer = read_value(document, KeyKind::kOptimizer, "");
      const auto filled =
          optimizer ? normal_value_of(KeyKind::kOptimizer, *optimizer) : std::nullopt;
      if (!filled) return std::nullopt;
      return filled->at("config").at("learning_rate");
    }
    default:
      break;
  }
  const auto place = split_layer_path(document, path);
  if (!place) return std::nullopt;
  const Json& layer = (*find_layers(document))[place->layer];
  if (kind == KeyKind::kRepeat) {
    if (!place->rest.empty()) return std::nullopt;
    return Json(1);
  }
  const Json* value = at_pointer(document, path);
  if (value == nullptr) value = layer_default(layer, place->rest);
  if (value == nullptr) return std::nullopt;
  return *value;
}

}  // namespace neutra::program
