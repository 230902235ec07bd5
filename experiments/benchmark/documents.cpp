#include "experiments/benchmark/documents.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json_section.h"

namespace neutra::experiments {
namespace {

constexpr int kVersion = 1;
constexpr std::int64_t kMostEntries = 1000000;
constexpr double kAny = 1e308;

std::string subject_file(const std::string& id) { return "subjects/" + id + ".json"; }
std::string data_file(const std::string& name) { return "data/" + name; }

double read_number(const JsonSection& section, const char* name, const Json& value) {
  // Texts stand for what JSON has no numbers for.
  if (!value.is_number() && !value.is_string()) section.fail(name, value, "a number");
  const double number = exact_number(value);
  if (exact_number(number) != value) section.fail(name, value, "a number");
  return number;
}
double read_number(const JsonSection& section, const char* name) {
  return read_number(section, name, section.at(name));
}

std::vector<double> read_numbers(const JsonSection& section, const char* name) {
  std::vector<double> values;
  for (const Json& item : section.list(name)) values.push_back(read_number(section, name, item));
  return values;
}

Hash read_hash(const JsonSection& section, const char* name) {
  const auto hash = parse_hash(section.text(name));
  if (!hash) section.fail(name, section.at(name), "32 hex digits");
  return *hash;
}

std::string read_digest(const JsonSection& section, const char* name) {
  return to_string(read_hash(section, name));
}

std::string read_file_name(const JsonSection& section, const char* name) {
  const std::string text = section.text(name);
  if (!is_file_name(text)) section.fail(name, text, "the relative name of a file");
  return text;
}

std::string read_part_of_names(const JsonSection& section, const char* name) {
  const std::string text = section.text(name);
  if (!is_part_of_names(text)) section.fail(name, text, kPartOfNames);
  return text;
}

program::DataInfo data_info_from_json(const JsonSection& section) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  program::DataInfo info;
  info.x = section.wholes("x", 1, kMost);
  info.y = section.wholes("y", 1, kMost);
  info.training_rows = section.whole("training_rows", 1, kMost);
  info.y_is_integer = section.flag("y_is_integer");
  info.y_min = section.number("y_min", -kAny, kAny);
  info.y_max = section.number("y_max", -kAny, kAny);
  return info;
}

Json to_json(const BenchmarkSubject& subject) {
  Json files = Json::array();
  for (const BenchmarkData& file : subject.files) {
    files.push_back({{"name", file.name},
                     {"bytes", file.bytes},
                     {"digest", file.digest},
                     {"included", file.included}});
  }
  return {{"format", "neutra-benchmark-subject"},
          {"version", kVersion},
          {"id", subject.id},
          {"title", subject.title},
          {"source", subject.source},
          {"licence", subject.licence},
          {"program", subject.program.document},
          {"rows", experiments::to_json(subject.rows)},
          {"files", std::move(files)},
          {"data", subject.data},
          {"trainer", subject.trainer},
          {"metric", subject.metric},
          {"goal", program::to_string(subject.goal)},
          {"metrics", exact_numbers(subject.metrics)}};
}

BenchmarkSubject subject_from_json(const Json& json, const std::string& file) {
  const JsonSection section(json, file, "",
                            {"format", "version", "id", "title", "source", "licence", "program",
                             "rows", "files", "data", "trainer", "metric", "goal", "metrics"});
  section.require_format("neutra-benchmark-subject", kVersion);
  BenchmarkSubject subject;
  subject.id = read_part_of_names(section, "id");
  subject.title = section.text("title");
  subject.source = section.text("source");
  subject.licence = section.text("licence");
  subject.program.document = section.at("program");
  subject.rows = data_info_from_json(
      JsonSection(section.at("rows"), file, "/rows",
                  {"x", "y", "training_rows", "y_is_integer", "y_min", "y_max"}));
  program::require_valid(subject.program.document, file, &subject.rows);
  const std::vector<Json> files = section.list("files");
  for (std::size_t i = 0; i < files.size(); ++i) {
    const JsonSection entry(files[i], file, "/files/" + std::to_string(i),
                            {"name", "bytes", "digest", "included"});
    subject.files.push_back({read_file_name(entry, "name"),
                             static_cast<std::uint64_t>(entry.whole("bytes", 0, 1LL << 50)),
                             read_digest(entry, "digest"), entry.flag("included")});
  }
  subject.data = read_digest(section, "data");
  subject.trainer = section.text("trainer");
  subject.metric = section.text("metric");
  const auto goal = program::parse_goal(section.text("goal"));
  if (!goal) section.fail("goal", section.at("goal"), "maximize, minimize");
  subject.goal = *goal;
  subject.metrics = read_numbers(section, "metrics");
  return subject;
}

Json to_json(const std::vector<mutators::Application>& applications) {
  Json list = Json::array();
  for (const mutators::Application& application : applications) {
    list.push_back(to_json(application));
  }
  return list;
}

std::vector<mutators::Application> applications_from_json(const JsonSection& section,
                                                          const char* name) {
  std::vector<mutators::Application> applications;
  for (const Json& item : section.list(name)) {
    const std::string place = section.place_of(JsonSection::item_name(name, applications.size()));
    applications.push_back(mutators::application_from_json(item, section.file() + ": " + place));
  }
  if (applications.empty()) section.fail_text(name, "none", "what made the fault");
  return applications;
}

Json to_json(const std::optional<KnownRepairs>& repairs) {
  if (!repairs) return nullptr;
  return {{"count", repairs->count}, {"complete", repairs->complete}};
}

std::optional<KnownRepairs> repairs_from_json(const JsonSection& section, const char* name) {
  if (!section.has(name) || section.at(name).is_null()) return std::nullopt;
  const JsonSection repairs(section.at(name), section.file(), section.place_of(name),
                            {"count", "complete"});
  return KnownRepairs{static_cast<int>(repairs.whole("count", 0, kMostEntries)),
                      repairs.flag("complete")};
}

}  // namespace

Json to_json(const program::DataInfo& info) {
  return {{"x", info.x},
          {"y", info.y},
          {"training_rows", info.training_rows},
          {"y_is_integer", info.y_is_integer},
          {"y_min", info.y_min},
          {"y_max", info.y_max}};
}

Json to_json(const BenchmarkEntry& entry) {
  Json symptoms = Json::array();
  for (const EntrySymptom& symptom : entry.symptoms) {
    symptoms.push_back({{"symptom", symptom.name}, {"value", symptom.value}});
  }
  const evaluators::KillVerdict& v = entry.verdict;
  return {{"format", "neutra-benchmark-entry"},
          {"version", kVersion},
          {"id", entry.id},
          {"status", entry.deprecated ? "deprecated" : "active"},
          {"name", entry.name},
          {"catalogue", entry.catalogue},
          {"subject", entry.subject},
          {"mutation", to_json(entry.applications)},
          {"place", entry.place},
          {"faults", to_string(entry.faults)},
          {"category", entry.category},
          {"bug_type", entry.bug_type},
          {"support", entry.support},
          {"change", entry.change},
          {"buggy", to_string(entry.buggy)},
          {"fixed", to_string(entry.fixed)},
          {"test",
           {{"metrics", exact_numbers(entry.metrics)},
            {"p", exact_number(v.p)},
            {"d", exact_number(v.d)},
            {"power", exact_number(v.power)}}},
          {"symptoms", std::move(symptoms)},
          {"triviality", json_or_null(entry.triviality)},
          {"alternatives", to_json(entry.alternatives)}};
}

namespace {

BenchmarkEntry entry_from_json(const Json& json, const std::string& file) {
  const JsonSection section(
      json, file, "",
      {"format",   "version", "id",     "status",   "name",       "catalogue",   "subject",
       "mutation", "place",   "faults", "category", "bug_type",   "support",     "change",
       "buggy",    "fixed",   "test",   "symptoms", "triviality", "alternatives"});
  section.require_format("neutra-benchmark-entry", kVersion);
  BenchmarkEntry entry;
  entry.id = static_cast<int>(section.whole("id", 1, kMostEntries));
  const std::string status = section.text("status");
  if (status != "active" && status != "deprecated") {
    section.fail("status", status, "active, deprecated");
  }
  entry.deprecated = status == "deprecated";
  entry.name = section.text("name");
  entry.subject = section.text("subject");
  entry.catalogue = section.text("catalogue", "");
  entry.applications = applications_from_json(section, "mutation");
  entry.place = section.text("place");
  entry.faults = program::parse_fault_set(section.text("faults"), file + ": /faults");
  entry.category = section.text("category", "");
  entry.bug_type = section.text("bug_type", "");
  entry.support = static_cast<int>(section.whole("support", 0, kMostEntries));
  entry.change = section.at("change");
  const auto is_step = [](const Json& step) {
    const Json *op = member(step, "op"), *path = member(step, "path");
    return op != nullptr && op->is_string() && path != nullptr && path->is_string();
  };
  if (!entry.change.is_array() || entry.change.empty() ||
      !std::all_of(entry.change.begin(), entry.change.end(), is_step)) {
    section.fail("change", entry.change, "a JSON Patch");
  }
  entry.buggy = read_hash(section, "buggy");
  entry.fixed = read_hash(section, "fixed");
  const JsonSection test(section.at("test"), file, "/test", {"metrics", "p", "d", "power"});
  entry.metrics = read_numbers(test, "metrics");
  entry.verdict.p = read_number(test, "p");
  entry.verdict.d = read_number(test, "d");
  entry.verdict.power = read_number(test, "power");
  const std::vector<Json> symptoms = section.list("symptoms");
  for (std::size_t i = 0; i < symptoms.size(); ++i) {
    const JsonSection symptom(symptoms[i], file, "/symptoms/" + std::to_string(i),
                              {"symptom", "value"});
    entry.symptoms.push_back({symptom.text("symptom"), symptom.number("value", -kAny, kAny)});
  }
  if (section.has("triviality") && !section.at("triviality").is_null()) {
    entry.triviality = section.number("triviality", 0, 1);
  }
  entry.alternatives = repairs_from_json(section, "alternatives");
  return entry;
}

/// A benchmark from its documents.
class Reader {
 public:
  Reader(const BenchmarkFiles& files, const std::string& where, std::vector<std::string>* problems)
      : files_(files), where_(where), problems_(problems) {}

  Benchmark read() {
    Benchmark benchmark;
    std::vector<std::string> subjects;
    attempt([&] { subjects = read_index(benchmark); });
    std::set<std::string> known{std::string(kBenchmarkIndex)};
    for (const std::string& id : subjects) {
      const std::string name = subject_file(id);
      known.insert(name);
      attempt([&] {
        BenchmarkSubject subject = subject_from_json(document(name), place(name));
        if (subject.id != id) fail(name, "/id", "'" + subject.id + "'", id);
        for (const BenchmarkData& file : subject.files) {
          if (!file.included) continue;
          const std::string data = data_file(file.name);
          known.insert(data);
          const std::string& bytes = text(data);
          if (digest(bytes) != file.digest || bytes.size() != file.bytes) {
            fail(data, "", "digest " + digest(bytes), file.digest + ", as " + name + " says");
          }
          benchmark.data[file.name] = bytes;
        }
        benchmark.subjects.push_back(std::move(subject));
      });
    }
    for (const auto& [name, text] : files_) {
      if (!name.starts_with("entries/")) continue;
      known.insert(name);
      attempt([&, &name = name] {
        BenchmarkEntry entry = entry_from_json(document(name), place(name));
        if (name != entry_file(entry.id)) {
          fail(name, "/id", std::to_string(entry.id), "the number that the file's name has");
        }
        benchmark.entries.push_back(std::move(entry));
      });
    }
    std::sort(benchmark.entries.begin(), benchmark.entries.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    for (std::size_t i = 0; i < benchmark.entries.size(); ++i) {
      attempt([&] { check_place(benchmark, i); });
    }
    for (const auto& [name, text] : files_) {
      attempt([&, &name = name] {
        if (!known.contains(name)) {
          fail(name, "", "a file that nothing refers to", "subjects, entries, data of subjects");
        }
      });
    }
    return benchmark;
  }

 private:
  template <typename F>
  void attempt(F action) {
    try {
      action();
    } catch (const Error& error) {
      if (problems_ == nullptr) throw;
      problems_->emplace_back(error.what());
    }
  }

  std::string place(const std::string& name) const { return where_ + ": " + name; }
  [[noreturn]] void fail(const std::string& name, const std::string& where,
                         const std::string& found, const std::string& allowed) const {
    throw input_error(describe(place(name), where, found, allowed));
  }

  const std::string& text(const std::string& name) const {
    const auto it = files_.find(name);
    if (it == files_.end()) fail(name, "", "no such file", "one, as the benchmark refers to it");
    return it->second;
  }
  Json document(const std::string& name) const { return parse_json(text(name), place(name)); }

  /// The ids of the subjects, in order. Every other file must be the one that the index lists.
  std::vector<std::string> read_index(Benchmark& benchmark) {
    const std::string name(kBenchmarkIndex);
    const Json json = document(name);
    const std::string file = place(name);
    const JsonSection section(json, file, "",
                              {"format", "version", "name", "title", "seed", "effect",
                               "environment", "subjects", "without", "files"});
    section.require_format("neutra-benchmark", kVersion);
    benchmark.name = read_part_of_names(section, "name");
    benchmark.title = section.text("title", "");
    benchmark.seed = static_cast<std::uint64_t>(section.whole("seed", 0, 1LL << 53));
    benchmark.effect = section.number("effect", 0, kAny);
    benchmark.environment = section.at("environment");
    if (!benchmark.environment.is_object()) {
      section.fail("environment", benchmark.environment, "an object");
    }
    const std::vector<Json> without = section.list("without");
    for (std::size_t i = 0; i < without.size(); ++i) {
      const JsonSection item(without[i], file, "/without/" + std::to_string(i),
                             {"subject", "operator", "catalogue", "applies", "reason"});
      if (item.has("operator") == item.has("catalogue")) {
        item.fail("", without[i], "either operator or catalogue");
      }
      benchmark.without.push_back({item.text("subject"), item.text("operator", ""),
                                   item.text("catalogue", ""), item.flag("applies"),
                                   item.text("reason")});
    }
    std::set<std::string> listed{name};
    const std::vector<Json> files = section.list("files");
    for (std::size_t i = 0; i < files.size(); ++i) {
      const JsonSection item(files[i], file, "/files/" + std::to_string(i),
                             {"name", "bytes", "digest"});
      const std::string other = read_file_name(item, "name");
      listed.insert(other);
      attempt([&] {
        const std::string& bytes = text(other);
        const std::string found = digest(bytes);
        if (found != read_digest(item, "digest") ||
            bytes.size() != static_cast<std::uint64_t>(item.whole("bytes", 0, 1LL << 50))) {
          fail(other, "", "digest " + found,
               read_digest(item, "digest") + ", as " + name + " says: the file was changed");
        }
      });
    }
    for (const auto& [other, bytes] : files_) {
      attempt([&, &other = other] {
        if (!listed.contains(other)) fail(other, "", "a file", "those that " + name + " lists");
      });
    }
    return section.texts("subjects");
  }

  /// Ids are 1, 2, ...; subjects are there.
  void check_place(const Benchmark& benchmark, std::size_t i) const {
    const BenchmarkEntry& entry = benchmark.entries[i];
    const std::string name = entry_file(entry.id);
    if (entry.id != (i == 0 ? 1 : benchmark.entries[i - 1].id + 1)) {
      fail(name, "/id", std::to_string(entry.id), "entries without gaps: deprecated ones stay");
    }
    if (std::none_of(benchmark.subjects.begin(), benchmark.subjects.end(),
                     [&](const auto& s) { return s.id == entry.subject; })) {
      fail(name, "/subject", entry.subject, "a subject of the benchmark");
    }
  }

  const BenchmarkFiles& files_;
  const std::string& where_;
  std::vector<std::string>* problems_;
};

}  // namespace

bool is_file_name(std::string_view name) {
  if (name.empty() || name.size() > 200 || name.front() == '/' || name.back() == '/') return false;
  bool start = true;
  for (const char c : name) {
    if (start && (c == '.' || c == '/')) return false;  // no "..", nothing hidden, nothing empty
    start = c == '/';
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("._-/").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool is_part_of_names(std::string_view name) {
  return is_file_name(name) && name.find('/') == std::string_view::npos && name.size() <= 60;
}

BenchmarkFiles to_files(const Benchmark& benchmark) {
  BenchmarkFiles files;
  Json subjects = Json::array(), without = Json::array(), list = Json::array();
  for (const BenchmarkSubject& subject : benchmark.subjects) {
    subjects.push_back(subject.id);
    files[subject_file(subject.id)] = to_text(to_json(subject));
  }
  for (const BenchmarkEntry& entry : benchmark.entries) {
    files[entry_file(entry.id)] = to_text(to_json(entry));
  }
  for (const auto& [name, bytes] : benchmark.data) files[data_file(name)] = bytes;
  for (const NoEntry& none : benchmark.without) {
    without.push_back({{"subject", none.subject},
                       {none.op.empty() ? "catalogue" : "operator", none.fault()},
                       {"applies", none.applies},
                       {"reason", none.reason}});
  }
  for (const auto& [name, bytes] : files) {
    list.push_back({{"name", name}, {"bytes", bytes.size()}, {"digest", digest(bytes)}});
  }
  files[std::string(kBenchmarkIndex)] = to_text({{"format", "neutra-benchmark"},
                                                 {"version", kVersion},
                                                 {"name", benchmark.name},
                                                 {"title", benchmark.title},
                                                 {"seed", benchmark.seed},
                                                 {"effect", benchmark.effect},
                                                 {"environment", benchmark.environment},
                                                 {"subjects", std::move(subjects)},
                                                 {"without", std::move(without)},
                                                 {"files", std::move(list)}});
  return files;
}

Benchmark benchmark_from_files(const BenchmarkFiles& files, const std::string& where,
                               std::vector<std::string>* problems) {
  return Reader(files, where, problems).read();
}

}  // namespace neutra::experiments
