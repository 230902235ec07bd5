#include "fl_adapters/tools/deepfd/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/checked_json.h"
#include "base/json_section.h"

namespace neutra::fl_adapters::deepfd {
namespace {

constexpr const char* kFormat = "neutra-deepfd-model";
constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;

/// Shortest decimal that reads back as this float.
std::string shortest_float(float value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

Labels labels_of(const std::string& faults, const JsonSection& section) {
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
  section.fail("faults", faults, "\"origin\", or faults such as \"lr_1e-12__epoch_2\"");
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
  std::string text = std::string("{\n  \"format\": \"") + kFormat +
                     "\",\n  \"version\": 1,\n  \"seed\": " + std::to_string(table.seed) +
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
  const JsonSection document(json, file, "",
                             {"format", "version", "seed", "mutants_trained", "trainings",
                              "programs", "examples", "features"});
  document.require_format(kFormat, 1);
  Table table;
  table.seed = static_cast<std::uint64_t>(document.whole("seed", 0, kMostWhole));
  table.mutants = static_cast<std::size_t>(document.whole("mutants_trained", 0, kMostWhole));
  const auto trainings = static_cast<std::size_t>(document.whole("trainings", 1, 1000));
  table.programs = document.texts("programs");
  const std::vector<Json> examples = document.list("examples");
  for (const char* list : {"programs", "examples"}) {
    if (document.at(list).empty()) document.fail(list, document.at(list), "a list");
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const JsonSection section(examples[i], file, "/" + JsonSection::item_name("examples", i),
                              {"program", "faults", "hash", "accuracy"});
    Example example;
    example.program = section.text("program");
    example.faults = section.text("faults");
    example.hash = section.word("hash", parse_hash, "32 hex digits");
    example.accuracy = section.number("accuracy");
    example.labels = labels_of(example.faults, section);
    table.examples.push_back(std::move(example));
  }
  const JsonSection variants(
      document.at("features"), file, "/features",
      {std::string(to_string(kVariants[0])), std::string(to_string(kVariants[1]))});
  for (const ToolVariant variant : kVariants) {
    const auto& names = feature_names(variant);
    for (Example& example : table.examples) {
      example.features[static_cast<std::size_t>(variant)].assign(
          trainings, std::vector<float>(names.size(), 0.0f));
    }
    const std::string word(to_string(variant));
    const JsonSection columns(variants.at(word), file, "/features/" + word, names);
    for (const auto& [name, values] : variants.object(word).items()) {
      const auto at = std::find(names.begin(), names.end(), name);
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

Table read_table(const std::filesystem::path& file) {
  return table_from_json(read_checked_json(file, kFormat), file.string());
}

}  // namespace neutra::fl_adapters::deepfd
