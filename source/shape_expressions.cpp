#include <algorithm>

#include "base/parse_number.h"
#include "base/strings.h"
#include "source/shape_flow.h"

namespace neutra::source {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 40;
constexpr int kDeepest = 400;  ///< expressions within each other, functions that run included

}  // namespace

Thing ShapeFlow::eval(NodeId node) {
  if (node == kNoNode || depth_ >= kDeepest || !tick()) return {};
  ++depth_;
  Thing thing = eval_plain(node);
  --depth_;
  return thing;
}

Thing ShapeFlow::eval_plain(NodeId node) {
  switch (tree_.kind(node)) {
    case NodeKind::kNumber: {
      const auto number = parse_number<std::int64_t>(tree_.text(node));
      return number ? number_thing(*number, node) : Thing{};
    }
    case NodeKind::kConstant: {
      const std::string_view text = tree_.text(node);
      Thing thing;
      if (text == "None") thing.kind = ThingKind::kNone;
      if (text == "True" || text == "False") return number_thing(text == "True" ? 1 : 0, node);
      return thing;
    }
    case NodeKind::kString: {
      Thing thing;
      if (tree_[node].first != kNoNode) return thing;
      thing.kind = ThingKind::kText;
      thing.text = string_content(tree_.text(node));
      return thing;
    }
    case NodeKind::kName:
      return eval_name(node);
    case NodeKind::kAttribute:
      return eval_attribute(node);
    case NodeKind::kCall:
      return eval_call(node);
    case NodeKind::kSubscript:
      return eval_subscript(node);
    case NodeKind::kBinary:
      return eval_binary(node);
    case NodeKind::kUnary: {
      const Thing value = eval(tree_[node].first);
      if (tree_.text(node).starts_with("not")) {
        const std::optional<bool> holds = truth(value);
        return holds ? number_thing(*holds ? 0 : 1, node) : Thing{};
      }
      if (value.is(ThingKind::kTensor)) return value;
      if (!value.is_known_number() || !tree_.text(node).starts_with('-')) return {};
      return number_thing(-value.number.size, node);
    }
    case NodeKind::kCompare:
      return eval_compare(node);
    case NodeKind::kAnd:
    case NodeKind::kOr:
      return eval_logic(node);
    case NodeKind::kConditional: {
      const NodeId test = tree_[tree_[node].first].next;
      const std::optional<bool> holds = truth(eval(test));
      if (holds) return eval(*holds ? tree_[node].first : tree_[node].last);
      const Thing one = eval(tree_[node].first);
      return joined(one, eval(tree_[node].last));
    }
    case NodeKind::kTuple:
    case NodeKind::kList:
      return eval_list(node);
    case NodeKind::kComprehension:
      return eval_comprehension(node);
    case NodeKind::kNamed: {
      const Thing value = eval(tree_[node].last);
      assign(tree_[node].first, value);
      return value;
    }
    case NodeKind::kAwait:
      return eval(tree_[node].first);
    default:
      return {};
  }
}

Thing ShapeFlow::eval_name(NodeId node) {
  const std::string_view name = tree_.text(node);
  if (global_names_.contains(name)) return {};
  for (const ShapeObject* names = runs_.back().names; names != nullptr; names = names->around)
    if (const auto found = names->attributes.find(name); found != names->attributes.end())
      return found->second;
  return {};
}

Thing ShapeFlow::eval_attribute(NodeId node) {
  return attribute_of(eval(tree_[node].first), tree_.name(node));
}

Thing ShapeFlow::attribute_of(const Thing& base, std::string_view name) {
  Thing thing;
  switch (base.kind) {
    case ThingKind::kTensor:
      if (name == "shape") {
        thing = base;
        thing.kind = ThingKind::kSizes;
      } else if (name == "data") {
        return base;
      } else if (name == "ndim" && base.shape->ranked && base.shape->sure) {
        return number_thing(static_cast<std::int64_t>(base.shape->dims.size()), base.shape->from);
      }
      return thing;
    case ThingKind::kLayer:
    case ThingKind::kInstance: {
      if (base.object->opaque) return thing;
      const auto found = base.object->attributes.find(name);
      if (found != base.object->attributes.end()) return found->second;
      if (base.is(ThingKind::kLayer)) {
        const auto fallback = base.object->entry->defaults.find(name);
        return fallback != base.object->entry->defaults.end() ? fallback->second : thing;
      }
      const NodeId method = values_.method(base.object->node, name);
      if (method == kNoNode) return thing;
      thing.kind = ThingKind::kFunction;
      thing.node = method;
      thing.object = base.object;
      for (NodeId child = tree_[method].first; child != kNoNode; child = tree_[child].next) {
        if (tree_.kind(child) != NodeKind::kDecorator) continue;
        const std::string_view decorator = tree_.text(tree_[child].first);
        if (decorator == "property") return call_function(method, method, base, {});
        if (decorator == "staticmethod") thing.object = nullptr;
        if (decorator == "classmethod") return {};
      }
      return thing;
    }
    default:
      return thing;
  }
}

std::optional<std::vector<Thing>> ShapeFlow::items_of(const Thing& thing) const {
  if ((thing.is(ThingKind::kList) || thing.is(ThingKind::kChain)) && !thing.object->opaque)
    return thing.object->items;
  if (thing.is(ThingKind::kSizes) && thing.shape->ranked && thing.shape->sure) {
    std::vector<Thing> items;
    for (const Dim& dim : thing.shape->dims) {
      Thing number;
      number.kind = ThingKind::kNumber;
      number.number = dim;
      items.push_back(number);
    }
    return items;
  }
  return std::nullopt;
}

std::optional<bool> ShapeFlow::truth(const Thing& thing) {
  switch (thing.kind) {
    case ThingKind::kNone:
      return false;
    case ThingKind::kNumber:
      if (thing.number.known()) return thing.number.size != 0;
      return std::nullopt;
    case ThingKind::kText:
      return !thing.text.empty();
    case ThingKind::kList:
      if (thing.object->opaque) return std::nullopt;
      return !thing.object->items.empty();
    case ThingKind::kLayer:
    case ThingKind::kFunction:
    case ThingKind::kClass:
      return true;
    default:
      return std::nullopt;
  }
}

Thing ShapeFlow::eval_subscript(NodeId node) {
  const Thing base = eval(tree_[node].first);
  const NodeId index = tree_[tree_[node].first].next;
  if (base.is(ThingKind::kTensor)) return index_tensor(*base.shape, node);
  if (index == kNoNode || tree_[index].next != kNoNode) return {};
  if (tree_.kind(index) == NodeKind::kSlice) {
    const auto items = items_of(base);
    const std::string_view text = tree_.text(index);
    const std::size_t colon = text.find(':');
    const NodeId bound = tree_[index].first;
    if (!items || colon == std::string_view::npos ||
        text.find(':', colon + 1) != std::string_view::npos)
      return {};
    std::int64_t from = 0, to = static_cast<std::int64_t>(items->size());
    for (NodeId one = bound; one != kNoNode; one = tree_[one].next) {
      const Thing number = eval(one);
      if (!number.is_known_number()) return {};
      std::int64_t at = number.number.size;
      if (at < 0) at += static_cast<std::int64_t>(items->size());
      at = std::clamp<std::int64_t>(at, 0, static_cast<std::int64_t>(items->size()));
      (tree_[one].begin < tree_[index].begin + colon ? from : to) = at;
    }
    if (from > to) to = from;
    return make_list({items->begin() + from, items->begin() + to}, false, node);
  }
  const Thing number = eval(index);
  if (!number.is_known_number()) return {};
  if (base.is(ThingKind::kSizes)) {
    Thing size;
    size.kind = ThingKind::kNumber;
    if (const Dim* dim = base.shape->sure || number.number.size < 0 || number.number.size == 0
                             ? base.shape->at(number.number.size)
                             : nullptr)
      size.number = *dim;
    if (!base.shape->ranked && number.number.size == 0) size.number = base.shape->lead;
    return size;
  }
  const auto items = items_of(base);
  if (!items) return {};
  std::int64_t at = number.number.size;
  if (at < 0) at += static_cast<std::int64_t>(items->size());
  if (at < 0 || at >= static_cast<std::int64_t>(items->size())) return {};
  return (*items)[static_cast<std::size_t>(at)];
}

/// x[:, -1], x[0], x[:, None]; unknown with anything else.
Thing ShapeFlow::index_tensor(const Shape& shape, NodeId node) {
  NodeId index = tree_[tree_[node].first].next;
  if (index != kNoNode && tree_.kind(index) == NodeKind::kTuple && tree_[index].next == kNoNode)
    index = tree_[index].first;
  if (!shape.ranked) return {};
  Shape result = shape;
  result.dims.clear();
  result.from = node;
  std::size_t axis = 0;
  for (; index != kNoNode; index = tree_[index].next) {
    if (tree_.kind(index) == NodeKind::kSlice) {
      if (axis >= shape.dims.size()) return {};
      result.dims.push_back(tree_[index].first == kNoNode ? shape.dims[axis] : math_.fresh());
      if (tree_[index].first == kNoNode && tree_.text(index) != ":" && tree_.text(index) != "::")
        return {};
      ++axis;
      continue;
    }
    if (tree_.text(index) == "None") {
      result.dims.push_back(Dim{1, node});
      continue;
    }
    if (!eval(index).is_known_number() || axis >= shape.dims.size()) return {};
    ++axis;
  }
  result.dims.insert(result.dims.end(), shape.dims.begin() + static_cast<std::ptrdiff_t>(axis),
                     shape.dims.end());
  return tensor_thing(std::move(result));
}

/// The operator between two operands.
std::string_view ShapeFlow::sign_between(NodeId one, NodeId other) const {
  static constexpr std::string_view kSigns[] = {"**", "//", "==", "!=", "<=", ">=", "<<",
                                                ">>", "+",  "-",  "*",  "/",  "%",  "@",
                                                "<",  ">",  "&",  "|",  "^"};
  std::string_view text = tree_.text().substr(tree_[one].end, tree_[other].begin - tree_[one].end);
  while (!text.empty()) {
    if (text.front() == '#') {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
      continue;
    }
    for (const std::string_view sign : kSigns)
      if (text.starts_with(sign)) return text.substr(0, sign.size());
    if (text.starts_with("is")) return text.find("not") != std::string_view::npos ? "is not" : "is";
    if (text.starts_with("in") || text.starts_with("not")) return "in";
    text.remove_prefix(1);
  }
  return {};
}

Thing ShapeFlow::eval_binary(NodeId node) {
  NodeId operand = tree_[node].first;
  Thing value = eval(operand);
  for (NodeId next = tree_[operand].next; next != kNoNode; next = tree_[next].next) {
    const Thing other = eval(next);
    value = binary(sign_between(operand, next), value, other, node);
    operand = next;
  }
  return value;
}

Thing ShapeFlow::binary(std::string_view sign, const Thing& one, const Thing& other, NodeId node) {
  if (one.is(ThingKind::kTensor) || other.is(ThingKind::kTensor)) {
    if (sign == "@") return math_.matmul(one, other, node);
    if (sign == "+" || sign == "-" || sign == "*" || sign == "/")
      return math_.broadcast(one, other, node);
    return {};
  }
  if (one.is(ThingKind::kList) && other.is(ThingKind::kList) && sign == "+" &&
      !one.object->opaque && !other.object->opaque) {
    std::vector<Thing> items = one.object->items;
    items.insert(items.end(), other.object->items.begin(), other.object->items.end());
    return make_list(std::move(items), false, node);
  }
  if (one.is(ThingKind::kList) && other.is_known_number() && sign == "*" && !one.object->opaque &&
      other.number.size >= 0 && other.number.size <= 64 && one.object->items.size() <= 16) {
    std::vector<Thing> items;
    for (std::int64_t i = 0; i < other.number.size; ++i)
      items.insert(items.end(), one.object->items.begin(), one.object->items.end());
    return make_list(std::move(items), false, node);
  }
  if (!one.is_known_number() || !other.is_known_number()) return {};
  const std::int64_t a = one.number.size, b = other.number.size;
  if (std::abs(a) > kMostNumber || std::abs(b) > kMostNumber) return {};
  if (sign == "+") return number_thing(a + b, node);
  if (sign == "-") return number_thing(a - b, node);
  if (sign == "*" && (a == 0 || std::abs(b) <= kMostNumber / std::abs(a)))
    return number_thing(a * b, node);
  if (sign == "**" && b >= 0 && b <= 40 && std::abs(a) <= 64) {
    std::int64_t power = 1;
    for (std::int64_t i = 0; i < b; ++i) {
      if (std::abs(power) > kMostNumber / 64) return {};
      power *= a;
    }
    return number_thing(power, node);
  }
  if (b == 0) return {};
  if (sign == "/" && a % b == 0) return number_thing(a / b, node);
  const bool down = a % b != 0 && (a < 0) != (b < 0);  // Python rounds down
  if (sign == "//") return number_thing(a / b - (down ? 1 : 0), node);
  if (sign == "%") return number_thing(a % b + (down ? b : 0), node);
  return {};
}

Thing ShapeFlow::eval_compare(NodeId node) {
  const NodeId first = tree_[node].first;
  const NodeId second = first == kNoNode ? kNoNode : tree_[first].next;
  const Thing one = eval(first), other = eval(second);
  if (second == kNoNode || tree_[second].next != kNoNode) return {};
  const std::string_view sign = sign_between(first, second);
  const auto answer = [&](bool holds) { return number_thing(holds ? 1 : 0, node); };
  if (one.is(ThingKind::kUnknown) || other.is(ThingKind::kUnknown)) return {};
  if (one.is(ThingKind::kTensor) || other.is(ThingKind::kTensor)) return {};
  const bool equal = sign == "==" || sign == "is";
  if (equal || sign == "!=" || sign == "is not") {
    if (one.is(ThingKind::kNone) || other.is(ThingKind::kNone))
      return answer((one.kind == other.kind) == equal);
    if (one.is(ThingKind::kText) && other.is(ThingKind::kText))
      return answer((one.text == other.text) == equal);
    if (one.is_known_number() && other.is_known_number())
      return answer((one.number.size == other.number.size) == equal);
    return {};
  }
  if (!one.is_known_number() || !other.is_known_number()) return {};
  const std::int64_t a = one.number.size, b = other.number.size;
  if (sign == "<") return answer(a < b);
  if (sign == "<=") return answer(a <= b);
  if (sign == ">") return answer(a > b);
  if (sign == ">=") return answer(a >= b);
  return {};
}

Thing ShapeFlow::eval_logic(NodeId node) {
  const bool all = tree_.kind(node) == NodeKind::kAnd;
  bool unknown = false;
  Thing last;
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
    last = eval(child);
    const std::optional<bool> holds = truth(last);
    if (holds && *holds != all && !unknown) return last;
    unknown = unknown || !holds;
  }
  return unknown ? Thing{} : last;
}

Thing ShapeFlow::eval_list(NodeId node) {
  std::vector<Thing> items;
  bool opaque = false;
  for (NodeId child = tree_[node].first; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) != NodeKind::kStarred) {
      items.push_back(eval(child));
      continue;
    }
    const auto more = items_of(eval(tree_[child].first));
    opaque = opaque || !more;
    if (more) items.insert(items.end(), more->begin(), more->end());
  }
  return make_list(std::move(items), opaque, node);
}

/// With one `for` and no `if` over what is known: its items.
Thing ShapeFlow::eval_comprehension(NodeId node) {
  const NodeId loop = tree_[node].first;
  const NodeId element = tree_[loop].next;
  if (loop == kNoNode || element == kNoNode) return {};
  const NodeId target = tree_[loop].first;
  const NodeId iterable = tree_[target].next;
  const auto items = items_of(eval(iterable));
  ShapeObject* names = make_object(node);
  names->around = runs_.back().names;
  runs_.push_back({names, runs_.back().function, runs_.back().self, {}});
  Thing result;
  const bool plain = tree_.kind(element) != NodeKind::kCompFor && tree_[iterable].next == kNoNode &&
                     tree_[element].next == kNoNode;
  if (items && items->size() <= 64 && plain && !tree_.text(node).starts_with('{')) {
    std::vector<Thing> all;
    for (const Thing& item : *items) {
      assign(target, item);
      all.push_back(eval(element));
    }
    result = make_list(std::move(all), false, node);
  } else {
    for (NodeId one = loop; one != kNoNode && tree_.kind(one) == NodeKind::kCompFor;
         one = tree_[one].next)
      assign(tree_[one].first, {});
    unknown_loop([&] {
      eval(tree_[node].last);
      return false;
    });
    result = make_list({}, true, node);
  }
  runs_.pop_back();
  return result;
}

}  // namespace neutra::source
