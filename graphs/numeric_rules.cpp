#include "graphs/numeric_context.h"

namespace neutra::graphs {

const NumericRules& numeric_rules() {
  static const NumericRules rules = [] {
    NumericRules all;
    add_numeric_sources(all);
    add_numeric_elementwise(all);
    add_numeric_structure(all);
    add_numeric_reductions(all);
    return all;
  }();
  return rules;
}

}  // namespace neutra::graphs
