#include "experiments/batch/batch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/process.h"
#include "experiments/catalog.h"
#include "experiments/network_warnings.h"
#include "experiments/scoring_metric.h"
#include "search/search.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "neutra-batch";
constexpr int kVersion = 1;
constexpr const char* kBatchFile = "batch.json";
constexpr const char* kBatchScript = "batch.sh";
constexpr const char* kLogs = "logs";
/// Slurm's warning: time to end the trainings in flight and to save.
constexpr int kWarningSeconds = 90;
/// What a command that was interrupted ends with; above 128 it was killed.
constexpr int kGoesOn = static_cast<int>(Exit::kInterrupted);

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

std::string faults_line(const SearchBatch& batch) {
  return "faults=(" + line_of(batch.faults) + ")\n";
}

/// For Slurm: letters, digits and what is plain in a file name.
std::string job_name(const SearchBatch& batch) {
  std::string name = "neutra-" + batch.name;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '-'; }, '_');
  return name;
}

/// What a job that gave up leaves for `neutra status`: one line.
constexpr const char* kEnding = ".end";
constexpr std::size_t kLongestNote = 200;

std::string how_its_job_ended(const fs::path& store) {
  const fs::path file = store.parent_path() / kLogs / (store.stem().string() + kEnding);
  if (std::error_code absent; !fs::is_regular_file(file, absent)) return "";
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.substr(0, kLongestNote);
}

/// In both scripts: is $status that of a search that only has to be started again?
std::string goes_on() { return "(( status == " + std::to_string(kGoesOn) + " || status > 128 ))"; }
/// Lines of both scripts. $logs, $log (a name in there), $fault, $attempt and $status are set.
std::string end_lines(const SearchBatch& batch, const std::string& indent) {
  return indent + "then=\"mend what it says, then submit again\"\n" + indent + goes_on() +
         " && then=\"the same neutra submit goes on\"\n" + indent +
         "echo \"exit $status at attempt $attempt of " + std::to_string(batch.attempts) +
         ": logs/$log; $then\" | tee \"$logs/$fault" + kEnding + "\"\n";
}

std::string logs_line(const SearchBatch& batch) {
  return "logs=" + shell_quoted((batch.folder / kLogs).string()) + "\n";
}

/// For #SBATCH --output, where % begins a field.
std::string doubled_percents(std::string text) {
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '%');
  return text;
}

/// FOLDER/batch.lock, in a folder that is made where it isn't there.
fs::path made_lock_file(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder / kLogs, error);
  if (error) {
    throw input_error(describe("--folder", "", folder.string() + " (" + error.message() + ")",
                               "a folder that is there or can be made"));
  }
  return folder / "batch.lock";
}

bool is_store(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  const std::optional<Seal> seal = read_seal(file);
  return seal && seal->format == "neutra-store";
}

/// Is this a store, maybe a damaged one? By its seal, by its journal, or by a user block that no
/// longer says what it seals.
bool looks_like_a_store(const fs::path& file) {
  if (is_store(file)) return true;
  fs::path journal = file;
  if (journal += ".journal"; start_of_file(journal, kJournalBeginning.size()) == kJournalBeginning)
    return true;
  return is_hdf5_file(file) && start_of_file(file, kHdf5Start.size()) != kHdf5Start &&
         !read_seal(file);
}

/// The title of the bundled fault that a store's header names, if it is that of its program.
std::string title_of(const Json& header) {
  struct Bundled {
    std::string title;
    std::set<std::string> hashes;  ///< of the buggy program, as it is and as searches compare it
  };
  static std::mutex mutex;
  static std::map<std::string, Bundled> known;
  const std::string id = header.value("fault", "");
  const std::vector<std::string> ids = fault_ids();
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) return "";
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(id);
  if (is_new) {
    const Fault fault = load_fault(id);
    at->second = {fault.title,
                  {to_string(program::program_hash(fault.buggy)),
                   to_string(program::program_hash(scored_alike(fault).buggy))}};
  }
  return at->second.hashes.contains(header.value("program", "")) ? at->second.title : "";
}

/// What the programs of a search are worth.
void add_findings(BatchState& state, const search::Network& network) {
  state.metric = network.metric;
  state.maximize = network.goal == program::Goal::kMaximize;
  state.level = network.ground_truth;
  state.buggy_reaches_level = buggy_reaches_level(network);
  if (!network.nodes.empty() && !network.nodes.front().metrics.empty() &&
      std::isfinite(network.nodes.front().mean))
    state.buggy = network.nodes.front().mean;
  for (const search::Node* repair : network.alternatives()) {
    if (!std::isfinite(repair->mean)) continue;
    const bool better =
        !state.best || (state.maximize ? repair->mean > *state.best : repair->mean < *state.best);
    if (better) state.best = repair->mean;
  }
}

/// Of a file that looks like a store, or should be one.
BatchState state_of(const fs::path& store) {
  BatchState state;
  state.fault = store.stem().string();
  state.store = store;
  std::error_code absent;
  const fs::file_time_type saved = fs::last_write_time(store, absent);
  try {
    const search::StoredRun run = search::read_store(store);
    state.fault = run.header.value("fault", state.fault);
    const search::SearchCounters& counters = run.counters;
    state.nodes = static_cast<std::int64_t>(run.network.nodes.size());
    state.alternatives = static_cast<std::int64_t>(run.network.alternatives().size());
    state.title = title_of(run.header);
    add_findings(state, run.network);
    state.evaluations = counters.evaluations;
    state.seconds = counters.total_seconds;
    if (run.finished) {
      state.state = "finished";
      state.note = to_string(run.end);
    } else if (const std::optional<std::string> owner = search::store_owner(store)) {
      state.state = "running";
      state.note = owner->substr(0, owner->find(", command"));
      if (!absent && run.saved_seconds > 0) {
        state.saved = saved;
        state.seconds = run.saved_seconds;
      }
    } else {
      state.state = "stopped";
      state.note = how_its_job_ended(store);
    }
    // The journal goes on, the evaluations are those of the last save.
    const double seconds = run.saved_seconds;
    if (counters.evaluations <= 0 || seconds <= 0) return state;
    const double rate = static_cast<double>(counters.evaluations) / seconds;
    state.evaluations_an_hour = rate * 3600;
    if (run.finished && !run.header.contains("config")) return state;
    const search::SearchConfig config =
        search::search_config_from_json(run.header.value("config", Json::object()), store.string());
    const auto limited = [&](double done, double budget, double seconds_left) {
      const double part = budget > 0 ? std::clamp(done / budget, 0.0, 1.0) : 1;
      state.budget_used = std::max(state.budget_used.value_or(0), part);
      if (run.finished) return;
      seconds_left = std::max(seconds_left, 0.0);
      state.seconds_left = std::min(state.seconds_left.value_or(seconds_left), seconds_left);
    };
    if (config.budget_evaluations) {
      const auto budget = static_cast<double>(*config.budget_evaluations);
      const auto done = static_cast<double>(counters.evaluations);
      limited(done, budget, (budget - done) / rate);
    }
    if (config.budget_seconds) {
      limited(seconds, *config.budget_seconds, *config.budget_seconds - seconds);
    }
  } catch (const Error& error) {
    if (error.exit() != Exit::kBadInput) throw;
    state.state = "damaged";
    state.note = error.what();
  }
  return state;
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string slurm_script(const SearchBatch& batch) {
  std::ostringstream script;
  script << "#!/bin/bash\n"
         << "# " << job_name(batch) << ": searches, one array element for each fault.\n"
         << "#SBATCH --job-name=" << job_name(batch) << "\n"
         << "#SBATCH --array=0-" << batch.faults.size() - 1 << "\n"
         << "#SBATCH --ntasks=" << batch.ranks << "\n"
         << "#SBATCH --cpus-per-task=" << batch.workers << "\n"
         << "#SBATCH --requeue\n"
         << "#SBATCH --signal=USR2@" << kWarningSeconds << "\n"
         << "#SBATCH --open-mode=append\n"
         << "#SBATCH --output="
         << shell_quoted(doubled_percents((batch.folder / kLogs).string()) + "/%A_%a.log") << "\n"
         << faults_line(batch) << "fault=${faults[$SLURM_ARRAY_TASK_ID]}\n"
         << "[[ -n $fault ]] || { echo \"no fault for element $SLURM_ARRAY_TASK_ID\"; exit 2; }\n"
         << "attempt=$((${SLURM_RESTART_COUNT:-0} + 1))\n"
         << "echo \"$(date -Is) $(hostname): $fault, attempt $attempt of " << batch.attempts
         << "\"\n"
         << logs_line(batch) << "log=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}.log\n"
         << "rm -f \"$logs/$fault" << kEnding << "\"\n"
         << "network=" << shell_quoted(batch.folder.string()) << "/$fault.tsv\n"
         << "before=$(stat --format=%y \"$network\" 2> /dev/null)\n"
         << "srun " << (batch.ranks > 1 ? "--mpi=pmix --kill-on-bad-exit=1 " : "")
         << line_of(batch.command) << " --only \"$fault\"\n"
         << "status=$?\n"
         << "# srun exits with 0, too, where it could launch nothing.\n"
         << "if (( status == 0 )) && "
         << "[[ $(stat --format=%y \"$network\" 2> /dev/null) == \"$before\" ]]; then\n"
         << "  echo \"$(date -Is) $fault: srun exited with 0, and no network was written\"\n"
         << "  status=255\n"
         << "fi\n"
         << "echo \"$(date -Is) $fault: exit $status\"\n"
         << "# " << kGoesOn << ": saved at the time limit; above 128: killed. Both go on where they"
         << " were.\n"
         << "if " << goes_on() << " && (( attempt < " << batch.attempts << " )); then\n"
         << "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\n"
         << "  sleep 60  # Slurm ends the script meanwhile\n"
         << "fi\n"
         << "(( status == 0 )) && exit 0\n"
         << end_lines(batch, "") << "exit $status\n";
  return script.str();
}

std::string local_script(const SearchBatch& batch) {
  std::ostringstream script;
  std::string mpirun;
  if (batch.ranks > 1) {
    // mpirun gives a rank one core otherwise.
    mpirun = std::string("mpirun ") + (batch.workers > 1 ? "--bind-to none " : "") + "-n " +
             std::to_string(batch.ranks) + " ";
  }
  script << "#!/bin/bash\n"
         << "# " << job_name(batch) << ": searches, one after the other.\n"
         << faults_line(batch) << "stopped=0\n"
         << "child=\n"
         << "# A search that the terminal told, too, takes this for the same signal.\n"
         << "trap 'stopped=1; [[ -z $child ]] || kill -USR2 $child' INT QUIT TERM USR2\n"
         << "# Where this script is killed, its search saves and ends.\n"
         << "with_this=(setpriv --pdeathsig TERM)\n"
         << "\"${with_this[@]}\" true 2> /dev/null || with_this=()\n"
         << "result=0\n"
         << logs_line(batch) << "for fault in \"${faults[@]}\"; do\n"
         << "  log=$fault.log\n"
         << "  rm -f \"$logs/$fault" << kEnding << "\"\n"
         << "  for (( attempt = 1; attempt <= " << batch.attempts << "; attempt++ )); do\n"
         << "    (( stopped )) && exit " << kGoesOn << "\n"
         << "    echo \"$(date -Is) $fault, attempt $attempt of " << batch.attempts
         << "\" | tee -a \"$logs/$log\"\n"
         << "    \"${with_this[@]}\" " << mpirun << line_of(batch.command)
         << " --only \"$fault\" >> \"$logs/$log\" 2>&1 &\n"
         << "    child=$!\n"
         << "    (( stopped )) && kill -USR2 $child  # told in between\n"
         << "    wait $child\n"
         << "    status=$?\n"
         << "    if (( stopped )); then\n"
         << "      # A further signal ends a wait, too.\n"
         << "      while kill -0 $child 2> /dev/null; do wait $child; done\n"
         << "      exit " << kGoesOn << "\n"
         << "    fi\n"
         << "    child=\n"
         << "    " << goes_on() << " || break\n"
         << "  done\n"
         << "  echo \"$(date -Is) $fault: exit $status\" | tee -a \"$logs/$log\"\n"
         << "  (( status == 0 )) && continue\n"
         << "  (( attempt <= " << batch.attempts << " )) || attempt=" << batch.attempts << "\n"
         << end_lines(batch, "  ") << "  result=1\n"
         << "done\n"
         << "exit $result\n";
  return script.str();
}

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
  const Json json = read_sealed_json(file, kFormat);
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
    if (std::find(all.faults.begin(), all.faults.end(), fault) == all.faults.end())
      all.faults.push_back(fault);
  }
  all_ = std::move(all);
  write_file_atomically(folder_ / kBatchFile, to_text(sealed(to_json(all_))));
  write_file_atomically(batch_script(folder_), script);
}

void Submission::took(const BatchJob& job) {
  all_.jobs.push_back(job);
  std::error_code ignored;  // the job does so, too
  for (const std::string& fault : job.faults)
    fs::remove(folder_ / kLogs / (fault + kEnding), ignored);
  write_file_atomically(folder_ / kBatchFile, to_text(sealed(to_json(all_))));
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
    for (std::string* field : {&element.id, &element.state, &element.time, &element.time_limit})
      std::getline(fields, *field, '|');
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

std::string note_text(const BatchState& state) {
  const auto end = search::parse_search_end(state.note);
  return state.state == "finished" && end ? std::string(search::end_text(*end)) : state.note;
}

std::optional<double> saved_ago(const BatchState& state) {
  if (!state.saved) return std::nullopt;
  const auto passed = fs::file_time_type::clock::now() - *state.saved;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  return static_cast<double>(std::max<std::int64_t>(seconds, 0));
}

std::vector<BatchState> batch_states(const std::vector<fs::path>& paths) {
  std::set<fs::path> stores, waiting, seen;
  const auto add = [&](std::set<fs::path>& to, const fs::path& store) {
    if (seen.insert(fs::weakly_canonical(store)).second) to.insert(store);
  };
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      if (!looks_like_a_store(path)) search::read_store(path);  // says what is wrong
      add(stores, path);
      continue;
    }
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator(path)) {
      fs::path file = entry.path();
      // A search that never saved has its journal alone.
      if (file.extension() == ".journal") file.replace_extension();
      // What a repair replaced is no search any more.
      if (file.extension() == ".damaged") continue;
      if (file == entry.path() ? looks_like_a_store(file) : file.extension() == ".h5") {
        add(stores, file);
        ++found;
      }
    }
    const std::optional<SearchBatch> batch = read_batch(path);
    for (const std::string& fault : batch ? batch->faults : std::vector<std::string>()) {
      const fs::path store = path / (fault + ".h5");
      add(fs::exists(store) ? stores : waiting, store);
      ++found;
    }
    if (found == 0) {
      throw input_error(describe(path.string(), "", "no store of a search",
                                 "a folder of neutra submit, neutra study or neutra search"));
    }
  }
  std::vector<BatchState> states;
  for (const fs::path& store : stores) states.push_back(state_of(store));
  for (const fs::path& store : waiting) {
    const std::string end = how_its_job_ended(store);
    states.push_back({store.stem().string(), store, end.empty() ? "waiting" : "stopped", end});
  }
  std::stable_sort(states.begin(), states.end(),
                   [](const BatchState& a, const BatchState& b) { return a.store < b.store; });
  return states;
}

}  // namespace neutra::experiments
