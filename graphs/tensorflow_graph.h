#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "graphs/graph.h"

namespace neutra::graphs {

/// Bytes of the largest file of a graph.
inline constexpr std::uint64_t kLargestGraph = std::uint64_t{64} << 20;

/// Reads TensorFlow's GraphDef: the text form where the name ends in .pbtxt or .txt, else the
/// binary one. Throws input_error with file, place, what was found and what is allowed: files that
/// are cut off or too large, inputs that are no node, circles, constants whose size is not that of
/// their values.
Graph read_tensorflow_graph(const std::filesystem::path& file);

/// The same of bytes; `file` is for messages.
Graph parse_tensorflow_graph(std::string_view bytes, bool text, const std::string& file);

}  // namespace neutra::graphs
