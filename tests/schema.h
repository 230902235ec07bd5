#pragma once

#include <filesystem>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/json.h"

namespace neutra {

/// A file with a JSON Schema (draft 7).
class Schema {
 public:
  explicit Schema(const std::filesystem::path& file) : json_(plain(read_json(file))) {
    const valijson::adapters::NlohmannJsonAdapter adapter(json_);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(adapter, schema_);
  }
  const nlohmann::json& json() const { return json_; }
  /// What is wrong, "" for nothing.
  std::string problem(const Json& document) const {
    const nlohmann::json copy = plain(document);
    const valijson::adapters::NlohmannJsonAdapter adapter(copy);
    valijson::ValidationResults results;
    if (valijson::Validator().validate(schema_, adapter, &results)) return "";
    valijson::ValidationResults::Error error;
    results.popError(error);
    std::string text;
    for (const std::string& step : error.context) text += step;
    return text + ": " + error.description;
  }

 private:
  static nlohmann::json plain(const Json& json) { return nlohmann::json::parse(json.dump()); }
  nlohmann::json json_;
  valijson::Schema schema_;
};

}  // namespace neutra
