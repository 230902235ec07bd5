#pragma once

#include <string>

#include "base/json.h"
#include "source/situation.h"

namespace neutra::source {

class Analysis;

/// Which expression a condition is about: "start", "receiver" (the object of its method), "callee",
/// "target" (what it is assigned to), "assigned" (what an assignment assigns), or
/// {"argument": NAME, "position": N}, each of the start, or with {"of": "origin", ...} of what the
/// condition before it found.
class Selector {
 public:
  Selector(const Json& json, const std::string& where);
  /// kNoNode: there is none.
  NodeId select(const Analysis& analysis, const Situation& situation) const;
  /// The call whose argument it is.
  NodeId call(const Situation& situation) const;

 private:
  std::string what_, name_;
  int position_ = -1;
  bool of_origin_ = false;
};

}  // namespace neutra::source
