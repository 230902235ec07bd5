// Conditions about where the start of a rule stands, and about the whole text.

#include "base/strings.h"
#include "source/condition_reader.h"
#include "source/keras_model.h"

namespace neutra::source {
namespace {

/// Is there a `with` around a node, or a decorator of its function, or of those that call it, which
/// matches?
bool within(const Analysis& analysis, NodeId node, const Matcher& matcher, int depth) {
  const SyntaxTree& tree = analysis.tree();
  NodeId function = kNoNode;
  for (NodeId up = tree[node].parent; up != kNoNode; up = tree[up].parent) {
    const bool with = tree.kind(up) == NodeKind::kWith, def = tree.kind(up) == NodeKind::kFunction;
    if (!with && !def) continue;
    for (NodeId child = tree[up].first; child != kNoNode; child = tree[child].next) {
      if (tree.kind(child) != (with ? NodeKind::kWithItem : NodeKind::kDecorator)) continue;
      const NodeId context = tree[child].first;
      if (context != kNoNode && matcher.matches(context, analysis.values())) return true;
    }
    if (def) {
      function = up;
      break;
    }
  }
  if (function == kNoNode || depth >= 4) return false;
  const std::vector<NodeId>& callers = analysis.values().callers(function);
  for (std::size_t i = 0; i < std::min<std::size_t>(callers.size(), 8); ++i)
    if (within(analysis, callers[i], matcher, depth + 1)) return true;
  return false;
}

bool in_loop(const Analysis& analysis, NodeId node, int depth) {
  const SyntaxTree& tree = analysis.tree();
  const NodeId up = tree.above(node, {NodeKind::kFor, NodeKind::kWhile, NodeKind::kFunction});
  if (up == kNoNode) return false;
  if (tree.kind(up) != NodeKind::kFunction) return true;
  if (depth >= 4) return false;
  const std::vector<NodeId>& callers = analysis.values().callers(up);
  for (std::size_t i = 0; i < std::min<std::size_t>(callers.size(), 8); ++i)
    if (in_loop(analysis, callers[i], depth + 1)) return true;
  return false;
}

bool in_function(const Analysis& analysis, NodeId node, const std::vector<std::string>& globs) {
  for (NodeId up = analysis.tree().above(node, {NodeKind::kFunction}); up != kNoNode;
       up = analysis.tree().above(up, {NodeKind::kFunction}))
    if (any_glob(analysis.tree().name(up), globs)) return true;
  return false;
}

bool in_class(const Analysis& analysis, NodeId node, const std::vector<std::string>& globs) {
  const NodeId up = analysis.tree().above(node, {NodeKind::kClass});
  if (up == kNoNode) return false;
  for (const std::string_view base : analysis.values().library_bases(up))
    for (const std::string& glob : globs)
      if (matches_glob(base, glob)) return true;
  return false;
}

/// The body of the `with`, loop or definition that a node stands in the head of; kNoNode: of none.
NodeId body_of(const SyntaxTree& tree, NodeId node) {
  NodeId below = node;
  for (NodeId up = node; up != kNoNode; below = up, up = tree[up].parent) {
    const NodeKind kind = tree.kind(up);
    if (kind == NodeKind::kBlock || kind == NodeKind::kModule) return kNoNode;
    if (kind != NodeKind::kWith && kind != NodeKind::kFor && kind != NodeKind::kWhile &&
        kind != NodeKind::kFunction && kind != NodeKind::kClass)
      continue;
    const NodeId body = tree.child_of_kind(up, NodeKind::kBlock);
    return body == below ? kNoNode : body;
  }
  return kNoNode;
}

bool is_in(const SyntaxTree& tree, NodeId node, NodeId range) {
  return tree[node].begin >= tree[range].begin && tree[node].end <= tree[range].end;
}

/// Does the body have an event that matches, or a call of a function that has one?
bool body_has(const Analysis& analysis, NodeId node, const Matcher& matcher) {
  const SyntaxTree& tree = analysis.tree();
  const NodeId body = body_of(tree, node);
  if (body == kNoNode) return false;
  const Hits& hits = analysis.hits(matcher);
  for (const NodeId hit : hits.list())
    if (is_in(tree, hit, body)) return true;
  for (const NodeId call : analysis.values().calls())
    if (is_in(tree, call, body) && hits.at(call)) return true;
  return false;
}

bool mentions(const Analysis& analysis, const std::vector<std::string>& globs, NodeId body) {
  const SyntaxTree& tree = analysis.tree();
  for (NodeId id = 1; id < tree.size(); ++id) {
    if (body != kNoNode && !is_in(tree, id, body)) continue;
    const NodeKind kind = tree.kind(id);
    const bool word = kind == NodeKind::kName || kind == NodeKind::kIdentifier ||
                      kind == NodeKind::kDottedName ||
                      (kind == NodeKind::kString && tree[id].end - tree[id].begin < 40);
    if (word && any_glob(tree.text(id), globs)) return true;
  }
  return false;
}

/// Does a model of the text give what matches? Parts of other models don't count.
bool model_gives(const Analysis& analysis, const Matcher& matcher, Situation& situation) {
  const Values& values = analysis.values();
  const Kinds model = values.vocabulary().kind("model");
  std::vector<NodeId> objects;
  for (const NodeId node : values.classes()) {
    const std::vector<std::string_view> bases = values.library_bases(node);
    if (std::any_of(bases.begin(), bases.end(), [](std::string_view base) {
          return base == "torch.nn.Module" || base == "keras.Model" ||
                 base.ends_with(".LightningModule");
        }))
      objects.push_back(node);
  }
  for (const NodeId call : values.calls())
    for (const Value& value : values.of(call))
      if (value.kind == ValueKind::kInstance && value.node == call &&
          value.path == "torch.nn.Sequential" && (values.kinds(call) & model) != 0 &&
          analysis.tree().above(call, {NodeKind::kClass}) == kNoNode)
        objects.push_back(call);
  // A `forward` whose class was left out.
  for (const Flow& flow : analysis.graph().flows())
    if (analysis.tree().kind(flow.node) == NodeKind::kFunction &&
        analysis.tree().name(flow.node) == "forward" && values.class_of(flow.node) == kNoNode)
      objects.push_back(flow.node);
  for (const NodeId object : objects) {
    for (const NodeId output : analysis.tracer().outputs(object)) {
      if (!matcher.matches(output, values)) continue;
      situation.evidence.push_back(output);
      return true;
    }
  }
  return false;
}

/// Is there such a name in an expression?
bool names_one(const SyntaxTree& tree, NodeId expression, const std::vector<std::string>& globs) {
  std::vector<NodeId> open{expression};
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    const NodeKind kind = tree.kind(node);
    if ((kind == NodeKind::kName || kind == NodeKind::kIdentifier) &&
        any_glob(tree.text(node), globs))
      return true;
    for (NodeId child = tree[node].first; child != kNoNode; child = tree[child].next)
      open.push_back(child);
  }
  return false;
}

/// Does a loop around a node, in its function, go over what is called like that?
bool loop_over(const Analysis& analysis, NodeId node, const std::vector<std::string>& globs) {
  const SyntaxTree& tree = analysis.tree();
  NodeId up = node;
  while (true) {
    up = tree.above(up, {NodeKind::kFor, NodeKind::kFunction});
    if (up == kNoNode || tree.kind(up) != NodeKind::kFor) return false;
    const NodeId iterable = tree.child(up, 1);
    if (iterable != kNoNode && !is_in(tree, node, iterable) && names_one(tree, iterable, globs))
      return true;
  }
}

/// The hits in the innermost loop around a node: in front of it and behind it, and whether one of
/// them is in no loop within that one.
struct LoopHits {
  bool before = false, behind = false, own = false;
};
LoopHits hits_in_loop(const Analysis& analysis, NodeId node, const Matcher& matcher) {
  const SyntaxTree& tree = analysis.tree();
  LoopHits found;
  const NodeId loop = tree.above(node, {NodeKind::kFor, NodeKind::kWhile, NodeKind::kFunction});
  if (loop == kNoNode || tree.kind(loop) == NodeKind::kFunction) return found;
  for (const NodeId hit : analysis.hits(matcher).list()) {
    if (!is_in(tree, hit, loop)) continue;
    found.own = found.own || tree.above(hit, {NodeKind::kFor, NodeKind::kWhile}) == loop;
    (tree[hit].begin < tree[node].begin ? found.before : found.behind) = true;
  }
  return found;
}

}  // namespace

std::optional<Holds> place_condition(const Reader& reader) {
  const Json& json = reader.json;
  if (json.contains("within")) {
    reader.only({"within"});
    return [matcher = reader.matcher("within")](const Analysis& analysis, Situation& situation) {
      return within(analysis, situation.start, *matcher, 0);
    };
  }
  if (json.contains("body_has")) {
    reader.only({"body_has"});
    return [matcher = reader.matcher("body_has")](const Analysis& analysis, Situation& situation) {
      return body_has(analysis, situation.start, *matcher);
    };
  }
  if (json.contains("body_mentions")) {
    reader.only({"body_mentions"});
    return [globs = reader.texts("body_mentions")](const Analysis& analysis, Situation& situation) {
      const NodeId body = body_of(analysis.tree(), situation.start);
      return body != kNoNode && mentions(analysis, globs, body);
    };
  }
  if (json.contains("loop_has")) {
    reader.only({"loop_has"});
    return [matcher = reader.matcher("loop_has")](const Analysis& analysis, Situation& situation) {
      return hits_in_loop(analysis, situation.start, *matcher).own;
    };
  }
  if (json.contains("loop_over")) {
    reader.only({"loop_over"});
    return [globs = reader.texts("loop_over")](const Analysis& analysis, Situation& situation) {
      return loop_over(analysis, situation.start, globs);
    };
  }
  if (json.contains("first_in_loop_before")) {
    reader.only({"first_in_loop_before"});
    return [matcher = reader.matcher("first_in_loop_before")](const Analysis& analysis,
                                                              Situation& situation) {
      const LoopHits hits = hits_in_loop(analysis, situation.start, *matcher);
      return !hits.before && hits.behind;
    };
  }
  if (json.contains("last_layer")) {
    reader.only({"last_layer"});
    return
        [matcher = reader.matcher("last_layer")](const Analysis& analysis, Situation& situation) {
          const NodeId layer = last_keras_layer(analysis, situation.start);
          if (layer == kNoNode || !matcher->matches(layer, analysis.values())) return false;
          situation.evidence.push_back(layer);
          return true;
        };
  }
  if (json.contains("in_loop")) {
    reader.only({"in_loop"});
    return [wanted = reader.flag("in_loop")](const Analysis& analysis, Situation& situation) {
      return in_loop(analysis, situation.start, 0) == wanted;
    };
  }
  if (json.contains("in_function")) {
    reader.only({"in_function"});
    return [globs = reader.texts("in_function")](const Analysis& analysis, Situation& situation) {
      return in_function(analysis, situation.start, globs);
    };
  }
  if (json.contains("in_class")) {
    reader.only({"in_class"});
    return [globs = reader.texts("in_class")](const Analysis& analysis, Situation& situation) {
      return in_class(analysis, situation.start, globs);
    };
  }
  return std::nullopt;
}

std::optional<Holds> file_condition(const Reader& reader) {
  const Json& json = reader.json;
  for (const bool has : {true, false}) {
    const char* key = has ? "file_has" : "file_lacks";
    if (!json.contains(key)) continue;
    reader.only({key});
    return [matcher = reader.matcher(key), has](const Analysis& analysis, Situation&) {
      return analysis.hits(*matcher).list().empty() != has;
    };
  }
  if (json.contains("file_mentions")) {
    reader.only({"file_mentions"});
    return [globs = reader.texts("file_mentions")](const Analysis& analysis, Situation&) {
      return mentions(analysis, globs, kNoNode);
    };
  }
  if (json.contains("near")) {
    reader.only({"near"});
    return [matcher = reader.matcher("near")](const Analysis& analysis, Situation& situation) {
      return analysis.is_near(*matcher, situation.start);
    };
  }
  if (json.contains("model_gives")) {
    reader.only({"model_gives"});
    return
        [matcher = reader.matcher("model_gives")](const Analysis& analysis, Situation& situation) {
          return model_gives(analysis, *matcher, situation);
        };
  }
  return std::nullopt;
}

}  // namespace neutra::source
