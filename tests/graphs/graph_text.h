#pragma once

#include <string>

#include "graphs/tensorflow_graph.h"

namespace neutra::graphs::tests {

/// A graph of lines "NAME OP INPUT... | ATTRIBUTES", where ATTRIBUTES is a NodeDef's text.
inline Graph graph_of(const std::string& lines) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string line = lines.substr(begin, end - begin);
    begin = end + 1;
    std::string attributes;
    if (const std::size_t bar = line.find('|'); bar != std::string::npos) {
      attributes = line.substr(bar + 1);
      line.resize(bar);
    }
    std::string node;
    int word = 0;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t stop = std::min(line.find(' ', at), line.size());
      if (stop > at) {
        const char* field = word == 0 ? "name" : word == 1 ? "op" : "input";
        node += std::string(" ") + field + ": \"" + line.substr(at, stop - at) + "\"";
        ++word;
      }
      at = stop + 1;
    }
    if (word > 0) text += "node {" + node + attributes + " }\n";
  }
  return parse_tensorflow_graph(text, true, "graph.pbtxt");
}

inline std::string attribute(const std::string& name, const std::string& value) {
  return " attr { key: \"" + name + "\" value { " + value + " } }";
}

/// The attributes of a placeholder or variable of a shape, -1 for what is unknown.
inline std::string shaped(const std::vector<std::int64_t>& sizes) {
  std::string text = "shape {";
  for (const std::int64_t size : sizes) text += " dim { size: " + std::to_string(size) + " }";
  return attribute("dtype", "type: DT_FLOAT") + attribute("shape", text + " }");
}

/// The attributes of a constant: a scalar where `shape` is empty.
inline std::string constant(const std::vector<double>& values, bool whole = false,
                            std::vector<std::int64_t> shape = {}) {
  if (shape.empty() && values.size() > 1) shape = {static_cast<std::int64_t>(values.size())};
  std::string text =
      "tensor { dtype: " + std::string(whole ? "DT_INT32" : "DT_FLOAT") + " tensor_shape {";
  for (const std::int64_t size : shape) text += " dim { size: " + std::to_string(size) + " }";
  text += " }";
  for (const double value : values)
    text += whole ? " int_val: " + std::to_string(static_cast<long>(value))
                  : " float_val: " + std::to_string(value);
  return attribute("dtype", whole ? "type: DT_INT32" : "type: DT_FLOAT") +
         attribute("value", text + " }");
}

}  // namespace neutra::graphs::tests
