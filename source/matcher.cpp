#include "source/matcher.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "base/words.h"

namespace neutra::source {
namespace {

bool fits(std::string_view text, const std::string& glob) {
  return glob.find('*') == std::string::npos ? text == glob : matches_glob(text, glob);
}

bool has_operator(const SyntaxTree& tree, NodeId node, std::string_view op) {
  const Node& whole = tree[node];
  if (whole.first == kNoNode) return false;
  for (NodeId left = whole.first; tree[left].next != kNoNode; left = tree[left].next) {
    const std::uint32_t begin = tree[left].end, end = tree[tree[left].next].begin;
    if (begin < end && contains(tree.text().substr(begin, end - begin), op)) return true;
  }
  return false;
}

}  // namespace

bool is_written(const SyntaxTree& tree, NodeId attribute) {
  NodeId node = attribute;
  NodeId parent = tree[node].parent;
  while (tree.kind(parent) == NodeKind::kSubscript && tree[parent].first == node) {
    node = parent;
    parent = tree[node].parent;
  }
  const NodeKind kind = tree.kind(parent);
  if (kind == NodeKind::kAssign || kind == NodeKind::kAnnAssign) return tree[parent].last != node;
  if (kind == NodeKind::kAugAssign) return tree[parent].first == node;
  if (kind != NodeKind::kAttribute) return false;
  const NodeId call = tree[parent].parent;
  const std::string_view method = tree.name(parent);
  return tree.kind(call) == NodeKind::kCall && tree[call].first == parent &&
         method.ends_with('_') && !method.starts_with('_');
}

Matcher::Matcher(const Json& json, const Vocabulary& vocabulary, const std::string& where) {
  read(json, vocabulary, where, 0);
}

void Matcher::read(const Json& json, const Vocabulary& vocabulary, const std::string& where,
                   int depth) {
  if (depth > 8) throw input_error(where + ": sets within sets, deeper than 8");
  if (json.is_array()) {
    for (const Json& one : json) read(one, vocabulary, where, depth + 1);
    return;
  }
  if (json.is_string()) {
    const std::string text = json.get<std::string>();
    if (!text.starts_with('@')) return read_text(text, vocabulary, where);
    const Json* set = vocabulary.set(text.substr(1));
    if (set == nullptr)
      throw input_error(where + ": found " + text + "; allowed: a set of names.json");
    return read(*set, vocabulary, where, depth + 1);
  }
  static const std::vector<std::pair<std::string, Type>> types = {{"attribute", Type::kAttribute},
                                                                  {"assignment", Type::kAssignment},
                                                                  {"operator", Type::kOperator},
                                                                  {"function", Type::kFunction},
                                                                  {"statement", Type::kReturn},
                                                                  {"reference", Type::kReference},
                                                                  {"makes", Type::kMakes},
                                                                  {"class", Type::kClass},
                                                                  {"text", Type::kText}};
  for (const auto& [key, type] : types) {
    const Json* value = member(json, key);
    if (value == nullptr) continue;
    for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
      if (!one.is_string()) throw input_error(where + "." + key + ": allowed: a text");
      Pattern pattern;
      pattern.type = type;
      pattern.text = one.get<std::string>();
      if (type == Type::kMakes) {
        pattern.kind = vocabulary.kind(pattern.text);
        if (pattern.kind == 0 && pattern.text != "object")
          throw input_error(where + ".makes: found '" + pattern.text + "'; allowed: object, " +
                            allowed_words(pattern.text, vocabulary.kind_names()));
      }
      for (const char* more : {"use", "to"})
        if (const Json* text = member(json, more)) pattern.more = text->get<std::string>();
      patterns_.push_back(std::move(pattern));
    }
    return;
  }
  throw input_error(where + ": found " + json.dump() +
                    "; allowed: a text, a list, or an object with attribute, assignment, operator, "
                    "function, statement, reference, makes, class or text");
}

void Matcher::read_text(const std::string& text, const Vocabulary& vocabulary,
                        const std::string& where) {
  Pattern pattern;
  if (text.starts_with('<')) {
    const std::size_t end = text.find('>');
    const std::string name = text.substr(1, end - 1);
    pattern.kind = end == std::string::npos ? 0 : vocabulary.kind(name);
    if (pattern.kind == 0)
      throw input_error(where + ": found '" + text +
                        "'; allowed kinds: " + allowed_words(name, vocabulary.kind_names()));
    const std::string rest = text.substr(end + 1);
    if (rest != "()" && !rest.starts_with('.'))
      throw input_error(where + ": found '" + text + "'; allowed: <KIND>() and <KIND>.METHOD");
    pattern.type = rest == "()" ? Type::kKindCall : Type::kKindMethod;
    if (rest != "()") pattern.text = rest.substr(1);
  } else if (text.starts_with('.')) {
    pattern.type = Type::kMethod;
    pattern.text = text.substr(1);
  } else if (text.ends_with("()")) {
    pattern.type = Type::kInstance;
    pattern.text = text.substr(0, text.size() - 2);
  } else {
    pattern.text = text;
  }
  if (pattern.text.empty() && pattern.type != Type::kKindCall)
    throw input_error(where + ": found '" + text + "'; allowed: a name");
  patterns_.push_back(std::move(pattern));
}

bool Matcher::matches(NodeId node, const Values& values) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const Pattern& pattern) { return matches(pattern, node, values); });
}

bool Matcher::matches(const Pattern& pattern, NodeId node, const Values& values) {
  const SyntaxTree& tree = values.tree();
  const NodeKind kind = tree.kind(node);
  const NodeId callee = kind == NodeKind::kCall ? tree[node].first : kNoNode;
  switch (pattern.type) {
    case Type::kPath:
    case Type::kInstance: {
      if (callee == kNoNode) return false;
      const ValueKind wanted =
          pattern.type == Type::kPath ? ValueKind::kPath : ValueKind::kInstance;
      for (const Value& value : values.of(callee))
        if (value.kind == wanted && fits(value.path, pattern.text)) return true;
      return false;
    }
    case Type::kMethod:
    case Type::kKindMethod: {
      if (callee == kNoNode || tree.kind(callee) != NodeKind::kAttribute ||
          !fits(tree.name(callee), pattern.text))
        return false;
      if (pattern.type == Type::kKindMethod)
        return (values.kinds(tree[callee].first) & pattern.kind) != 0;
      return values.of(callee).empty();
    }
    case Type::kKindCall: {
      if (callee == kNoNode) return false;
      if ((values.kinds(callee) & pattern.kind) != 0) return true;
      // model.forward(x)
      return tree.kind(callee) == NodeKind::kAttribute && tree.name(callee) == "forward" &&
             (values.kinds(tree[callee].first) & pattern.kind) != 0;
    }
    case Type::kAttribute: {
      if (kind != NodeKind::kAttribute || !fits(tree.name(node), pattern.text)) return false;
      if (tree.kind(tree[node].parent) == NodeKind::kCall && tree[tree[node].parent].first == node)
        return false;
      for (const Value& base : values.of(tree[node].first)) {
        if (base.kind == ValueKind::kPath) return false;
        if (base.kind == ValueKind::kLocalInstance &&
            !values.attribute(base.node, tree.name(node)).empty())
          return false;
      }
      if (pattern.more == "write") return is_written(tree, node);
      if (pattern.more == "read") return !is_written(tree, node);
      return true;
    }
    case Type::kAssignment: {
      if (kind != NodeKind::kAssign) return false;
      const NodeId value = tree[node].last;
      if (!pattern.more.empty() && tree.text(value) != pattern.more) return false;
      for (NodeId target = tree[node].first; target != value; target = tree[target].next)
        for (const Value& path : values.of(target))
          if (path.kind == ValueKind::kPath && fits(path.path, pattern.text)) return true;
      return false;
    }
    case Type::kOperator:
      return (kind == NodeKind::kBinary && has_operator(tree, node, pattern.text)) ||
             (kind == NodeKind::kAugAssign && has_operator(tree, node, pattern.text + "="));
    case Type::kFunction:
      return kind == NodeKind::kFunction && fits(lower(tree.name(node)), pattern.text);
    case Type::kReturn:
      return kind == NodeKind::kReturn;
    case Type::kMakes: {
      if (callee == kNoNode) return false;
      const std::vector<Value>& made = values.of(callee);
      if (pattern.kind == 0)  // an object of a class of the text
        return std::any_of(made.begin(), made.end(),
                           [](const Value& value) { return value.kind == ValueKind::kClass; });
      if ((values.kinds(node) & pattern.kind) == 0) return false;
      return std::any_of(made.begin(), made.end(), [](const Value& value) {
        return value.kind == ValueKind::kPath || value.kind == ValueKind::kClass;
      });
    }
    case Type::kText:
      return kind == NodeKind::kString && fits(string_content(tree.text(node)), pattern.text);
    case Type::kClass: {
      if (kind != NodeKind::kClass) return false;
      const std::vector<std::string_view> bases = values.library_bases(node);
      return std::any_of(bases.begin(), bases.end(),
                         [&](std::string_view base) { return fits(base, pattern.text); });
    }
    case Type::kReference: {
      if (kind != NodeKind::kName && kind != NodeKind::kAttribute) return false;
      for (const Value& value : values.of(node))
        if (value.kind == ValueKind::kPath && fits(value.path, pattern.text)) return true;
      return false;
    }
  }
  return false;
}

}  // namespace neutra::source
