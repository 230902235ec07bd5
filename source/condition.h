#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "source/situation.h"

namespace neutra::source {

class Analysis;

/// A condition of a rule (docs/formats/rule.md).
class Condition {
 public:
  virtual ~Condition() = default;
  virtual bool holds(const Analysis& analysis, Situation& situation) const = 0;
};

/// Throws input_error with `where` for what is no condition.
std::shared_ptr<const Condition> parse_condition(const Json& json, const Vocabulary& vocabulary,
                                                 const std::string& where);

}  // namespace neutra::source
