#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace neutra::graphs {

/// Types of a tensor's elements, as far as analyses tell them apart.
enum class ElementType {
  kUnknown,
  kHalf,
  kBfloat16,
  kFloat,
  kDouble,
  kInteger,  ///< signed and unsigned, of any width
  kBool,
  kText,
  kOther,  ///< complex, quantised, resources, variants
};

bool is_floating(ElementType type);
/// "float", "integer", ...
std::string to_string(ElementType type);

/// Sizes of the dimensions as a file has them, -1 where unknown; nullopt where even their number
/// is.
using FileShape = std::optional<std::vector<std::int64_t>>;

/// A constant. Numbers are kept as double, so whole numbers above 2^53 are rounded.
struct Tensor {
  ElementType type = ElementType::kUnknown;
  std::vector<std::int64_t> shape;
  /// One for each element, or a single one that all have. Empty where elements are no numbers.
  std::vector<double> values;

  /// Number of elements.
  std::int64_t size() const;
};

/// A setting of a node. Those fields are filled that the file gives.
struct Attribute {
  std::optional<std::int64_t> integer;  ///< flags, too
  std::optional<double> number;
  std::optional<std::string> text;
  std::optional<ElementType> type;
  std::optional<FileShape> shape;
  std::optional<Tensor> tensor;
  std::vector<std::int64_t> integers;
  std::vector<FileShape> shapes;
};

/// An output of a node: what an edge begins at.
struct Endpoint {
  std::uint32_t node = 0;
  std::uint32_t output = 0;
};

struct Node {
  std::string name, op;
  std::vector<Endpoint> inputs;
  std::vector<std::uint32_t>
      control_inputs;  ///< nodes that run before, whose outputs it doesn't take
  std::map<std::string, Attribute, std::less<>> attributes;

  const Attribute* find(std::string_view attribute) const;
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  std::string text(std::string_view attribute, const std::string& fallback) const;
  ElementType type(std::string_view attribute) const;
  std::vector<std::int64_t> integers(std::string_view attribute) const;
};

/// A computation graph as plain data.
struct Graph {
  std::string file;
  std::vector<Node> nodes;
  /// Indices of `nodes`, each behind those whose outputs it takes. Loops are cut behind
  /// NextIteration.
  std::vector<std::uint32_t> order;

  std::optional<std::uint32_t> find(std::string_view name) const;
  /// The node's name, with ":1" and so on for outputs other than the first.
  std::string name_of(Endpoint endpoint) const;

  std::unordered_map<std::string, std::uint32_t> index;
};

/// Sets `index` and `order`. Throws input_error with `file` for two nodes of one name and for a
/// circle that is no loop, whose nodes it names.
void finish(Graph& graph);

/// Does the edge close a loop? Those of NextIteration do.
bool closes_loop(const Graph& graph, Endpoint input);

/// Is the node part of the gradients? By its name, as DEBAR has it: "gradient" in it, without
/// regard to "stopgradient".
bool is_gradient(const Node& node);

}  // namespace neutra::graphs
