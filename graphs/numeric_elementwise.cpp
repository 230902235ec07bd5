#include <algorithm>
#include <cmath>

#include "graphs/numeric_context.h"

namespace neutra::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The same values; a Cast that changes no number keeps the relations.
void forward(NumericContext& c) { c.out(c.in(0)); }

void assign(NumericContext& c) { c.out(joined(c.in(1))); }

void unary(NumericContext& c) {
  const AbstractTensor& x = c.in(0);
  const UnaryFunction function = unary_function(c.node().op);
  AbstractTensor result = mapped(x, [&](const Interval& block) { return function(block, x.type); });
  Relations* relations = c.relations();
  if (relations && c.node().op == "Neg") {
    result.form = x.form ? *x.form : Linear{{{x.symbol, 1}}, {0, 0}};
    for (auto& [symbol, factor] : result.form->terms) factor = -factor;
    result.form->rest = negate(result.form->rest);
  }
  const bool above = c.node().op == "Relu" || c.node().op == "Abs";
  if (relations) result.symbol = relations->fresh(result.whole());
  if (relations && above) relations->set_at_most(x.symbol, result.symbol);
  c.out(std::move(result));
}

/// Operands of a binary operation, in the result's shape.
struct Operands {
  std::uint32_t a = 0, b = 0;
  Linear form_a, form_b;
};

std::optional<Operands> operands(NumericContext& c) {
  Relations* relations = c.relations();
  const Shape& shape = c.out_shape();
  if (!relations || !shape || !c.shape(0) || !c.shape(1)) return std::nullopt;
  const AbstractTensor &x = c.in(0), &y = c.in(1);
  if (x.symbol == 0 || y.symbol == 0) return std::nullopt;
  Operands result;
  result.a = relations->broadcast(x.symbol, c.shape(0), shape);
  result.b = relations->broadcast(y.symbol, c.shape(1), shape);
  const auto form = [&](const AbstractTensor& tensor, const Shape& from) {
    return relations->viewed(tensor.form ? *tensor.form : Linear{{{tensor.symbol, 1}}, {0, 0}},
                             from, shape);
  };
  result.form_a = form(x, c.shape(0));
  result.form_b = form(y, c.shape(1));
  return result;
}

/// a + sign * b.
Linear combined(const Linear& a, const Linear& b, double sign) {
  Linear result = a;
  for (const auto& [symbol, factor] : b.terms) result.terms[symbol] += sign * factor;
  result.rest = add(a.rest, sign > 0 ? b.rest : negate(b.rest));
  std::erase_if(result.terms, [](const auto& term) { return term.second == 0; });
  return result;
}

/// Keeps a form, with room for the rounding of the result, where it says more than intervals do.
void keep_form(AbstractTensor& result, Linear form) {
  constexpr std::size_t kMostTerms = 8;
  const double error = magnitude(result.whole()) * precision_of(result.type).epsilon * 2;
  if (!is_floating(result.type) || std::isinf(error) || form.terms.size() > kMostTerms) return;
  form.rest = add(form.rest, {-error, error});
  result.form = std::move(form);
}

void relate_sum(NumericContext& c, AbstractTensor& result, const Operands& both, double sign) {
  const Relations& relations = *c.relations();
  const auto confine_to = [&](const Linear& form) {
    const Interval exact = relations.bounds(form);
    confine(result, rounded(exact, result.type));
  };
  const Linear plain_a{{{both.a, 1}}, {0, 0}}, plain_b{{{both.b, 1}}, {0, 0}};
  confine_to(combined(plain_a, plain_b, sign));
  const Linear form = combined(both.form_a, both.form_b, sign);
  confine_to(form);
  if (sign < 0) {
    const auto axes = relations.equal_along(both.a, both.b);
    if (!axes.empty()) result.attained = Attained{axes, {0, 0}};
  }
  keep_form(result, form);
}

/// A product with a number that is known.
void relate_product(AbstractTensor& result, const Operands& both, const AbstractTensor& x,
                    const AbstractTensor& y) {
  const Interval left = x.whole(), right = y.whole();
  const bool by_left = left.lo == left.hi;
  if (!by_left && right.lo != right.hi) return;
  const double factor = by_left ? left.lo : right.lo;
  Linear form = by_left ? both.form_b : both.form_a;
  for (auto& [symbol, times] : form.terms) times *= factor;
  form.rest = multiply(form.rest, {factor, factor});
  keep_form(result, form);
}

void relate(NumericContext& c, AbstractTensor& result) {
  const std::string& op = c.node().op;
  const auto both = operands(c);
  if (!both || both->a == 0 || both->b == 0) return;
  Relations& relations = *c.relations();
  const AbstractTensor &x = c.in(0), &y = c.in(1);
  if (op == "AddV2" || op == "Add") relate_sum(c, result, *both, 1);
  if (op == "Sub") relate_sum(c, result, *both, -1);
  if (op == "Mul") {
    if (both->a == both->b)
      result = mapped(joined(x), [&](const Interval& all) { return rounded(square(all), x.type); });
    relate_product(result, *both, x, y);
  }
  if ((op == "RealDiv" || op == "Div") && is_floating(x.type)) {
    // A part of a sum of what is not negative: at most 1.
    if (x.whole().lo >= 0 && relations.is_at_most(both->a, both->b)) confine(result, {0, 1});
  }
  if (op == "Maximum" || op == "Minimum") {
    result.symbol = relations.fresh(result.whole());
    for (const std::uint32_t operand : {both->a, both->b}) {
      if (op == "Maximum") {
        relations.set_at_most(operand, result.symbol);
      } else {
        relations.set_at_most(result.symbol, operand);
      }
    }
  }
}

/// With a scalar, an element that is attained stays attained.
void keep_attained(NumericContext& c, AbstractTensor& result, BinaryFunction function) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const AbstractTensor &x = c.in(side), &other = c.in(1 - side);
    if (!x.attained || !c.shape(1 - side) || !c.shape(1 - side)->empty()) continue;
    const Interval value = other.whole();
    result.attained = {x.attained->axes, side == 0 ? function(x.attained->within, value, x.type)
                                                   : function(value, x.attained->within, x.type)};
  }
}

void binary(NumericContext& c) {
  const AbstractTensor &x = c.in(0), &y = c.in(1);
  const BinaryFunction function = binary_function(c.node().op);
  // Of comparisons the operands' type rounds nothing; of others it is the result's.
  AbstractTensor result =
      zipped(x, y, [&](const Interval& a, const Interval& b) { return function(a, b, x.type); });
  keep_attained(c, result, function);
  const std::string& op = c.node().op;
  const bool truth = op == "Equal" || op == "NotEqual" || op.starts_with("Less") ||
                     op.starts_with("Greater") || op.starts_with("Logical");
  if (truth) result.type = ElementType::kBool;
  if (!truth) relate(c, result);
  c.out(std::move(result));
}

void cast(NumericContext& c) {
  const ElementType to = c.node().type("DstT");
  const AbstractTensor& x = c.in(0);
  if (to == x.type) return c.out(x);
  AbstractTensor result = mapped(x, [&](const Interval& block) {
    if (to == ElementType::kBool)
      return Interval{is_within(0, block) ? 0.0 : 1.0, block.lo == 0 && block.hi == 0 ? 0.0 : 1.0};
    if (is_floating(to)) return rounded(block, to);
    return Interval{std::trunc(block.lo), std::trunc(block.hi)};
  });
  result.type = to;
  c.out(std::move(result));
}

void select(NumericContext& c) {
  const Interval condition = c.in(0).whole();
  if (condition.lo >= 1) return c.out(joined(c.in(1)));
  if (condition.hi <= 0) return c.out(joined(c.in(2)));
  c.out(zipped(c.in(1), c.in(2), hull));
}

void clip(NumericContext& c) {
  c.out(mapped(c.in(0), [&](const Interval& block) {
    return minimum(maximum(block, c.in(1).whole()), c.in(2).whole());
  }));
}

void leaky_relu(NumericContext& c) {
  const Attribute* alpha = c.node().find("alpha");
  const double slope = alpha && alpha->number ? *alpha->number : 0.2;
  const AbstractTensor& x = c.in(0);
  c.out(mapped(x, [&](const Interval& block) {
    const Interval scaled = rounded(multiply(block, {slope, slope}), x.type);
    return hull(maximum(block, {0, 0}), minimum(scaled, {0, 0}));
  }));
}

void add_all(NumericContext& c) {
  AbstractTensor total = c.in(0);
  total.symbol = 0;
  total.form.reset();
  total.attained.reset();
  for (std::size_t i = 1; i < c.inputs(); ++i)
    total = zipped(total, c.in(i), [&](const Interval& a, const Interval& b) {
      // In any order: a rounding for each term.
      return loosened(add(a, b), c.in(0).type, static_cast<double>(c.inputs()));
    });
  c.out(std::move(total));
}

void any_like(NumericContext& c) { c.out(tensor_within({}, c.in(0).type)); }

void merge(NumericContext& c) {
  AbstractTensor result = joined(c.in(0));
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    const Interval other =
        closes_loop(c.graph(), c.node().inputs[i]) ? Interval{} : c.in(i).whole();
    result.blocks = {hull(result.whole(), other)};
  }
  c.out(result);
  c.out(tensor_within({0, kInfinity}, ElementType::kInteger));
}

}  // namespace

void add_numeric_elementwise(NumericRules& rules) {
  for (const char* op :
       {"Identity", "StopGradient", "PreventGradient", "Snapshot", "RefIdentity", "CheckNumerics",
        "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration"})
    rules[op] = forward;
  rules["Assign"] = assign;
  for (const char* op :
       {"Exp",  "Expm1", "Sigmoid", "Tanh",  "Erf",   "Softplus",  "Softsign", "Elu",
        "Selu", "Atan",  "Sinh",    "Log",   "Log1p", "Sqrt",      "Rsqrt",    "Sign",
        "Sin",  "Cos",   "Relu",    "Relu6", "Neg",   "Abs",       "Square",   "Reciprocal",
        "Inv",  "Floor", "Ceil",    "Round", "Rint",  "LogicalNot"})
    rules[op] = unary;
  for (const char* op : {"AddV2",
                         "Add",
                         "Sub",
                         "Mul",
                         "RealDiv",
                         "Div",
                         "DivNoNan",
                         "FloorDiv",
                         "FloorMod",
                         "Mod",
                         "Maximum",
                         "Minimum",
                         "SquaredDifference",
                         "Pow",
                         "Less",
                         "LessEqual",
                         "Greater",
                         "GreaterEqual",
                         "Equal",
                         "NotEqual",
                         "LogicalAnd",
                         "LogicalOr"})
    rules[op] = binary;
  rules["Cast"] = cast;
  rules["Select"] = select;
  rules["SelectV2"] = select;
  rules["ClipByValue"] = clip;
  rules["LeakyRelu"] = leaky_relu;
  rules["AddN"] = add_all;
  rules["AccumulateNV2"] = add_all;
  for (const char* op : {"SigmoidGrad",
                         "TanhGrad",
                         "SqrtGrad",
                         "RsqrtGrad",
                         "ReciprocalGrad",
                         "SoftplusGrad",
                         "EluGrad",
                         "ReluGrad",
                         "Relu6Grad",
                         "LeakyReluGrad",
                         "BiasAddGrad",
                         "Conv2DBackpropInput",
                         "Conv2DBackpropFilter",
                         "MaxPoolGrad",
                         "AvgPoolGrad",
                         "StridedSliceGrad",
                         "Cumsum",
                         "ApplyAdam",
                         "ApplyGradientDescent",
                         "ApplyMomentum",
                         "ApplyAdagrad",
                         "ApplyRMSProp",
                         "ApplyAdadelta",
                         "AssignAdd",
                         "AssignSub",
                         "LRN",
                         "DynamicStitch",
                         "ConcatOffset"})
    rules[op] = any_like;
  rules["Merge"] = merge;
  rules["RefMerge"] = merge;
  rules["Switch"] = [](NumericContext& c) {
    c.out(c.in(0));
    c.out(c.in(0));
  };
  rules["IdentityN"] = [](NumericContext& c) {
    for (std::size_t i = 0; i < c.inputs(); ++i) c.out(c.in(i));
  };
}

}  // namespace neutra::graphs
