#include "base/strings.h"
#include "source/axes.h"
#include "source/condition_reader.h"
#include "source/selector.h"

namespace neutra::source {
namespace {

class FunctionCondition : public Condition {
 public:
  explicit FunctionCondition(Holds holds) : holds_(std::move(holds)) {}
  bool holds(const Analysis& analysis, Situation& situation) const override {
    return holds_(analysis, situation);
  }

 private:
  Holds holds_;
};

Holds path_condition(const Reader& reader) {
  reader.only({"path", "on", "find", "until", "same_object"});
  const bool forward = reader.word("path", {"forward", "backward"}) == "forward";
  const bool every = reader.word("on", {"some", "every"}) == "every";
  if (!reader.json.contains("find")) throw input_error(reader.where + ": 'find' is missing");
  const bool start = reader.json["find"] == "start";
  const auto find = start ? nullptr : reader.matcher("find");
  const auto until = reader.json.contains("until") ? reader.matcher("until") : nullptr;
  const bool same = reader.json.contains("same_object") && reader.flag("same_object");
  return [=](const Analysis& analysis, Situation& situation) {
    const NodeId object = same ? receiver(analysis.tree(), situation.start) : kNoNode;
    return analysis
        .path(start ? *situation.start_matcher : *find, until.get(), forward, every, object,
              situation.start)
        .value_or(false);
  };
}

/// Is an expression made by one of these, or does every origin match?
bool comes_from(const Analysis& analysis, NodeId node, const Matcher& matcher, bool every,
                std::vector<NodeId>& evidence) {
  const std::vector<NodeId> origins = analysis.tracer().origins(node);
  NodeId matched = kNoNode;
  for (const NodeId origin : origins) {
    const bool matches = matcher.matches(origin, analysis.values());
    if (matches) matched = origin;
    if (every && !matches) return false;
  }
  if (matched == kNoNode) return false;
  evidence.push_back(matched);
  return true;
}

/// The name that a new object is assigned to; kNoNode: none.
NodeId name_of(const SyntaxTree& tree, NodeId object) {
  const NodeId parent = tree[object].parent;
  return tree.kind(parent) == NodeKind::kAssign && tree[parent].last == object ? tree[parent].first
                                                                               : kNoNode;
}

/// Has a dictionary no pair that looks like one of these? It may be `{...}` or `dict(...)`, and get
/// pairs later. Of one that gets none at all, or those of another, nothing is known.
bool lacks(const Analysis& analysis, NodeId dict, const std::vector<std::string>& globs) {
  const SyntaxTree& tree = analysis.tree();
  const bool call = tree.kind(dict) == NodeKind::kCall && tree.text(tree[dict].first) == "dict";
  if (tree.kind(dict) != NodeKind::kDict && !call) return false;
  bool empty = true;
  const auto fits = [&](NodeId key, NodeId value) {
    empty = false;
    return any_glob(analysis.literal(key).value_or(std::string(tree.text(key))), globs) ||
           (value != kNoNode && any_glob(tree.text(value), globs));
  };
  for (NodeId key = call ? tree[tree[dict].first].next : tree[dict].first; key != kNoNode;
       key = tree[key].next) {
    if (call) {
      if (tree.kind(key) != NodeKind::kKeyword) return false;
      if (any_glob(tree.name(key), globs) || fits(tree[key].last, kNoNode)) return false;
      continue;
    }
    if (tree.kind(key) == NodeKind::kStarred) return false;
    const NodeId value = tree[key].next;
    if (fits(key, value)) return false;
    if (value == kNoNode) break;
    key = value;
  }
  if (const NodeId name = name_of(tree, dict); name != kNoNode)
    for (const NodeId key : analysis.tracer().additions().keys(name))
      if (fits(key, tree[tree[tree[key].parent].parent].last)) return false;
  return !empty;
}

/// Tests of where a value comes from and goes to. `with` makes a condition of a test.
template <typename With>
std::optional<Holds> flow_condition(const Reader& reader, const With& with) {
  if (reader.json.contains("comes_from")) {
    reader.only({"value", "comes_from", "on"});
    const auto matcher = reader.matcher("comes_from");
    const bool every = reader.word("on", {"some", "every"}) == "every";
    return with([=](const Analysis& analysis, Situation& situation, NodeId node) {
      return comes_from(analysis, node, *matcher, every, situation.evidence);
    });
  }
  if (reader.json.contains("depends_on")) {
    reader.only({"value", "depends_on"});
    const auto matcher = reader.matcher("depends_on");
    return with([=](const Analysis& analysis, Situation& situation, NodeId node) {
      for (const NodeId input : analysis.tracer().inputs(node)) {
        if (!matcher->matches(input, analysis.values())) continue;
        situation.evidence.push_back(input);
        return true;
      }
      return false;
    });
  }
  if (reader.json.contains("unknown")) {
    reader.only({"value", "unknown"});
    const bool wanted = reader.flag("unknown");
    return with([=](const Analysis& analysis, Situation&, NodeId node) {
      const std::vector<NodeId> origins = analysis.tracer().origins(node);
      return wanted == std::any_of(origins.begin(), origins.end(), [&](NodeId origin) {
               return analysis.tracer().is_unknown(origin);
             });
    });
  }
  for (const bool variable : {false, true}) {
    const char* key = variable ? "variable_goes_to" : "goes_to";
    if (!reader.json.contains(key)) continue;
    reader.only({"value", key});
    const auto matcher = reader.matcher(key);
    return with([=](const Analysis& analysis, Situation& situation, NodeId node) {
      const Tracer& tracer = analysis.tracer();
      for (const NodeId sink : variable ? tracer.sinks_of_variable(node) : tracer.sinks(node)) {
        if (!matcher->matches(sink, analysis.values())) continue;
        situation.evidence.push_back(sink);
        return true;
      }
      return false;
    });
  }
  return std::nullopt;
}

Holds value_condition(const Reader& reader) {
  const Selector selector(reader.json.at("value"), reader.where + ".value");
  const auto with = [selector](auto test) -> Holds {
    return [selector, test](const Analysis& analysis, Situation& situation) {
      const NodeId node = selector.select(analysis, situation);
      return node != kNoNode && test(analysis, situation, node);
    };
  };
  if (reader.json.contains("given")) {
    reader.only({"value", "given"});
    const bool given = reader.flag("given");
    return [selector, given](const Analysis& analysis, Situation& situation) {
      if (selector.select(analysis, situation) != kNoNode) return given;
      return !given && !analysis.values().has_star_arguments(selector.call(situation));
    };
  }
  if (auto flow = flow_condition(reader, with)) return *flow;
  if (reader.json.contains("kind")) {
    reader.only({"value", "kind"});
    Kinds kinds = 0;
    for (const std::string& name : reader.texts("kind")) {
      const Kinds kind = reader.vocabulary.kind(name);
      if (kind == 0)
        throw input_error(reader.where + ".kind: found '" + name +
                          "'; allowed: " + allowed_words(name, reader.vocabulary.kind_names()));
      kinds |= kind;
    }
    return with([=](const Analysis& analysis, Situation&, NodeId node) {
      return (analysis.values().kinds(node) & kinds) != 0;
    });
  }
  if (reader.json.contains("is")) {
    reader.only({"value", "is"});
    const std::vector<std::string> allowed = reader.texts("is");
    return with([=](const Analysis& analysis, Situation&, NodeId node) {
      const std::optional<std::string> text = analysis.literal(node);
      return text && any_glob(*text, allowed);
    });
  }
  if (reader.json.contains("named")) {
    reader.only({"value", "named"});
    const std::vector<std::string> globs = reader.texts("named");
    return with([=](const Analysis& analysis, Situation&, NodeId node) {
      return any_glob(analysis.values().last_name(node), globs);
    });
  }
  if (reader.json.contains("dict_lacks")) {
    reader.only({"value", "dict_lacks"});
    const std::vector<std::string> globs = reader.texts("dict_lacks");
    return with([=](const Analysis& analysis, Situation& situation, NodeId node) {
      for (const NodeId origin : analysis.tracer().origins(node)) {
        if (!lacks(analysis, origin, globs)) continue;
        situation.evidence.push_back(origin);
        return true;
      }
      return false;
    });
  }
  throw input_error(reader.where +
                    ": found a value without a test; allowed: given, comes_from, depends_on, "
                    "unknown, goes_to, variable_goes_to, kind, is, "
                    "named, dict_lacks");
}

std::optional<Holds> joint_condition(const Reader& reader) {
  const Json& json = reader.json;
  if (json.contains("any") || json.contains("all")) {
    const bool any = json.contains("any");
    reader.only({any ? "any" : "all"});
    return [parts = reader.parts(any ? "any" : "all"), any](const Analysis& analysis,
                                                            Situation& situation) {
      for (const auto& part : parts) {
        const std::size_t before = situation.evidence.size();
        const bool holds = part->holds(analysis, situation);
        if (!holds) situation.evidence.resize(before);
        if (holds == any) return any;
      }
      return !any;
    };
  }
  if (json.contains("not")) {
    reader.only({"not"});
    return [part = parse_condition(json["not"], reader.vocabulary, reader.where + ".not")](
               const Analysis& analysis, Situation& situation) {
      Situation own = situation;  // what a negated condition finds is no evidence
      return !part->holds(analysis, own);
    };
  }
  return std::nullopt;
}

}  // namespace

bool any_glob(std::string_view text, const std::vector<std::string>& globs) {
  const std::string lowered = lower(text);
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_glob(lowered, glob); });
}

std::shared_ptr<const Condition> parse_condition(const Json& json, const Vocabulary& vocabulary,
                                                 const std::string& where) {
  if (!json.is_object())
    throw input_error(where + ": found " + json.dump() + "; allowed: an object");
  const Reader reader{json, vocabulary, where};
  if (json.contains("path")) return std::make_shared<FunctionCondition>(path_condition(reader));
  if (json.contains("value")) return std::make_shared<FunctionCondition>(value_condition(reader));
  if (auto place = place_condition(reader))
    return std::make_shared<FunctionCondition>(std::move(*place));
  if (auto file = file_condition(reader))
    return std::make_shared<FunctionCondition>(std::move(*file));
  if (auto joint = joint_condition(reader))
    return std::make_shared<FunctionCondition>(std::move(*joint));
  if (json.contains("matches")) {
    reader.only({"matches"});
    return std::make_shared<FunctionCondition>(
        [matcher = reader.matcher("matches")](const Analysis& analysis, Situation& situation) {
          return matcher->matches(situation.start, analysis.values());
        });
  }
  for (const bool sure : {true, false}) {
    const char* key = sure ? "exchanges_axes" : "seems_to_exchange_axes";
    if (!json.contains(key)) continue;
    reader.only({key});
    return std::make_shared<FunctionCondition>(
        [wanted = reader.flag(key), test = sure ? exchanges_axes : seems_to_exchange_axes](
            const Analysis& analysis, Situation& situation) {
          return test(analysis, situation.start) == wanted;
        });
  }
  throw input_error(
      where + ": found " + json.dump() +
      "; allowed: an object with path, value, within, loop_has, loop_over, "
      "first_in_loop_before, "
      "last_layer, in_loop, in_function, in_class, "
      "body_has, body_mentions, file_has, file_lacks, file_mentions, near, model_gives, any, all, "
      "not, matches, "
      "exchanges_axes or seems_to_exchange_axes");
}

}  // namespace neutra::source
