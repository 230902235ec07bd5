#include "search/network_reader.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "evaluators/statistics.h"

namespace neutra::search {
namespace {

enum Column {
  kParentId,
  kChildId,
  kParentMetrics,
  kChildMetrics,
  kParentParameters,
  kChildParameters,
  kIsGt,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "parent_node_id",           "current_node_id",           "parent_accs", "current_node_accs",
    "parent_node_param_string", "current_node_param_string", "is_gt"};

/// A piece of a line that knows its place.
struct Field {
  std::string_view text;
  std::size_t column = 1;  ///< 1-based, of its first byte
};

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result(text.substr(0, kLongest));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + result + (text.size() > kLongest ? "...'" : "'");
}

std::vector<Field> split(Field line, char separator) {
  std::vector<Field> fields;
  for (;;) {
    const std::size_t end = line.text.find(separator);
    fields.push_back({line.text.substr(0, end), line.column});
    if (end == std::string_view::npos) return fields;
    line = {line.text.substr(end + 1), line.column + end + 1};
  }
}

Field trimmed(Field field) {
  while (!field.text.empty() && (field.text.front() == ' ' || field.text.front() == '\r')) {
    field.text.remove_prefix(1);
    ++field.column;
  }
  while (!field.text.empty() && (field.text.back() == ' ' || field.text.back() == '\r')) {
    field.text.remove_suffix(1);
  }
  return field;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Network read() {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") text_.remove_prefix(3);
    header();
    while (!text_.empty()) {
      const Field line = next_line();
      if (!trimmed(line).text.empty()) row(line);
    }
    Network network;
    for (auto& [id, node] : nodes_) network.nodes.push_back(std::move(node));
    network.edges = std::move(edges_);
    return network;
  }

 private:
  [[noreturn]] void fail(const Field& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(
        file_, "line " + std::to_string(line_) + ", column " + std::to_string(field.column), found,
        allowed));
  }

  Field next_line() {
    ++line_;
    const std::size_t end = text_.find('\n');
    const Field line{text_.substr(0, end), 1};
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    return line;
  }

  void header() {
    const auto fields = split(next_line(), '\t');
    width_ = fields.size();
    for (std::size_t column = 0; column < kNames.size(); ++column) {
      where_[column] = fields.size();
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (trimmed(fields[i]).text != kNames[column]) continue;
        if (where_[column] != fields.size()) {
          fail(fields[i], "column " + std::string(kNames[column]) + " a second time", "once");
        }
        where_[column] = i;
      }
      if (where_[column] == fields.size()) {
        fail(fields.front(), "no column " + std::string(kNames[column]),
             "a tab-separated header with the seven columns of docs/formats/network.md");
      }
    }
  }

  void row(const Field& line) {
    const auto fields = split(line, '\t');
    if (fields.size() != width_) {
      fail(line, std::to_string(fields.size()) + " fields", std::to_string(width_));
    }
    const auto field = [&](Column column) { return trimmed(fields[where_[column]]); };
    const std::int64_t parent_id = id(field(kParentId));
    const std::int64_t child_id = id(field(kChildId));
    if (parent_id == child_id) fail(field(kChildId), "a node that is its own parent", "another id");
    const auto flag = field(kIsGt);
    if (flag.text != "True" && flag.text != "False") {
      fail(flag, excerpt(flag.text), "True, False");
    }
    Node& parent =
        node(parent_id, field(kParentId), field(kParentMetrics), field(kParentParameters));
    if (parent.dequeued < 0) parent.dequeued = dequeued_++;
    parent.queued = true;
    const int depth = parent.depth + 1;
    const program::Parameters before = parent.parameters;
    Node& child = node(child_id, field(kChildId), field(kChildMetrics), field(kChildParameters));
    child.neutral = true;
    const bool alternative = flag.text == "True";
    if (const auto [known, is_new] = alternative_.emplace(child_id, alternative);
        !is_new && known->second != alternative) {
      fail(flag, "another value for node " + std::to_string(child_id) + " than before",
           "one value for each id");
    }
    child.alternative = alternative;
    if (child.parent < 0 && child_id != 0) {
      child.parent = parent_id;
      child.depth = depth;
      for (const auto& [key, value] : before) {
        const auto after = child.parameters.find(key);
        if (after != child.parameters.end() && after->second != value) {
          child.mutation = {"", key, value, after->second};
          break;
        }
      }
    }
    edges_.push_back({parent_id, child_id});
  }

  std::int64_t id(const Field& field) const {
    const auto value = parse_number<std::int64_t>(field.text);
    if (!value || *value < 0) {
      fail(field, excerpt(field.text), "a node id: 0 or a positive whole number");
    }
    return *value;
  }

  std::vector<double> metrics(const Field& list) const {
    if (list.text.size() < 2 || list.text.front() != '[' || list.text.back() != ']') {
      fail(list, excerpt(list.text), "a list such as [0.1, 0.52]");
    }
    std::vector<double> values;
    const Field inside{list.text.substr(1, list.text.size() - 2), list.column + 1};
    if (trimmed(inside).text.empty()) return values;
    for (const Field& item : split(inside, ',')) {
      const Field number = trimmed(item);
      const auto value = parse_number<double>(number.text);
      if (!value) fail(number, excerpt(number.text), "a number");
      values.push_back(*value);
    }
    return values;
  }

  /// NaN equals NaN here.
  static bool same(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
      return x == y || (std::isnan(x) && std::isnan(y));
    });
  }

  Node& node(std::int64_t id, const Field& id_field, const Field& metrics_field,
             const Field& parameters_field) {
    program::Parameters parameters;
    try {
      parameters = program::parse_parameters(parameters_field.text, "");
    } catch (const Error& error) {
      fail(parameters_field, excerpt(parameters_field.text),
           std::string("key=value,... (") + error.what() + ")");
    }
    const auto [found, is_new] = nodes_.try_emplace(id);
    Node& node = found->second;
    if (is_new) {
      node.id = id;
      node.status = "ok";
      node.parameters = std::move(parameters);
      node.metrics = metrics(metrics_field);
      node.mean = evaluators::mean(node.metrics);
    } else if (node.parameters != parameters) {
      fail(id_field, "node " + std::to_string(id) + " with other parameters than before",
           "one program for each id");
    } else if (!same(node.metrics, metrics(metrics_field))) {
      fail(metrics_field, "other metrics of node " + std::to_string(id) + " than before",
           "one list for each id");
    }
    return node;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t line_ = 0;
  std::size_t width_ = 0;
  std::array<std::size_t, kColumns> where_{};
  std::map<std::int64_t, Node> nodes_;
  std::map<std::int64_t, bool> alternative_;  ///< is_gt of each child
  std::vector<Edge> edges_;
  std::int64_t dequeued_ = 0;
};

}  // namespace

Network parse_network_tsv(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

Network read_network_tsv(const std::filesystem::path& file) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
  if (const auto kind = kind_of_binary(file)) {
    throw input_error(describe(file.string(), "", *kind,
                               "a network in TSV form, as neutra network makes it of a store"));
  }
  return parse_network_tsv(read_file(file, "a network in TSV form", kLargest), file.string());
}

}  // namespace neutra::search
