#include "experiments/batch/batch.h"

#include <algorithm>
#include <sstream>

#include "base/checked_json.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "neutra-batch";
constexpr int kVersion = 1;
constexpr const char* kBatchFile = "batch.json";
constexpr const char* kBatchScript = "batch.sh";

/// FOLDER/batch.lock, in a folder that is made where it isn't there.
fs::path made_lock_file(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder / kBatchLogs, error);
  if (error) {
    throw input_error(describe("--folder", "", folder.string() + " (" + error.message() + ")",
                               "a folder that is there or can be made"));
  }
  return folder / "batch.lock";
}

}  // namespace

Json to_json(const SearchBatch& batch) {
  Json jobs = Json::array();
  for (const BatchJob& job : batch.jobs) jobs.push_back({{"id", job.id}, {"faults", job.faults}});
  return {{"format", kFormat},        {"version", kVersion},        {"name", batch.name},
          {"faults", batch.faults},   {"command", batch.command},   {"ranks", batch.ranks},
          {"workers", batch.workers}, {"attempts", batch.attempts}, {"jobs", jobs}};
}

std::optional<SearchBatch> read_batch(const fs::path& folder) {
  const fs::path file = folder / kBatchFile;
  if (!fs::exists(file)) return std::nullopt;
  const auto other = [&] {
    return input_error(describe(file.string(), "", "another kind of file",
                                "what neutra submit wrote: format " + std::string(kFormat)));
  };
  if (!fs::is_regular_file(file)) throw other();
  const Json json = read_checked_json(file, kFormat);
  if (!json.is_object() || json.value("format", Json()) != kFormat) throw other();
  if (const Json version = json.value("version", Json()); version != kVersion) {
    throw input_error(describe(file.string(), "/version", version.dump(),
                               std::to_string(kVersion) + ", what this neutra writes"));
  }
  try {
    SearchBatch batch;
    json.at("name").get_to(batch.name);
    json.at("faults").get_to(batch.faults);
    for (const Json& job : json.value("jobs", Json::array())) {
      batch.jobs.push_back({job.at("id"), job.at("faults")});
    }
    return batch;
  } catch (const std::exception&) {
    throw other();
  }
}

fs::path batch_script(const fs::path& folder) { return folder / kBatchScript; }

Submission::Submission(fs::path folder, const std::string& study)
    : folder_(std::move(folder)),
      lock_(made_lock_file(folder_), "submit", "another neutra submit is at work there") {
  all_.name = study;
  const std::optional<SearchBatch> earlier = read_batch(folder_);
  if (!earlier) {
    if (const fs::path script = batch_script(folder_); fs::exists(script)) {
      throw input_error(describe(script.string(), "", "a file without " + std::string(kBatchFile),
                                 "a folder of neutra submit, or one with no such file"));
    }
    return;
  }
  if (earlier->name != study) {
    throw input_error(describe((folder_ / kBatchFile).string(), "/name",
                               "\"" + earlier->name + "\", another study",
                               "a --folder for each study; this one is \"" + study + "\""));
  }
  all_.faults = earlier->faults;
  all_.jobs = earlier->jobs;
}

void Submission::keep_over_exec() { lock_.keep_over_exec(); }

void Submission::write(const SearchBatch& batch, const std::string& script) {
  SearchBatch all = batch;
  all.jobs = all_.jobs;
  all.faults = all_.faults;
  for (const std::string& fault : batch.faults) {
    if (std::find(all.faults.begin(), all.faults.end(), fault) == all.faults.end()) {
      all.faults.push_back(fault);
    }
  }
  all_ = std::move(all);
  write_file_atomically(folder_ / kBatchFile, to_text(with_digest(to_json(all_))));
  write_file_atomically(batch_script(folder_), script);
}

void Submission::took(const BatchJob& job) {
  all_.jobs.push_back(job);
  std::error_code ignored;  // the job does so, too
  for (const std::string& fault : job.faults) {
    fs::remove(folder_ / kBatchLogs / (fault + kBatchEnding), ignored);
  }
  write_file_atomically(folder_ / kBatchFile, to_text(with_digest(to_json(all_))));
}

std::optional<std::vector<QueuedElement>> queued_elements(const std::vector<BatchJob>& jobs) {
  std::vector<QueuedElement> elements;
  if (jobs.empty()) return elements;
  constexpr double kPatience = 10;  // seconds
  const ProcessResult result =
      run_process({{"squeue", "--me", "--noheader", "--array", "--format=%i|%T|%M|%l|%R"},
                   fs::current_path(),
                   kPatience});
  if (result.end != ProcessEnd::kExited || result.code != 0) return std::nullopt;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    QueuedElement element;
    std::istringstream fields(line);
    for (std::string* field : {&element.id, &element.state, &element.time, &element.time_limit}) {
      std::getline(fields, *field, '|');
    }
    std::getline(fields, element.where);
    for (const BatchJob& job : jobs) {
      for (std::size_t i = 0; i < job.faults.size(); ++i) {
        if (element.id != job.id + "_" + std::to_string(i)) continue;
        element.fault = job.faults[i];
        elements.push_back(element);
      }
    }
  }
  return elements;
}

}  // namespace neutra::experiments
