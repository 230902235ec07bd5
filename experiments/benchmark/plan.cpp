#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json_section.h"
#include "base/words.h"
#include "experiments/benchmark/build.h"
#include "experiments/benchmark/documents.h"
#include "mutators/registry.h"
#include "program/vocabulary.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostRuns = 1000, kMostOfOperator = 1000, kMostBytes = 64 << 20;
constexpr double kEffect = 2;  ///< docs/methods/benchmarks.md says why
constexpr int kRuns = 20, kPerOperator = 2;
constexpr std::int64_t kDataLimit = 1 << 20;

fs::path folder_of_plans() { return resource_directory() / "benchmarks"; }

/// What a plan says for all subjects, and a subject for itself.
struct Choice {
  std::vector<const mutators::MutationOperator*> operators = mutators::mutation_operators();
  int runs = kRuns, per_operator = kPerOperator;

  void read(const JsonSection& section) {
    if (section.has("runs")) runs = static_cast<int>(section.whole("runs", 2, kMostRuns));
    if (section.has("per_operator")) {
      per_operator = static_cast<int>(section.whole("per_operator", 1, kMostOfOperator));
    }
    if (!section.has("operators") || section.at("operators") == "all") return;
    operators.clear();
    const std::vector<std::string> names = section.texts("operators");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string place = JsonSection::item_name("operators", i);
      const mutators::MutationOperator* op = nullptr;
      try {
        op = &mutators::find_mutation_operator(names[i]);
      } catch (const Error& error) {
        section.fail_text(place, error.what(), "");
      }
      if (std::find(operators.begin(), operators.end(), op) != operators.end()) {
        section.fail_text(place, names[i] + " a second time", "each operator once");
      }
      operators.push_back(op);
    }
    if (operators.empty()) section.fail("operators", section.at("operators"), "\"all\", or some");
    std::sort(operators.begin(), operators.end(),
              [](const auto* a, const auto* b) { return a->id < b->id; });
  }
};

void require_name(const JsonSection& section, const char* field, const std::string& name) {
  if (!is_part_of_names(name)) section.fail(field, name, kPartOfNames);
}

/// Gives the subjects their faults of a catalogue.
void add_catalogue(BenchmarkPlan& plan, const JsonSection& root, const fs::path& file) {
  for (const CatalogueSection& section : load_fault_catalogue(file).sections) {
    for (const CatalogueFault& fault : section.faults) {
      const auto planned =
          std::find_if(plan.subjects.begin(), plan.subjects.end(),
                       [&](const auto& one) { return one.subject.id == fault.subject; });
      if (planned == plan.subjects.end()) {
        root.fail_text("catalogue", fault.id + " on the subject " + fault.subject,
                       "faults on subjects of the plan");
      }
      planned->faults.push_back(fault);
    }
  }
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    if (plan.subjects[i].faults.empty()) {
      root.fail_text(JsonSection::item_name("subjects", i), plan.subjects[i].subject.id,
                     "subjects that the catalogue has faults on");
    }
  }
}

}  // namespace

std::vector<std::string> benchmark_plans() {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(folder_of_plans())) {
    if (item.path().extension() == ".json") names.push_back(item.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

BenchmarkPlan load_benchmark_plan(const std::string& name_or_file) {
  fs::path path = name_or_file;
  if (path.extension() != ".json" && !is_pipe_or_device(path)) {
    const std::vector<std::string> names = benchmark_plans();
    if (std::find(names.begin(), names.end(), name_or_file) == names.end()) {
      throw input_error(
          describe("", "", "unknown plan '" + name_or_file + "'",
                   allowed_words(name_or_file, names) + ", or a file that ends in .json"));
    }
    path = folder_of_plans() / (name_or_file + ".json");
  }
  const std::string file = path.string();
  const Json json = read_json(path);
  const JsonSection root(
      json, file, "",
      {"format", "version", "name", "title", "seed", "runs", "operators", "per_operator",
       "per_kind", "effect", "data_limit", "catalogue", "core_seconds", "subjects"});
  root.require_format("neutra-benchmark-plan", 1);
  BenchmarkPlan plan;
  plan.name = root.text("name", path.stem().string());
  require_name(root, "name", plan.name);
  plan.title = root.text("title", "");
  if (root.has("seed")) plan.seed = static_cast<std::uint64_t>(root.whole("seed", 0, 1LL << 53));
  plan.effect = root.has("effect") ? root.number("effect", 0, 1e6) : kEffect;
  if (root.has("per_kind")) {
    plan.per_kind = static_cast<int>(root.whole("per_kind", 1, kMostOfOperator));
  }
  plan.data_limit = static_cast<std::uint64_t>(
      root.has("data_limit") ? root.whole("data_limit", 0, kMostBytes) : kDataLimit);
  if (root.has("core_seconds")) plan.core_seconds = root.number("core_seconds", 0, 1e9);
  for (const char* field : {"operators", "per_operator", "per_kind"}) {
    if (root.has("catalogue") && root.has(field)) {
      root.fail(field, root.at(field), "none beside a catalogue, which says what is applied");
    }
  }
  Choice all;
  all.read(root);

  const std::vector<Json> subjects = root.list("subjects");
  if (subjects.empty()) root.fail_text("subjects", "none", "a list of subjects");
  std::set<std::string> ids;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::string place = JsonSection::item_name("subjects", i);
    const Json object = subjects[i].is_string() ? Json{{"subject", subjects[i]}} : subjects[i];
    const JsonSection section(
        object, file, "/" + place,
        {"subject", "source", "licence", "runs", "operators", "per_operator"});
    const std::string named = section.text("subject");
    const bool is_file = fs::path(named).extension() == ".json";
    PlannedSubject planned{
        load_subject(is_file ? (path.parent_path() / named).string() : named), {}, {}, 0, 0};
    Subject& subject = planned.subject;
    subject.source = section.text("source", subject.source);
    subject.licence = section.text("licence", subject.licence);
    require_name(section, "subject", subject.id);
    for (const auto& [field, value] :
         {std::pair{"source", &subject.source}, std::pair{"licence", &subject.licence}}) {
      if (value->empty()) {
        section.fail_text(field, "none for " + subject.id,
                          "where program and data are from, and under which licence");
      }
    }
    if (!ids.insert(subject.id).second) {
      section.fail_text("subject", subject.id + " a second time", "each subject once");
    }
    Choice own = all;
    own.read(section);
    planned.operators = own.operators;
    planned.runs = own.runs;
    planned.per_operator = own.per_operator;
    plan.subjects.push_back(std::move(planned));
  }
  if (root.has("catalogue")) add_catalogue(plan, root, path.parent_path() / root.text("catalogue"));
  return plan;
}

}  // namespace neutra::experiments
