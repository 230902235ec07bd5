#include "serve/folder_site.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "base/printable.h"
#include "base/strings.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/relations.h"
#include "experiments/benchmark/store.h"
#include "experiments/benchmark/views.h"
#include "fl_adapters/registry.h"
#include "program/patch.h"
#include "report/embedded.h"
#include "serve/embedded.h"

namespace neutra::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kJson = "application/json";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr int kMostRuns = 100;

/// Of the site's own pages: nothing from elsewhere, nothing inline, in no other site's frame.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Of reports, which are one file each: as of another origin, so that they reach nothing here.
constexpr const char* kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-popups "
    "allow-downloads";

HttpResponse failed(int status, const std::string& text) {
  return {status, kText, printable(text, "\n") + "\n"};
}

HttpResponse json_response(const Json& json, int status = 200) {
  return {status, kJson, json.dump() + "\n"};
}

std::string own_script() {
  std::string script = "(() => {\n\"use strict\";\n";
  for (const std::string_view part :
       {report::embedded::report_elements_js, embedded::serve_parts_js, embedded::serve_searches_js,
        embedded::serve_benchmark_js, embedded::serve_entry_js, embedded::serve_site_js}) {
    script += part;
    script += '\n';
  }
  return script + "})();\n";
}

/// What never changes while the program runs.
std::optional<HttpResponse> fixed_file(const std::string& path) {
  static const std::string script = own_script();
  static const std::string style =
      std::string(report::embedded::report_css) + std::string(embedded::serve_css);
  if (path == "/site.js") return HttpResponse{200, "text/javascript; charset=utf-8", script};
  if (path == "/site.css") return HttpResponse{200, "text/css; charset=utf-8", style};
  for (const char* page : {"/", "/search", "/benchmark", "/entry"}) {
    if (path == page) return HttpResponse{200, kHtml, std::string(embedded::serve_html)};
  }
  return std::nullopt;
}

std::optional<std::string> word(const HttpRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::nullopt : std::optional(found->second);
}

std::string header(const HttpRequest& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

std::optional<std::int64_t> number(const std::optional<std::string>& text) {
  return text ? parse_number<std::int64_t>(*text) : std::nullopt;
}

Json json_of(const ListedSearch& search) {
  const experiments::BatchState& state = search.state;
  return {{"name", search.name},
          {"fault", printable(state.fault)},
          {"title", printable(state.title)},
          {"state", state.state},
          {"note", state.note},
          {"note_text", experiments::note_text(state)},
          {"metric", state.metric.empty() ? Json(nullptr) : Json(printable(state.metric))},
          {"goal", state.maximize ? "maximize" : "minimize"},
          {"buggy", json_or_null(state.buggy)},
          {"level", json_or_null(state.level)},
          {"best", json_or_null(state.best)},
          {"buggy_reaches_level", state.buggy_reaches_level},
          {"programs", state.nodes},
          {"repairs", state.alternatives},
          {"evaluations", state.evaluations},
          {"evaluations_an_hour", json_or_null(state.evaluations_an_hour)},
          {"seconds", state.seconds},
          {"seconds_left", json_or_null(state.seconds_left)},
          {"budget_used", json_or_null(state.budget_used)},
          {"age", json_or_null(experiments::saved_ago(state))},
          {"revision", digest(search.revision)}};
}

Json json_of(const ListedBenchmark& listed) {
  Json json{{"name", listed.name},
            {"title", nullptr},
            {"entries", nullptr},
            {"subjects", nullptr},
            {"problem", listed.problem.empty() ? Json(nullptr) : Json(listed.problem)},
            {"revision", digest(listed.revision)}};
  if (!listed.content) return json;
  json["title"] =
      printable(listed.content->title.empty() ? listed.content->name : listed.content->title);
  json["entries"] =
      std::count_if(listed.content->entries.begin(), listed.content->entries.end(),
                    [](const experiments::BenchmarkEntry& entry) { return !entry.deprecated; });
  json["subjects"] = listed.content->subjects.size();
  return json;
}

/// Names of the tools that have a message for one of an entry's faults.
std::vector<std::string> supporting_tools(const experiments::BenchmarkEntry& entry) {
  static const std::vector<std::pair<std::string, std::set<std::string>>> known = [] {
    std::vector<std::pair<std::string, std::set<std::string>>> list;
    for (const fl_adapters::Tool* tool : fl_adapters::tools())
      list.emplace_back(tool->name, fl_adapters::fault_types_of(*tool));
    return list;
  }();
  const std::set<std::string> types = program::types_of(entry.faults);
  std::vector<std::string> names;
  for (const auto& tool : known) {
    if (std::any_of(types.begin(), types.end(),
                    [&](const std::string& type) { return tool.second.contains(type); }))
      names.push_back(tool.first);
  }
  return names;
}

Json tools_json() {
  Json list = Json::array();
  for (const fl_adapters::Tool* tool : fl_adapters::tools()) {
    Json needs = Json::array();
    for (const fl_adapters::ToolNeed need : tool->needs) needs.push_back(to_string(need));
    list.push_back({{"tool", tool->name},
                    {"version", tool->version},
                    {"kind", to_string(tool->kind)},
                    {"needs", std::move(needs)},
                    {"fault_types", fl_adapters::fault_types_of(*tool)},
                    {"description", tool->description},
                    {"source", tool->source}});
  }
  return list;
}

/// The line of an entry in a list.
Json summary(const experiments::Benchmark& benchmark, const experiments::BenchmarkEntry& entry) {
  Json operators = Json::array();
  for (const mutators::Application& application : entry.applications)
    operators.push_back(application.op);
  return {
      {"id", entry.id},
      {"deprecated", entry.deprecated},
      {"name", printable(entry.name)},
      {"catalogue", printable(entry.catalogue)},
      {"subject", printable(entry.subject)},
      {"mutation", printable(experiments::mutation_text(entry))},
      {"operators", std::move(operators)},
      {"place", printable(entry.place)},
      {"faults", to_string(entry.faults)},
      {"fault_types", program::types_of(entry.faults)},
      {"category", entry.category},
      {"bug_type", entry.bug_type},
      {"support", entry.support},
      {"fixed_mean",
       exact_number(evaluators::mean(experiments::subject_of(benchmark, entry).metrics))},
      {"buggy_mean", evaluators::all_finite(entry.metrics) ? Json(evaluators::mean(entry.metrics))
                                                           : Json(nullptr)},
      {"d", exact_number(entry.verdict.d)},
      {"tools", supporting_tools(entry)}};
}

Json type_names(const std::set<std::string>& types) {
  Json names = Json::object();
  for (const auto& [type, meaning] : program::fault_types()) {
    if (types.contains(type)) names[type] = meaning;
  }
  return names;
}

bool is_number_of_an_address(const std::string& name) {
  in_addr four{};
  in6_addr six{};
  if (name.starts_with("[") && name.ends_with("]"))
    return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &six) == 1;
  return inet_pton(AF_INET, name.c_str(), &four) == 1;
}

}  // namespace

FolderSite::FolderSite(Setup setup)
    : setup_(std::move(setup)),
      library_(setup_.folder, setup_.freshness),
      jobs_({setup_.command, setup_.tool_options,
             [this](const ToolQuestion& question, const fs::path& folder) {
               return write_fault(question, folder);
             }}) {}

void FolderSite::set_address(const std::string& host, bool loopback) {
  host_ = lower(host);
  loopback_ = loopback;
}

/// Another site's name that leads to this machine (DNS rebinding) isn't ours.
bool FolderSite::is_known_host(const std::string& header) const {
  const std::size_t bracket = header.rfind(']'), colon = header.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  const std::string name = lower(has_port ? header.substr(0, colon) : header);
  // Any port: a tunnel may have another one at its end.
  if (has_port && !number(header.substr(colon + 1))) return false;
  if (name == "localhost" || name == host_) return true;
  if (loopback_) return name.starts_with("127.") ? is_number_of_an_address(name) : name == "[::1]";
  std::array<char, 256> own{};
  return is_number_of_an_address(name) ||
         (::gethostname(own.data(), own.size() - 1) == 0 && name == lower(own.data()));
}

HttpResponse FolderSite::answer(const HttpRequest& request) {
  HttpResponse response;
  // HTTP/1.0 may come without.
  if (!is_known_host(header(request, "host")) && !header(request, "host").empty()) {
    response = failed(421, "the name isn't of this server; --host NAME says that it is");
  } else {
    try {
      response = routed(request);
    } catch (const Error& error) {
      response =
          failed(error.exit() == Exit::kBadInput ? 422 : 503, library_.relative_text(error.what()));
    }
  }
  auto& headers = response.headers;
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("Referrer-Policy", "no-referrer");
  headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  const bool has_policy = std::any_of(headers.begin(), headers.end(), [](const auto& one) {
    return one.first == "Content-Security-Policy";
  });
  if (!has_policy) headers.emplace_back("Content-Security-Policy", kPolicy);
  if (response.status == 200 && request.method != "POST") {
    const std::string tag = '"' + digest(response.body) + '"';
    headers.emplace_back("ETag", tag);
    if (header(request, "if-none-match") == tag) {
      response.status = 304;
      response.body.clear();
    }
  }
  return response;
}

HttpResponse FolderSite::routed(const HttpRequest& request) {
  const std::string& path = request.path;
  if (path == "/api/localise" || path == "/api/cancel") {
    if (request.method != "POST") return {405, kText, "allowed: POST\n", {{"Allow", "POST"}}};
    return localise(request);
  }
  if (request.method == "POST") return {405, kText, "allowed: GET\n", {{"Allow", "GET, HEAD"}}};
  if (auto file = fixed_file(path)) return *file;
  if (path == "/report") return report(request);
  if (path == "/api/listing") return searches();
  if (path == "/api/benchmark") return benchmark(request);
  if (path == "/api/entry") return entry(request);
  if (path == "/api/job") return job(request);
  return failed(404, "there is no such page");
}

HttpResponse FolderSite::searches() {
  const auto listing = library_.listing();
  Json searches = Json::array(), benchmarks = Json::array();
  for (const ListedSearch& search : listing->searches) searches.push_back(json_of(search));
  for (const ListedBenchmark& one : listing->benchmarks) benchmarks.push_back(json_of(one));
  return json_response({{"format", "neutra-listing"},
                        {"version", 1},
                        {"folder", printable(library_.folder().filename().string())},
                        {"searches", std::move(searches)},
                        {"benchmarks", std::move(benchmarks)},
                        {"notes", listing->notes}});
}

HttpResponse FolderSite::report(const HttpRequest& request) {
  const auto name = word(request, "name");
  const auto page =
      name ? library_.report(*name, setup_.provenance, word(request, "with")) : nullptr;
  if (!page) return failed(404, "name: no search of this folder has that name");
  return {200, kHtml, *page, {{"Content-Security-Policy", kReportPolicy}}};
}

HttpResponse FolderSite::benchmark(const HttpRequest& request) {
  const auto name = word(request, "name");
  const auto listing = library_.listing();
  const ListedBenchmark* found = name ? listing->find_benchmark(*name) : nullptr;
  if (found == nullptr) return failed(404, "name: no benchmark of this folder has that name");
  if (!found->content) return failed(422, found->problem);
  const experiments::Benchmark& benchmark = *found->content;
  Json entries = Json::array(), subjects = Json::object();
  std::set<std::string> types;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    entries.push_back(summary(benchmark, entry));
    types.merge(program::types_of(entry.faults));
  }
  for (const experiments::BenchmarkSubject& subject : benchmark.subjects)
    subjects[printable(subject.id)] = printable(subject.title);
  return json_response(
      {{"format", "neutra-benchmark-listing"},
       {"version", 1},
       {"name", found->name},
       {"title", printable(benchmark.title.empty() ? benchmark.name : benchmark.title)},
       {"seed", benchmark.seed},
       {"subjects", std::move(subjects)},
       {"fault_types", type_names(types)},
       {"entries", std::move(entries)}});
}

HttpResponse FolderSite::entry(const HttpRequest& request) {
  const auto name = word(request, "name");
  const auto id = number(word(request, "id"));
  const auto listing = library_.listing();
  const ListedBenchmark* found = name ? listing->find_benchmark(*name) : nullptr;
  if (found == nullptr) return failed(404, "name: no benchmark of this folder has that name");
  if (!found->content) return failed(422, found->problem);
  const experiments::Benchmark& benchmark = *found->content;
  const auto at =
      std::find_if(benchmark.entries.begin(), benchmark.entries.end(),
                   [&](const experiments::BenchmarkEntry& one) { return id && one.id == *id; });
  if (at == benchmark.entries.end()) return failed(404, "id: the benchmark has no such entry");
  const Json fixed = experiments::subject_of(benchmark, *at).program.document;
  const Json buggy =
      experiments::program_of(benchmark, *at, experiments::EntryVersion::kBuggy).document;
  Json similar = Json::array();
  for (const auto& [other, points] : experiments::similar_entries(benchmark, *at)) {
    similar.push_back(summary(benchmark, *other));
    similar.back()["points"] = points;
  }
  Json fields = Json::array();
  for (const experiments::EntryField& field : experiments::entry_fields(benchmark, *at))
    fields.push_back({{"name", field.name}, {"value", printable(field.value)}});
  return json_response(
      {{"format", "neutra-entry"},
       {"version", 1},
       {"benchmark", found->name},
       {"title", printable(benchmark.title.empty() ? benchmark.name : benchmark.title)},
       {"ids", {{"first", benchmark.entries.front().id}, {"last", benchmark.entries.back().id}}},
       {"entry", summary(benchmark, *at)},
       {"fields", std::move(fields)},
       {"fault_types", type_names(program::types_of(at->faults))},
       {"change", printable(program::patch_text(fixed, at->change), "\n")},
       {"fixed", printable(to_text(fixed), "\n")},
       {"buggy", printable(to_text(buggy), "\n")},
       {"similar", std::move(similar)},
       {"tools", tools_json()},
       {"can_run", loopback_},
       {"jobs", jobs_.jobs(found->name, at->id)}});
}

HttpResponse FolderSite::job(const HttpRequest& request) {
  const auto id = number(word(request, "id"));
  const Json found = id ? jobs_.job(*id) : Json(nullptr);
  return found.is_null() ? failed(404, "id: there is no such job") : json_response(found);
}

/// A browser says where a POST comes from, and asks before another site may send JSON.
HttpResponse FolderSite::localise(const HttpRequest& request) {
  const std::string origin = header(request, "origin"), site = header(request, "sec-fetch-site");
  if ((!origin.empty() && lower(origin) != "http://" + lower(header(request, "host"))) ||
      (!site.empty() && site != "same-origin" && site != "none"))
    return failed(403, "allowed: a request from this server's own pages");
  if (!loopback_)
    return failed(403, "tools are run for this machine alone: a server on --host 127.0.0.1");
  if (const std::string type = lower(header(request, "content-type"));
      type != kJson && !type.starts_with(std::string(kJson) + ";"))
    return failed(415, "allowed: Content-Type application/json");
  const Json body = [&] {
    try {
      return parse_json(request.body, "body");
    } catch (const Error&) {
      return Json(nullptr);
    }
  }();
  const auto integer = [&](const char* name) -> std::optional<std::int64_t> {
    const Json* value = member(body, name);
    return value != nullptr && value->is_number_integer()
               ? std::optional(value->get<std::int64_t>())
               : std::nullopt;
  };
  const auto text = [&](const char* name) {
    const Json* value = member(body, name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  };
  if (!body.is_object()) return failed(400, "body: allowed: a JSON object");
  if (request.path == "/api/cancel") {
    const auto id = integer("job");
    if (!id || !jobs_.cancel(*id)) return failed(404, "job: there is no such job");
    return json_response(jobs_.job(*id));
  }
  const auto listing = library_.listing();
  const ListedBenchmark* found = listing->find_benchmark(text("benchmark"));
  if (found == nullptr || !found->content)
    return failed(404, "benchmark: no benchmark of this folder has that name");
  const auto id = integer("entry"), runs = integer("runs");
  const auto& entries = found->content->entries;
  if (!id || std::none_of(entries.begin(), entries.end(),
                          [&](const experiments::BenchmarkEntry& one) { return one.id == *id; }))
    return failed(404, "entry: the benchmark has no such entry");
  if (fl_adapters::find_tool(text("tool")) == nullptr)
    return failed(404, "tool: there is no tool of that name");
  if (!runs || *runs < 1 || *runs > kMostRuns)
    return failed(400, "runs: allowed: 1 to " + std::to_string(kMostRuns));
  const std::string version = text("program_version");
  if (version != "buggy" && version != "fixed")
    return failed(400, "program_version: allowed: buggy, fixed");
  const auto asked = jobs_.ask({found->name, found->revision, static_cast<int>(*id), text("tool"),
                                static_cast<int>(*runs), version == "fixed"});
  if (!asked) return failed(429, "too many questions wait");
  return json_response(jobs_.job(*asked), 202);
}

std::string FolderSite::write_fault(const ToolQuestion& question, const fs::path& folder) {
  const auto listing = library_.listing();
  const ListedBenchmark* found = listing->find_benchmark(question.benchmark);
  if (found == nullptr || found->revision != question.revision)
    throw failure("the benchmark has changed meanwhile: ask again");
  const experiments::Benchmark benchmark =
      experiments::load_benchmark(library_.path_of(question.benchmark));
  const experiments::EntryAddress address =
      experiments::find_entry(benchmark, std::to_string(question.entry));
  std::string file = experiments::fault_id(benchmark, *address.entry) + ".json";
  write_file_atomically(folder / file, to_text(experiments::fault_file(benchmark, *address.entry)));
  experiments::write_data(benchmark, &experiments::subject_of(benchmark, *address.entry), folder);
  return file;
}

}  // namespace neutra::serve
