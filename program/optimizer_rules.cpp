#include "program/optimizer_rules.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/parse_number.h"
#include "program/document.h"

namespace neutra::program {
namespace {

/// The layer of "2/bias"; nullopt for the names of variables of all layers.
std::optional<std::int64_t> layer_named_by(const std::string& variable) {
  const std::size_t slash = variable.find('/');
  if (slash == std::string::npos) return std::nullopt;
  return parse_number<std::int64_t>(variable.substr(0, slash));
}

bool is_variable(const Json& item) {
  if (!item.is_string()) return false;
  const auto& name = item.get_ref<const std::string&>();
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return !name.empty();
  return slash > 0 && slash + 1 < name.size() && name.find_first_not_of("0123456789") == slash;
}

}  // namespace

std::vector<Field> optimizer_fields(const Entry& entry, const Json& optimizer) {
  std::vector<Field> fields = entry.fields;
  const Json* config = member(optimizer, "config");
  const Json* rules = config != nullptr ? member(*config, "rules") : nullptr;
  const Json* by_rules = member(entry.facts, "by_rules");
  if (rules == nullptr || !rules->is_string() || by_rules == nullptr) return fields;
  const Json* defaults = member(*by_rules, rules->get_ref<const std::string&>());
  if (defaults == nullptr) return fields;
  for (Field& field : fields) {
    if (const Json* fallback = member(*defaults, field.name)) field.fallback = *fallback;
  }
  return fields;
}

void normalise_undecayed(Json& config, const std::string& path, std::vector<Problem>& problems) {
  const auto list = config.find("undecayed");
  if (list == config.end() || !list->is_array()) return;
  std::set<std::string> names;
  for (const Json& item : *list) {
    if (!is_variable(item)) {
      problems.push_back({path + "/config/undecayed", shown(item),
                          "names of variables: \"bias\" or, of one layer, \"2/bias\""});
      return;
    }
    names.insert(item.get<std::string>());
  }
  *list = names;
}

void check_rules(const Json& optimizer, const std::string& path, std::size_t layers,
                 std::vector<Problem>& problems) {
  const Json& config = optimizer.at("config");
  const bool torch = config.at("rules") == "torch";
  const auto report = [&](const char* field, const Json& found, const std::string& allowed) {
    problems.push_back({path + "/config/" + field, shown(found), allowed});
  };
  const Json dampening = config.value("dampening", Json(0));
  if (torch && optimizer.at("class_name") == "Ftrl") {
    report("rules", "torch", "keras, keras3: PyTorch has no Ftrl");
  }
  if (!torch && dampening != 0) report("dampening", dampening, "0, but with the rules torch");
  if (dampening != 0 && config.value("nesterov", false)) {
    report("dampening", dampening, "0 with nesterov");
  }
  if (!torch && config.value("decoupled_weight_decay", false)) {
    report("decoupled_weight_decay", true, "false: Keras's weight_decay always is");
  }
  for (const Json& variable : config.at("undecayed")) {
    const auto layer = layer_named_by(variable.get<std::string>());
    if (layer && *layer >= static_cast<std::int64_t>(layers)) {
      report("undecayed", variable, "layers 0 to " + std::to_string(layers - 1));
    }
  }
}

void replace_optimizer(Json& optimizer, const Json& class_name) {
  const Json* config = member(optimizer, "config");
  Json fresh = {{"class_name", class_name}};
  if (config != nullptr && member(*config, "rules") != nullptr) {
    for (const char* field :
         {"rules", "weight_decay", "undecayed", "clipnorm", "clipvalue", "global_clipnorm"}) {
      if (const Json* value = member(*config, field)) fresh["config"][field] = *value;
    }
  }
  optimizer = std::move(fresh);
}

void renumber_undecayed(Json& document, std::int64_t from, std::int64_t by) {
  const Json* compile = member(document, "compile");
  for (const char* name : {"optimizer", "optimizer_config"}) {
    const Json* optimizer = compile != nullptr ? member(*compile, name) : nullptr;
    const Json* config = optimizer != nullptr ? member(*optimizer, "config") : nullptr;
    const Json* list = config != nullptr ? member(*config, "undecayed") : nullptr;
    if (list == nullptr || !list->is_array()) continue;
    Json kept = Json::array();
    for (const Json& item : *list) {
      std::string variable = item;
      const std::size_t slash = variable.find('/');
      const auto position = slash == std::string::npos
                                ? std::nullopt
                                : parse_number<std::int64_t>(variable.substr(0, slash));
      if (position && by < 0 && *position == from) continue;
      if (position && *position >= from) {
        variable = std::to_string(*position + by) + variable.substr(slash);
      }
      kept.push_back(variable);
    }
    document["compile"][name]["config"]["undecayed"] = std::move(kept);
  }
}

}  // namespace neutra::program
