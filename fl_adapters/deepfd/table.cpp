#include "fl_adapters/deepfd/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "program/error.h"
#include "program/json.h"

namespace neutra::deepfd {
namespace {

/// Shortest decimal that reads back as this float.
std::string shortest_float(float value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Fields of an object; errors name the file and the place.
class Reader {
 public:
  Reader(const Json& object, const std::string& file, std::string place)
      : object_(object), file_(file), place_(std::move(place)) {
    if (!object.is_object()) fail("", object, "an object");
  }
  [[noreturn]] void fail(const std::string& name, const Json& found, const char* allowed) const {
    throw input_error(describe(file_, name.empty() ? place_ : place_ + "/" + name,
                               found.is_null() ? "nothing" : found.dump().substr(0, 80), allowed));
  }
  const Json& field(const std::string& name) const {
    const Json* value = member(object_, name);
    if (value == nullptr) fail(name, nullptr, "a value");
    return *value;
  }
  std::string text(const char* name) const {
    if (!field(name).is_string()) fail(name, field(name), "a text");
    return field(name);
  }
  std::uint64_t whole(const char* name) const {
    if (!field(name).is_number_unsigned()) fail(name, field(name), "a whole number");
    return field(name);
  }
  double number(const char* name) const {
    if (!field(name).is_number()) fail(name, field(name), "a number");
    return field(name);
  }
  const Json& list(const char* name) const {
    if (!field(name).is_array() || field(name).empty()) fail(name, field(name), "a list");
    return field(name);
  }

 private:
  const Json& object_;
  const std::string& file_;
  std::string place_;
};

Labels labels_of(const std::string& faults, const Reader& reader) {
  Labels labels{};
  if (faults == "origin") return labels;
  for (std::size_t begin = 0; begin < faults.size();) {
    const std::size_t end = std::min(faults.find("__", begin), faults.size());
    const std::string_view fault = std::string_view(faults).substr(begin, end - begin);
    std::size_t label = 0;
    while (label < kLabels && !fault.starts_with(std::string(label_name(label)) + "_")) ++label;
    if (label == kLabels) break;
    labels[label] = true;
    begin = end + 2;
    if (begin >= faults.size()) return labels;
  }
  reader.fail("faults", faults, "\"origin\", or faults such as \"lr_1e-12__epoch_2\"");
}

}  // namespace

std::string_view label_name(std::size_t label) {
  static constexpr std::string_view kNames[kLabels] = {"opt", "lr", "act", "loss", "epoch"};
  return kNames[label];
}

std::string to_string(const Labels& labels) {
  std::string text;
  for (std::size_t i = 0; i < kLabels; ++i) {
    if (labels[i]) text += (text.empty() ? "" : ", ") + std::string(label_name(i));
  }
  return text.empty() ? "-" : text;
}

LabelledRows Table::rows(ToolVariant variant) const {
  LabelledRows result;
  result.columns = feature_names(variant).size();
  for (const Example& example : examples) {
    for (const auto& row : example.features[static_cast<std::size_t>(variant)]) {
      result.values.insert(result.values.end(), row.begin(), row.end());
      result.labels.push_back(example.labels);
    }
  }
  return result;
}

const Example* Table::find(const Hash& hash) const {
  const auto it = std::find_if(examples.begin(), examples.end(),
                               [&](const Example& example) { return example.hash == hash; });
  return it == examples.end() ? nullptr : &*it;
}

std::string to_text(const Table& table, std::size_t trainings) {
  // By hand: an example and a feature on a line each.
  std::string text = "{\n  \"format\": \"neutra-deepfd-model\",\n  \"version\": 1,\n  \"seed\": " +
                     std::to_string(table.seed) +
                     ",\n  \"mutants_trained\": " + std::to_string(table.mutants) +
                     ",\n  \"trainings\": " + std::to_string(trainings) +
                     ",\n  \"programs\": " + Json(table.programs).dump() + ",\n  \"examples\": [";
  for (const Example& example : table.examples) {
    text += std::string(&example == table.examples.data() ? "" : ",") + "\n    " +
            Json{{"program", example.program},
                 {"faults", example.faults},
                 {"hash", to_string(example.hash)},
                 {"accuracy", example.accuracy}}
                .dump();
  }
  text += "\n  ],\n  \"features\": {";
  for (const ToolVariant variant : kVariants) {
    const auto& names = feature_names(variant);
    text += std::string(variant == kVariants[0] ? "" : ",") + "\n    \"" +
            std::string(to_string(variant)) + "\": {";
    const char* comma = "\n";
    for (std::size_t column = 0; column < names.size(); ++column) {
      std::string line;
      bool zero = true;
      for (const Example& example : table.examples) {
        const auto& rows = example.features[static_cast<std::size_t>(variant)];
        for (std::size_t i = 0; i < std::min(trainings, rows.size()); ++i) {
          line += (line.empty() ? "" : ",") + shortest_float(rows[i][column]);
          zero = zero && rows[i][column] == 0;
        }
      }
      if (zero) continue;
      text += comma + ("      \"" + names[column] + "\": [" + line + "]");
      comma = ",\n";
    }
    text += "\n    }";
  }
  return text + "\n  }\n}\n";
}

Table table_from_json(const Json& json, const std::string& file) {
  const Reader document(json, file, "");
  if (document.text("format") != "neutra-deepfd-model") {
    document.fail("format", document.field("format"), "neutra-deepfd-model");
  }
  if (document.whole("version") != 1) document.fail("version", document.field("version"), "1");
  Table table;
  table.seed = document.whole("seed");
  table.mutants = document.whole("mutants_trained");
  const std::size_t trainings = document.whole("trainings");
  if (trainings == 0 || trainings > 1000) {
    document.fail("trainings", document.field("trainings"), "1 to 1000");
  }
  for (const Json& name : document.list("programs")) {
    if (!name.is_string()) document.fail("programs", name, "texts");
    table.programs.push_back(name);
  }
  const Json& examples = document.list("examples");
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Reader reader(examples[i], file, "/examples/" + std::to_string(i));
    Example example;
    example.program = reader.text("program");
    example.faults = reader.text("faults");
    const auto hash = parse_hash(reader.text("hash"));
    if (!hash) reader.fail("hash", reader.field("hash"), "32 hex digits");
    example.hash = *hash;
    example.accuracy = reader.number("accuracy");
    example.labels = labels_of(example.faults, reader);
    table.examples.push_back(std::move(example));
  }
  const Reader variants(document.field("features"), file, "/features");
  for (const ToolVariant variant : kVariants) {
    const auto& names = feature_names(variant);
    for (Example& example : table.examples) {
      example.features[static_cast<std::size_t>(variant)].assign(
          trainings, std::vector<float>(names.size(), 0.0f));
    }
    const std::string word(to_string(variant));
    const Reader columns(variants.field(word), file, "/features/" + word);
    for (const auto& [name, values] : variants.field(word).items()) {
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) columns.fail(name, name, "names of features");
      const auto column = static_cast<std::size_t>(at - names.begin());
      if (!values.is_array() || values.size() != table.examples.size() * trainings) {
        columns.fail(name, values.size(), "a number for each training of each example");
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = values[i].is_number() ? values[i].get<float>() : HUGE_VALF;
        if (!std::isfinite(value)) columns.fail(name, values[i], "numbers");
        table.examples[i / trainings]
            .features[static_cast<std::size_t>(variant)][i % trainings][column] = value;
      }
    }
  }
  return table;
}

}  // namespace neutra::deepfd
