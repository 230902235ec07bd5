// Any bytes as a file of Python: errors are reported, nothing crashes, children lie within their
// parents, and what the repairs make can be read again.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "source/as_published.h"
#include "source/checker.h"
#include "source/fixes.h"
#include "source/notebook.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  using namespace neutra::source;
  static const std::vector<const Rule*> rules = [] {
    std::vector<const Rule*> all;
    for (const RuleSet& set : bundled_rules())
      for (const Rule& rule : set.rules) all.push_back(&rule);
    return all;
  }();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (!bytes.empty() && bytes.front() == '{') read_notebook(bytes, "input");
  } catch (const Error&) {
  }
  try {
    const SourceText text("input", bytes);
    const Analysis analysis(text);
    const SyntaxTree& tree = analysis.tree();
    for (NodeId id = 1; id < tree.size(); ++id) {
      const Node& node = tree[id];
      if (node.begin > node.end || node.end > text.text().size()) std::abort();
      if (node.parent != kNoNode &&
          (node.begin < tree[node.parent].begin || node.end > tree[node.parent].end))
        std::abort();
    }
    const std::vector<Finding> findings = check(analysis, rules);
    published_verdicts(analysis);
    std::size_t applied = 0;
    const SourceText fixed("fixed", fixed_text(text, findings, &applied));
    const Analysis again(fixed);
  } catch (const Error&) {
  }
  return 0;
}
