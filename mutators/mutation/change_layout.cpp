#include "mutators/mutation_operator.h"

namespace neutra::mutators::mutation {
namespace {

const program::Shape& shape_of(const Target& target) {
  return target.data ? target.data->x : target.resolved.input_shape;
}

/// Those that make other images.
std::vector<Json> layouts(const Target& target) {
  const program::Shape& shape = shape_of(target);
  if (shape.size() != 3) return {};
  std::vector<Json> values;
  if (shape[2] > 1) values = {"reversed_channels", "channels_first"};
  if (shape[0] == shape[1]) values.push_back("transposed");
  return values;
}

}  // namespace

extern const MutationOperator change_layout{
    .id = "change_layout",
    .abbreviation = "TIL",
    .group = OperatorGroup::kTrainingData,
    .fault_type = "TIL",
    .description = "Stores the images of the training rows in another order.",
    .source = kTensorBugs,
    .parameter = {.name = "layout",
                  .type = ValueType::kWord,
                  .search = ValueSearch::kExhaustive,
                  .values = "reversed_channels, channels_first (from two channels on), "
                            "transposed (square images)",
                  .closed = true},
    .refusal = [](const Target& target, Site) -> std::string {
      if (!layouts(target).empty()) return "";
      return "features of the shape " + program::to_string(shape_of(target));
    },
    .values = [](const Target& target, Site) { return layouts(target); },
    .edit =
        [](const MutationOperator&, Json& document, const Target&, Site, const Json& value,
           std::uint64_t) {
          add_data_step(document,
                        {{"op", "change_layout"}, {"percentage", 100}, {"layout", value}});
        }};

}  // namespace neutra::mutators::mutation
