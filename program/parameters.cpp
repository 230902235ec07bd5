#include "program/parameters.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>

#include "base/error.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/words.h"
#include "program/document.h"
#include "program/edit.h"
#include "program/key_values.h"
#include "program/layers/fields.h"
#include "program/normal.h"

namespace neutra::program {
namespace {

constexpr int kMaxRepeat = 2;
constexpr std::array<int, 3> kRepeatCounts = {1, 0, 2};  ///< likely ones first

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

bool is_initializer(KeyKind kind) {
  return kind == KeyKind::kKernelInitializer || kind == KeyKind::kBiasInitializer;
}

/// Normal form of a value of a kind; nullopt if it has a problem.
std::optional<Json> normal(KeyKind kind, const Json& value) {
  std::vector<Problem> problems;
  Json result = normal_value(info(kind).field, value, Defaults::kFill, "", problems);
  if (!problems.empty()) return std::nullopt;
  return result;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What the key's spelling `text` writes into the document; nullopt for an impossible value.
std::optional<Json> parse_value(const Key& key, const std::string& text) {
  for (const auto& [spelling, json] : key.values) {
    if (spelling == text) return json;
  }
  Json value = text;
  switch (key.kind) {
    case KeyKind::kActivation:
    case KeyKind::kLoss:
    case KeyKind::kOptimizer: {
      const auto name = normal(key.kind, value);
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
      const auto number = parse_number(text);
      if (!number) return std::nullopt;
      return normal(key.kind, *number);
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

/// A value in the records' spelling. `raw`: as the document has it; `value`: its normal form.
/// nullopt if the key has no spelling for it.
std::optional<std::string> spell(const Key& key, const Json& raw, const Json& value) {
  for (const auto& [spelling, json] : key.values) {
    if (normal(key.kind, json) == value) return spelling;
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
      if (normal(key.kind, word) != value) return std::nullopt;
      return word;
    }
    case KeyKind::kLearningRate:
    case KeyKind::kDropout:
      return python_repr(value.get<double>());
    default:
      return std::to_string(value.get<std::int64_t>());
  }
}

const Json* at_pointer(const Json& document, const std::string& path) {
  try {
    return &document.at(Json::json_pointer(path));
  } catch (const Json::exception&) {
    return nullptr;
  }
}

/// A path into the layers: ".../layers/3/config/units" is layer 3, rest "/config/units".
struct LayerPath {
  std::size_t layer = 0;
  std::string rest;
};

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

/// A key's value as the document has it, defaults filled in; nullopt if there is none.
std::optional<Json> read(const Json& document, KeyKind kind, const std::string& path) {
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
      const auto optimizer = read(document, KeyKind::kOptimizer, "");
      const auto filled = optimizer ? normal(KeyKind::kOptimizer, *optimizer) : std::nullopt;
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

}  // namespace

std::string to_string(const Parameters& parameters) {
  std::string text;
  for (const auto& [key, value] : parameters) {
    if (!text.empty()) text += ",";
    text.append(key).append("=").append(value);
  }
  return text;
}

Parameters parse_parameters(std::string_view text, const std::string& where) {
  Parameters parameters;
  if (trimmed(text).empty()) return parameters;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = trimmed(text.substr(begin, end - begin));
    const std::size_t equals = item.find('=');
    const auto fail = [&](const std::string& found) {
      return input_error(describe(where, "column " + std::to_string(begin + 1), found,
                                  "key=value items separated by commas"));
    };
    if (item.empty()) throw fail("an empty item");
    if (equals == std::string_view::npos) throw fail(shown(std::string(item)) + " without '='");
    const std::string key(trimmed(item.substr(0, equals))), value(trimmed(item.substr(equals + 1)));
    if (key.empty()) throw fail("a value without a key");
    if (value.empty()) throw fail("no value for " + shown(key));
    if (!parameters.emplace(key, value).second) throw fail(shown(key) + " a second time");
    begin = end + 1;
  }
  return parameters;
}

std::string_view to_string(KeyKind kind) { return info(kind).word; }

std::optional<KeyKind> parse_key_kind(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(KeyKind::kEpochs); ++i) {
    if (const auto kind = static_cast<KeyKind>(i); info(kind).word == word) return kind;
  }
  return std::nullopt;
}

ProgramSpace::ProgramSpace(Program base, std::vector<Key> keys, const std::string& file)
    : base_(std::move(base)), keys_(std::move(keys)) {
  for (Key& key : keys_) {
    const auto fail = [&](const std::string& found, const std::string& allowed) {
      return input_error(describe(file, "key " + key.name, found, allowed));
    };
    const bool good_name = std::all_of(key.name.begin(), key.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    if (key.name.empty() || !good_name) {
      throw fail("the name " + shown(key.name), "letters, digits and '_'");
    }
    for (const auto& [spelling, json] : key.values) {
      if (spelling.empty() ||
          spelling.find_first_of(std::string_view(", \t\r\n\0", 6)) != std::string::npos) {
        throw fail("the spelling " + shown(spelling), "spellings without commas and blanks");
      }
      if (!normal(key.kind, json)) {
        throw fail("the spelling " + spelling + " of " + shown(json),
                   "values of the kind " + std::string(to_string(key.kind)));
      }
    }
    const std::string usual(info(key.kind).usual_path);
    if (key.paths.empty() && !usual.empty()) key.paths = {usual};
    if (key.paths.empty()) throw fail("no paths", "at least one path into the program");
    std::optional<Json> first;
    for (const std::string& path : key.paths) {
      if (!usual.empty() && path != usual) throw fail(path, usual);
      const auto raw = read(base_.document, key.kind, path);
      if (!raw) throw fail(path + ", which is not in the program", "paths into the program");
      const auto value = normal(key.kind, *raw);
      if (!value) {
        throw fail(shown(*raw) + " at " + path, allowed_values(key, ""));
      }
      if (first && *first != *value) {
        throw fail(shown(*raw) + " at " + path + ", unlike at its first path",
                   "paths that hold the same value");
      }
      if (first) continue;
      first = value;
      const auto text = spell(key, *raw, *value);
      if (!text) {
        throw fail(shown(*raw) + " at " + path + ", which has no spelling",
                   "a spelling for it in the key's values");
      }
      if (!base_parameters_.emplace(key.name, *text).second) {
        throw fail("a second time", "each key once");
      }
    }
  }
}

ProgramSpace ProgramSpace::with_default_keys(Program base) {
  struct Parametric {
    std::size_t index;
    std::string config;  ///< path of the layer's, or of the wrapped layer's
    bool dense;
    bool units;
    std::string kernel_path;
    std::string activation_path;
    bool has_bias;
  };
  const std::string root = layers_path(base.document) + "/";
  const Json* layers = find_layers(base.document);
  std::vector<Parametric> parametric;
  std::vector<std::string> dropouts;
  const auto type_of = [](const Json& layer) {
    const Json* name = member(layer, "class_name");
    return name != nullptr && name->is_string() ? find_layer(name->get<std::string>()) : nullptr;
  };
  for (std::size_t i = 0; layers != nullptr && i < layers->size(); ++i) {
    const Json* layer = &(*layers)[i];
    const Layer* type = type_of(*layer);
    const Layer* outer = type;
    std::string own = root + std::to_string(i) + "/config";
    // The settings of a wrapper are those of the layer it runs, where that is one alone.
    while (type != nullptr && find_field(type->fields, "layer") != nullptr) {
      const Json* config = member(*layer, "config");
      layer = config != nullptr ? member(*config, "layer") : nullptr;
      const bool two = config != nullptr && config->value("backward_layer", Json()).is_object();
      type = layer != nullptr && !two ? type_of(*layer) : nullptr;
      own += "/layer/config";
    }
    if (type == nullptr) continue;
    const auto path = [&](const char* field) { return own + "/" + field; };
    if (type->kind == LayerKind::kDropout) {
      dropouts.push_back(path("rate"));
    }
    const auto has = [&](const char* field_name) {
      const Field* field = find_field(type->fields, field_name);
      return field != nullptr && field->type != FieldType::kIgnored;
    };
    // A convolution by channel has its own name for it.
    const char* kernel =
        has("depthwise_initializer") ? "depthwise_initializer" : "kernel_initializer";
    if (has(kernel)) {
      const Json* config = member(*layer, "config");
      const Json* use_bias = config != nullptr ? member(*config, "use_bias") : nullptr;
      parametric.push_back({i, own, outer->kind == LayerKind::kDense, has("units"), path(kernel),
                            path("activation"), use_bias == nullptr || *use_bias != false});
    } else if (type->class_name == "Activation" && !parametric.empty()) {
      // The activation of the layer before, unless that has one of its own.
      std::string& place = parametric.back().activation_path;
      const auto own = read(base.document, KeyKind::kActivation, place);
      if (own && normal(KeyKind::kActivation, *own) == Json("linear")) {
        place = path("activation");
      }
    }
  }

  std::vector<Key> keys;
  const auto add = [&](const std::string& name, KeyKind kind, std::vector<std::string> paths) {
    Key key{name, kind, std::move(paths), {}};
    // A configuration that no word stands for gets a spelling of its own.
    if (is_initializer(kind)) {
      const auto raw = read(base.document, kind, key.paths.front());
      const auto value = raw ? normal(kind, *raw) : std::nullopt;
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
  add_each("layer", KeyKind::kRepeat, [&](std::size_t n) {
    return hidden(n) && parametric[n].dense ? root + std::to_string(parametric[n].index) : "";
  });
  add_each("unit", KeyKind::kUnits, [&](std::size_t n) {
    return hidden(n) && parametric[n].units ? parametric[n].config + "/units" : "";
  });
  for (std::size_t n = 0; n < dropouts.size(); ++n) {
    add("dropout" + std::to_string(n + 1), KeyKind::kDropout, {dropouts[n]});
  }
  add("loss", KeyKind::kLoss, {});
  add("batch_size", KeyKind::kBatchSize, {});
  add("optimizer", KeyKind::kOptimizer, {});
  add("lr", KeyKind::kLearningRate, {});
  add("epochs", KeyKind::kEpochs, {});
  return ProgramSpace(std::move(base), std::move(keys), "");
}

const Key* ProgramSpace::find(std::string_view name) const {
  const auto at =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == name; });
  return at == keys_.end() ? nullptr : &*at;
}

Parameters ProgramSpace::with_changes(const Parameters& changes, const std::string& where) const {
  Parameters result = base_parameters_;
  for (const auto& [name, value] : changes) {
    const Key* key = find(name);
    if (key == nullptr) {
      std::vector<std::string> names;
      for (const Key& each : keys_) names.push_back(each.name);
      throw input_error(
          describe(where, "", "the unknown key " + shown(name), allowed_words(name, names)));
    }
    if (!parse_value(*key, value)) {
      throw input_error(describe(where, name, shown(value), allowed_values(*key, value)));
    }
    result[name] = value;
  }
  return result;
}

namespace {

/// The parameters by the space's own names. Records number `unitN` and `layerN` by no single rule:
/// where a space has one key of the kind, whatever number is given means that one.
Parameters by_own_names(Parameters parameters, const std::vector<Key>& keys) {
  for (const auto& [kind, word] : {std::pair(KeyKind::kUnits, std::string_view("unit")),
                                   std::pair(KeyKind::kRepeat, std::string_view("layer"))}) {
    const auto is_of_kind = [kind = kind](const Key& key) { return key.kind == kind; };
    const auto own = std::find_if(keys.begin(), keys.end(), is_of_kind);
    if (std::count_if(keys.begin(), keys.end(), is_of_kind) != 1 ||
        parameters.contains(own->name)) {
      continue;
    }
    const auto is_numbered = [word = word](const auto& entry) {
      const std::string& name = entry.first;
      return name.starts_with(word) && name.size() > word.size() &&
             name.find_first_not_of("0123456789", word.size()) == std::string::npos;
    };
    if (std::count_if(parameters.begin(), parameters.end(), is_numbered) != 1) continue;
    auto given =
        parameters.extract(std::find_if(parameters.begin(), parameters.end(), is_numbered));
    given.key() = own->name;
    parameters.insert(std::move(given));
  }
  return parameters;
}

}  // namespace

Program ProgramSpace::instantiate(const Parameters& given, const std::string& where) const {
  const Parameters parameters = by_own_names(given, keys_);
  for (const Key& key : keys_) {
    if (!parameters.contains(key.name)) {
      throw input_error(describe(where, key.name, "no value", allowed_values(key, "")));
    }
  }
  with_changes(parameters, where);  // refuses unknown keys and impossible values

  Program program = base_;
  Json& document = program.document;
  std::optional<Json> optimizer, rate;
  std::vector<std::pair<std::size_t, std::int64_t>> repeats;
  for (const Key& key : keys_) {
    const Json value = *parse_value(key, parameters.at(key.name));
    // Values that mean what the base has leave the document as it is written.
    const Json before = *normal(key.kind, *read(base_.document, key.kind, key.paths.front()));
    const bool same = key.kind == KeyKind::kOptimizer ? before.at("class_name") == value
                      : key.kind == KeyKind::kLoss    ? loss_word(before) == loss_word(value)
                                                      : before == normal(key.kind, value);
    if (same) continue;
    switch (key.kind) {
      case KeyKind::kOptimizer:
        optimizer = value;
        break;
      case KeyKind::kLearningRate:
        rate = value;
        break;
      case KeyKind::kRepeat:
        for (const std::string& path : key.paths) {
          repeats.emplace_back(split_layer_path(document, path)->layer, value.get<std::int64_t>());
        }
        break;
      default:
        for (const std::string& path : key.paths) document[Json::json_pointer(path)] = value;
    }
  }
  if (optimizer || rate) {
    // Another optimiser keeps the learning rate only.
    if (!rate) rate = read(base_.document, KeyKind::kLearningRate, "");
    if (optimizer) optimizer_of(document) = {{"class_name", *optimizer}};
    set_optimizer_field(document, "learning_rate", *rate);
  }
  // From the last layer to the first, so that the indices of those before stay true.
  std::sort(repeats.rbegin(), repeats.rend());
  for (const auto& [index, count] : repeats) repeat_layer(document, index, count);
  return program;
}

std::optional<Parameters> ProgramSpace::parameters_of(const Program& program) const {
  const Json* base_layers = find_layers(base_.document);
  const Json* layers = find_layers(program.document);
  if (base_layers == nullptr || layers == nullptr) return std::nullopt;
  const nlohmann::json identity = canonical(program);

  // The repeat key of each base layer.
  std::vector<const Key*> repeat_keys(base_layers->size(), nullptr);
  for (const Key& key : keys_) {
    if (key.kind != KeyKind::kRepeat) continue;
    for (const std::string& path : key.paths) {
      repeat_keys[split_layer_path(base_.document, path)->layer] = &key;
    }
  }
  const auto class_name = [](const Json& layer) -> const Layer* {
    const Json* name = member(layer, "class_name");
    return name != nullptr && name->is_string() ? find_layer(name->get<std::string>()) : nullptr;
  };

  /// Reads the values of all keys, given where each base layer went (nullopt: removed).
  std::vector<std::optional<std::size_t>> moved(base_layers->size());
  std::map<const Key*, int> repeats;
  const auto read_all = [&]() -> std::optional<Parameters> {
    Parameters parameters = base_parameters_;
    for (const Key& key : keys_) {
      if (key.kind == KeyKind::kRepeat) {
        parameters[key.name] = std::to_string(repeats.at(&key));
        continue;
      }
      for (const std::string& path : key.paths) {
        std::string place = path;
        if (const auto split = split_layer_path(base_.document, path)) {
          if (!moved[split->layer]) continue;  // lost with its layer: as in the base
          place = layers_path(program.document) + "/" + std::to_string(*moved[split->layer]) +
                  split->rest;
        }
        const auto raw = read(program.document, key.kind, place);
        const auto value = raw ? normal(key.kind, *raw) : std::nullopt;
        const auto text = value ? spell(key, *raw, *value) : std::nullopt;
        if (!text) return std::nullopt;
        parameters[key.name] = *text;
        break;
      }
    }
    if (canonical(instantiate(parameters)) != identity) return std::nullopt;
    return parameters;
  };

  // How unlike two layers are: the number of settings that differ. A layer's name counts nothing.
  const auto difference = [](const Json& a, const Json& b) {
    const Json *one = member(a, "config"), *other = member(b, "config");
    if (one == nullptr || other == nullptr || !one->is_object()) return one == other ? 0 : 1;
    int count = 0;
    for (const auto& [field, value] : one->items()) {
      const Json* same = member(*other, field);
      count += field != "name" && (same == nullptr || *same != value);
    }
    return count;
  };
  // Cost of making `count` layers at j of base layer i; nullopt where the types don't line up.
  const auto cost = [&](std::size_t i, std::size_t j, int count) -> std::optional<int> {
    int sum = 0;
    for (std::size_t at = j; at < j + static_cast<std::size_t>(count); ++at) {
      if (at >= layers->size() || class_name((*layers)[at]) != class_name((*base_layers)[i])) {
        return std::nullopt;
      }
      sum += difference((*base_layers)[i], (*layers)[at]);
    }
    return sum;
  };

  // Repeat counts whose layers line up with the program's are exponentially many. The cost of the
  // cheapest way from each pair (base layer, layer) to the end leads to the likely ones; few are
  // tried. First with as few changed counts as possible, then by likeness of the layers.
  constexpr int kImpossible = 1 << 30, kAlignments = 100, kSteps = 20000;
  for (const int change : {10000, 1}) {
    const std::size_t width = layers->size() + 1;
    std::vector<int> rest((base_layers->size() + 1) * width, kImpossible);
    rest.back() = 0;
    const auto total = [&](std::size_t i, std::size_t j, int count) {
      const auto own = cost(i, j, count);
      if (!own) return kImpossible;
      const int behind = rest[(i + 1) * width + j + static_cast<std::size_t>(count)];
      return behind == kImpossible ? behind : behind + *own + (count == 1 ? 0 : change);
    };
    for (std::size_t i = base_layers->size(); i-- > 0;) {
      for (std::size_t j = 0; j < width; ++j) {
        int& best = rest[i * width + j];
        best = total(i, j, 1);
        if (repeat_keys[i] != nullptr) best = std::min({best, total(i, j, 0), total(i, j, 2)});
      }
    }
    int alignments = 0, steps = 0;
    const std::function<std::optional<Parameters>(std::size_t, std::size_t)> match =
        [&](std::size_t i, std::size_t j) -> std::optional<Parameters> {
      if (alignments >= kAlignments || ++steps > kSteps) return std::nullopt;
      if (i == base_layers->size()) {
        ++alignments;
        return read_all();
      }
      const Key* key = repeat_keys[i];
      const bool chosen = key != nullptr && repeats.contains(key);
      std::array<std::pair<int, int>, 3> choices;  // cost, count
      std::transform(kRepeatCounts.begin(), kRepeatCounts.end(), choices.begin(),
                     [&](int count) { return std::pair(total(i, j, count), count); });
      std::stable_sort(choices.begin(), choices.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [price, count] : choices) {
        if (price == kImpossible) break;
        if (key == nullptr ? count != 1 : chosen && repeats.at(key) != count) continue;
        if (key != nullptr) repeats[key] = count;
        moved[i] = count > 0 ? std::optional(j) : std::nullopt;
        if (auto found = match(i + 1, j + static_cast<std::size_t>(count))) return found;
        if (key != nullptr && !chosen) repeats.erase(key);
      }
      return std::nullopt;
    };
    if (rest[0] == kImpossible) return std::nullopt;
    if (auto found = match(0, 0)) return found;
    repeats.clear();
  }
  return std::nullopt;
}

Parameters values_in(const ProgramSpace& space, const Program& program) {
  Parameters values;
  const Json* base_layers = find_layers(space.base().document);
  const Json* layers = find_layers(program.document);
  const bool alike = base_layers != nullptr && layers != nullptr &&
                     std::equal(base_layers->begin(), base_layers->end(), layers->begin(),
                                layers->end(), [](const Json& a, const Json& b) {
                                  const Json *one = member(a, "class_name"),
                                             *other = member(b, "class_name");
                                  return one != nullptr && other != nullptr && *one == *other;
                                });
  for (const Key& key : space.keys()) {
    std::string path = key.paths.front();
    if (const auto split = split_layer_path(space.base().document, path)) {
      if (!alike) continue;
      path = layers_path(program.document) + "/" + std::to_string(split->layer) + split->rest;
    }
    const auto raw = read(program.document, key.kind, path);
    const auto value = raw ? normal(key.kind, *raw) : std::nullopt;
    if (const auto text = value ? spell(key, *raw, *value) : std::nullopt) values[key.name] = *text;
  }
  return values;
}

}  // namespace neutra::program
