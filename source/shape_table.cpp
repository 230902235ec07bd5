#include "source/shape_table.h"

#include <array>

#include "base/error.h"

namespace neutra::source {
namespace embedded {
extern const std::string_view shapes;
}

namespace {

struct OpName {
  std::string_view name;
  ShapeOp op;
};

constexpr std::array kOps = {
    OpName{"same", ShapeOp::kSame},
    OpName{"linear", ShapeOp::kLinear},
    OpName{"conv", ShapeOp::kConv},
    OpName{"conv_transpose", ShapeOp::kConvTranspose},
    OpName{"pool", ShapeOp::kPool},
    OpName{"adaptive_pool", ShapeOp::kAdaptivePool},
    OpName{"batch_norm", ShapeOp::kBatchNorm},
    OpName{"group_norm", ShapeOp::kGroupNorm},
    OpName{"layer_norm", ShapeOp::kLayerNorm},
    OpName{"recurrent", ShapeOp::kRecurrent},
    OpName{"cell", ShapeOp::kCell},
    OpName{"embedding", ShapeOp::kEmbedding},
    OpName{"attention", ShapeOp::kAttention},
    OpName{"same_width", ShapeOp::kSameWidth},
    OpName{"flatten", ShapeOp::kFlatten},
    OpName{"pixel_shuffle", ShapeOp::kPixelShuffle},
    OpName{"upsample", ShapeOp::kUpsample},
    OpName{"pad", ShapeOp::kPad},
    OpName{"sizes", ShapeOp::kSizes},
    OpName{"one_size", ShapeOp::kOneSize},
    OpName{"randint", ShapeOp::kRandint},
    OpName{"reshape", ShapeOp::kReshape},
    OpName{"squeeze", ShapeOp::kSqueeze},
    OpName{"unsqueeze", ShapeOp::kUnsqueeze},
    OpName{"permute", ShapeOp::kPermute},
    OpName{"transpose", ShapeOp::kTranspose},
    OpName{"reduce", ShapeOp::kReduce},
    OpName{"concatenate", ShapeOp::kConcatenate},
    OpName{"stack", ShapeOp::kStack},
    OpName{"broadcast", ShapeOp::kBroadcast},
    OpName{"matmul", ShapeOp::kMatmul},
    OpName{"size", ShapeOp::kSize},
    OpName{"dim", ShapeOp::kDim},
    OpName{"keras_dense", ShapeOp::kKerasDense},
    OpName{"keras_conv_transpose", ShapeOp::kKerasConvTranspose},
    OpName{"keras_global_pool", ShapeOp::kKerasGlobalPool},
    OpName{"keras_recurrent", ShapeOp::kKerasRecurrent},
    OpName{"keras_embedding", ShapeOp::kKerasEmbedding},
    OpName{"keras_reshape", ShapeOp::kKerasReshape},
    OpName{"keras_repeat", ShapeOp::kKerasRepeat},
    OpName{"keras_upsample", ShapeOp::kKerasUpsample},
    OpName{"keras_concatenate", ShapeOp::kKerasConcatenate},
    OpName{"keras_merge", ShapeOp::kKerasMerge},
    OpName{"keras_input", ShapeOp::kKerasInput},
    OpName{"one_hot", ShapeOp::kOneHot},
};

ShapeOp op_of(const Json& row) {
  const Json* name = member(row, "op");
  for (const OpName& known : kOps)
    if (name != nullptr && *name == std::string(known.name)) return known.op;
  throw input_error(
      describe("shapes.json", "op", name == nullptr ? "nothing" : name->dump(), "a known one"));
}

Thing thing_of(const Json& json) {
  Thing thing;
  if (json.is_null()) {
    thing.kind = ThingKind::kNone;
  } else if (json.is_boolean()) {
    thing = number_thing(json.get<bool>() ? 1 : 0, kNoNode);
  } else if (json.is_number_integer()) {
    thing = number_thing(json.get<std::int64_t>(), kNoNode);
  } else if (json.is_string()) {
    thing.kind = ThingKind::kText;
    thing.text = json.get_ref<const std::string&>();
  } else {
    throw input_error(
        describe("shapes.json", "defaults", json.dump(), "null, true, false, a number, a text"));
  }
  return thing;
}

int small_number(const Json& row, const char* key) {
  const Json* value = member(row, key);
  return value == nullptr ? 0 : value->get<int>();
}

}  // namespace

ShapeTable::ShapeTable(const Json& document) {
  read(document, "layers", layers_);
  read(document, "functions", functions_);
  read(document, "methods", methods_);
}

void ShapeTable::read(const Json& document, const char* key, Rows& rows) {
  const Json* list = member(document, key);
  if (list == nullptr || !list->is_array())
    throw input_error(describe("shapes.json", key, "no list", "a list of rows"));
  for (const Json& row : *list) {
    ShapeEntry entry;
    entry.op = op_of(row);
    entry.spatial = small_number(row, "spatial");
    entry.rank = small_number(row, "rank");
    entry.least_rank = small_number(row, "least_rank");
    entry.last = member(row, "last") != nullptr && row["last"].get<bool>();
    entry.arguments = row.at("arguments").get<std::vector<std::string>>();
    if (const Json* defaults = member(row, "defaults"))
      for (const auto& [name, value] : defaults->items()) entry.defaults[name] = thing_of(value);
    for (const Json& name : row.at("names")) {
      const auto& path = name.get_ref<const std::string&>();
      entry.keras = path.starts_with("keras.");
      if (!rows.emplace(path, entry).second)
        throw input_error(describe("shapes.json", key, path + " twice", "each name once"));
    }
  }
}

const ShapeTable& ShapeTable::standard() {
  static const Json document = parse_json(embedded::shapes, "shapes.json");
  static const ShapeTable table(document);
  return table;
}

}  // namespace neutra::source
