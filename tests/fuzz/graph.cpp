// Any bytes as a GraphDef, binary or text by the first one: an error, or a graph that both tools
// can look at.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "graphs/debar.h"
#include "graphs/tensorflow_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  if (size == 0) return 0;
  try {
    const graphs::Graph graph = graphs::parse_tensorflow_graph(
        {reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] == 't', "input");
    const graphs::GraphShapes shapes = graphs::check_shapes(graph);
    graphs::find_numeric_bugs(graph, shapes, {});
    if (graph.order.size() != graph.nodes.size()) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
