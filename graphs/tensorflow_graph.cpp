#include "graphs/tensorflow_graph.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/byte_reader.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "graphs/proto_message.h"

namespace neutra::graphs {
namespace {

// Numbers and names of fields: tensorflow/core/framework/{graph,node_def,attr_value,tensor,
// tensor_shape,types}.proto of TensorFlow 2.15.

using Kind = FieldKind;

const std::vector<std::pair<std::string, std::int64_t>>& type_words() {
  static const auto words = [] {
    std::vector<std::pair<std::string, std::int64_t>> all = {
        {"DT_INVALID", 0},   {"DT_FLOAT", 1},    {"DT_DOUBLE", 2},      {"DT_INT32", 3},
        {"DT_UINT8", 4},     {"DT_INT16", 5},    {"DT_INT8", 6},        {"DT_STRING", 7},
        {"DT_COMPLEX64", 8}, {"DT_INT64", 9},    {"DT_BOOL", 10},       {"DT_QINT8", 11},
        {"DT_QUINT8", 12},   {"DT_QINT32", 13},  {"DT_BFLOAT16", 14},   {"DT_QINT16", 15},
        {"DT_QUINT16", 16},  {"DT_UINT16", 17},  {"DT_COMPLEX128", 18}, {"DT_HALF", 19},
        {"DT_RESOURCE", 20}, {"DT_VARIANT", 21}, {"DT_UINT32", 22},     {"DT_UINT64", 23}};
    const std::size_t count = all.size();
    for (std::size_t i = 1; i < count; ++i)
      all.emplace_back(all[i].first + "_REF", all[i].second + 100);
    return all;
  }();
  return words;
}

ElementType type_of(std::int64_t number) {
  switch (number > 100 ? number - 100 : number) {
    case 1:
      return ElementType::kFloat;
    case 2:
      return ElementType::kDouble;
    case 3:
    case 4:
    case 5:
    case 6:
    case 9:
    case 17:
    case 22:
    case 23:
      return ElementType::kInteger;
    case 7:
      return ElementType::kText;
    case 10:
      return ElementType::kBool;
    case 14:
      return ElementType::kBfloat16;
    case 19:
      return ElementType::kHalf;
    case 0:
      return ElementType::kUnknown;
    default:
      return ElementType::kOther;
  }
}

/// Bytes of an element in `tensor_content`; 0: no numbers that are read.
int width_of(std::int64_t type) {
  switch (type) {
    case 2:
    case 9:
    case 23:
      return 8;
    case 1:
    case 3:
    case 22:
      return 4;
    case 5:
    case 14:
    case 17:
    case 19:
      return 2;
    case 4:
    case 6:
    case 10:
      return 1;
    default:
      return 0;
  }
}

namespace shape_fields {
enum { kSize = 1, kDimension = 2, kUnknownRank = 3 };
}
namespace tensor_fields {
enum {
  kType = 1,
  kShape = 2,
  kContent = 4,
  kFloats = 5,
  kDoubles = 6,
  kInts = 7,
  kInt64s = 10,
  kBools = 11,
  kHalves = 13,
  kUint32s = 16,
  kUint64s = 17
};
}
namespace value_fields {
enum {
  kList = 1,
  kText = 2,
  kInteger = 3,
  kNumber = 4,
  kFlag = 5,
  kType = 6,
  kShape = 7,
  kTensor = 8
};
}
namespace node_fields {
enum { kName = 1, kOp = 2, kInput = 3, kAttribute = 5 };
}

const MessageRule& shape_rule() {
  static const MessageRule dimension{"Dim", {{shape_fields::kSize, "size", Kind::kInteger}}};
  static const MessageRule rule{"TensorShapeProto",
                                {{shape_fields::kDimension, "dim", Kind::kMessage, &dimension},
                                 {shape_fields::kUnknownRank, "unknown_rank", Kind::kInteger}}};
  return rule;
}

const MessageRule& tensor_rule() {
  using namespace tensor_fields;
  static const MessageRule rule{"TensorProto",
                                {{kType, "dtype", Kind::kInteger, nullptr, &type_words()},
                                 {kShape, "tensor_shape", Kind::kMessage, &shape_rule()},
                                 {kContent, "tensor_content", Kind::kBytes},
                                 {kFloats, "float_val", Kind::kFloat},
                                 {kDoubles, "double_val", Kind::kDouble},
                                 {kInts, "int_val", Kind::kInteger},
                                 {kInt64s, "int64_val", Kind::kInteger},
                                 {kBools, "bool_val", Kind::kInteger},
                                 {kHalves, "half_val", Kind::kInteger},
                                 {kUint32s, "uint32_val", Kind::kInteger},
                                 {kUint64s, "uint64_val", Kind::kInteger}}};
  return rule;
}

const std::vector<FieldRule>& value_rules() {
  using namespace value_fields;
  static const std::vector<FieldRule> rules = {
      {kText, "s", Kind::kBytes},
      {kInteger, "i", Kind::kInteger},
      {kNumber, "f", Kind::kFloat},
      {kFlag, "b", Kind::kInteger},
      {kType, "type", Kind::kInteger, nullptr, &type_words()},
      {kShape, "shape", Kind::kMessage, &shape_rule()},
      {kTensor, "tensor", Kind::kMessage, &tensor_rule()}};
  return rules;
}

const MessageRule& graph_rule() {
  static const MessageRule list{"ListValue", value_rules()};
  static const MessageRule value = [] {
    MessageRule rule{"AttrValue", value_rules()};
    rule.fields.push_back({value_fields::kList, "list", Kind::kMessage, &list});
    return rule;
  }();
  static const MessageRule entry{"AttrEntry",
                                 {{1, "key", Kind::kBytes}, {2, "value", Kind::kMessage, &value}}};
  static const MessageRule node{"NodeDef",
                                {{node_fields::kName, "name", Kind::kBytes},
                                 {node_fields::kOp, "op", Kind::kBytes},
                                 {node_fields::kInput, "input", Kind::kBytes},
                                 {node_fields::kAttribute, "attr", Kind::kMessage, &entry}}};
  static const MessageRule graph{"GraphDef", {{1, "node", Kind::kMessage, &node}}};
  return graph;
}

/// Where in a file a mistake is.
struct Place {
  const std::string& file;
  std::string text;

  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    throw input_error(describe(file, text, found, allowed));
  }
};

FileShape shape_of(const Message& shape, const Place& place) {
  if (shape.integer(shape_fields::kUnknownRank) != 0) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const Message& dimension : shape.messages(shape_fields::kDimension)) {
    sizes.push_back(dimension.integer(shape_fields::kSize));
    if (sizes.back() < -1)
      place.fail("a size of " + std::to_string(sizes.back()), "-1 (unknown), 0 and more");
  }
  if (sizes.size() > 254) place.fail(std::to_string(sizes.size()) + " dimensions", "254 at most");
  return sizes;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return bits >> 15 ? -value : value;
}

double element(std::uint64_t bits, std::int64_t type) {
  switch (type) {
    case 1:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case 2:
      return std::bit_cast<double>(bits);
    case 3:
      return static_cast<std::int32_t>(bits);
    case 5:
      return static_cast<std::int16_t>(bits);
    case 6:
      return static_cast<std::int8_t>(bits);
    case 9:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case 14:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    case 19:
      return half_value(static_cast<std::uint16_t>(bits));
    default:
      return static_cast<double>(bits);
  }
}

/// The numbers that a TensorProto spells in its fields of values.
std::vector<double> listed_values(const Message& tensor, std::int64_t type) {
  using namespace tensor_fields;
  std::vector<double> values = tensor.numbers(type == 2 ? kDoubles : kFloats);
  if (type == 14 || type == 19) {
    for (const std::int64_t bits : tensor.integers(kHalves))
      values.push_back(element(static_cast<std::uint64_t>(bits), type));
    return values;
  }
  for (const int field : {kInts, kInt64s, kBools, kUint32s, kUint64s})
    for (const std::int64_t value : tensor.integers(field))
      values.push_back(field == kUint64s ? static_cast<double>(static_cast<std::uint64_t>(value))
                                         : static_cast<double>(value));
  return values;
}

Tensor tensor_of(const Message& message, const Place& place) {
  Tensor tensor;
  const std::int64_t type = message.integer(tensor_fields::kType);
  tensor.type = type_of(type);
  const FileShape shape = shape_of(message.message(tensor_fields::kShape), place);
  if (!shape) place.fail("a constant of unknown rank", "a shape");
  tensor.shape = *shape;
  double product = 1;
  for (const std::int64_t size : tensor.shape) {
    if (size < 0) place.fail("a constant of unknown size", "sizes of 0 and more");
    product *= static_cast<double>(size);
  }
  if (product > 0x1p62) place.fail("a constant of 2^62 elements and more", "fewer");
  const int width = width_of(type);
  if (width == 0) return tensor;
  const auto size = static_cast<std::uint64_t>(tensor.size());
  const std::string& content = message.text(tensor_fields::kContent);
  if (!content.empty()) {
    if (content.size() / static_cast<std::size_t>(width) != size ||
        content.size() % static_cast<std::size_t>(width))
      place.fail(std::to_string(content.size()) + " bytes for a constant of " +
                     std::to_string(size) + " elements",
                 std::to_string(width) + " bytes for each");
    tensor.values.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
      tensor.values.push_back(element(
          unsigned_number(content.data() + i * static_cast<std::size_t>(width), width, false),
          type));
    return tensor;
  }
  tensor.values = listed_values(message, type);
  if (tensor.values.size() > size && size > 0)
    place.fail(
        std::to_string(tensor.values.size()) + " values for " + std::to_string(size) + " elements",
        "as many, or fewer, the last of which is that of all others");
  if (size == 0) tensor.values.clear();
  if (tensor.values.empty() && size > 0) tensor.values = {0};
  if (tensor.values.size() > 1 && tensor.values.size() < size) {
    if (size > kLargestGraph / sizeof(double))
      place.fail("a constant of " + std::to_string(size) + " elements",
                 std::to_string(kLargestGraph / sizeof(double)) + " at most");
    tensor.values.resize(size, tensor.values.back());
  }
  return tensor;
}

Attribute attribute_of(const Message& value, const Place& place) {
  using namespace value_fields;
  Attribute attribute;
  if (value.has(kText)) attribute.text = value.text(kText);
  if (value.has(kInteger)) attribute.integer = value.integer(kInteger);
  if (value.has(kFlag)) attribute.integer = value.integer(kFlag);
  if (value.has(kNumber)) attribute.number = value.number(kNumber);
  if (value.has(kType)) attribute.type = type_of(value.integer(kType));
  if (value.has(kShape)) attribute.shape = shape_of(value.message(kShape), place);
  if (value.has(kTensor)) attribute.tensor = tensor_of(value.message(kTensor), place);
  const Message& list = value.message(kList);
  attribute.integers = list.integers(kInteger);
  for (const Message& shape : list.messages(kShape))
    attribute.shapes.push_back(shape_of(shape, place));
  return attribute;
}

/// Sets the inputs of a node from their texts: "name", "name:1", "^name".
void connect(Graph& graph, Node& node, const std::vector<std::string>& inputs) {
  const auto number_of = [&](const std::string& name, std::size_t place) {
    if (const auto found = graph.find(name)) return *found;
    std::vector<std::string> names;
    for (const Node& each : graph.nodes) names.push_back(each.name);
    throw input_error(describe(graph.file,
                               "node '" + node.name + "': input " + std::to_string(place),
                               "'" + name + "'", "a node: " + allowed_words(name, names)));
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].starts_with('^')) {
      node.control_inputs.push_back(number_of(inputs[i].substr(1), i));
      continue;
    }
    std::string name = inputs[i];
    std::uint32_t output = 0;
    if (const std::size_t colon = name.rfind(':'); colon != std::string::npos) {
      if (const auto read = parse_number<std::uint32_t>(std::string_view(name).substr(colon + 1))) {
        output = *read;
        name.resize(colon);
      }
    }
    if (output > 65535)
      throw input_error(describe(graph.file, "node '" + node.name + "'",
                                 "output " + std::to_string(output), "65535 at most"));
    node.inputs.push_back({number_of(name, i), output});
  }
}

}  // namespace

Graph parse_tensorflow_graph(std::string_view bytes, bool text, const std::string& file) {
  const Message message =
      text ? read_proto_text(bytes, graph_rule(), file) : read_wire(bytes, graph_rule(), file);
  Graph graph;
  graph.file = file;
  const std::vector<Message>& nodes = message.messages(1);
  if (nodes.empty())
    throw input_error(describe(file, "", "no nodes", "a GraphDef of TensorFlow (.pb, .pbtxt)"));
  graph.nodes.reserve(nodes.size());
  for (const Message& each : nodes) {
    Node& node = graph.nodes.emplace_back();
    node.name = each.text(node_fields::kName);
    node.op = each.text(node_fields::kOp);
    const Place place{file, "node '" + node.name + "'"};
    if (node.name.empty()) place.fail("a node without a name", "a name");
    if (node.op.empty()) place.fail("a node without an operation", "an operation");
    for (const Message& entry : each.messages(node_fields::kAttribute))
      node.attributes[entry.text(1)] = attribute_of(
          entry.message(2), {file, place.text + ": attribute '" + entry.text(1) + "'"});
  }
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    graph.index.emplace(graph.nodes[i].name, i);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    connect(graph, graph.nodes[i], nodes[i].texts(node_fields::kInput));
  finish(graph);
  return graph;
}

Graph read_tensorflow_graph(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  const bool text = extension == ".pbtxt" || extension == ".txt";
  return parse_tensorflow_graph(read_file(file, "a GraphDef of TensorFlow", kLargestGraph), text,
                                file.string());
}

}  // namespace neutra::graphs
