#include "program/vocabulary.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "program/embedded.h"

namespace neutra::program {
namespace {

const std::map<std::string, FieldType, std::less<>>& field_types() {
  using enum FieldType;
  static const std::map<std::string, FieldType, std::less<>> types = {
      {"integer", kInteger},
      {"number", kNumber},
      {"boolean", kBoolean},
      {"text", kText},
      {"label", kLabel},
      {"object", kObject},
      {"list", kList},
      {"fixed", kFixed},
      {"ignored", kIgnored},
      {"dtype", kDtype},
      {"batch_shape", kBatchShape},
      {"activation", kActivation},
      {"loss", kLoss},
      {"initializer", kInitializer},
      {"regularizer", kRegularizer},
      {"axes", kAxes},
      {"class_weight", kClassWeight},
      {"metrics", kMetrics},
      {"optimizer", kOptimizer},
      {"measure", kMeasure},
      {"callbacks", kCallbacks},
      {"model", kModel},
      {"model_config", kModelConfig},
      {"split", kSplit},
      {"validation", kValidation},
      {"layers", kLayers},
      {"compile", kCompile},
      {"fit", kFit},
      {"schedule", kSchedule},
      {"loop", kLoop},
      {"layer_list", kLayerList},
      {"trained", kTrained},
      {"trained_mutations", kTrainedMutations},
      {"data", kData},
      {"metric", kMetric}};
  return types;
}

std::vector<std::string> texts(const Json& object, const char* key) {
  return object.value(key, std::vector<std::string>{});
}

std::vector<Field> read_fields(const Json& list) {
  std::vector<Field> fields;
  for (const Json& item : list) {
    Field field;
    field.name = item.at("name");
    field.type = field_types().at(item.at("type"));
    if (item.contains("default")) field.fallback = item.at("default");
    field.low = item.value("min", field.low);
    field.high = item.value("max", field.high);
    field.open_low = item.value("open_min", false);
    field.open_high = item.value("open_max", false);
    field.null_is_default = item.value("null_is_default", false);
    field.words = texts(item, "words");
    field.aliases = texts(item, "aliases");
    fields.push_back(std::move(field));
  }
  return fields;
}

/// One family, with an index of all its spellings.
struct Family {
  std::vector<Entry> entries;
  bool any_case = false;
  std::map<std::string, std::size_t, std::less<>> index;

  std::string spelling(std::string_view word) const {
    return any_case ? lower(word) : std::string(word);
  }

  explicit Family(const Json& json) : any_case(json.value("any_case", false)) {
    const std::vector<Field> common = read_fields(json.value("common", Json::array()));
    for (const Json& item : json.at("entries")) {
      Entry entry{item.at("name"), item.value("word", item.at("name").get<std::string>()),
                  texts(item, "aliases"), read_fields(item.value("fields", Json::array())), item};
      // An entry's own field replaces the common one of the same name.
      for (const Field& field : common) {
        if (find_field(entry.fields, field.name) == nullptr) entry.fields.push_back(field);
      }
      for (const std::string& word : entry.aliases) index[spelling(word)] = entries.size();
      index[spelling(entry.word)] = index[spelling(entry.name)] = entries.size();
      entries.push_back(std::move(entry));
    }
  }
};

const Json& names() {
  static const Json json = parse_json(embedded::keras_names, "keras_names.json");
  return json;
}

const Family& family(Vocabulary vocabulary) {
  static const std::vector<Family> families = [] {
    std::vector<Family> all;
    // In the order of the enumeration.
    for (const char* name : {"activation", "initializer", "regularizer", "loss", "optimizer",
                             "metric", "callback", "trained_mutation", "constraint"}) {
      all.emplace_back(names().at(name));
    }
    return all;
  }();
  return families[static_cast<std::size_t>(vocabulary)];
}

}  // namespace

const std::vector<Entry>& entries(Vocabulary vocabulary) { return family(vocabulary).entries; }

const Entry* find(Vocabulary vocabulary, std::string_view word) {
  const Family& all = family(vocabulary);
  const auto at = all.index.find(all.spelling(word));
  return at == all.index.end() ? nullptr : &all.entries[at->second];
}

std::vector<std::string> words(Vocabulary vocabulary) {
  std::vector<std::string> list;
  for (const Entry& entry : entries(vocabulary)) list.push_back(entry.word);
  return list;
}

const std::vector<Field>& section_fields(std::string_view section) {
  static const auto sections = [] {
    std::map<std::string, std::vector<Field>, std::less<>> all;
    for (const auto& [name, list] : names().at("sections").items()) all[name] = read_fields(list);
    return all;
  }();
  return sections.find(section)->second;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name ||
        std::find(field.aliases.begin(), field.aliases.end(), name) != field.aliases.end()) {
      return &field;
    }
  }
  return nullptr;
}

}  // namespace neutra::program
