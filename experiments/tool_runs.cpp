#include "experiments/tool_runs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <sstream>

#include "base/checked_json.h"
#include "base/checksum_header.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/journal.h"
#include "evaluators/statistics.h"
#include "program/program.h"

namespace neutra::experiments {
namespace {

using fl_adapters::Localisation;
using fl_adapters::LocalisationStatus;

constexpr const char* kFormat = "neutra-runs";

const std::vector<LocalisationStatus> kStatuses = {
    LocalisationStatus::kOk, LocalisationStatus::kNotApplicable, LocalisationStatus::kTimeout,
    LocalisationStatus::kFailed};

LocalisationStatus parse_status(const std::string& word) {
  for (const LocalisationStatus status : kStatuses) {
    if (to_string(status) == word) return status;
  }
  throw input_error("status " + word);
}

Json to_json(const Localisation& run) {
  Json json{{"status", to_string(run.status)},
            {"answer", to_string(run.faults)},
            {"seconds", run.seconds}};
  if (!run.reason.empty()) json["reason"] = run.reason;
  for (const evaluators::Suspect& suspect : evaluators::distinct_places(run.ranking)) {
    json["ranking"].push_back({suspect.layer, suspect.type, exact_number(suspect.suspiciousness)});
  }
  for (const fl_adapters::ToolMessage& message : run.messages) {
    json["messages"].push_back(
        {{"code", message.code}, {"layers", message.layers}, {"text", message.text}});
  }
  if (const auto lines = fl_adapters::lines_named(run); !lines.empty()) {
    json["lines"] = evaluators::to_string(lines);
  }
  return json;
}

Localisation localisation_of(const Json& json, const std::string& where) {
  Localisation run;
  run.status = parse_status(json.at("status"));
  run.faults = program::parse_fault_set(json.at("answer").get<std::string>(), where);
  run.seconds = json.at("seconds");
  run.reason = json.value("reason", "");
  for (const Json& place : json.value("ranking", Json::array())) {
    run.ranking.push_back({place.at(0), -1, place.at(1), exact_number(place.at(2))});
  }
  for (const Json& entry : json.value("messages", Json::array())) {
    fl_adapters::ToolMessage message;
    message.code = entry.at("code");
    message.layers = entry.at("layers").get<std::set<int>>();
    message.text = entry.at("text");
    run.messages.push_back(std::move(message));
  }
  run.lines = evaluators::parse_code_lines(json.value("lines", ""), where);
  return run;
}

/// Text of a tool may hold any bytes; a line must be one.
std::string line_of(Json json) {
  return with_digest(std::move(json)).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

RunJournal::RunJournal(const std::filesystem::path& file) : file_(file) {
  const auto refused = [&](const std::string& what) {
    return failure(describe(file_.string(), "", what + " (" + std::strerror(errno) + ")", ""));
  };
  descriptor_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor_) throw refused("a file that can't be opened");
  if (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0) {
    throw failure(
        describe(file_.string(), "", "another study that writes to this folder", "one at a time"));
  }
  std::string text = read_regular_file(file, "a file of runs");
  const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (end < text.size()) {
    text.resize(end);
    if (::ftruncate(descriptor_.number(), static_cast<off_t>(end)) != 0)
      throw refused("a broken line");
  }
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const std::string place = "line " + std::to_string(number);
    const std::string where = file_.string() + ": " + place;
    try {
      Json json = parse_json(line, where);
      const DigestState state = take_digest(json);
      if (state == DigestState::kWrong) throw input_error(line);
      if (state == DigestState::kMissing) warn_no_digest(file_);
      if (number == 1) {
        if (json.at("format") != kFormat || json.at("version") != 1) throw input_error(line);
        continue;
      }
      const Json& run = json.at("run");
      localisation_of(run, where);  // what is read later must be readable
      runs_[json.at("key").dump()] = run;
    } catch (const std::exception&) {
      throw input_error(describe(file_.string(), place, line.substr(0, 80),
                                 "a line of " + std::string(kFormat) +
                                     ", version 1; delete the file to run the tools again"));
    }
  }
  if (text.empty()) append(line_of({{"format", kFormat}, {"version", 1}}));
}

void RunJournal::append(const std::string& line) {
  if (!write_all(descriptor_.number(), line) || ::fdatasync(descriptor_.number()) != 0) {
    throw_system_error("cannot write", file_);
  }
}

std::optional<Localisation> RunJournal::find(const Json& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(key.dump());
  if (found == runs_.end()) return std::nullopt;
  return localisation_of(found->second, file_.string());
}

void RunJournal::add(const Json& key, const Localisation& run) {
  const Json json = to_json(run);
  const std::lock_guard lock(mutex_);
  append(line_of({{"key", key}, {"run", json}}));
  runs_[key.dump()] = json;
}

fl_adapters::FaultyProgram faulty_program(const Fault& fault, const program::Program& program) {
  fl_adapters::FaultyProgram faulty{fault.id, program};
  if (!fault.script) return faulty;
  const Script& script = *fault.script;
  faulty.script = script.path_of(script.file).string();
  faulty.framework = script.framework;
  // The script made the buggy program, and no other.
  if (program::program_hash(program) != program::program_hash(fault.buggy)) return faulty;
  for (const ScriptFile& file : script.files)
    faulty.sources.push_back({file.file, script.path_of(file.file).string(), file.sha256});
  std::stable_partition(faulty.sources.begin(), faulty.sources.end(),
                        [&](const auto& source) { return source.name == script.file; });
  return faulty;
}

Localisation run_guarded(const fl_adapters::Tool& tool, const fl_adapters::FaultyProgram& faulty,
                         const fl_adapters::LocaliseContext& context) {
  const auto start = std::chrono::steady_clock::now();
  const auto interrupted = [&] { return context.stop != nullptr && context.stop->load(); };
  Localisation run;
  const auto fail = [&](const std::string& reason) {
    run = {};
    run.status = LocalisationStatus::kFailed;
    run.faults.applicable = false;
    run.reason = reason;
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  try {
    run = tool.localise(faulty, context);
  } catch (const Error& error) {
    if (error.exit() == Exit::kInterrupted) throw;
    fail(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  }
  // What a run that was given up says is no result.
  if (interrupted()) throw Error(Exit::kInterrupted, "interrupted");
  return run;
}

evaluators::Answer summary_of_runs(const std::string& fault, const std::string& name,
                                   const fl_adapters::Tool& tool,
                                   const std::vector<Localisation>& runs) {
  // A ranking without faults answers with the places that it suspects most.
  const auto said = [](const Localisation& run) {
    const bool places = run.faults.applicable && run.faults.items.empty() && !run.ranking.empty();
    return to_string(places ? evaluators::top_places(run.ranking, 1) : run.faults);
  };
  std::map<std::string, int> counts;
  std::map<LocalisationStatus, int> ends;
  std::vector<evaluators::Ranking> rankings;
  std::vector<double> seconds;
  for (const Localisation& run : runs) {
    ++counts[said(run)];
    ++ends[run.status];
    if (!run.ranking.empty()) rankings.push_back(run.ranking);
    const bool applied =
        run.status == LocalisationStatus::kOk || run.status == LocalisationStatus::kTimeout;
    if (applied) seconds.push_back(run.seconds);
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;  // the first by text of those that tie
      });
  evaluators::Answer answer;
  answer.fault = fault;
  answer.tool = name;
  answer.version = tool.version;
  answer.runs = static_cast<int>(runs.size());
  answer.faults = std::find_if(runs.begin(), runs.end(), [&](const Localisation& run) {
                    return said(run) == most->first;
                  })->faults;
  std::set<evaluators::CodeLines> lines;
  for (const Localisation& run : runs) {
    if (said(run) != most->first) continue;
    const auto named = fl_adapters::lines_named(run);
    lines.insert(named.begin(), named.end());
  }
  answer.lines.assign(lines.begin(), lines.end());
  answer.ranking = evaluators::merged(rankings);
  answer.stability = static_cast<double>(most->second) / static_cast<double>(runs.size());
  if (!seconds.empty()) answer.seconds = evaluators::mean(seconds);
  for (const auto& [status, count] : ends) {
    answer.status += answer.status.empty() ? "" : ", ";
    if (ends.size() > 1) answer.status += std::to_string(count) + " ";
    answer.status += to_string(status);
  }
  return answer;
}

}  // namespace neutra::experiments
