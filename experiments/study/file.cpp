#include "experiments/study/file.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json_section.h"
#include "base/words.h"
#include "fl_adapters/external.h"
#include "fl_adapters/registry.h"
#include "program/vocabulary.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostWhole = 1000000000;
constexpr std::int64_t kMostRuns = 1000;  ///< as the command's --runs and --replicas
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

void read_search(const Json& json, const std::string& file, const std::string& place,
                 search::SearchConfig& config) {
  const JsonSection search(
      json, file, place,
      {"preset", "rule", "ties", "improve", "top_k", "replicas", "max_depth", "budget_evaluations",
       "budget_seconds", "ground_truth_metric", "time_limit", "memory_limit"});
  if (search.has("preset")) {
    config.preset = search.word("preset", mutators::parse_preset, "paper, keras");
  }
  if (search.has("rule")) {
    config.rule = search.word("rule", search::parse_rule, "algorithm1, recorded");
  }
  if (search.has("ties")) {
    config.ties = search.word("ties", search::parse_tie_order, "parameters, spread");
  }
  if (search.has("improve")) config.improve = search.flag("improve");
  const auto small = [&](const char* name) {
    return static_cast<int>(search.whole(name, 1, kMostWhole));
  };
  if (search.has("top_k")) config.top_k = small("top_k");
  if (search.has("replicas")) {
    config.replicas = static_cast<int>(search.whole("replicas", 1, kMostRuns));
  }
  if (search.has("max_depth")) config.max_depth = small("max_depth");
  if (search.has("budget_evaluations")) config.budget_evaluations = small("budget_evaluations");
  if (search.has("budget_seconds")) config.budget_seconds = search.number("budget_seconds", 0);
  if (search.has("ground_truth_metric")) {
    config.ground_truth_metric = search.number("ground_truth_metric");
  }
  if (search.has("time_limit")) config.time_limit = search.number("time_limit", 0);
  if (search.has("memory_limit")) {
    config.memory_limit = static_cast<std::uint64_t>(search.whole("memory_limit", 0, kMostBytes));
  }
}

StudyFault read_fault(const JsonSection& entry, const fs::path& folder,
                      const search::SearchConfig& common) {
  const std::string named = entry.text("fault");
  const bool is_file = fs::path(named).extension() == ".json";
  StudyFault result{load_fault(is_file ? (folder / named).string() : named), common, std::nullopt};
  if (entry.has("search")) {
    read_search(entry.at("search"), entry.file(), entry.place_of("search"), result.search);
  }
  if (entry.has("network")) {
    result.network = folder / entry.text("network");
    if (!fs::is_regular_file(*result.network)) {
      entry.fail_text("network", result.network->string(), "a file of a recorded network");
    }
  } else if (!result.fault.fixed && !result.search.ground_truth_metric && !result.search.improve) {
    entry.fail_text("fault", named + ", which has no known fix",
                    "search/ground_truth_metric or search/improve beside it");
  }
  return result;
}

evaluators::ScoreOptions read_score(const JsonSection& score) {
  evaluators::ScoreOptions options;
  if (score.has("variant")) {
    options.variant = score.word("variant", evaluators::parse_variant, "corrected, as-published");
  }
  if (score.has("match")) {
    options.match = score.word("match", evaluators::parse_match, "type, layer, line");
  }
  if (score.has("unlocated")) {
    options.unlocated =
        score.word("unlocated", evaluators::parse_unlocated, "count, exclude, half");
  }
  if (score.has("top")) options.top = static_cast<int>(score.whole("top", 1, kMostRuns));
  return options;
}

std::optional<fl_adapters::ToolVariant> parse_tool_variant(std::string_view word) {
  if (word == "as-published") return fl_adapters::ToolVariant::kAsPublished;
  if (word == "repaired") return fl_adapters::ToolVariant::kRepaired;
  return std::nullopt;
}

/// Everything that says how a tool is asked.
const std::vector<std::string> kAsking = {"runs", "time_limit", "memory_limit", "defects"};

void read_asking(const JsonSection& section, StudyTool& tool) {
  if (section.has("runs")) tool.runs = static_cast<int>(section.whole("runs", 1, kMostRuns));
  if (section.has("time_limit")) tool.time_limit = section.number("time_limit", 0);
  if (section.has("memory_limit")) {
    tool.memory_limit = static_cast<std::uint64_t>(section.whole("memory_limit", 0, kMostBytes));
  }
  if (section.has("defects")) {
    tool.variant = section.word("defects", parse_tool_variant, "as-published, repaired");
  }
}

/// A name, a description file in `folder`, "all", or an object with `tool` and how it is asked. A
/// tool that is named twice is asked as its own entry says, wherever "all" stands.
std::vector<StudyTool> read_tools(const JsonSection& root, const fs::path& folder,
                                  const StudyTool& common, std::vector<fs::path>& inputs) {
  std::vector<StudyTool> asked;
  std::set<std::string> by_name;
  const std::vector<Json> entries = root.has("tools") && root.at("tools").is_string()
                                        ? std::vector<Json>{root.at("tools")}
                                        : root.list("tools");
  bool all = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == "all") {
      all = true;
      continue;
    }
    const std::string name = "tools/" + std::to_string(i);
    const Json object = entries[i].is_object() ? entries[i] : Json{{"tool", entries[i]}};
    std::vector<std::string> fields = kAsking;
    fields.emplace_back("tool");
    const JsonSection entry(object, root.file(), root.place_of(name), fields);
    StudyTool tool = common;
    if (entry.has("tool") && entry.at("tool").is_string()) {
      const fs::path named = entry.at("tool").get<std::string>();
      if (named.extension() == ".json") {
        tool.tool = fl_adapters::load_tool(folder / named);
        inputs.push_back(folder / named);
      } else {
        tool.tool = fl_adapters::find_tool(named.string());
      }
    }
    if (tool.tool == nullptr) {
      std::vector<std::string> names = {"all"};
      for (const fl_adapters::Tool* known : fl_adapters::tools()) names.push_back(known->name);
      const Json& found = object.contains("tool") ? object.at("tool") : entries[i];
      root.fail(name, found,
                allowed_words(found.is_string() ? found.get<std::string>() : "", names) +
                    ", or the description file of an external tool, FILE.json");
    }
    read_asking(entry, tool);
    if (!by_name.insert(name_here(*tool.tool)).second) {
      root.fail_text(name, name_here(*tool.tool) + " a second time", "each tool once");
    }
    asked.push_back(tool);
  }
  if (all) {
    for (const fl_adapters::Tool* known : fl_adapters::tools()) {
      if (by_name.count(name_here(*known))) continue;
      asked.push_back(common);
      asked.back().tool = known;
    }
    std::stable_sort(asked.begin(), asked.end(), [](const StudyTool& a, const StudyTool& b) {
      return a.tool->name < b.tool->name;
    });
  }
  return asked;
}

/// The study's document, with the changes of its own `quick` where it is asked for.
Json read_document(const fs::path& file, bool quick) {
  Json json = read_json(file);
  if (quick) {
    const Json* changes = member(json, "quick");
    if (changes == nullptr || !changes->is_object()) {
      throw input_error(describe(file.string(), "/quick", changes ? changes->dump() : "nothing",
                                 "an object that says how the study is made small"));
    }
    const Json patch = *changes;
    json.merge_patch(patch);
  }
  if (json.is_object()) json.erase("quick");
  return json;
}

/// Names of studies and faults are parts of names of files.
void require_name(const std::string& file, const std::string& place, const std::string& name) {
  const bool fits = !name.empty() && name.front() != '.' && name.size() <= 100 &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::isalnum(c) || c == '_' || c == '-' || c == '.';
                    });
  if (!fits) {
    throw input_error(
        describe(file, place, "'" + name + "'", "a name of files: letters, digits, '_', '-', '.'"));
  }
}

/// Reads the faults, and returns their ids.
std::set<std::string> read_faults(const JsonSection& root, const fs::path& folder, Study& study) {
  search::SearchConfig common;
  if (root.has("search")) read_search(root.at("search"), root.file(), "/search", common);
  const std::vector<Json> faults = root.list("faults");
  if (faults.empty()) root.fail_text("faults", "nothing", "a list of at least one fault");
  std::set<std::string> ids;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const std::string place = "/faults/" + std::to_string(i);
    const Json entry = faults[i].is_string() ? Json{{"fault", faults[i]}} : faults[i];
    const JsonSection section(entry, root.file(), place, {"fault", "search", "network"});
    study.faults.push_back(read_fault(section, folder, common));
    const StudyFault& added = study.faults.back();
    study.inputs.push_back(added.fault.file);
    if (added.network) study.inputs.push_back(*added.network);
    const std::string& id = added.fault.id;
    require_name(root.file(), place, id);
    if (!ids.insert(id).second) {
      section.fail_text("fault", id + " a second time", "each fault once");
    }
  }
  return ids;
}

/// Reads the recorded answers on these faults; other faults' are left out.
void read_recorded_answers(const JsonSection& root, const fs::path& folder,
                           const std::set<std::string>& faults, Study& study) {
  const std::vector<Json> answers = root.list("answers");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string place = "answers/" + std::to_string(i);
    if (!answers[i].is_string()) root.fail(place, answers[i], "the name of an answers file");
    study.inputs.push_back(folder / answers[i].get<std::string>());
    for (evaluators::Answer& answer : evaluators::read_answers(study.inputs.back())) {
      const bool twice = std::any_of(
          study.answers.begin(), study.answers.end(), [&](const evaluators::Answer& other) {
            return other.fault == answer.fault && other.tool == answer.tool;
          });
      if (twice) {
        root.fail_text(place, "a second answer of " + answer.tool + " on " + answer.fault, "one");
      }
      if (faults.count(answer.fault)) study.answers.push_back(std::move(answer));
    }
  }
}

/// An answer is recorded or asked for here, not both.
void require_answers_from_one_of_two(const JsonSection& root, const Study& study) {
  for (const StudyTool& asked : study.tools) {
    for (const evaluators::Answer& answer : study.answers) {
      if (answer.tool == name_here(*asked.tool)) {
        root.fail_text("tools", "a tool whose answers are in the answers files, as " + answer.tool,
                       "answers from one of the two");
      }
    }
  }
}

}  // namespace

std::string name_here(const fl_adapters::Tool& tool) {
  return tool.name + "-" + std::string(to_string(tool.kind));
}

std::vector<std::string> bundled_studies() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(resource_directory() / "studies", ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path study_file(const std::string& name) {
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored) || is_pipe_or_device(name)) return name;
  const std::vector<std::string> bundled = bundled_studies();
  if (std::find(bundled.begin(), bundled.end(), name) != bundled.end()) {
    return resource_directory() / "studies" / (name + ".json");
  }
  throw input_error(describe(name, "", "no such file",
                             "a study file or a bundled study: " + allowed_words(name, bundled)));
}

Study load_study(const fs::path& file, bool quick) {
  const Json json = read_document(file, quick);
  const JsonSection root(json, file.string(), "",
                         {"format", "version", "name", "title", "search", "faults", "answers",
                          "tools", "runs", "time_limit", "memory_limit", "defects", "score"});
  root.require_format("neutra-study", 1);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");

  Study study;
  study.inputs.push_back(file);
  study.name = root.text("name", file.stem().string());
  require_name(root.file(), "/name", study.name);
  study.title = root.text("title", study.name);
  const std::set<std::string> faults = read_faults(root, folder, study);
  read_recorded_answers(root, folder, faults, study);
  StudyTool any_tool;
  read_asking(root, any_tool);
  study.tools = read_tools(root, folder, any_tool, study.inputs);
  require_answers_from_one_of_two(root, study);
  if (root.has("score")) {
    study.score = read_score(JsonSection(root.at("score"), root.file(), "/score",
                                         {"variant", "match", "unlocated", "top"}));
  }
  return study;
}

}  // namespace neutra::experiments
