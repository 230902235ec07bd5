#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "source/values.h"

namespace neutra::source {

/// What a rule looks for: any of a list of patterns (docs/formats/rule.md).
class Matcher {
 public:
  /// Reads a pattern, a list of them, or a set ("@softmax"). Throws input_error with `where`.
  Matcher(const Json& json, const Vocabulary& vocabulary, const std::string& where);

  /// Is the node one of those?
  bool matches(NodeId node, const Values& values) const;

 private:
  enum class Type : std::uint8_t {
    kPath,        ///< "torch.save": a call of that function, or that makes an object of that class
    kInstance,    ///< "torch.nn.Softmax()": a call of an object of that class
    kMethod,      ///< ".backward": a call of a method of that name
    kKindMethod,  ///< "<optimizer>.step": the same of a kind of object
    kKindCall,    ///< "<model>()": a call of such an object
    kAttribute,   ///< {"attribute": "data", "use": "any"}
    kAssignment,  ///< {"assignment": "torch.backends.cudnn.benchmark", "to": "True"}
    kOperator,    ///< {"operator": "/"}
    kFunction,    ///< {"function": "validate*"}: its definition
    kReturn,      ///< {"statement": "return"}
    kReference,   ///< {"reference": "torch.nn.init.*"}: the name or attribute, called or not
    kMakes,       ///< {"makes": "model"}: a call that makes an object of that kind
    kText,        ///< {"text": "accuracy"}: a string with that content
    kClass        ///< {"class": "torch.utils.data.Dataset"}: a class derived from that one
  };
  struct Pattern {
    Type type = Type::kPath;
    std::string text, more;
    Kinds kind = 0;
  };
  void read(const Json& json, const Vocabulary& vocabulary, const std::string& where, int depth);
  void read_text(const std::string& text, const Vocabulary& vocabulary, const std::string& where);
  static bool matches(const Pattern& pattern, NodeId node, const Values& values);

  std::vector<Pattern> patterns_;
};

/// Is an attribute written to: assigned, or changed in place by a method (`.data.zero_()`)?
bool is_written(const SyntaxTree& tree, NodeId attribute);

}  // namespace neutra::source
