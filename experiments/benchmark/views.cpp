#include "experiments/benchmark/views.h"

#include <array>

#include "base/csv_table.h"
#include "base/words.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark/documents.h"
#include "search/options.h"

namespace neutra::experiments {
namespace {

struct Column {
  const char *name, *pointer;  ///< JSON pointer into the full view
};
constexpr std::array<Column, 30> kColumns{{{"id", "/id"},
                                           {"status", "/status"},
                                           {"name", "/name"},
                                           {"catalogue", "/catalogue"},
                                           {"subject", "/subject"},
                                           {"title", "/title"},
                                           {"operators", "/operators"},
                                           {"apply", "/apply"},
                                           {"seed", "/test/seed"},
                                           {"place", "/place"},
                                           {"faults", "/faults"},
                                           {"category", "/category"},
                                           {"bug_type", "/bug_type"},
                                           {"support", "/support"},
                                           {"metric", "/test/metric"},
                                           {"goal", "/test/goal"},
                                           {"runs", "/test/runs"},
                                           {"fixed_mean", "/test/fixed_mean"},
                                           {"buggy_mean", "/test/buggy_mean"},
                                           {"p", "/test/p"},
                                           {"d", "/test/d"},
                                           {"power", "/test/power"},
                                           {"symptoms", "/symptoms"},
                                           {"triviality", "/triviality"},
                                           {"alternatives", "/alternatives/count"},
                                           {"alternatives_complete", "/alternatives/complete"},
                                           {"buggy", "/buggy"},
                                           {"fixed", "/fixed"},
                                           {"source", "/source"},
                                           {"licence", "/licence"}}};

std::string text_of(const Json& value, std::string (*number)(double)) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return number(value.get<double>());
  std::vector<std::string> items;
  if (value.is_array()) {
    for (const Json& item : value) items.push_back(text_of(item, number));
    return join(items, " ");
  }
  if (!value.is_object()) return value.dump();
  for (const auto& [name, item] : value.items()) items.push_back(text_of(item, number));
  return join(items, "=");  // {"symptom": "divergence", "value": 0.5}
}

}  // namespace

Json full_view(const Benchmark& benchmark, const BenchmarkEntry& entry) {
  const BenchmarkSubject& subject = subject_of(benchmark, entry);
  Json json = to_json(entry);
  json.erase("format");
  json.erase("version");
  Json operators = Json::array(), apply = Json::array();
  for (const mutators::Application& application : entry.applications) {
    operators.push_back(application.op);
    apply.push_back(to_string(application));
  }
  json["operators"] = std::move(operators);
  json["apply"] = std::move(apply);
  Json& test = json["test"];
  test["rows"] = "test";
  test["metric"] = subject.metric;
  test["goal"] = program::to_string(subject.goal);
  test["runs"] = subject.metrics.size();
  test["seed"] = benchmark.seed;
  test["thresholds"] = {{"p", evaluators::kKillLevel}, {"d", evaluators::kKillEffect}};
  // No mean where a run diverged; "symptoms" has the share of them.
  test["buggy_mean"] =
      evaluators::all_finite(entry.metrics) ? Json(evaluators::mean(entry.metrics)) : Json(nullptr);
  test["fixed_mean"] = exact_number(evaluators::mean(subject.metrics));
  json["title"] = subject.title;
  json["source"] = subject.source;
  json["licence"] = subject.licence;
  return json;
}

std::vector<EntryField> entry_fields(const Benchmark& benchmark, const BenchmarkEntry& entry,
                                     std::string (*number)(double)) {
  const Json view = full_view(benchmark, entry);
  std::vector<EntryField> fields;
  for (const Column& column : kColumns) {
    const Json::json_pointer pointer(column.pointer);
    fields.push_back(
        {column.name, view.contains(pointer) ? text_of(view.at(pointer), number) : ""});
  }
  return fields;
}

std::string to_csv(const Benchmark& benchmark, const std::vector<const BenchmarkEntry*>& entries) {
  std::vector<std::string> cells;
  for (const Column& column : kColumns) cells.emplace_back(column.name);
  std::string text = csv_line(cells);
  for (const BenchmarkEntry* entry : entries) {
    cells.clear();
    for (EntryField& field : entry_fields(benchmark, *entry)) {
      cells.push_back(std::move(field.value));
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace neutra::experiments
