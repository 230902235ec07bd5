#include "serve/tool_jobs.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "base/process.h"
#include "base/temporary_folder.h"

namespace neutra::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostOutput = std::uint64_t{8} << 20;
constexpr std::size_t kMostError = 4000;  ///< bytes of what a failed process said that are shown

bool is_over(const std::string& state) { return state != "waiting" && state != "running"; }

/// The last lines.
std::string end_of(const std::string& text) {
  return printable(text.substr(text.size() - std::min(text.size(), kMostError)), "\n\t");
}

}  // namespace

ToolJobs::ToolJobs(Setup setup) : setup_(std::move(setup)), thread_([this] { work(); }) {}

ToolJobs::~ToolJobs() {
  stop();
  thread_.join();
}

std::optional<std::int64_t> ToolJobs::ask(const ToolQuestion& question) {
  const std::lock_guard lock(mutex_);
  std::size_t waiting = 0;
  for (const JobPointer& job : jobs_) {
    if (job->state == "waiting") ++waiting;
    if (job->question == question && !job->cancelled && job->state != "failed") return job->id;
  }
  if (waiting >= kWaiting || stopping_) return std::nullopt;
  const auto job = std::make_shared<Job>();
  job->id = next_++;
  job->question = question;
  jobs_.push_back(job);
  std::size_t over = 0;
  for (const JobPointer& one : jobs_) over += is_over(one->state) ? 1 : 0;
  for (auto one = jobs_.begin(); over > kKept && one != jobs_.end();) {
    const bool drop = is_over((*one)->state);
    over -= drop ? 1 : 0;
    one = drop ? jobs_.erase(one) : one + 1;
  }
  wake_.notify_all();
  return job->id;
}

Json ToolJobs::json_of(const Job& job) const {
  Json json{{"job", job.id},
            {"benchmark", job.question.benchmark},
            {"entry", job.question.entry},
            {"program_version", job.question.fixed ? "fixed" : "buggy"},
            {"tool", job.question.tool},
            {"runs", job.question.runs},
            {"state", job.state},
            {"seconds", job.seconds},
            {"answer", job.answer}};
  if (!job.error.empty()) json["error"] = job.error;
  return json;
}

ToolJobs::JobPointer ToolJobs::find(std::int64_t id) const {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const JobPointer& job) { return job->id == id; });
  return found == jobs_.end() ? nullptr : *found;
}

Json ToolJobs::job(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const JobPointer found = find(id);
  return found ? json_of(*found) : Json(nullptr);
}

Json ToolJobs::jobs(const std::string& benchmark, int entry) const {
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    if ((*job)->question.benchmark == benchmark && (*job)->question.entry == entry)
      list.push_back(json_of(**job));
  }
  return list;
}

bool ToolJobs::cancel(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const JobPointer found = find(id);
  if (!found) return false;
  if (is_over(found->state)) return true;
  found->cancelled = true;
  if (found->state == "waiting") found->state = "cancelled";
  return true;
}

void ToolJobs::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const JobPointer& job : jobs_) {
    if (is_over(job->state)) continue;
    job->cancelled = true;
    if (job->state == "waiting") job->state = "cancelled";
  }
  wake_.notify_all();
}

void ToolJobs::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto next = std::find_if(jobs_.begin(), jobs_.end(),
                                   [](const JobPointer& job) { return job->state == "waiting"; });
    if (next == jobs_.end()) {
      wake_.wait(lock);
      continue;
    }
    const JobPointer job = *next;
    job->state = "running";
    lock.unlock();
    run(*job);
    lock.lock();
  }
}

void ToolJobs::run(Job& job) {
  const auto end = [&](const std::string& state, const std::string& error, Json answer,
                       double seconds) {
    const std::lock_guard lock(mutex_);
    job.state = job.cancelled ? "cancelled" : state;
    job.error = job.cancelled ? "" : error;
    job.answer = std::move(answer);
    job.seconds = seconds;
  };
  const ToolQuestion& question = job.question;  // never changes
  try {
    const TemporaryFolder folder("neutra-serve");
    const fs::path file = folder.path() / setup_.write_fault(question, folder.path());
    std::vector<std::string> words = setup_.command;
    words.insert(words.end(), {"localise", file.string(), "--tool", question.tool, "--runs",
                               std::to_string(question.runs), "--version",
                               question.fixed ? "fixed" : "buggy", "--json", "--quiet"});
    words.insert(words.end(), setup_.options.begin(), setup_.options.end());
    // Where the server runs: words of the environment may be relative paths.
    ProcessCall call{words, fs::current_path()};
    call.output_limit = kMostOutput;
    call.stop = &job.cancelled;
    const ProcessResult result = run_process(call);
    const bool ended = result.end == ProcessEnd::kExited;
    // 1: it answered, and some of its runs broke or ran out of time.
    if (ended && (result.code == 0 || result.code == 1) && !result.out.empty()) {
      end("done", "", parse_json(result.out, "neutra localise"), result.seconds);
    } else {
      const std::string how =
          ended ? "exit code " + std::to_string(result.code) : std::string(to_string(result.end));
      end("failed", how + (result.err.empty() ? "" : ": " + end_of(result.err)), nullptr,
          result.seconds);
    }
  } catch (const std::exception& error) {
    end("failed", printable(error.what(), "\n"), nullptr, 0);
  }
}

}  // namespace neutra::serve
