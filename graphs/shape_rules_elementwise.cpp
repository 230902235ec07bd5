#include <algorithm>

#include "graphs/shape_context.h"

namespace neutra::graphs {
namespace {

void same_as_first(ShapeContext& c) { c.out(c.in(0)); }

void with_value(ShapeContext& c) { c.out(c.in(0), c.value(0)); }

void negative(ShapeContext& c) {
  std::optional<std::vector<Dim>> value = c.value(0);
  if (value)
    for (Dim& dim : *value) dim = c.symbols().subtract(dim_of(0), dim);
  c.out(c.in(0), value);
}

/// All inputs from `first` on have one shape.
void all_same(ShapeContext& c) {
  Shape shape = c.in(0);
  std::size_t known = 0;
  for (std::size_t i = 1; i < c.inputs(); ++i) {
    if (!shape) {
      shape = c.in(i);
      known = i;
      continue;
    }
    const Shape merged = c.same_shape(known, i, "inputs of one shape");
    if (merged) shape = merged;
  }
  c.out(shape);
}

/// a op b for elements of shapes.
Dim element(Symbols& symbols, const std::string& op, const Dim& a, const Dim& b) {
  if (op == "AddV2" || op == "Add") return symbols.add(a, b);
  if (op == "Sub") return symbols.subtract(a, b);
  if (op == "Mul") return symbols.multiply(a, b);
  if (op == "FloorDiv" || op == "Div" || op == "TruncateDiv") return symbols.divide(a, b, false);
  if (a == b && (op == "Maximum" || op == "Minimum")) return a;
  if (!a.known() || !b.known()) {
    // A size is 0 at least, and where it divides something 1: max(size, 1) keeps the size.
    if (op == "Maximum" && b == dim_of(1)) return a;
    if (op == "Maximum" && a == dim_of(1)) return b;
    return symbols.fresh();
  }
  if (op == "Maximum") return dim_of(std::max(a.constant, b.constant));
  if (op == "Minimum") return dim_of(std::min(a.constant, b.constant));
  if ((op == "FloorMod" || op == "Mod") && b.constant > 0)
    return dim_of((a.constant % b.constant + b.constant) % b.constant);
  return symbols.fresh();
}

bool has_values(const std::string& op) {
  static const std::vector<std::string> ops = {"AddV2",    "Add",      "Sub",         "Mul",
                                               "FloorDiv", "Div",      "TruncateDiv", "Maximum",
                                               "Minimum",  "FloorMod", "Mod"};
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

void binary(ShapeContext& c) {
  const Shape shape = c.broadcast(c.in(0), 0, c.in(1), 1);
  std::optional<std::vector<Dim>> value;
  const auto &a = c.value(0), &b = c.value(1);
  if (a && b && !a->empty() && !b->empty() && has_values(c.node().op) &&
      (a->size() == b->size() || a->size() == 1 || b->size() == 1)) {
    value.emplace();
    for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i)
      value->push_back(element(c.symbols(), c.node().op, (*a)[a->size() == 1 ? 0 : i],
                               (*b)[b->size() == 1 ? 0 : i]));
  }
  c.out(shape, value);
}

void select(ShapeContext& c) {
  const Shape branches = c.broadcast(c.in(1), 1, c.in(2), 2);
  c.out(c.broadcast(c.in(0), 0, branches, 1));
}

/// The first version of Select: the condition has the shape of the branches, or is a vector or a
/// scalar that chooses rows.
void old_select(ShapeContext& c) {
  const Shape shape = c.same_shape(1, 2, "branches of one shape");
  if (shape && c.in(0) && c.in(0)->size() == shape->size() && shape->size() > 1)
    c.same_shape(0, 1, "a condition of the branches' shape");
  c.out(shape);
}

void assign(ShapeContext& c) {
  if (c.node().integer("validate_shape", 1) == 0) return c.out(c.in(1));
  c.out(c.same_shape(0, 1, "a value of the variable's shape"));
}

/// Updates of optimizers: the gradient, the last input but for some, is as the variable.
void apply(ShapeContext& c) {
  const std::string& op = c.node().op;
  const std::size_t gradient = op == "ApplyGradientDescent"                    ? 2
                               : op == "ApplyMomentum" || op == "ApplyAdagrad" ? 3
                                                                               : c.inputs() - 1;
  if (c.inputs() > gradient && gradient > 0)
    c.same_shape(0, gradient, "a gradient of the variable's shape");
  c.out(c.in(0));
}

void merge_inputs(ShapeContext& c) {
  // One of the inputs is forwarded: their shape where they agree.
  Shape shape = c.in(0);
  for (std::size_t i = 1; i < c.inputs(); ++i)
    if (c.in(i) != shape) shape = std::nullopt;
  c.out(shape);
  c.out(std::vector<Dim>{});
}

}  // namespace

void add_elementwise_rules(ShapeRules& rules) {
  for (const char* op : {"Relu",
                         "Relu6",
                         "LeakyRelu",
                         "Elu",
                         "Selu",
                         "Sigmoid",
                         "Tanh",
                         "Softplus",
                         "Softsign",
                         "Exp",
                         "Expm1",
                         "Log",
                         "Log1p",
                         "Sqrt",
                         "Rsqrt",
                         "Square",
                         "Abs",
                         "Sign",
                         "Reciprocal",
                         "Inv",
                         "Floor",
                         "Ceil",
                         "Round",
                         "Rint",
                         "Sin",
                         "Cos",
                         "Tan",
                         "Asin",
                         "Acos",
                         "Atan",
                         "Sinh",
                         "Cosh",
                         "Erf",
                         "Erfc",
                         "Lgamma",
                         "Digamma",
                         "IsNan",
                         "IsInf",
                         "IsFinite",
                         "LogicalNot",
                         "Softmax",
                         "LogSoftmax",
                         "ZerosLike",
                         "OnesLike",
                         "CheckNumerics",
                         "LRN",
                         "Enter",
                         "RefEnter",
                         "Exit",
                         "RefExit",
                         "NextIteration",
                         "RefNextIteration",
                         "Cumsum",
                         "ClipByValue",
                         "DebugGradientIdentity",
                         "RandomShuffle",
                         "Bucketize",
                         "MatrixBandPart",
                         "AssignAdd",
                         "AssignSub",
                         "ReverseV2",
                         "InvertPermutation"})
    rules[op] = same_as_first;
  for (const char* op :
       {"Identity", "StopGradient", "PreventGradient", "Cast", "Snapshot", "RefIdentity"})
    rules[op] = with_value;
  rules["Neg"] = negative;
  for (const char* op :
       {"AddN", "AccumulateNV2", "SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReluGrad",
        "Relu6Grad", "EluGrad", "SoftplusGrad", "ReciprocalGrad", "InvGrad", "LeakyReluGrad"})
    rules[op] = all_same;
  for (const char* op :
       {"AddV2",       "Add",      "Sub",       "Mul",         "RealDiv",           "Div",
        "DivNoNan",    "MulNoNan", "FloorDiv",  "TruncateDiv", "FloorMod",          "Mod",
        "TruncateMod", "Maximum",  "Minimum",   "Pow",         "SquaredDifference", "Equal",
        "NotEqual",    "Less",     "LessEqual", "Greater",     "GreaterEqual",      "LogicalAnd",
        "LogicalOr",   "Atan2",    "Xdivy",     "Xlogy",       "ApproximateEqual"})
    rules[op] = binary;
  rules["SelectV2"] = select;
  rules["Select"] = old_select;
  rules["Assign"] = assign;
  for (const char* op : {"ApplyGradientDescent", "ApplyAdam", "ApplyMomentum", "ApplyAdagrad",
                         "ApplyRMSProp", "ApplyAdadelta"})
    rules[op] = apply;
  rules["Merge"] = merge_inputs;
  rules["RefMerge"] = merge_inputs;
  rules["Switch"] = [](ShapeContext& c) {
    c.out(c.in(0), c.value(0));
    c.out(c.in(0), c.value(0));
  };
  rules["IdentityN"] = [](ShapeContext& c) {
    for (std::size_t i = 0; i < c.inputs(); ++i) c.out(c.in(i), c.value(i));
  };
}

}  // namespace neutra::graphs
