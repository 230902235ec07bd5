#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "source/flow_graph.h"

namespace neutra::source {

/// A size, and the place of the text that says it.
struct Dim {
  static constexpr std::int64_t kUnknown = INT64_MIN;
  std::int64_t size = kUnknown;
  NodeId from = kNoNode;
  std::uint32_t symbol = 0;  ///< unknown sizes of one symbol are the same size; 0: nothing known

  bool known() const { return size != kUnknown; }
  bool same_as(const Dim& other) const {
    return known() ? size == other.size : !other.known() && symbol == other.symbol;
  }
};

/// The sizes of a tensor, as far as they are known.
struct Shape {
  bool ranked = false;    ///< false: there may be more axes in front of `dims`
  bool sure = false;      ///< the text says how many axes there are (else: as is usual)
  NodeId from = kNoNode;  ///< the place that says how many axes there are
  Dim lead;               ///< the first axis of what is not ranked
  std::vector<Dim> dims;

  /// The axis number `index`, from behind where it is negative; nullptr: it is not known.
  const Dim* at(std::int64_t index) const {
    const auto size = static_cast<std::int64_t>(dims.size());
    if (index >= 0 && !ranked) return nullptr;
    if (index < 0) index += size;
    return index >= 0 && index < size ? &dims[static_cast<std::size_t>(index)] : nullptr;
  }
};

struct ShapeObject;
struct ShapeEntry;

enum class ThingKind : std::uint8_t {
  kUnknown,
  kNone,
  kNumber,    ///< whole; also True and False
  kText,      ///< text: without quotes
  kSizes,     ///< `x.shape`
  kTensor,    ///< shape
  kList,      ///< also tuples; object: its items
  kLayer,     ///< of a library; object: entry, its settings as attributes
  kChain,     ///< nn.Sequential or a Keras Sequential; object: its items
  kInstance,  ///< of a class of the text; object
  kFunction,  ///< of the text; node, and in `object` what it is a method of
  kClass      ///< of the text; node
};

/// What an expression is.
struct Thing {
  ThingKind kind = ThingKind::kUnknown;
  Dim number = {};
  std::string_view text = {};
  std::shared_ptr<const Shape> shape = nullptr;
  ShapeObject* object = nullptr;
  NodeId node = kNoNode;

  bool is(ThingKind one) const { return kind == one; }
  bool is_known_number() const { return kind == ThingKind::kNumber && number.known(); }
};

/// What several names may share and change: objects, lists, the names of a function that runs.
struct ShapeObject {
  NodeId node = kNoNode;  ///< the class, or the call that made it
  const ShapeEntry* entry = nullptr;
  ShapeObject* around = nullptr;  ///< of names: those of the function around
  bool opaque = false;            ///< it may have been changed by what is not known
  bool keras = false;
  std::unordered_map<std::string_view, Thing> attributes = {};
  std::vector<Thing> items = {};
};

Thing unknown_thing();
Thing number_thing(std::int64_t number, NodeId from);
Thing tensor_thing(Shape shape);
/// What is one or the other.
Thing joined(const Thing& one, const Thing& other);
bool same_thing(const Thing& one, const Thing& other);

}  // namespace neutra::source
