#include "program/formats/keras_operations.h"

#include <cmath>
#include <map>
#include <set>

#include "program/formats/keras_json.h"

namespace neutra::program {
namespace {

Json rescaling(const std::string& name, double scale, double offset) {
  return {{"class_name", "Rescaling"},
          {"config", {{"name", name}, {"scale", scale}, {"offset", offset}}}};
}

}  // namespace

KerasOperation operation_of(const Json& layer) {
  static const std::map<std::string, std::string> functions{
      {"__operators__.add", "Add"},  {"math.add", "Add"},         {"math.subtract", "Subtract"},
      {"math.multiply", "Multiply"}, {"math.maximum", "Maximum"}, {"math.minimum", "Minimum"},
      {"math.truediv", "Divide"},    {"math.divide", "Divide"},   {"math.negative", "Negative"},
      {"concat", "Concatenate"}};
  static const std::map<std::string, std::string> classes{
      {"Add", "Add"},       {"Subtract", "Subtract"}, {"Multiply", "Multiply"},
      {"Divide", "Divide"}, {"TrueDivide", "Divide"}, {"Negative", "Negative"}};
  KerasOperation operation;
  const std::string class_name = text_of(layer, "class_name");
  const bool of_keras_3 = text_of(layer, "module").find(".ops.") != std::string::npos;
  if (class_name != "TFOpLambda" && !of_keras_3) return operation;
  const auto& known = of_keras_3 ? classes : functions;
  const auto found =
      known.find(of_keras_3 ? class_name : text_of(value_of(layer, "config"), "function"));
  if (found != known.end()) operation.kind = found->second;
  return operation;
}

bool take_constant(KerasOperation& operation, const Json& value, bool first) {
  static const std::set<std::string> with_one{"Add", "Subtract", "Multiply", "Divide"};
  if (!value.is_number() || operation.constant || !with_one.contains(operation.kind)) return false;
  operation.constant = value.get<double>();
  operation.constant_first = first;
  return true;
}

std::optional<Json> layer_for(const KerasOperation& operation, const std::string& name,
                              std::size_t tensors) {
  const std::string& kind = operation.kind;
  if (kind == "Negative") return rescaling(name, -1, 0);
  if (!operation.constant) {
    if (kind == "Divide" || tensors < 2) return std::nullopt;
    Json own = {{"name", name}};
    if (!operation.axis.is_null()) own["axis"] = operation.axis;
    return Json{{"class_name", kind}, {"config", std::move(own)}};
  }
  const double constant = *operation.constant;
  if (tensors != 1 || !std::isfinite(constant)) return std::nullopt;
  if (kind == "Add") return rescaling(name, 1, constant);
  if (kind == "Multiply") return rescaling(name, constant, 0);
  if (kind == "Subtract") {
    return operation.constant_first ? rescaling(name, -1, constant) : rescaling(name, 1, -constant);
  }
  if (operation.constant_first || constant == 0) return std::nullopt;
  return rescaling(name, 1 / constant, 0);
}

}  // namespace neutra::program
