#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "source/shape.h"

namespace neutra::source {

/// What a layer, function or method does to shapes, in general: the arithmetic.
enum class ShapeOp : std::uint8_t {
  kSame,
  kLinear,
  kConv,
  kConvTranspose,
  kPool,
  kAdaptivePool,
  kBatchNorm,
  kGroupNorm,
  kLayerNorm,
  kRecurrent,
  kCell,
  kEmbedding,
  kAttention,
  kSameWidth,
  kFlatten,
  kPixelShuffle,
  kUpsample,
  kPad,
  kSizes,
  kOneSize,
  kRandint,
  kReshape,
  kSqueeze,
  kUnsqueeze,
  kPermute,
  kTranspose,
  kReduce,
  kConcatenate,
  kStack,
  kBroadcast,
  kMatmul,
  kSize,
  kDim,
  kKerasDense,
  kKerasConvTranspose,
  kKerasGlobalPool,
  kKerasRecurrent,
  kKerasEmbedding,
  kKerasReshape,
  kKerasRepeat,
  kKerasUpsample,
  kKerasConcatenate,
  kKerasMerge,
  kKerasInput,
  kOneHot
};

/// A row of shapes.json.
struct ShapeEntry {
  ShapeOp op = ShapeOp::kSame;
  int spatial = 0;
  int rank = 0, least_rank = 0;  ///< 0: any
  bool last = false;             ///< channels are the last axis
  bool keras = false;
  std::vector<std::string> arguments;
  std::unordered_map<std::string_view, Thing> defaults;
};

/// What is known of layers: shapes.json.
class ShapeTable {
 public:
  /// Throws input_error for what is no such table. The document must outlive it.
  explicit ShapeTable(const Json& document);
  /// The bundled one.
  static const ShapeTable& standard();

  /// nullptr: it is not known.
  const ShapeEntry* layer(std::string_view path) const { return find(layers_, path); }
  const ShapeEntry* function(std::string_view path) const { return find(functions_, path); }
  const ShapeEntry* method(std::string_view name) const { return find(methods_, name); }

 private:
  using Rows = std::unordered_map<std::string_view, ShapeEntry>;
  static const ShapeEntry* find(const Rows& rows, std::string_view name) {
    const auto found = rows.find(name);
    return found == rows.end() ? nullptr : &found->second;
  }
  static void read(const Json& document, const char* key, Rows& rows);
  Rows layers_, functions_, methods_;
};

}  // namespace neutra::source
