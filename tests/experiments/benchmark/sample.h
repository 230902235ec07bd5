#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/fault_kinds.h"
#include "experiments/benchmark/relations.h"
#include "experiments/catalog.h"
#include "program/patch.h"
#include "training/data/dataset.h"

/// A benchmark that needs no training.
namespace neutra::experiments::tests {

/// The message of the Error that `action` throws, which is one of bad input; "" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput) << error.what();
    return error.what();
  }
  return "";
}

/// Rows of three classes as CSV.
inline std::string csv_of(std::size_t features) {
  std::string text;
  for (std::size_t row = 0; row < 30; ++row) {
    for (std::size_t i = 0; i < features; ++i) text += std::to_string(row * (i + 3) % 7) + ",";
    text += std::to_string(row % 3) + "\n";
  }
  return text;
}

/// Adds a bundled subject on other rows, which are in the benchmark.
inline void add_subject(Benchmark& benchmark, const std::string& id, std::size_t features) {
  const Subject bundled = load_subject(id);
  BenchmarkSubject subject;
  subject.id = id;
  subject.title = bundled.title;
  subject.source = bundled.source;
  subject.licence = bundled.licence;
  subject.program = bundled.space.base();
  Json& data = subject.program.document["data"];
  data["source"] = "csv";
  data["arguments"] = {{"file", id + ".csv"}};
  const std::string bytes = csv_of(features);
  subject.files = {{id + ".csv", bytes.size(), digest(bytes), true}};
  benchmark.data[id + ".csv"] = bytes;
  const TemporaryFolder folder("neutra-test");
  write_file_atomically(folder.path() / (id + ".csv"), bytes);
  const auto rows = training::load_dataset(data, {folder.path()});
  subject.rows = rows->info();
  subject.data = to_string(digest(*rows));
  subject.trainer = "none";
  subject.metric = "accuracy";
  subject.metrics = {0.95, 0.97, 0.96, 0.98};
  benchmark.subjects.push_back(std::move(subject));
}

inline void add_entry(Benchmark& benchmark, const std::vector<std::string>& applications) {
  const BenchmarkSubject& subject = benchmark.subjects.back();
  BenchmarkEntry entry;
  for (const std::string& text : applications) {
    entry.applications.push_back(mutators::parse_application(text, 7));
  }
  const mutators::Mutant mutant =
      mutators::apply_all(subject.program, entry.applications, &subject.rows);
  entry.id = static_cast<int>(benchmark.entries.size()) + 1;
  entry.name = mutant.name();
  entry.subject = subject.id;
  entry.place = place_of(subject.program, entry.applications, &subject.rows);
  entry.faults = mutant.faults;
  entry.change = program::json_patch(subject.program.document, mutant.program.document);
  entry.buggy = program::program_hash(mutant.program);
  entry.fixed = program::program_hash(subject.program);
  entry.metrics = {0.5, 0.52, 0.51, 0.53};
  entry.verdict = evaluators::kill_test(subject.metrics, entry.metrics, {});
  entry.symptoms = {{"metric_drop", 0.45}, {"reduced_capacity", 0.8}};
  const FaultKind kind = fault_kind(entry);
  entry.category = kind.category;
  entry.bug_type = kind.bug_type;
  benchmark.entries.push_back(std::move(entry));
  count_support(benchmark.entries);
}

/// Entries 1 to 7: wine 1 to 5, iris 6 and 7. Number 5 has two operators.
inline Benchmark sample() {
  Benchmark benchmark;
  benchmark.name = "sample";
  benchmark.seed = 7;
  benchmark.effect = 2;
  benchmark.environment = {{"neutra", "0.1.0"}, {"tensorflow", ">=2.4"}};
  benchmark.without = {{"wine", "add_bias", "", true, "1 mutant: 1 refused"},
                       {"iris", "", "T21-01", true, "1 mutant: 1 refused"}};
  add_subject(benchmark, "wine", 13);
  for (const char* op : {"ACH@0=sigmoid", "ACH@3=softmax", "HLR=0.0001", "TCL=50"}) {
    add_entry(benchmark, {op});
  }
  add_entry(benchmark, {"remove_preprocessing=0", "remove_layer@2"});
  benchmark.entries.back().catalogue = "T21-10";
  add_subject(benchmark, "iris", 4);
  for (const char* op : {"ACH@1=sigmoid", "LRM@1"}) add_entry(benchmark, {op});
  return benchmark;
}

/// Replaces a document; the index has the right digest.
inline void set_document(BenchmarkFiles& files, const std::string& name, const Json& document) {
  files[name] = to_text(document);
  Json index = parse_json(files["benchmark.json"], "index");
  for (Json& file : index["files"]) {
    if (file["name"] != name) continue;
    file["bytes"] = files[name].size();
    file["digest"] = digest(files[name]);
  }
  files["benchmark.json"] = to_text(index);
}

}  // namespace neutra::experiments::tests
