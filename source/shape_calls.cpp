#include <algorithm>
#include <array>

#include "source/shape_flow.h"

namespace neutra::source {
namespace {

constexpr std::size_t kMostRuns = 24;  ///< functions that run within each other

/// Classes that set no attributes of their own that a text would read.
constexpr std::array<std::string_view, 7> kPlainBases = {"torch.nn.Module",
                                                         "keras.Model",
                                                         "keras.layers.Layer",
                                                         "object",
                                                         "torch.nn.Sequential",
                                                         "abc.ABC",
                                                         "pytorch_lightning.LightningModule"};

/// Decorators that leave what a function gives as it is.
constexpr std::array<std::string_view, 9> kPlainDecorators = {
    "staticmethod",         "property",         "override",         "torch.no_grad",
    "torch.inference_mode", "torch.jit.ignore", "torch.jit.export", "torch.jit.script_method",
    "tensorflow.function"};

}  // namespace

const Thing* ShapeFlow::Arguments::find(std::string_view name, std::size_t position) const {
  for (const auto& [own, value] : named)
    if (own == name) return &value;
  return position < positional.size() ? &positional[position] : nullptr;
}

ShapeFlow::Arguments ShapeFlow::eval_arguments(NodeId call) {
  Arguments arguments;
  NodeId child = tree_[call].first;
  if (child != kNoNode) child = tree_[child].next;
  for (; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) == NodeKind::kKeyword) {
      arguments.named.emplace_back(tree_.name(child), eval(tree_[child].last));
    } else if (tree_.kind(child) == NodeKind::kStarred) {
      const Thing value = eval(tree_[child].first);
      const auto items = tree_[child].stars == 1 ? items_of(value) : std::nullopt;
      if (items)
        arguments.positional.insert(arguments.positional.end(), items->begin(), items->end());
      else
        arguments.open = true;
    } else {
      arguments.positional.push_back(eval(child));
    }
  }
  return arguments;
}

/// The one thing of a library that an expression is; "": another, or several.
std::string_view ShapeFlow::path_of(NodeId callee) const {
  const std::vector<Value>& values = values_.of(callee);
  return values.size() == 1 && values.front().kind == ValueKind::kPath ? values.front().path
                                                                       : std::string_view();
}

void ShapeFlow::forget_attributes(ShapeObject& object) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : object.attributes) names.push_back(name);
  for (const std::string_view name : names) set(object, name, {});
}

/// What gets objects may change them.
void ShapeFlow::let_go(const Arguments& arguments) {
  const auto one = [this](const Thing& thing) {
    if (thing.is(ThingKind::kInstance)) forget_attributes(*thing.object);
    if ((thing.is(ThingKind::kList) || thing.is(ThingKind::kChain)) && !thing.object->opaque)
      set_items(*thing.object, {}, true);
  };
  for (const Thing& thing : arguments.positional) one(thing);
  for (const auto& [name, thing] : arguments.named) one(thing);
}

Thing ShapeFlow::eval_call(NodeId node) {
  const NodeId callee = tree_[node].first;
  if (callee == kNoNode) return {};
  const bool attribute = tree_.kind(callee) == NodeKind::kAttribute;
  if (attribute && tree_.kind(tree_[callee].first) == NodeKind::kCall &&
      tree_.text(tree_[tree_[callee].first].first) == "super")
    return call_super(node, tree_.name(callee), eval_arguments(node));
  const Thing base = attribute ? eval(tree_[callee].first) : Thing{};
  const Arguments arguments = eval_arguments(node);
  const Thing thing = attribute ? attribute_of(base, tree_.name(callee)) : eval(callee);
  if (!thing.is(ThingKind::kUnknown)) return call_thing(node, thing, arguments);
  if (attribute)
    if (const auto result = call_method(node, base, tree_.name(callee), arguments)) return *result;
  if (const std::string_view path = path_of(callee); !path.empty()) {
    if (const auto result = call_path(node, path, arguments)) return *result;
    return {};
  }
  if (tree_.kind(callee) == NodeKind::kName)
    if (const auto result = call_builtin(node, tree_.text(callee), arguments)) return *result;
  let_go(arguments);
  return {};
}

Thing ShapeFlow::call_super(NodeId call, std::string_view method, const Arguments& arguments) {
  const Thing self = runs_.back().self;
  const NodeId owner =
      runs_.back().function == kNoNode ? kNoNode : values_.class_of(runs_.back().function);
  if (!self.is(ThingKind::kInstance) || owner == kNoNode) return {};
  bool plain = true;
  const NodeId bases = tree_.child_of_kind(owner, NodeKind::kArguments);
  for (NodeId base = tree_[bases].first; base != kNoNode; base = tree_[base].next) {
    bool known = false;
    for (const Value& value : std::vector<Value>(values_.of(base))) {
      if (value.kind == ValueKind::kClass && value.node != owner) {
        known = true;
        const NodeId function = values_.method(value.node, method);
        if (function != kNoNode) return call_function(call, function, self, arguments);
      }
      known = known ||
              (value.kind == ValueKind::kPath &&
               std::find(kPlainBases.begin(), kPlainBases.end(), value.path) != kPlainBases.end());
    }
    plain = plain && (known || tree_.kind(base) == NodeKind::kKeyword);
  }
  if (!plain) forget_attributes(*self.object);  // it may set some
  return {};
}

std::optional<Thing> ShapeFlow::call_list_method(const Thing& base, std::string_view name,
                                                 const Arguments& arguments) {
  std::vector<Thing> items = base.object->items;
  const Thing* given = arguments.find("module", 0);
  if (name == "append" && given != nullptr) {
    items.push_back(*given);
  } else if (name == "add_module" && arguments.positional.size() == 2) {
    items.push_back(arguments.positional[1]);
  } else if (name == "extend" && given != nullptr && items_of(*given)) {
    const auto more = *items_of(*given);
    items.insert(items.end(), more.begin(), more.end());
  } else if (name == "insert" || name == "pop" || name == "extend" || name == "remove" ||
             name == "sort" || name == "reverse" || name == "clear" || name == "update" ||
             name == "add_module" || name == "register_module") {
    set_items(*base.object, {}, true);
    return Thing{};
  } else {
    return std::nullopt;
  }
  set_items(*base.object, std::move(items), base.object->opaque || arguments.open);
  return Thing{};
}

std::optional<Thing> ShapeFlow::call_method(NodeId call, const Thing& base, std::string_view name,
                                            const Arguments& arguments) {
  switch (base.kind) {
    case ThingKind::kList:
      return call_list_method(base, name, arguments);
    case ThingKind::kChain:
      if (base.object->keras) {
        if (name == "add" && !arguments.positional.empty()) {
          keras_add(call, *base.object, arguments.positional[0]);
          return Thing{};
        }
        if (name == "fit") keras_fit(call, base, arguments);
        if (name == "pop") {
          set(*base.object, "out", {});
          set_items(*base.object, {}, true);
        }
        if (name == "compile" || name == "fit" || name == "summary" || name == "evaluate" ||
            name == "predict" || name == "save")
          return Thing{};
      } else if (const auto result = call_list_method(base, name, arguments)) {
        return result;
      }
      [[fallthrough]];
    case ThingKind::kLayer:
    case ThingKind::kInstance:
      if (name == "forward") return apply(call, base, arguments.positional);
      if (values_.vocabulary().returns_self(name)) return base;
      if (name == "add_module" && base.is(ThingKind::kInstance) &&
          arguments.positional.size() == 2 && arguments.positional[0].is(ThingKind::kText)) {
        set(*base.object, arguments.positional[0].text, arguments.positional[1]);
        return Thing{};
      }
      return std::nullopt;
    case ThingKind::kTensor:
    case ThingKind::kUnknown: {
      const ShapeEntry* entry = table_.method(name);
      if (entry == nullptr) return std::nullopt;
      const bool of_library = !path_of(tree_[call].first).empty();
      if (base.is(ThingKind::kUnknown) && (entry->op != ShapeOp::kReshape || of_library))
        return std::nullopt;
      return apply_entry(call, *entry, arguments, &base);
    }
    default:
      return std::nullopt;
  }
}

/// nullopt: not known.
std::optional<Thing> ShapeFlow::call_path(NodeId call, std::string_view path,
                                          const Arguments& arguments) {
  if (const ShapeEntry* entry = table_.layer(path)) return make_layer(call, *entry, arguments);
  if (const ShapeEntry* entry = table_.function(path))
    return apply_entry(call, *entry, arguments, nullptr);
  if (path == "torch.nn.Sequential") return make_chain(call, arguments, false);
  if (path == "keras.Sequential") return make_chain(call, arguments, true);
  if (path == "torch.nn.ModuleList" || path == "collections.OrderedDict") {
    const Thing* given = arguments.find("modules", 0);
    if (given == nullptr) return make_list({}, arguments.open, call);
    const auto items = items_of(*given);
    return make_list(items.value_or(std::vector<Thing>{}), !items, call);
  }
  if (path == "keras.Model") {
    Thing model;
    model.kind = ThingKind::kChain;
    model.object = make_object(call);
    model.object->keras = model.object->opaque = true;
    if (const Thing* out = arguments.find("outputs", 1)) set(*model.object, "out", *out);
    return model;
  }
  if (path == "keras.layers.Bidirectional") {
    const Thing* layer = arguments.find("layer", 0);
    if (layer == nullptr || !layer->is(ThingKind::kLayer) || arguments.find("merge_mode", 1))
      return Thing{};
    const auto units = layer->object->attributes.find("units");
    if (layer->object->entry->op != ShapeOp::kKerasRecurrent ||
        units == layer->object->attributes.end() || !units->second.is_known_number())
      return Thing{};
    Thing both = *layer;
    both.object = make_object(call);
    *both.object = *layer->object;
    both.object->attributes["units"] = number_thing(2 * units->second.number.size, call);
    for (const auto& [name, value] : arguments.named) both.object->attributes[name] = value;
    return both;
  }
  if (values_.vocabulary().returns_self(path) && !arguments.positional.empty())
    return arguments.positional[0];
  if (!path.starts_with("torch.") && !path.starts_with("keras.") && !path.starts_with("numpy."))
    let_go(arguments);
  return std::nullopt;
}

std::optional<Thing> ShapeFlow::call_builtin(NodeId call, std::string_view name,
                                             const Arguments& arguments) {
  const std::vector<Thing>& given = arguments.positional;
  if (arguments.open || given.empty()) {
    if (name == "list" && !arguments.open) return make_list({}, false, call);
    return std::nullopt;
  }
  const auto items = items_of(given[0]);
  if (name == "isinstance" || name == "print" || name == "hasattr" || name == "getattr" ||
      name == "type" || name == "id" || name == "str")
    return Thing{};
  if (name == "int" && given.size() == 1)
    return given[0].is(ThingKind::kNumber) ? given[0] : Thing{};
  if (name == "len")
    return items ? number_thing(static_cast<std::int64_t>(items->size()), call) : Thing{};
  if (name == "list" || name == "tuple" || name == "reversed") {
    std::vector<Thing> copy = items.value_or(std::vector<Thing>{});
    if (name == "reversed") std::reverse(copy.begin(), copy.end());
    return make_list(std::move(copy), !items, call);
  }
  if (name == "enumerate" && given.size() == 1 && arguments.named.empty()) {
    if (!items) return Thing{};
    std::vector<Thing> pairs;
    for (std::size_t i = 0; i < items->size() && i < 200; ++i)
      pairs.push_back(
          make_list({number_thing(static_cast<std::int64_t>(i), call), (*items)[i]}, false, call));
    return make_list(std::move(pairs), false, call);
  }
  if (name == "zip") {
    std::vector<Thing> rows;
    std::vector<std::vector<Thing>> columns;
    std::size_t length = 200;
    for (const Thing& one : given) {
      const auto column = items_of(one);
      if (!column) return Thing{};
      length = std::min(length, column->size());
      columns.push_back(*column);
    }
    for (std::size_t i = 0; i < length; ++i) {
      std::vector<Thing> row;
      row.reserve(columns.size());
      for (const auto& column : columns) row.push_back(column[i]);
      rows.push_back(make_list(std::move(row), false, call));
    }
    return make_list(std::move(rows), false, call);
  }
  if (name == "range" && given.size() <= 3) {
    for (const Thing& one : given)
      if (!one.is_known_number()) return Thing{};
    const std::int64_t from = given.size() > 1 ? given[0].number.size : 0;
    const std::int64_t to = given[given.size() > 1 ? 1 : 0].number.size;
    const std::int64_t step = given.size() > 2 ? given[2].number.size : 1;
    if (step == 0 || (to - from) / step > 100) return Thing{};
    std::vector<Thing> numbers;
    for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step)
      numbers.push_back(number_thing(i, call));
    return make_list(std::move(numbers), false, call);
  }
  if ((name == "max" || name == "min") && given.size() == 2 && given[0].is_known_number() &&
      given[1].is_known_number())
    return (given[0].number.size > given[1].number.size) == (name == "max") ? given[0] : given[1];
  return std::nullopt;
}

Thing ShapeFlow::call_thing(NodeId call, const Thing& callee, const Arguments& arguments) {
  switch (callee.kind) {
    case ThingKind::kFunction: {
      Thing self;
      if (callee.object != nullptr) {
        self.kind = ThingKind::kInstance;
        self.object = callee.object;
      }
      return call_function(call, callee.node, self, arguments);
    }
    case ThingKind::kClass:
      return instantiate(call, callee.node, arguments);
    case ThingKind::kInstance: {
      if (callee.object->opaque) return {};
      for (const char* name : {"forward", "call", "__call__"})
        if (const NodeId function = values_.method(callee.object->node, name); function != kNoNode)
          return call_function(call, function, callee, arguments);
      return {};
    }
    case ThingKind::kLayer:
    case ThingKind::kChain:
      return apply(call, callee, arguments.positional);
    default:
      return {};
  }
}

Thing ShapeFlow::instantiate(NodeId call, NodeId class_node, const Arguments& arguments) {
  Thing instance;
  instance.kind = ThingKind::kInstance;
  instance.object = make_object(class_node);
  instances_.push_back(instance.object);
  const NodeId init = values_.method(class_node, "__init__");
  if (init != kNoNode) call_function(call, init, instance, arguments);
  return instance;
}

/// Does a decorator change what a function gives?
bool ShapeFlow::returns_unknown(NodeId function) const {
  for (NodeId child = tree_[function].first; child != kNoNode; child = tree_[child].next) {
    if (tree_.kind(child) != NodeKind::kDecorator) continue;
    NodeId name = tree_[child].first;
    if (tree_.kind(name) == NodeKind::kCall) name = tree_[name].first;
    std::string_view path = path_of(name);
    if (path.empty()) path = tree_.text(name);
    if (std::find(kPlainDecorators.begin(), kPlainDecorators.end(), path) == kPlainDecorators.end())
      return true;
  }
  return false;
}

void ShapeFlow::bind(NodeId function, const Thing& self, const Arguments& arguments,
                     ShapeObject& names) {
  const NodeId list = tree_.child_of_kind(function, NodeKind::kParameters);
  std::size_t position = 0;
  bool by_name_only = false, first = true;
  for (NodeId one = tree_[list].first; one != kNoNode; one = tree_[one].next) {
    const std::string_view name = tree_.name(one);
    if (first && self.is(ThingKind::kInstance)) {
      first = false;
      set(names, name, self);
      continue;
    }
    first = false;
    if (tree_[one].stars > 0) {
      by_name_only = true;
      if (!name.empty()) set(names, name, {});
      continue;
    }
    if (name.empty()) continue;  // the mark / of positional ones
    const Thing* given = arguments.find(name, by_name_only ? SIZE_MAX : position);
    ++position;
    const NodeId last = tree_[one].last;
    const bool has_default = last != tree_[one].first && tree_.kind(last) != NodeKind::kAnnotation;
    if (given != nullptr) {
      set(names, name, *given);
    } else if (has_default && !arguments.open) {
      set(names, name, eval(last));
    } else if (has_default) {
      set(names, name, {});
    } else {
      Shape any;
      any.lead = math_.fresh();
      set(names, name, tensor_thing(any));
    }
  }
}

Thing ShapeFlow::call_function(NodeId call, NodeId function, const Thing& self,
                               const Arguments& arguments) {
  const auto same = std::count_if(runs_.begin(), runs_.end(),
                                  [&](const Run& run) { return run.function == function; });
  if (runs_.size() >= kMostRuns || same > 1 || generators_.contains(function)) {
    let_go(arguments);
    return {};
  }
  if (math_.silent == 0 || call != function) executed_.insert(function);
  ShapeObject* names = make_object(function);
  const NodeId owner = values_.class_of(function);
  const auto defined = defined_in_.find(owner != kNoNode ? owner : function);
  names->around = defined != defined_in_.end() ? defined->second : module_;
  runs_.push_back({names, function, self, {}});
  bind(function, self, arguments, *names);
  const NodeId body = tree_.last_of_kind(function, NodeKind::kBlock);
  const bool ended = exec_block(body);
  std::vector<Thing> returned = std::move(runs_.back().returned);
  runs_.pop_back();
  if (returned.empty() || returns_unknown(function)) return {};
  if (!ended) {
    Thing none;
    none.kind = ThingKind::kNone;
    returned.push_back(none);
  }
  Thing result = returned.front();
  for (std::size_t i = 1; i < returned.size(); ++i) result = joined(result, returned[i]);
  return result;
}

}  // namespace neutra::source
