#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {
namespace {

/// Of the first EarlyStopping.
std::optional<std::int64_t> patience_of(const Target& target) {
  for (const Json& callback : target.resolved.callbacks) {
    if (callback.at("class_name") == "EarlyStopping") return callback.at("config").at("patience");
  }
  return std::nullopt;
}

}  // namespace

extern const MutationOperator change_earlystopping_patience{
    .id = "change_earlystopping_patience",
    .abbreviation = "RCP",
    .group = OperatorGroup::kRegularisation,
    .fault_type = "RCP",
    .description = "Replaces the patience of early stopping by a smaller one.",
    .source = kDeepCrime,
    .parameter = {.name = "patience",
                  .type = ValueType::kInteger,
                  .search = ValueSearch::kBinary,
                  .values = "from the patience of the program to 1"},
    .refusal = [](const Target& target, Site) -> std::string {
      const auto patience = patience_of(target);
      if (!patience) return "no EarlyStopping callback";
      return *patience > 1 ? "" : "a patience of " + std::to_string(*patience);
    },
    .range = [](const Target& target) -> ValueRange {
      return {static_cast<double>(*patience_of(target)), 1, 1, 0};
    },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
           std::uint64_t) {
          for (Json& callback : document["fit"]["callbacks"]) {
            if (callback == "EarlyStopping") callback = {{"class_name", callback}};
            if (!callback.is_object() || callback.value("class_name", "") != "EarlyStopping") {
              continue;
            }
            if (!callback["config"].is_object()) callback["config"] = Json::object();
            callback["config"]["patience"] = value;
          }
        }};

}  // namespace neutra::mutators::mutation
