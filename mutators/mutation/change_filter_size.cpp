#include "mutators/mutation_operator.h"
#include "program/edit.h"

namespace neutra::mutators::mutation {

extern const MutationOperator change_filter_size{
    .id = "change_filter_size",
    .abbreviation = "LCF",
    .group = OperatorGroup::kLayers,
    .by_layer = true,
    .fault_type = "LCF",
    .description = "Replaces the filter size of a convolution.",
    .source = kFaultStudy,
    .parameter = {.name = "kernel_size",
                  .type = ValueType::kInteger,
                  .search = ValueSearch::kExhaustive,
                  .values = "1, 2, 3, 5 and 7, for all extents"},
    .refusal = [](const Target& target, Site site) -> std::string {
      if (has_setting(target, site, "kernel_size")) return "";
      return layer_text(target, site, "is no convolution");
    },
    .values = [](const Target&, Site) { return operator_values("kernel_size"); },
    .edit =
        [](const MutationOperator&, Json& document, const Target& target, Site site,
           const Json& value, std::uint64_t) {
          Json size = setting_at(target, site, "kernel_size");
          for (Json& extent : size) extent = value;
          program::set_layer_field(document, static_cast<std::size_t>(site), "kernel_size", size);
        }};

}  // namespace neutra::mutators::mutation
