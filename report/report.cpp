#include "report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"
#include "experiments/network_warnings.h"
#include "experiments/script_lines.h"
#include "program/layer_titles.h"
#include "report/analysis.h"
#include "report/changes.h"
#include "report/comparison.h"
#include "report/embedded.h"
#include "report/patches.h"
#include "report/scripts.h"
#include "report/tables.h"

namespace neutra::report {
namespace {

Json printable_texts(const Json& json) {
  if (json.is_string()) return printable(json.get_ref<const std::string&>());
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& value : json) list.push_back(printable_texts(value));
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  for (const auto& [name, value] : json.items()) object[printable(name)] = printable_texts(value);
  return object;
}

/// "layer 0, dense" of a path into a program, "" for one that leads to no layer.
std::string layer_of(const program::LayerTitles& titles, const std::string& path) {
  static const std::string kLayers = "/model/config/layers/";
  if (!path.starts_with(kLayers)) return "";
  return "layer " + titles(std::atoi(path.c_str() + kLayers.size()));
}

/// What the hyperparameters are, where the fault is known.
Json keys(const experiments::Fault& fault) {
  const program::ProgramSpace& space = fault.space;
  Json result = Json::object();
  const program::LayerTitles titles(space.base().document);
  for (const program::Key& key : space.keys()) {
    std::vector<std::string> layers;
    for (const std::string& path : key.paths) {
      const std::string layer = layer_of(titles, path);
      if (!layer.empty() && std::find(layers.begin(), layers.end(), layer) == layers.end()) {
        layers.push_back(layer);
      }
    }
    std::string where;
    for (const std::string& layer : layers) where += (where.empty() ? "" : ", ") + layer;
    Json& entry = result[key.name] = {{"kind", to_string(key.kind)}, {"where", where}};
    if (fault.script) {
      entry["places"] = experiments::places_json(experiments::places_of(*fault.script, key));
    }
  }
  return result;
}

/// The difference of a program to the buggy one; nullopt: its parameters make no program.
std::optional<program::FaultSet> difference(const experiments::Fault& fault,
                                            const program::Parameters& parameters) {
  try {
    return program::diff(fault.buggy, fault.space.instantiate(parameters));
  } catch (const Error&) {
    return std::nullopt;
  }
}

Json to_json(const evaluators::Score& score) {
  return {{"recall", score.recall}, {"precision", score.precision}, {"f", score.f}};
}

Json to_json(const evaluators::RankScore& score) {
  return {{"first", score.first}, {"average_precision", score.average_precision}};
}

Json scores_json(const experiments::ScoreSheet& sheet, const std::string& answers) {
  Json tools = Json::array();
  const bool by_line =
      std::any_of(sheet.rows.begin(), sheet.rows.end(),
                  [](const experiments::ScoreRow& row) { return !row.lines.empty(); });
  for (const experiments::ScoreRow& row : sheet.rows) {
    Json tool = {{"tool", row.tool},
                 {"answer", to_string(row.answer)},
                 {"before", to_json(row.before)},
                 {"after", to_json(row.after.score)},
                 {"truths", row.after.truths},
                 {"attaining", row.after.attaining},
                 {"seconds", json_or_null(row.seconds)},
                 {"stability", json_or_null(row.stability)},
                 {"ranks", nullptr}};
    if (by_line) tool["lines"] = evaluators::to_string(row.lines);
    if (row.ranks) {
      tool["ranks"] = {{"before", to_json(row.ranks->before)},
                       {"after", to_json(row.ranks->after)}};
    }
    tools.push_back(std::move(tool));
  }
  return {{"file", std::filesystem::path(answers).filename().string()},
          {"variant", to_string(sheet.options.variant)},
          {"match", to_string(sheet.options.match)},
          {"unlocated", to_string(sheet.options.unlocated)},
          {"beta", sheet.options.beta},
          {"tools", std::move(tools)},
          {"missing", sheet.missing}};
}

Json times_json(const StudyTimes& times) {
  Json points = Json::array();
  for (const experiments::ToolTime& tool : times.tools) {
    points.push_back({{"tool", tool.tool},
                      {"seconds", tool.seconds},
                      {"before", tool.before},
                      {"after", tool.after}});
  }
  return {{"name", times.study}, {"faults", times.faults}, {"points", std::move(points)}};
}

/// Six digits are more than a picture shows.
Json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

/// Epochs that a picture shows, from 1: all, or evenly spaced ones with the first and the last.
std::vector<std::size_t> shown_epochs(std::size_t count) {
  constexpr std::size_t kMost = 200;
  std::vector<std::size_t> epochs;
  const std::size_t shown = std::min(count, kMost);
  for (std::size_t i = 0; i < shown; ++i) {
    epochs.push_back(1 + (shown == 1 ? 0 : i * (count - 1) / (shown - 1)));
  }
  return epochs;
}

Json program_json(const ProgramCurves& program) {
  std::size_t longest = 0;
  for (const ProgramCurves::Replica& one : program.replicas) {
    longest = std::max(longest, one.curves.ends.size());
  }
  const std::vector<std::size_t> epochs = shown_epochs(longest);
  Json replicas = Json::array();
  for (const ProgramCurves::Replica& one : program.replicas) {
    Json series = Json::object();
    for (const auto& [name, values] : one.curves.series) {
      Json& list = series[name] = Json::array();
      for (const std::size_t epoch : epochs) {
        if (epoch <= values.size()) list.push_back(short_number(values[epoch - 1]));
      }
    }
    const bool same = one.stored && (*one.stored == one.metric ||
                                     (std::isnan(*one.stored) && std::isnan(one.metric)));
    replicas.push_back({{"replica", one.replica},
                        {"status", one.status},
                        {"metric", json_number(one.metric)},
                        {"same", one.stored ? Json(same) : Json(nullptr)},
                        {"series", std::move(series)}});
  }
  return {{"node", json_or_null(program.node)},
          {"fixed", program.fixed},
          {"epochs", epochs},
          {"replicas", std::move(replicas)}};
}

Json curves_json(const ReportCurves& curves) {
  Json programs = Json::array();
  int compared = 0, same = 0;
  for (const ProgramCurves& program : curves.programs) {
    programs.push_back(program_json(program));
    for (const Json& replica : programs.back()["replicas"]) {
      compared += replica["same"].is_boolean();
      same += replica["same"] == true;
    }
  }
  return {{"compared", compared},
          {"same", same},
          {"searched_with", curves.searched_with},
          {"trained_with", curves.trained_with},
          {"programs", std::move(programs)}};
}

/// In the order in which people ask: how was it made, with what, how did it go.
Json provenance_json(const ReportInput& input) {
  Json result = Json::object();
  const experiments::NetworkFile& loaded = input.network;
  if (!loaded.header.empty()) {
    Json& search = result["search"] = Json::object();
    for (const char* name : {"command", "seed", "created", "program_version", "git_commit",
                             "libraries", "machine", "fault_file", "program", "fixed", "config"}) {
      if (const Json* value = member(loaded.header, name)) search[name] = *value;
    }
    search["end"] = loaded.finished ? to_string(loaded.end) : "not finished";
    search["counters"] = to_json(loaded.counters);
  }
  result["report"] = input.provenance;
  result["report"]["file"] = input.file;
  if (!input.answers.empty()) result["report"]["answers"] = input.answers;
  return result;
}

Json compared_json(const ReportInput& input) {
  std::vector<ComparedSearch> searches = {{&input.network, input.file}};
  for (const auto& [network, file] : input.compared) searches.push_back({&network, file});
  return comparison_json(searches);
}

void replace(std::string& text, std::string_view marker, std::string_view by) {
  const std::size_t at = text.find(marker);
  text.replace(at, marker.size(), by);
}

}  // namespace

StudyTimes read_study_times(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "scores.json";
  const Json json = read_json(file);
  const auto text_of = [](const Json& object, const char* name) {
    const Json* value = member(object, name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  };
  if (text_of(json, "format") != "neutra-study-result") {
    throw input_error(describe(file.string(), "/format", "'" + text_of(json, "format") + "'",
                               "neutra-study-result, which neutra study writes"));
  }
  const Json* rows = member(json, "scores");
  if (rows == nullptr || !rows->is_array()) {
    throw input_error(describe(file.string(), "/scores", "no list", "a list of scores"));
  }
  experiments::ScoreSheet sheet;
  std::set<std::string> faults;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::string place = "/scores/" + std::to_string(i);
    const auto number = [&](const char* name, double most) {
      const Json* value = member((*rows)[i], name);
      if (value == nullptr || !value->is_number() || value->get<double>() < 0 ||
          value->get<double>() > most) {
        throw input_error(describe(file.string(), place + "/" + name,
                                   value == nullptr ? "nothing" : value->dump(),
                                   most == 1 ? "a number from 0 to 1" : "a number of at least 0"));
      }
      return value->get<double>();
    };
    experiments::ScoreRow row;
    row.fault = text_of((*rows)[i], "fault");
    row.tool = text_of((*rows)[i], "tool");
    if (row.fault.empty() || row.tool.empty()) {
      throw input_error(describe(file.string(), place, "no fault or no tool", "the names of both"));
    }
    row.before.f = number("before_f3", 1);
    row.after.score.f = number("after_f3", 1);
    const Json* seconds = member((*rows)[i], "seconds");
    if (seconds != nullptr && !seconds->is_null()) {
      row.seconds = number("seconds", std::numeric_limits<double>::max());
    }
    if (std::find(sheet.tools.begin(), sheet.tools.end(), row.tool) == sheet.tools.end()) {
      sheet.tools.push_back(row.tool);
    }
    faults.insert(row.fault);
    sheet.rows.push_back(std::move(row));
  }
  return {text_of(json, "study"), static_cast<int>(faults.size()), experiments::tool_times(sheet)};
}

Json report_document(const ReportInput& input) {
  const experiments::NetworkFile& loaded = input.network;
  const search::Network& network = loaded.network;
  const experiments::Fault* fault = loaded.fault ? &*loaded.fault : nullptr;
  Json document = {{"format", "neutra-report"},
                   {"version", 1},
                   {"file", std::filesystem::path(input.file).filename().string()},
                   {"finished", loaded.finished},
                   {"warnings", experiments::network_warnings(loaded)},
                   {"fault", {{"id", network.fault_id}}},
                   {"known", nullptr},
                   {"significance", !loaded.header.empty()},
                   {"generated", nullptr},
                   {"start", Json::object()},
                   {"fixed", nullptr},
                   {"fixed_node", nullptr},
                   {"keys", fault != nullptr ? keys(*fault) : Json::object()},
                   {"fault_types", Json::object()}};
  if (!loaded.header.empty()) document["generated"] = network.nodes.size();
  if (fault != nullptr) {
    document["fault"] = {{"id", fault->id},
                         {"title", fault->title},
                         {"origin", fault->origin},
                         {"source", fault->source}};
    document["known"] =
        to_string(experiments::known_faults(*fault, evaluators::Variant::kCorrected));
  }
  Json nodes = experiments::network_json(network, fault);
  std::set<std::string> types;
  const program::Parameters start =
      network.nodes.empty() ? program::Parameters{} : network.nodes.front().parameters;
  document["start"] = start;
  if (network.fixed_parameters && !network.nodes.empty()) {
    document["fixed"] = changes(start, *network.fixed_parameters);
  }
  const auto describe_node = [&](Json& entry, const search::Node& node) {
    entry["changes"] = changes(start, node.parameters);
    entry["difference"] = nullptr;
    entry["fault_types"] = Json::array();
    if (fault == nullptr) return;
    if (const auto faults = difference(*fault, node.parameters)) {
      const std::set<std::string> own = program::types_of(*faults);
      entry["difference"] = to_string(*faults);
      entry["fault_types"] = own;
      types.insert(own.begin(), own.end());
    }
  };
  for (Json& entry : nodes["nodes"]) {
    const search::Node& node = *network.find(entry["id"].get<std::int64_t>());
    describe_node(entry, node);
    if (network.is_known_fix(node)) document["fixed_node"] = node.id;
  }
  for (std::size_t i = 0; i < network.subpatches.size(); ++i) {
    describe_node(nodes["subpatches"][i], network.subpatches[i]);
  }
  for (const auto& [type, meaning] : program::fault_types()) {
    if (types.contains(type)) document["fault_types"][type] = meaning;
  }
  document["scores"] = input.scores ? scores_json(*input.scores, input.answers) : Json(nullptr);
  document["study"] = input.times ? times_json(*input.times) : Json(nullptr);
  document["curves"] = input.curves ? curves_json(*input.curves) : Json(nullptr);
  add_analysis(loaded, document);
  if (loaded.script) document["script"] = script_json(*loaded.script);
  document["scripts"] = scripts_json(loaded);
  document["provenance"] = provenance_json(input);
  document["network"] = std::move(nodes);
  document["compared"] = input.compared.empty() ? Json(nullptr) : compared_json(input);
  document["tables"] = tables_json(document);
  document = printable_texts(document);
  if (loaded.script) document["patches"] = patches_json(input.patches);
  return document;
}

std::string report_page(const Json& document) {
  std::string data;
  for (const char c : document.dump()) {
    // Only texts hold these, and there an escape means the same.
    if (c == '<' || c == '>' || c == '&') {
      data += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      data += c;
    }
  }
  std::string script = "(() => {\n\"use strict\";\n";
  for (const std::string_view part :
       {embedded::report_model_js, embedded::report_elements_js, embedded::report_graph_js,
        embedded::report_charts_js, embedded::report_curves_js, embedded::report_table_js,
        embedded::report_csv_js, embedded::report_outcomes_js, embedded::report_course_js,
        embedded::report_importance_js, embedded::report_slices_js, embedded::report_rejected_js,
        embedded::report_scripts_js, embedded::report_patches_js, embedded::report_comparison_js,
        embedded::report_analysis_js, embedded::report_page_js}) {
    script += part;
    script += '\n';
  }
  script += "})();";
  std::string page(embedded::report_html);
  replace(page, "<!--neutra:style-->",
          std::string(embedded::report_css) + std::string(embedded::report_analysis_css));
  replace(page, "<!--neutra:script-->", script);
  replace(page, "<!--neutra:data-->", data);
  return page;
}

}  // namespace neutra::report
