#include "base/words.h"
#include "graphs/shape_context.h"

namespace neutra::graphs {
namespace {

/// Constants of more elements are no sizes.
constexpr std::size_t kMostValues = 1024;

Shape shape_of_file(ShapeContext& c, const FileShape& file, bool named) {
  if (!file) return std::nullopt;
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < file->size(); ++i)
    dims.push_back(
        (*file)[i] >= 0
            ? dim_of((*file)[i])
            : c.symbols().fresh(named ? c.node().name + "." + std::to_string(i) : std::string()));
  return dims;
}

void constant(ShapeContext& c) {
  const Attribute* value = c.node().find("value");
  if (!value || !value->tensor) return c.out(std::nullopt);
  const Tensor& tensor = *value->tensor;
  std::vector<Dim> dims;
  for (const std::int64_t size : tensor.shape) dims.push_back(dim_of(size));
  const auto size = static_cast<std::size_t>(tensor.size());
  if (tensor.type != ElementType::kInteger || dims.size() > 1 || size > kMostValues)
    return c.out(dims);
  std::vector<Dim> elements(size);
  for (std::size_t i = 0; i < size; ++i)
    elements[i] =
        dim_of(static_cast<std::int64_t>(tensor.values[tensor.values.size() == 1 ? 0 : i]));
  c.out(dims, elements);
}

void declared(ShapeContext& c) {
  const Attribute* shape = c.node().find("shape");
  c.out(shape && shape->shape ? shape_of_file(c, *shape->shape, true) : std::nullopt);
}

/// TensorFlow 1 wrote [] for placeholders of unknown shape and has "unknown rank" since; both stay
/// what they say.
void with_default(ShapeContext& c) {
  const Attribute* shape = c.node().find("shape");
  c.out(shape && shape->shape && *shape->shape ? shape_of_file(c, *shape->shape, true) : c.in(0));
}

Shape of_value(ShapeContext& c, std::size_t place) {
  const auto& value = c.value(place);
  if (value) return *value;
  const Shape& shape = c.in(place);
  if (!shape || shape->size() != 1 || !shape->front().known()) return std::nullopt;
  std::vector<Dim> dims;
  for (std::int64_t i = 0; i < shape->front().constant && i < 255; ++i)
    dims.push_back(c.symbols().fresh());
  return dims;
}

void of_input_value(ShapeContext& c) { c.out(of_value(c, 0)); }

/// The shape of the variable behind a handle.
Shape variable_shape(ShapeContext& c, Endpoint at) {
  for (int steps = 0; steps < 100; ++steps) {
    const Node& node = c.graph().nodes[at.node];
    if (node.op == "VarHandleOp") {
      const Attribute* shape = node.find("shape");
      return shape && shape->shape ? shape_of_file(c, *shape->shape, false) : std::nullopt;
    }
    if (node.inputs.empty()) break;
    at = node.inputs[0];
  }
  return std::nullopt;
}

void scalar(ShapeContext& c) { c.out(std::vector<Dim>{}); }
void nothing(ShapeContext&) {}

void fill(ShapeContext& c) { c.out(of_value(c, 0)); }

void range(ShapeContext& c) {
  const auto start = c.whole(0), step = c.whole(2);
  const auto& limit = c.value(1);
  if (!start || !step || !limit || limit->size() != 1 || *step == 0)
    return c.out(std::vector<Dim>{c.symbols().fresh()});
  const Dim& end = limit->front();
  if (!end.known()) {
    const Dim count = c.symbols().subtract(end, dim_of(*start));
    return c.out(std::vector<Dim>{*step == 1 ? count : c.symbols().fresh()});
  }
  const std::int64_t span = *step > 0 ? end.constant - *start : *start - end.constant;
  const std::int64_t stride = *step > 0 ? *step : -*step;
  const std::int64_t count = span <= 0 ? 0 : (span + stride - 1) / stride;
  std::optional<std::vector<Dim>> elements;
  if (count <= static_cast<std::int64_t>(kMostValues)) {
    elements.emplace();
    for (std::int64_t i = 0; i < count; ++i) elements->push_back(dim_of(*start + i * *step));
  }
  c.out(std::vector<Dim>{dim_of(count)}, elements);
}

}  // namespace

void add_source_rules(ShapeRules& rules) {
  rules["Const"] = constant;
  for (const char* op : {"Placeholder", "PlaceholderV2", "VariableV2", "Variable"})
    rules[op] = declared;
  rules["PlaceholderWithDefault"] = with_default;
  for (const char* op :
       {"RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt",
        "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"})
    rules[op] = of_input_value;
  rules["ParameterizedTruncatedNormal"] = of_input_value;
  rules["Fill"] = fill;
  rules["Range"] = range;
  for (const char* op :
       {"VarHandleOp", "MergeSummary", "ScalarSummary", "HistogramSummary", "ImageSummary",
        "TensorSummary", "TensorSummaryV2", "AudioSummaryV2", "ShardedFilename", "IteratorV2",
        "OneShotIterator", "L2Loss", "Rank", "Size", "LoopCond", "IsVariableInitialized",
        "VarIsInitializedOp", "HashTableV2"})
    rules[op] = scalar;
  rules["Rank"] = [](ShapeContext& c) {
    std::optional<std::vector<Dim>> value;
    if (c.in(0)) value = {dim_of(static_cast<std::int64_t>(c.in(0)->size()))};
    c.out(std::vector<Dim>{}, value);
  };
  rules["Size"] = [](ShapeContext& c) {
    std::optional<std::vector<Dim>> value;
    if (const auto count = count_of(c.in(0))) value = {*count};
    c.out(std::vector<Dim>{}, value);
  };
  rules["ReadVariableOp"] = [](ShapeContext& c) {
    c.out(c.inputs() > 0 ? variable_shape(c, c.node().inputs[0]) : std::nullopt);
  };
  for (const char* op : {"NoOp", "SaveV2", "Assert", "ControlTrigger", "AssignVariableOp",
                         "AssignAddVariableOp", "AssignSubVariableOp", "WriteSummary", "Print"})
    rules[op] = nothing;
  rules["RestoreV2"] = [](ShapeContext& c) { c.out(std::nullopt); };
}

}  // namespace neutra::graphs
