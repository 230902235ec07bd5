#include <cmath>
#include <map>
#include <ostream>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "search/minimal.h"
#include "search/network.h"
#include "search/options.h"

namespace neutra::search {
namespace {

std::string list_text(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() > 1 ? ", " : "") + python_repr(value);
  return text + "]";
}

const Node& node_at(const Network& network, std::int64_t id) {
  static const Node kMissing;
  const Node* node = network.find(id);
  return node != nullptr ? *node : kMissing;
}

/// The one key in which the two ends of an edge differ.
struct Change {
  std::string key, before, after;
};
Change change_of(const Network& network, const Edge& edge) {
  const program::Parameters& child = node_at(network, edge.child).parameters;
  for (const auto& [key, before] : node_at(network, edge.parent).parameters) {
    const auto after = child.find(key);
    if (after != child.end() && after->second != before) return {key, before, after->second};
  }
  return {};
}

/// What a node is, as the colour of the paper's figure says.
enum class Role { kBuggy, kSignificant, kOnPar, kOther };
Role role_of(const Node& node) {
  if (node.id == 0) return Role::kBuggy;
  if (!node.alternative) return Role::kOther;
  return node.significant ? Role::kSignificant : Role::kOnPar;
}
constexpr const char* kRoleWords[] = {"buggy", "significantly_better", "on_par", "neutral"};

std::string replaced(std::string text, char from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, 1, to);
  }
  return text;
}

std::string dot_quoted(const std::string& text) {
  return '"' + replaced(replaced(replaced(text, '\\', "\\\\"), '"', "\\\""), '\n', "\\n") + '"';
}

}  // namespace

void write_tsv(const Network& network, std::ostream& out) {
  out << "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
         "parent_node_param_string\tcurrent_node_param_string\tis_gt\n";
  for (const Edge& edge : network.edges) {
    const Node& parent = node_at(network, edge.parent);
    const Node& child = node_at(network, edge.child);
    out << edge.parent << '\t' << edge.child << '\t' << list_text(parent.metrics) << '\t'
        << list_text(child.metrics) << '\t' << program::to_string(parent.parameters) << '\t'
        << program::to_string(child.parameters) << '\t' << (child.alternative ? "True" : "False")
        << '\n';
  }
}

void write_graphml(const Network& network, std::ostream& out) {
  struct Attribute {
    const char *owner, *name, *type;
  };
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  for (const auto& [owner, name, type] : {Attribute{"node", "parameters", "string"},
                                          {"node", "mean", "double"},
                                          {"node", "metrics", "string"},
                                          {"node", "depth", "int"},
                                          {"node", "role", "string"},
                                          {"edge", "key", "string"},
                                          {"edge", "before", "string"},
                                          {"edge", "after", "string"}}) {
    out << "  <key id=\"" << name << "\" for=\"" << owner << "\" attr.name=\"" << name
        << "\" attr.type=\"" << type << "\"/>\n";
  }
  const auto data = [&out](const char* key, const std::string& value) {
    out << "      <data key=\"" << key << "\">" << xml_escaped(value) << "</data>\n";
  };
  out << "  <graph id=\"" << xml_escaped(network.fault_id) << "\" edgedefault=\"directed\">\n";
  for (const Node* node : drawn_nodes(network)) {
    out << "    <node id=\"n" << node->id << "\">\n";
    data("parameters", program::to_string(node->parameters));
    if (std::isfinite(node->mean)) data("mean", shortest(node->mean));
    data("metrics", list_text(node->metrics));
    data("depth", std::to_string(node->depth));
    data("role", kRoleWords[static_cast<int>(role_of(*node))]);
    out << "    </node>\n";
  }
  for (const Edge& edge : network.edges) {
    const Change change = change_of(network, edge);
    out << "    <edge source=\"n" << edge.parent << "\" target=\"n" << edge.child << "\">\n";
    data("key", change.key);
    data("before", change.before);
    data("after", change.after);
    out << "    </edge>\n";
  }
  out << "  </graph>\n</graphml>\n";
}

namespace {

/// The paper's colours, in shades that the colour-blind tell apart, for each Role.
struct DotStyle {
  const char *fill, *letters, *words;
};
constexpr DotStyle kDotStyles[] = {{"#000000", "#ffffff", "buggy program"},
                                   {"#0072b2", "#ffffff", nullptr},
                                   {"#80d0a0", "#000000", "on par with it"},
                                   {"#ffffff", "#000000", "neutral with its parent"}};

/// Of the known fix: it has a mark of its own, whatever its colour; "" where it is no secret that
/// there is none.
std::string fix_legend(const Network& network) {
  if (!network.fixed_parameters) return "";
  for (const Node* node : drawn_nodes(network)) {
    if (network.is_known_fix(*node)) return "<td style=\"dashed\">known fix</td>";
  }
  return "<td border=\"0\">the known fix is not among these programs</td>";
}

std::string dot_legend(const Network& network) {
  std::string row;
  for (const DotStyle& style : kDotStyles) {
    // Repairs that improve on the buggy program are all significantly better than that.
    const bool on_par = &style == &kDotStyles[static_cast<int>(Role::kOnPar)];
    if (network.improve && on_par) continue;
    const char* better = network.improve ? "significantly better than the buggy program"
                                         : "better than the known fix";
    row += std::string("<td bgcolor=\"") + style.fill + "\"><font color=\"" + style.letters +
           "\">" + (style.words != nullptr ? style.words : better) + "</font></td>";
  }
  const std::string direction =
      network.goal == program::Goal::kMaximize ? "higher is better" : "lower is better";
  return "<<table border=\"0\" cellborder=\"1\" cellspacing=\"6\" cellpadding=\"6\"><tr>"
         "<td border=\"0\">" +
         xml_escaped(network.fault_id) + "</td>" + row + fix_legend(network) +
         "<td border=\"0\">numbers: id, mean " + xml_escaped(network.metric) + " (" + direction +
         ")</td></tr></table>>";
}

void write_dot_form(const Network& network, std::ostream& out, bool picture) {
  const std::vector<const Node*> nodes = drawn_nodes(network);
  // In columns as long as they fit a page, else as a map, whose programs say themselves how they
  // came to be: words along so many edges would lie on each other.
  constexpr std::size_t kMostInColumns = 40;
  const bool map = nodes.size() > kMostInColumns;
  std::map<std::int64_t, std::string> made_by;
  for (const Edge& edge : network.edges) {
    const Change change = change_of(network, edge);
    made_by.try_emplace(edge.child, change.key + ": " + change.after);
  }
  out << "digraph " << dot_quoted(network.fault_id) << " {\n"
      << (map ? "  layout=sfdp; overlap=prism; overlap_scaling=-3; splines=line; K=0.4;\n"
                "  outputorder=edgesfirst;\n"
              : "  rankdir=LR; nodesep=0.1; ranksep=0.3;\n")
      << "  label=" << dot_legend(network)
      << "; labelloc=b; fontname=\"sans-serif\"; fontsize=10;\n"
      << (map ? "  node [fontname=\"sans-serif\", fontsize=7, margin=\"0.03,0.02\", width=0.2, "
                "height=0.15, shape=box];\n"
                "  edge [color=\"#999999\", arrowsize=0.5];\n"
              : "  node [fontname=\"sans-serif\", fontsize=10, margin=\"0.05,0.03\", width=0.3, "
                "height=0.2];\n"
                "  edge [color=\"#666666\", arrowsize=0.6, fontname=\"sans-serif\", "
                "fontsize=8];\n");
  for (const Node* node : nodes) {
    const Role role = role_of(*node);
    const DotStyle& style = kDotStyles[static_cast<int>(role)];
    const bool repair = role == Role::kSignificant || role == Role::kOnPar;
    const auto made = made_by.find(node->id);
    std::string label = std::to_string(node->id);
    if (std::isfinite(node->mean)) {
      label += (map ? "  " : "\n") + shortest(std::round(node->mean * 1e4) / 1e4);
    }
    if (map && made != made_by.end()) label += "\n" + made->second;
    const bool fix = network.is_known_fix(*node);
    if (fix) label += "\nknown fix";
    out << "  n" << node->id << " [label=" << dot_quoted(label)
        << ", tooltip=" << dot_quoted(program::to_string(node->parameters)) << ", style=\"filled"
        << (map && role != Role::kBuggy ? ",rounded" : "") << (fix ? ",dashed" : "")
        << "\", fillcolor=\"" << style.fill << "\", fontcolor=\"" << style.letters << '"';
    if (!map && role == Role::kBuggy) out << ", shape=box";
    if (repair) out << (map ? ", penwidth=2" : ", peripheries=2");
    if (fix && !map) out << ", penwidth=2";
    out << "];\n";
  }
  for (const Edge& edge : network.edges) {
    const Change change = change_of(network, edge);
    const std::string words = dot_quoted(change.key + ": " + change.before + " -> " + change.after);
    if (map) {
      out << "  n" << edge.parent << " -> n" << edge.child << " [tooltip=" << words << "];\n";
      continue;
    }
    if (!picture) {
      out << "  n" << edge.parent << " -> n" << edge.child << " [label=" << words << "];\n";
      continue;
    }
    // Words on the edge, as a node without outline: a label beside it may seem to be another's.
    const std::string name = "e" + std::to_string(edge.parent) + "_" + std::to_string(edge.child);
    out << "  " << name << " [shape=plaintext, fontsize=8, height=0.15, label=" << words << "];\n"
        << "  n" << edge.parent << " -> " << name << " [arrowhead=none];\n"
        << "  " << name << " -> n" << edge.child << ";\n";
  }
  out << "}\n";
}

}  // namespace

void write_dot(const Network& network, std::ostream& out) { write_dot_form(network, out, false); }
void write_picture_dot(const Network& network, std::ostream& out) {
  write_dot_form(network, out, true);
}

namespace {

/// What all programs have that were evaluated.
Json node_json(const Node& node) {
  Json metrics = Json::array();
  for (const double metric : node.metrics) metrics.push_back(json_number(metric));
  Json entry = {{"id", node_id(node)},
                {"parameters", program::to_string(node.parameters)},
                {"depth", node.depth},
                {"status", node.status},
                {"mean", json_number(node.mean)},
                {"metrics", std::move(metrics)},
                {"role", kRoleWords[static_cast<int>(role_of(node))]},
                {"alternative", node.alternative}};
  if (node.alternative) {
    entry["significant"] = node.significant;
    entry["p"] = json_number(node.p);
    entry["d"] = json_number(node.d);
  }
  return entry;
}

}  // namespace

Json to_json(const Network& network, const SearchSpace* space) {
  Json json = {
      {"format", "neutra-network"},
      {"version", 1},
      {"fault", network.fault_id},
      {"metric", network.metric},
      {"goal", to_string(network.goal)},
      {"repair", network.improve ? "improves_significantly" : "reaches_ground_truth"},
      {"ground_truth", network.ground_truth ? json_number(*network.ground_truth) : Json(nullptr)},
      {"fixed", network.fixed_parameters ? Json(program::to_string(*network.fixed_parameters))
                                         : Json(nullptr)},
      {"nodes", Json::array()},
      {"links", Json::array()}};
  const auto figures = complexity(network);
  json["complexity"] = figures ? Json(figures->mean) : Json(nullptr);
  json["improvement"] =
      figures && figures->improvement ? json_number(*figures->improvement) : Json(nullptr);
  json["fixed_metrics"] = Json::array();
  for (const double metric : network.fixed_metrics) {
    json["fixed_metrics"].push_back(json_number(metric));
  }
  std::map<const Node*, const RepairSize*> size_of;
  const std::vector<RepairSize> sizes = repair_sizes(network, space);
  for (const RepairSize& size : sizes) size_of[size.node] = &size;
  const auto add_size = [&](Json& entry, const Node* node) {
    if (const auto size = size_of.find(node); size != size_of.end()) {
      entry.update(to_json(*size->second));
    }
  };
  for (const Node* node : drawn_nodes(network)) {
    Json entry = node_json(*node);
    entry["queued"] = node->queued;
    add_size(entry, node);
    json["nodes"].push_back(std::move(entry));
  }
  json["minimal"] = to_json(count(sizes));
  json["subpatches"] = Json::array();
  for (const Node& node : network.subpatches) {
    Json entry = node_json(node);
    if (!node.alternative) entry["role"] = "no_repair";
    add_size(entry, &node);
    json["subpatches"].push_back(std::move(entry));
  }
  for (const Edge& edge : network.edges) {
    const Change change = change_of(network, edge);
    json["links"].push_back({{"source", edge.parent},
                             {"target", edge.child},
                             {"key", change.key},
                             {"before", change.before},
                             {"after", change.after}});
  }
  return json;
}

}  // namespace neutra::search
