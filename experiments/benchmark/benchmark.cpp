#include "experiments/benchmark/benchmark.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "program/patch.h"

namespace neutra::experiments {

bool BenchmarkEntry::uses(std::string_view op) const {
  return std::any_of(
      applications.begin(), applications.end(),
      [&](const mutators::Application& application) { return application.op == op; });
}

std::string entry_file(int id) {
  char text[40];
  std::snprintf(text, sizeof text, "entries/%04d.json", id);
  return text;
}

std::string mutation_text(const BenchmarkEntry& entry) {
  std::vector<std::string> texts;
  for (const mutators::Application& application : entry.applications) {
    texts.push_back(to_string(application));
  }
  return join(texts, " + ");
}

EntryAddress find_entry(const Benchmark& benchmark, std::string_view address) {
  EntryAddress result;
  std::string_view digits = address;
  if (!digits.empty() && (digits.back() == 'b' || digits.back() == 'f')) {
    result.version = digits.back() == 'b' ? EntryVersion::kBuggy : EntryVersion::kFixed;
    digits.remove_suffix(1);
  }
  const std::optional<int> id = parse_number<int>(digits);
  if (!id) {
    throw usage_error("found entry '" + std::string(address) +
                      "'; allowed: a number, with b or f behind it for one version");
  }
  for (const BenchmarkEntry& entry : benchmark.entries) {
    if (entry.id == id) result.entry = &entry;
  }
  if (result.entry == nullptr) {
    throw input_error(describe(benchmark.name, "entry", std::to_string(*id),
                               benchmark.entries.empty()
                                   ? std::string("none: there are no entries")
                                   : "1 to " + std::to_string(benchmark.entries.back().id)));
  }
  return result;
}

const BenchmarkSubject& subject_of(const Benchmark& benchmark, const BenchmarkEntry& entry) {
  for (const BenchmarkSubject& subject : benchmark.subjects) {
    if (subject.id == entry.subject) return subject;
  }
  throw input_error(describe(benchmark.name, entry_file(entry.id), "subject " + entry.subject,
                             "a subject of the benchmark"));
}

program::Program program_of(const Benchmark& benchmark, const BenchmarkEntry& entry,
                            EntryVersion version) {
  const program::Program& fixed = subject_of(benchmark, entry).program;
  if (version == EntryVersion::kFixed) return fixed;
  return {program::with_patch(fixed.document, entry.change,
                              benchmark.name + ": " + entry_file(entry.id) + ": /change")};
}

std::string fault_id(const Benchmark& benchmark, const BenchmarkEntry& entry) {
  return benchmark.name + "-" + std::to_string(entry.id);
}

Json fault_file(const Benchmark& benchmark, const BenchmarkEntry& entry) {
  const BenchmarkSubject& subject = subject_of(benchmark, entry);
  Json tags = Json::array();
  for (const mutators::Application& application : entry.applications) {
    tags.push_back(application.op);
  }
  tags.push_back(subject.id);
  return {{"format", "neutra-fault"},
          {"version", 1},
          {"id", fault_id(benchmark, entry)},
          {"title", subject.id + ": " + mutation_text(entry)},
          {"origin", "artificial"},
          {"source", "entry " + std::to_string(entry.id) + " of the benchmark " + benchmark.name +
                         "; " + subject.source},
          {"declared", to_string(entry.faults)},
          {"tags", std::move(tags)},
          {"program", subject.program.document},
          {"buggy", {{"program", program_of(benchmark, entry, EntryVersion::kBuggy).document}}},
          {"fixed", Json::object()}};
}

}  // namespace neutra::experiments
