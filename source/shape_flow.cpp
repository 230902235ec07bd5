#include "source/shape_flow.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace neutra::source {
namespace {

/// What may change: an object's items, or one of its attributes.
using Slot = std::tuple<const ShapeObject*, bool, std::string_view>;
Slot slot_of(const ShapeObject* object, std::string_view name) {
  return {object, name.data() == nullptr, name};
}

}  // namespace

ShapeFlow::ShapeFlow(const SourceText& source, const Values& values, const ShapeTable& table)
    : values_(values), tree_(values.tree()), table_(table), math_(source, values.tree()) {
  if (!is_of_use()) return;
  index();
  run_module();
  run_rest();
}

/// Does the text have anything that shapes.json knows of?
bool ShapeFlow::is_of_use() const {
  return std::any_of(values_.calls().begin(), values_.calls().end(), [&](NodeId call) {
    const std::string_view path = path_of(tree_[call].first);
    return !path.empty() && table_.layer(path) != nullptr;
  });
}

void ShapeFlow::index() {
  for (NodeId id = 1; id < tree_.size(); ++id) {
    if (tree_.kind(id) == NodeKind::kYield)
      generators_.insert(tree_.above(id, {NodeKind::kFunction, NodeKind::kLambda}));
    if (tree_.kind(id) != NodeKind::kGlobal && tree_.kind(id) != NodeKind::kNonlocal) continue;
    for (NodeId name = tree_[id].first; name != kNoNode; name = tree_[name].next)
      global_names_.insert(tree_.text(name));
  }
}

/// Counts a step; false: there are no more.
bool ShapeFlow::tick() {
  if (++steps_ <= most_steps_) return true;
  if (!tired_) ++math_.silent;  // what has been skipped is not known
  tired_ = true;
  return false;
}

void ShapeFlow::run_module() {
  module_ = make_object(tree_.root());
  most_steps_ = 8 * tree_.text().size() + 4000;
  runs_.push_back({module_, kNoNode, {}, {}});
  exec_block(tree_[tree_.root()].first);
  if (tired_) {
    --math_.silent;
    tired_ = false;
    for (auto& [name, value] : module_->attributes)
      if (!value.is(ThingKind::kFunction) && !value.is(ThingKind::kClass)) value = {};
  }
  // Functions are called later, by others: what has several values may have any of them.
  const Scope& scope = values_.graph().scopes().front();
  for (auto& [name, value] : module_->attributes) {
    const auto variable = scope.names.find(name);
    if (variable != scope.names.end() &&
        values_.graph().definitions_of(variable->second).size() > 1)
      value = {};
  }
}

/// What an object of a class is when nothing else is known: one of the text, or one that is made
/// with the defaults.
Thing ShapeFlow::instance_of(NodeId class_node) {
  if (const auto known = instance_by_class_.find(class_node); known != instance_by_class_.end())
    return known->second;
  Thing instance;
  for (ShapeObject* object : instances_) {
    if (object->node != class_node || object->opaque) continue;
    instance.kind = ThingKind::kInstance;
    instance.object = object;
    break;
  }
  if (instance.object == nullptr) instance = instantiate(class_node, class_node, {});
  if (instance.object != nullptr) forget_later_attributes(*instance.object);
  return instance_by_class_[class_node] = instance;
}

/// Attributes that methods set which have not run: they may have changed by the time that another
/// method runs.
void ShapeFlow::forget_later_attributes(ShapeObject& object) {
  for (auto& [name, value] : object.attributes) {
    for (const NodeId given : values_.attribute(object.node, name)) {
      const NodeId function = tree_.above(given, {NodeKind::kFunction});
      if (function != kNoNode && !executed_.contains(function)) value = {};
    }
  }
}

void ShapeFlow::run_rest() {
  std::vector<NodeId> functions;
  for (NodeId id = 1; id < tree_.size(); ++id)
    if (tree_.kind(id) == NodeKind::kFunction) functions.push_back(id);
  for (const NodeId function : functions) {
    if (executed_.contains(function) || generators_.contains(function)) continue;
    most_steps_ = 8 * (tree_[function].end - tree_[function].begin) + 4000;
    steps_ = 0;
    const NodeId owner = values_.class_of(function);
    const int silent = math_.silent;
    Thing self;
    if (owner != kNoNode) {
      most_steps_ += 8 * (tree_[owner].end - tree_[owner].begin);
      self = instance_of(owner);
      if (executed_.contains(function)) {
        math_.silent = silent;
        tired_ = false;
        continue;
      }
    } else if (tree_.above(function, {NodeKind::kFunction}) != kNoNode &&
               !defined_in_.contains(function)) {
      continue;
    }
    Changes changes;
    tried(
        [&] {
          call_function(function, function, self, {});
          return false;
        },
        changes);
    math_.silent = silent;
    tired_ = false;
  }
}

ShapeObject* ShapeFlow::make_object(NodeId node) {
  objects_.push_back(std::make_unique<ShapeObject>());
  objects_.back()->node = node;
  return objects_.back().get();
}

Thing ShapeFlow::make_list(std::vector<Thing> items, bool opaque, NodeId node) {
  Thing thing;
  thing.kind = ThingKind::kList;
  thing.object = make_object(node);
  thing.object->items = std::move(items);
  thing.object->opaque = opaque;
  return thing;
}

void ShapeFlow::set(ShapeObject& object, std::string_view name, Thing value) {
  if (!journals_.empty()) {
    const auto before = object.attributes.find(name);
    std::optional<Thing> old;
    if (before != object.attributes.end()) old = before->second;
    journals_.back()->push_back({&object, name, std::move(old), {}, object.opaque});
  }
  object.attributes[name] = std::move(value);
}

void ShapeFlow::set_items(ShapeObject& object, std::vector<Thing> items, bool opaque) {
  if (!journals_.empty())
    journals_.back()->push_back({&object, {}, {}, object.items, object.opaque});
  object.items = std::move(items);
  object.opaque = opaque;
}

/// Takes changes back, the last one first. Returns what was there, each place once.
ShapeFlow::Changes ShapeFlow::undo(const Changes& changes) {
  Changes after;
  std::set<Slot> seen;
  for (const Change& change : changes) {
    if (!seen.insert(slot_of(change.object, change.name)).second) continue;
    Change now{change.object, change.name, {}, change.object->items, change.object->opaque};
    if (const auto value = change.object->attributes.find(change.name);
        change.name.data() != nullptr && value != change.object->attributes.end())
      now.value = value->second;
    after.push_back(std::move(now));
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (change->name.data() == nullptr) {
      change->object->items = change->items;
      change->object->opaque = change->opaque;
    } else if (change->value) {
      change->object->attributes[change->name] = *change->value;
    } else {
      change->object->attributes.erase(change->name);
    }
  }
  return after;
}

void ShapeFlow::apply_changes(const Changes& changes) {
  for (const Change& change : changes) {
    if (change.name.data() == nullptr)
      set_items(*change.object, change.items, change.opaque);
    else
      set(*change.object, change.name, change.value.value_or(Thing{}));
  }
}

bool ShapeFlow::tried(const Part& part, Changes& changes) {
  Changes journal;
  journals_.push_back(&journal);
  const bool ended = part();
  journals_.pop_back();
  steps_ += journal.size();
  changes = undo(journal);
  return ended;
}

/// Any one of the parts runs, and it is not known which.
bool ShapeFlow::branches(const std::vector<Part>& parts) {
  std::vector<Changes> live;
  for (const Part& part : parts) {
    Changes changes;
    if (!tried(part, changes)) live.push_back(std::move(changes));
  }
  if (live.empty()) return true;
  if (live.size() == 1) {
    apply_changes(live.front());
    return false;
  }
  Changes all;
  std::set<Slot> seen;
  std::vector<std::map<Slot, const Change*>> by_place(live.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    for (const Change& change : live[i]) {
      const Slot place = slot_of(change.object, change.name);
      by_place[i][place] = &change;
      if (seen.insert(place).second) all.push_back(change);
    }
  }
  for (Change& change : all) {
    if (change.name.data() == nullptr) {  // several ways to have items: not known which
      change.opaque = true;
      continue;
    }
    std::optional<Thing> value;
    for (const auto& places : by_place) {
      const auto own = places.find(slot_of(change.object, change.name));
      Thing one;
      if (own != places.end()) {
        one = own->second->value.value_or(Thing{});
      } else if (const auto before = change.object->attributes.find(change.name);
                 before != change.object->attributes.end()) {
        one = before->second;
      }
      value = value ? joined(*value, one) : one;
    }
    change.value = value;
  }
  steps_ += all.size();
  apply_changes(all);
  return false;
}

/// What has changed is not known any more.
void ShapeFlow::forget(const Changes& changes) {
  for (const Change& change : changes) {
    if (change.name.data() == nullptr)
      set_items(*change.object, {}, true);
    else
      set(*change.object, change.name, {});
  }
}

/// A body that runs any number of times.
void ShapeFlow::unknown_loop(const Part& body) {
  Changes changes;
  ++math_.silent;
  tried(body, changes);
  --math_.silent;
  forget(changes);
  if (math_.silent > 0) return;
  tried(body, changes);
  forget(changes);
}

}  // namespace neutra::source
