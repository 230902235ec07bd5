#include "fl_adapters/external.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/words.h"
#include "fl_adapters/tool_answer.h"
#include "program/formats/keras_script.h"
#include "program/formats/program_for_tools.h"

namespace neutra::fl_adapters {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAnswerFile = "answer.json";
constexpr const char* kRequestFile = "request.json";
constexpr const char* kRunFile = "run.json";

/// The same text with what is no UTF-8 replaced: a tool prints what it likes.
std::string valid_utf8(std::string_view text) {
  return Json::parse(Json(text).dump(-1, ' ', true, Json::error_handler_t::replace));
}

/// The last line that says something, cut to a readable length; "" for none.
std::string last_line(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t before = text.find_last_of("\r\n", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  std::string line = text.substr(begin, std::min(end + 1 - begin, kLongest));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return valid_utf8(line);
}

std::string processes(int count) {
  return std::to_string(count) + (count == 1 ? " process" : " processes");
}

/// The stricter of two limits, where 0 is none.
template <class Number>
Number stricter(Number a, Number b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

std::string file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-' && c != '.'; },
      '_');
  return text;
}

/// Where a run is kept.
fs::path kept_folder(const fs::path& keep, const FaultyProgram& faulty, const std::string& tool,
                     int run) {
  return fs::absolute(keep / file_name(faulty.id + "-" + tool + "-" + std::to_string(run)));
}

/// Throws input_error where something is that no run left.
void require_run_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored) || fs::exists(folder / kRunFile, ignored) ||
      fs::exists(folder / kRequestFile, ignored) || fs::is_empty(folder, ignored)) {
    return;
  }
  throw input_error(
      describe(folder.string(), "", "something that is no run of a tool", "another --keep folder"));
}

/// The folder of one run: `kept`, emptied, or where that is empty a temporary one.
class RunFolder {
 public:
  explicit RunFolder(const fs::path& kept) : path_(kept) {
    if (kept.empty()) {
      temporary_.emplace("neutra-run");
      path_ = temporary_->path();
      return;
    }
    require_run_folder(path_);
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  const fs::path& path() const { return path_; }

 private:
  std::optional<TemporaryFolder> temporary_;
  fs::path path_;
};

/// Why there is no answer; "" if there may be one.
std::string trouble(const ProcessResult& process, const ProcessCall& call) {
  const std::string printed =
      last_line(process.err).empty() ? last_line(process.out) : last_line(process.err);
  const std::string said = printed.empty() ? "" : ": " + printed;
  switch (process.end) {
    case ProcessEnd::kNotStarted:
      return "'" + call.command.front() + "' can't be started: " + std::strerror(process.code);
    case ProcessEnd::kSignalled:
      return "ended by signal " + std::to_string(process.code) + " (" + strsignal(process.code) +
             ")" + said;
    case ProcessEnd::kTime:
      return "ran longer than " + shortest(call.time_limit) + " s";
    case ProcessEnd::kMemory:
      return "held more than " + std::to_string(call.memory_limit) + " bytes of memory";
    case ProcessEnd::kOutput:
      return "printed more than " + std::to_string(call.output_limit) + " bytes";
    case ProcessEnd::kStopped:
      return "ended by somebody else" + said;
    case ProcessEnd::kExited:
      return process.code == 0 ? "" : "exit code " + std::to_string(process.code) + said;
  }
  return "";
}

/// answer.json, else standard output. Throws input_error.
Localisation json_answer(const fs::path& folder, const ProcessCall& call,
                         const ProcessResult& process, const program::Program& program) {
  const fs::path file = folder / kAnswerFile;
  std::error_code error;
  if (!fs::exists(file, error)) {
    if (process.out.find_first_not_of(" \t\r\n") == std::string::npos) {
      throw input_error(
          describe(kAnswerFile, "", "no such file, and nothing on standard output", "an answer"));
    }
    return read_tool_answer(parse_json(process.out, "standard output"), "standard output", program);
  }
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > call.output_limit) {
    throw input_error(
        describe(kAnswerFile, "", "no file of a fitting size",
                 "a file of at most " + std::to_string(call.output_limit) + " bytes"));
  }
  try {
    return read_tool_answer(read_json(file), kAnswerFile, program);
  } catch (const Error& wrong) {
    // The folder's name says nothing, and is another one in each run.
    std::string text = wrong.what();
    if (const auto at = text.find(file.string()); at != std::string::npos) {
      text.replace(at, file.string().size(), kAnswerFile);
    }
    throw input_error(text);
  }
}

Localisation parsed_answer(const OutputParser& parser, const std::string& text,
                           const FaultyProgram& faulty) {
  Localisation answer = parser(text, faulty);
  for (ToolMessage& message : answer.messages) {
    for (std::string* part : {&message.code, &message.severity, &message.text, &message.detail}) {
      *part = valid_utf8(*part);
    }
  }
  return answer;
}

Localisation no_answer(LocalisationStatus status, const std::string& reason) {
  Localisation answer;
  answer.status = status;
  answer.reason = reason;
  answer.faults.applicable = status == LocalisationStatus::kTimeout;
  return answer;
}

/// Why the tool can't be asked about the program; nullopt: it can.
std::optional<std::string> refusal(const ToolDescription& tool, const program::Program& program) {
  if (const auto problems = program::validate(program.document); !problems.empty()) {
    return to_string(problems.front());
  }
  if (tool.inputs.contains(ToolInput::kScript)) {
    if (const auto reason = program::keras_script_refusal(program)) {
      return "no Keras script has " + *reason;
    }
  }
  return std::nullopt;
}

/// Another seed for each run, the same ones for the same study.
std::uint32_t seed_of(const LocaliseContext& context) {
  return static_cast<std::uint32_t>(
      (context.seed * 1000 + static_cast<std::uint64_t>(context.run)) % 0x7fffffff);
}

/// Writes a file of the run's folder and adds its name.
void write_input(const fs::path& folder, const char* name, const std::string& text,
                 std::vector<std::string>& files) {
  write_file_atomically(folder / name, text);
  files.emplace_back(name);
}

/// Writes data, program.json and train.py, as far as the tool asks for them, and adds their names.
/// Returns why there can be no script; nullopt: all is written.
std::optional<std::string> write_inputs(const ToolDescription& tool, const FaultyProgram& faulty,
                                        const LocaliseContext& context, const fs::path& folder,
                                        std::vector<std::string>& files) {
  std::shared_ptr<const training::Dataset> data;
  std::optional<program::DataInfo> info;
  if (tool.inputs.contains(ToolInput::kData)) {
    assert(context.trainer != nullptr);
    data = context.trainer->dataset(faulty.program);
    assert(data != nullptr);
    info = data->info();
    const auto shared = context.data_files ? context.data_files : std::make_shared<DataFiles>();
    files = shared->put(faulty.program.document.at("data"), *data, folder);
  }
  write_input(folder, "program.json",
              to_text(program::program_for_tools(faulty.program, info ? &*info : nullptr)), files);
  if (!tool.inputs.contains(ToolInput::kScript)) return std::nullopt;
  program::KerasScriptOptions options{info ? std::optional(info->x) : std::nullopt, false,
                                      seed_of(context)};
  options.validation = data != nullptr && !data->x_validation.values.empty();
  options.validation_weights = data != nullptr && !data->weights_validation.values.empty();
  std::string script;
  try {
    script = tool.script->write(faulty.program, options);
  } catch (const Error& error) {
    return error.what();
  }
  write_input(folder, "train.py", script, files);
  return std::nullopt;
}

ProcessCall call_of(const ToolDescription& tool, const LocaliseContext& context,
                    const fs::path& folder) {
  ProcessCall call;
  call.command = tool.command;
  for (std::string& word : call.command) {
    word = filled_in(std::move(word), "{folder}", folder.string());
  }
  call.folder = folder;
  call.time_limit = stricter(tool.time_limit, context.time_limit);
  call.memory_limit = stricter(tool.memory_limit, context.memory_limit);
  call.output_limit = tool.output_limit;
  call.stop = context.stop;
  return call;
}

/// request.json: what the run is, and its limits.
Json request_of(const ProcessCall& call, const FaultyProgram& faulty,
                const LocaliseContext& context, const std::vector<std::string>& files) {
  Json request = {{"format", "neutra-request"},
                  {"version", 1},
                  {"run", context.run},
                  {"seed", seed_of(context)},
                  {"time_limit", call.time_limit},
                  {"memory_limit", call.memory_limit},
                  {"output_limit", call.output_limit},
                  {"files", files}};
  if (!faulty.script.empty()) request["script"] = faulty.script;
  return request;
}

/// What an ended process answered.
Localisation read_answer(const ToolDescription& tool, const FaultyProgram& faulty,
                         const ProcessCall& call, const ProcessResult& process) {
  const std::string reason = trouble(process, call);
  if (!reason.empty() && process.end != ProcessEnd::kTime) {
    return no_answer(LocalisationStatus::kFailed, reason);
  }
  try {
    Localisation answer = tool.parser ? parsed_answer(tool.parser, process.out, faulty)
                                      : json_answer(call.folder, call, process, faulty.program);
    if (!reason.empty()) {
      answer.status = LocalisationStatus::kTimeout;
      answer.reason = reason;
    }
    return answer;
  } catch (const Error& wrong) {
    // Where it was cut off, it hadn't answered yet.
    return reason.empty() ? no_answer(LocalisationStatus::kFailed, valid_utf8(wrong.what()))
                          : no_answer(LocalisationStatus::kTimeout, reason);
  }
}

void add_remarks(Localisation& answer, const ProcessResult& process) {
  const auto remark = [&](const std::string& text) {
    answer.reason += (answer.reason.empty() ? "" : "; ") + text;
  };
  if (process.left_over > 0) {
    remark(processes(process.left_over) + " outlived it; ended by neutra");
  }
  if (!process.clean) remark("processes are left that the system refuses to end");
}

/// Leaves in the folder what a person looks for: what was printed, and run.json.
void keep_run(const ToolDescription& tool, const FaultyProgram& faulty,
              const LocaliseContext& context, const ProcessCall& call, const std::string& started,
              const ExternalRun& run) {
  const fs::path& folder = call.folder;
  const ProcessResult& process = run.process;
  std::error_code ignored;
  fs::create_directories(folder, ignored);  // the tool may have removed it
  for (const std::string& name : run.files) {
    // Data files would fill the disk; the program says where they are from.
    if (name.ends_with(".npy") || name == "data.h5") fs::remove(folder / name, ignored);
  }
  write_file_atomically(folder / "stdout.txt", process.out);
  write_file_atomically(folder / "stderr.txt", process.err);
  write_file_atomically(folder / kRunFile, to_text({{"format", "neutra-run"},
                                                    {"version", 1},
                                                    {"tool", tool.name},
                                                    {"tool_version", tool.version},
                                                    {"fault", valid_utf8(faulty.id)},
                                                    {"run", context.run},
                                                    {"seed", seed_of(context)},
                                                    {"command", call.command},
                                                    {"started", started},
                                                    {"seconds", process.seconds},
                                                    {"end", to_string(process.end)},
                                                    {"code", process.code},
                                                    {"peak_memory", process.peak_memory},
                                                    {"left_over", process.left_over},
                                                    {"status", to_string(run.answer.status)},
                                                    {"reason", run.answer.reason},
                                                    {"answer", to_string(run.answer.faults)}}));
}

}  // namespace

ExternalRun ExternalTool::run(const FaultyProgram& faulty, const LocaliseContext& context) {
  ExternalRun run;
  if (const auto reason = refusal(description_, faulty.program)) {
    run.answer = no_answer(LocalisationStatus::kNotApplicable, *reason);
    return run;
  }
  const RunFolder folder(context.keep.empty()
                             ? fs::path()
                             : kept_folder(context.keep, faulty, description_.name, context.run));
  if (const auto reason = write_inputs(description_, faulty, context, folder.path(), run.files)) {
    run.answer = no_answer(LocalisationStatus::kNotApplicable, *reason);
    return run;
  }
  const ProcessCall call = call_of(description_, context, folder.path());
  write_input(folder.path(), kRequestFile, to_text(request_of(call, faulty, context, run.files)),
              run.files);

  const std::string started = utc_now();
  try {
    run.process = run_process(call);
  } catch (const Error& broken) {  // a tool that kills what watches it, a machine without processes
    run.answer = no_answer(LocalisationStatus::kFailed, broken.what());
    return run;
  }
  if (context.stop != nullptr && context.stop->load()) {
    throw Error(Exit::kInterrupted, "interrupted");
  }
  run.answer = read_answer(description_, faulty, call, run.process);
  add_remarks(run.answer, run.process);
  run.answer.seconds = run.process.seconds;
  if (!context.keep.empty()) keep_run(description_, faulty, context, call, started, run);
  return run;
}

Tool external_tool(ToolDescription description) {
  Tool tool{description.name,
            description.version,
            ToolKind::kExternal,
            {ToolNeed::kProgram, ToolNeed::kCommand},
            description.description,
            description.source,
            {},
            nullptr,
            false,
            description.digest};
  if (description.inputs.contains(ToolInput::kData)) tool.needs.insert(ToolNeed::kTraining);
  tool.localise = [runner = std::make_shared<ExternalTool>(std::move(description))](
                      const FaultyProgram& faulty, const LocaliseContext& context) {
    return runner->run(faulty, context).answer;
  };
  return tool;
}

void require_run_folders(const fs::path& keep, const FaultyProgram& faulty, const Tool& tool,
                         std::size_t runs) {
  if (!tool.needs.contains(ToolNeed::kTraining)) runs = 1;
  for (std::size_t run = 0; run < runs; ++run) {
    require_run_folder(kept_folder(keep, faulty, tool.name, static_cast<int>(run)));
  }
}

const Tool* load_tool(const fs::path& file) {
  static std::mutex mutex;
  static std::map<fs::path, Tool> loaded;
  const std::lock_guard lock(mutex);
  std::error_code error;
  fs::path name = fs::canonical(file, error);
  if (error) name = file;
  auto it = loaded.find(name);
  if (it == loaded.end()) {
    it = loaded.emplace(name, external_tool(read_tool_description(file))).first;
  }
  return &it->second;
}

std::vector<ToolCheck> check_tool(const fs::path& file, const FaultyProgram& faulty,
                                  const LocaliseContext& context) {
  using enum ToolCheck::Verdict;
  std::vector<ToolCheck> checks;
  const auto add = [&](ToolCheck::Verdict verdict, const char* what, const std::string& detail) {
    checks.push_back({verdict, what, detail});
    return verdict != kFailed;
  };
  std::optional<ExternalTool> tool;
  try {
    tool.emplace(read_tool_description(file));
  } catch (const Error& wrong) {
    add(kFailed, "description", wrong.what());
    return checks;
  }
  const ToolDescription& description = tool->description();
  add(kOk, "description", description.name + " " + description.version);

  const ExternalRun run = tool->run(faulty, context);
  const ProcessResult& process = run.process;
  add(kOk, "folder", join(run.files));
  if (process.end == ProcessEnd::kNotStarted) {
    add(kFailed, "start", run.answer.reason);
    return checks;
  }
  add(kOk, "start", join(description.command, " "));
  const bool well = process.end == ProcessEnd::kExited && process.code == 0;
  const std::string used = "exit code 0 after " +
                           shortest(std::round(process.seconds * 1000) / 1000) + " s, " +
                           size_text(process.peak_memory);
  if (!add(well ? kOk : kFailed, "end", well ? used : run.answer.reason)) return checks;
  if (process.left_over > 0) {
    add(kRemark, "processes",
        processes(process.left_over) +
            " outlived the tool; ended by neutra. It should wait for what it starts");
  } else {
    add(kOk, "processes", "none outlived the tool");
  }
  const Localisation& answer = run.answer;
  if (answer.status == LocalisationStatus::kFailed) {
    add(kFailed, "answer", answer.reason);
    return checks;
  }
  add(kOk, "answer",
      to_string(answer.faults) + "; " + std::to_string(answer.messages.size()) + " messages, " +
          std::to_string(answer.ranking.size()) + " places ranked");

  LocaliseContext again = context;
  again.keep.clear();
  const ExternalRun second = tool->run(faulty, again);
  if (second.answer.status == LocalisationStatus::kFailed) {
    add(kFailed, "again", second.answer.reason);
  } else if (second.answer.faults != answer.faults) {
    add(kRemark, "again",
        "another answer with the same seed: " + to_string(second.answer.faults) +
            "; request.json has the seed");
  } else {
    add(kOk, "again", "the same answer with the same seed");
  }
  return checks;
}

}  // namespace neutra::fl_adapters
