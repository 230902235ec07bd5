#include "experiments/mutation_analysis/runs.h"

#include <iostream>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/journal.h"
#include "search/store_header.h"
#include "training/local_trainer.h"

namespace neutra::experiments {
namespace {

const std::vector<TestSet> kSets{TestSet::kTrain, TestSet::kTest, TestSet::kWeak};

std::string bits_text(const std::vector<bool>& bits) {
  std::string text(bits.size(), '0');
  for (std::size_t i = 0; i < bits.size(); ++i) text[i] = bits[i] ? '1' : '0';
  return text;
}

}  // namespace

std::string_view to_string(TestSet set) {
  switch (set) {
    case TestSet::kTrain:
      return "train";
    case TestSet::kTest:
      return "test";
    case TestSet::kWeak:
      return "weak";
  }
  return "";
}

std::optional<TestSet> parse_test_set(std::string_view word) {
  for (const TestSet set : kSets) {
    if (word == to_string(set)) return set;
  }
  return std::nullopt;
}

Json to_json(const MutantRun& run) {
  Json metrics = Json::object();
  for (const auto& [set, value] : run.metrics) {
    metrics[std::string(to_string(set))] = exact_number(value);
  }
  Json json = {{"status", to_string(run.status)}, {"metrics", metrics}, {"seconds", run.seconds}};
  if (run.version != kMutantRunVersion) json["version"] = run.version;
  if (!run.message.empty()) json["message"] = run.message;
  if (!run.right.empty()) json["right"] = bits_text(run.right);
  if (!run.certainty.empty()) json["certainty"] = run.certainty;
  return json;
}

MutantRun mutant_run_from_json(const Json& json) {
  MutantRun run;
  const auto status = training::parse_run_status(json.at("status").get<std::string>());
  if (!status) throw input_error("no status");
  run.status = *status;
  for (const auto& [name, value] : json.at("metrics").items()) {
    const auto set = parse_test_set(name);
    if (!set) throw input_error("no test set");
    run.metrics[*set] = exact_number(value);
  }
  run.version = json.value("version", kMutantRunVersion);
  run.seconds = json.at("seconds");
  run.message = json.value("message", "");
  for (const char c : json.value("right", "")) run.right.push_back(c == '1');
  if (json.contains("certainty")) run.certainty = json.at("certainty").get<std::vector<float>>();
  return run;
}

struct MutantRuns::File {
  File(const std::filesystem::path& file, const std::string& command)
      : lock(file.string() + ".lock", command, search::kStoreInUse) {}
  FileLock lock;
  std::unique_ptr<Journal> journal;
};

namespace {

constexpr const char* kFormat = "neutra-mutant-runs";

/// What the first record of a file says; an empty object where it is damaged and runs are left.
/// Throws input_error for any other journal.
Json header_of(const JournalContent& journal, const std::string& file) {
  if (journal.records.empty()) {
    throw input_error(describe(file, "", "a journal without a whole record",
                               "a file of mutant runs, or none yet"));
  }
  const Json& first = journal.records.front().payload;
  if (first.value("type", "") == "run" && first.contains("program")) return Json::object();
  const Json* header = member(first, "header");
  const Json* format = header != nullptr ? member(*header, "format") : nullptr;
  if (format == nullptr || *format != kFormat) {
    throw input_error(describe(file, "", kind_of_file(file), "a file of mutant runs"));
  }
  return *header;
}

void check_same_analysis(const Json& stored, const Json& wanted, const std::string& file) {
  for (const auto& [name, value] : wanted.items()) {
    const Json own = stored.contains(name) ? stored[name] : Json();
    const bool older = name == "version" && own.is_number_integer() && own >= 1 && own < value;
    if (own == value || older) continue;
    throw input_error(describe(file, name, value.dump() + " now, " + own.dump() + " in the file",
                               "the same, another file, or --fresh"));
  }
}

}  // namespace

MutantRuns::MutantRuns(const std::filesystem::path& file, const Json& header, bool fresh,
                       const std::string& command)
    : file_(std::make_unique<File>(file, command)), analysis_(digest(header.dump())) {
  std::vector<Json> records{{{"type", "header"}, {"header", header}}};
  if (std::error_code error; std::filesystem::exists(file, error)) {
    const std::string bytes = read_regular_file(file, "a file of mutant runs");
    if (!bytes.empty()) {
      JournalContent journal = parse_journal(bytes);
      if (!may_be_journal(bytes, journal)) {
        throw input_error(
            describe(file.string(), "", kind_of_file(file), "a file of mutant runs, or none yet"));
      }
      const Json stored = header_of(journal, file.string());
      if (!fresh) read(std::move(journal), stored, header, file.string(), records);
    }
  }
  file_->journal = std::make_unique<Journal>(file, records, nullptr);
}

void MutantRuns::read(JournalContent journal, const Json& stored, const Json& header,
                      const std::string& file, std::vector<Json>& records) {
  // Runs say what they are of, for the case that the header is lost.
  const bool headless = stored.empty();
  if (!headless) check_same_analysis(stored, header, file);
  const int version = stored.value("version", kMutantRunVersion);
  for (auto& [offset, payload] : journal.records) {
    if (payload.value("type", "") != "run") continue;
    if (headless && payload.value("analysis", "") != analysis_) {
      throw input_error(
          describe(file, "", "a damaged header, and runs that aren't known to be of this analysis",
                   "a whole header, another file, or --fresh"));
    }
    MutantRun run;
    try {
      const auto hash = parse_hash(payload.at("program").get<std::string>());
      if (!hash) throw input_error("no hash");
      run = mutant_run_from_json(payload);
      if (!payload.contains("version")) run.version = version;
      runs_[{*hash, payload.at("run").get<int>()}] = run;
    } catch (const std::exception&) {
      journal.damage.add(offset, journal_frame(payload).size());  // whole, but says nothing
      continue;
    }
    payload["analysis"] = analysis_;
    if (run.version != kMutantRunVersion) payload["version"] = run.version;
    records.push_back(std::move(payload));
  }
  if (journal.damage.bytes > 0) {
    std::cerr << "warning: " << file << ": " << to_string(journal.damage)
              << " left out; the runs in them are made again\n";
  }
}

MutantRuns::MutantRuns() = default;
MutantRuns::~MutantRuns() = default;

const MutantRun* MutantRuns::find(const Hash& program, int run) const {
  const auto it = runs_.find({program, run});
  return it == runs_.end() ? nullptr : &it->second;
}

void MutantRuns::add(const Hash& program, int run, MutantRun result) {
  if (file_) {
    Json record = {
        {"type", "run"}, {"analysis", analysis_}, {"program", to_string(program)}, {"run", run}};
    record.update(to_json(result));
    file_->journal->append(record);
  }
  runs_[{program, run}] = std::move(result);
}

Json mutant_runs_header(const program::Program& original, training::LocalTrainer& trainer,
                        std::uint64_t seed, const training::TrainingJob& limits) {
  return {{"format", kFormat},
          {"version", kMutantRunVersion},
          {"original", to_string(program::program_hash(original))},
          {"seed", seed},
          {"time_limit", limits.time_limit},
          {"memory_limit", limits.memory_limit},
          {"trainer", trainer.fingerprint(original)}};
}

}  // namespace neutra::experiments
