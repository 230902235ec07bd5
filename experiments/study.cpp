#include "experiments/study.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "experiments/network_file.h"
#include "experiments/search_task.h"
#include "fl_adapters/registry.h"
#include "program/error.h"
#include "program/words.h"
#include "search/search.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

/// An object of a study file, with its place for messages.
class Section {
 public:
  Section(const Json& json, std::string file, std::string place, std::set<std::string> fields)
      : json_(json), file_(std::move(file)), place_(std::move(place)) {
    if (!json.is_object()) fail("", json.dump(), "an object");
    for (const auto& [name, value] : json.items()) {
      if (fields.count(name) == 0) {
        fail(name, "an unknown field", join({fields.begin(), fields.end()}));
      }
    }
  }

  bool has(const char* name) const { return json_.contains(name); }
  const Json& at(const char* name) const {
    if (!has(name)) fail(name, "nothing", "a value");
    return json_.at(name);
  }
  std::string text(const char* name) const {
    const Json& value = at(name);
    if (!value.is_string() || value.get<std::string>().empty()) fail(name, value.dump(), "a text");
    return value.get<std::string>();
  }
  std::string text(const char* name, const std::string& fallback) const {
    return has(name) ? text(name) : fallback;
  }
  std::int64_t whole(const char* name, std::int64_t least, std::int64_t most) const {
    const Json& value = at(name);
    const bool fits = value.is_number_integer() &&
                      value.get<double>() >= static_cast<double>(least) &&
                      value.get<double>() <= static_cast<double>(most);
    if (!fits) {
      fail(name, value.dump(),
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value.get<std::int64_t>();
  }
  double number(const char* name, double least) const {
    const Json& value = at(name);
    if (!value.is_number() || !(value.get<double>() >= least)) {
      fail(name, value.dump(), "a number from " + shortest(least));
    }
    return value.get<double>();
  }
  /// A word that `parse` knows.
  template <typename Parse>
  auto word(const char* name, Parse parse, const char* allowed) const {
    const auto value = parse(text(name));
    if (!value) fail(name, at(name).dump(), allowed);
    return *value;
  }
  std::vector<Json> list(const char* name) const {
    if (!has(name)) return {};
    if (!at(name).is_array()) fail(name, at(name).dump(), "a list");
    return {at(name).begin(), at(name).end()};
  }
  std::string place_of(const std::string& name) const { return place_ + "/" + name; }
  [[noreturn]] void fail(const std::string& name, const std::string& found,
                         const std::string& allowed) const {
    const std::string place = name.empty() ? place_ : place_of(name);
    throw input_error(describe(file_, place.empty() ? "/" : place, found, allowed));
  }
  const std::string& file() const { return file_; }

 private:
  const Json& json_;
  std::string file_, place_;
};

constexpr std::int64_t kMostWhole = 1000000000;
constexpr std::int64_t kMostRuns = 1000;  ///< as the command's --runs and --replicas

void read_search(const Json& json, const std::string& file, const std::string& place,
                 SearchConfig& config) {
  const Section search(json, file, place,
                       {"preset", "rule", "top_k", "replicas", "max_depth", "budget_evaluations",
                        "budget_seconds", "ground_truth_metric", "time_limit", "memory_limit"});
  if (search.has("preset")) config.preset = search.word("preset", parse_preset, "paper, keras");
  if (search.has("rule")) config.rule = search.word("rule", parse_rule, "algorithm1, recorded");
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
    config.ground_truth_metric = search.number("ground_truth_metric", -1e308);
  }
  if (search.has("time_limit")) config.time_limit = search.number("time_limit", 0);
  if (search.has("memory_limit")) {
    config.memory_limit =
        static_cast<std::uint64_t>(search.whole("memory_limit", 0, std::int64_t{1} << 50));
  }
}

StudyFault read_fault(const Section& entry, const fs::path& folder, const SearchConfig& common) {
  const std::string named = entry.text("fault");
  const bool is_file = fs::path(named).extension() == ".json";
  StudyFault result{load_fault(is_file ? (folder / named).string() : named), common, std::nullopt};
  if (entry.has("search")) {
    read_search(entry.at("search"), entry.file(), entry.place_of("search"), result.search);
  }
  if (entry.has("network")) {
    result.network = folder / entry.text("network");
    if (!fs::is_regular_file(*result.network)) {
      entry.fail("network", result.network->string(), "a file of a recorded network");
    }
  } else if (!result.fault.fixed && !result.search.ground_truth_metric) {
    entry.fail("fault", named + ", which has no known fix", "search/ground_truth_metric beside it");
  }
  return result;
}

ScoreOptions read_score(const Section& score) {
  ScoreOptions options;
  if (score.has("variant")) {
    options.variant = score.word("variant", parse_variant, "corrected, as-published");
  }
  if (score.has("match")) options.match = score.word("match", parse_match, "type, layer");
  if (score.has("unlocated")) {
    options.unlocated = score.word("unlocated", parse_unlocated, "count, exclude, half");
  }
  return options;
}

/// The name of a tool's answers, apart from recorded ones of the tool that it stands for.
std::string name_here(const Tool& tool) {
  return tool.name + "-" + std::string(to_string(tool.kind));
}

void write_text(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  std::ostringstream text;
  write(text);
  write_file_atomically(file, text.str());
}

}  // namespace

fs::path study_file(const std::string& name) {
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored)) return name;
  const fs::path folder = resource_directory() / "studies";
  std::vector<std::string> bundled;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().stem() == name) return entry.path();
    bundled.push_back(entry.path().stem().string());
  }
  std::sort(bundled.begin(), bundled.end());
  throw input_error(
      describe(name, "", "no such file", "a study file or a bundled study: " + join(bundled)));
}

Study load_study(const fs::path& file) {
  const Json json = read_json(file);
  const auto require_name = [&](const std::string& place, const std::string& name) {
    const bool fits = !name.empty() && name.front() != '.' && name.size() <= 100 &&
                      std::all_of(name.begin(), name.end(), [](unsigned char c) {
                        return std::isalnum(c) || c == '_' || c == '-' || c == '.';
                      });
    if (!fits) {
      throw input_error(describe(file.string(), place, "'" + name + "'",
                                 "a name of files: letters, digits, '_', '-', '.'"));
    }
  };
  const Section root(json, file.string(), "",
                     {"format", "version", "name", "title", "search", "faults", "answers", "tools",
                      "runs", "score"});
  if (root.text("format") != "neutra-study") {
    root.fail("format", root.at("format").dump(), "\"neutra-study\"");
  }
  root.whole("version", 1, 1);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");

  Study study;
  study.inputs.push_back(file);
  study.name = root.text("name", file.stem().string());
  require_name("/name", study.name);
  study.title = root.text("title", study.name);
  SearchConfig common;
  if (root.has("search")) read_search(root.at("search"), root.file(), "/search", common);
  const std::vector<Json> faults = root.list("faults");
  if (faults.empty()) root.fail("faults", "nothing", "a list of at least one fault");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Json entry = faults[i].is_string() ? Json{{"fault", faults[i]}} : faults[i];
    const Section section(entry, root.file(), "/faults/" + std::to_string(i),
                          {"fault", "search", "network"});
    study.faults.push_back(read_fault(section, folder, common));
    const StudyFault& added = study.faults.back();
    study.inputs.push_back(added.fault.file);
    if (added.network) study.inputs.push_back(*added.network);
    const std::string& id = added.fault.id;
    require_name("/faults/" + std::to_string(i), id);
    if (!seen.insert(id).second) section.fail("fault", id + " a second time", "each fault once");
  }

  const std::vector<Json> answers = root.list("answers");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].is_string()) {
      root.fail("answers/" + std::to_string(i), answers[i].dump(), "the name of an answers file");
    }
    study.inputs.push_back(folder / answers[i].get<std::string>());
    for (Answer& answer : read_answers(study.inputs.back())) {
      const bool twice =
          std::any_of(study.answers.begin(), study.answers.end(), [&](const Answer& other) {
            return other.fault == answer.fault && other.tool == answer.tool;
          });
      if (twice) {
        root.fail("answers/" + std::to_string(i),
                  "a second answer of " + answer.tool + " on " + answer.fault, "one");
      }
      if (seen.count(answer.fault)) study.answers.push_back(std::move(answer));
    }
  }
  const std::vector<Json> tools = root.list("tools");
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const Tool* tool = tools[i].is_string() ? find_tool(tools[i].get<std::string>()) : nullptr;
    if (tool == nullptr) {
      std::vector<std::string> names;
      for (const Tool* known : neutra::tools()) names.push_back(known->name);
      root.fail("tools/" + std::to_string(i), tools[i].dump(), join(names));
    }
    if (std::find(study.tools.begin(), study.tools.end(), tool) == study.tools.end()) {
      study.tools.push_back(tool);
    }
    for (const Answer& answer : study.answers) {
      if (answer.tool == name_here(*tool)) {
        root.fail("tools/" + std::to_string(i),
                  "a tool whose answers are in the answers files, as " + answer.tool,
                  "answers from one of the two");
      }
    }
  }
  if (study.answers.empty() && study.tools.empty()) {
    root.fail("tools", "neither tools nor answers on these faults", "at least one of them");
  }
  if (root.has("runs")) study.runs = static_cast<int>(root.whole("runs", 1, kMostRuns));
  if (root.has("score")) {
    study.score = read_score(
        Section(root.at("score"), root.file(), "/score", {"variant", "match", "unlocated"}));
  }
  return study;
}

void check_outputs(const Study& study, const fs::path& folder) {
  std::vector<fs::path> outputs = {folder / "answers.csv"};
  for (const Reporter& reporter : reporters()) {
    outputs.push_back(folder / ("scores." + std::string(reporter.ending)));
  }
  for (const StudyFault& entry : study.faults) {
    if (entry.network) continue;
    for (const char* ending : {".h5", ".tsv", ".dot"}) {
      outputs.push_back(folder / (entry.fault.id + ending));
    }
  }
  for (const fs::path& output : outputs) {
    for (const fs::path& input : study.inputs) {
      std::error_code ignored;
      if (fs::equivalent(output, input, ignored)) {
        throw input_error(describe(output.string(), "",
                                   "a file that the study reads where a result goes",
                                   "another --folder"));
      }
    }
  }
}

StudyResult run_study(const Study& study, const StudyOptions& options) {
  check_outputs(study, options.folder);
  // What can't work is said before hours of training.
  std::map<std::string, Network> recorded;
  for (const StudyFault& entry : study.faults) {
    const Fault& fault = entry.fault;
    if (entry.network) {
      Network network = read_network_file(*entry.network, fault).network;
      if (study.score.variant == Variant::kCorrected) {
        require_root(network, fault, entry.network->string());
      }
      recorded.emplace(fault.id, std::move(network));
    }
    if (entry.network && study.tools.empty()) continue;
    if (const auto reason = options.trainer(fault)->refusal(fault.buggy)) {
      throw input_error(describe(fault.file.string(), "", *reason, ""));
    }
  }
  const auto stage = [&](const std::string& text) {
    if (options.stage) options.stage(text);
  };
  StudyResult result;
  result.answers = study.answers;
  std::vector<ScoredFault> scored;
  for (const StudyFault& entry : study.faults) {
    const Fault& fault = entry.fault;
    const fs::path base = options.folder / fault.id;
    // A recorded network needs no trainer, and so no data set.
    const auto trainer = !entry.network || !study.tools.empty() ? options.trainer(fault) : nullptr;
    StudyResult::Searched searched{fault.id, {}, "recorded"};
    if (entry.network) {
      searched.network = std::move(recorded.at(fault.id));
    } else {
      stage("search " + fault.id);
      SearchConfig config = entry.search;
      config.seed = options.seed;
      config.fingerprint = search_fingerprint(fault, *trainer);
      RunOptions how = options.search;
      if (options.isolated) how.isolated = options.isolated(fault);
      SearchOutcome outcome =
          run_search(search_task(fault), config, how, *trainer, base.string() + ".h5");
      if (outcome.end == SearchEnd::kInterrupted) throw Error(Exit::kInterrupted, "interrupted");
      searched.network = std::move(outcome.network);
      searched.end = to_string(outcome.end);
      write_text(base.string() + ".tsv",
                 [&](std::ostream& out) { write_tsv(searched.network, out); });
      write_text(base.string() + ".dot",
                 [&](std::ostream& out) { write_dot(searched.network, out); });
    }
    for (const Tool* tool : study.tools) {
      stage("localise " + fault.id + " with " + tool->name);
      LocaliseContext context;
      context.trainer = trainer.get();
      context.seed = options.seed;
      context.stop = options.search.stop;
      context.time_limit = entry.search.time_limit;
      context.memory_limit = entry.search.memory_limit;
      const auto runs = static_cast<std::size_t>(study.runs);
      const ToolAnswers answers = localise_runs(*tool, {fault.id, fault.buggy}, context, runs,
                                                options.search.workers, [&](std::size_t done) {
                                                  if (options.tool_progress)
                                                    options.tool_progress(done, runs);
                                                });
      for (std::size_t run = 0; run < answers.runs.size(); ++run) {
        const Localisation& one = answers.runs[run];
        if (one.status == LocalisationStatus::kTimeout ||
            one.status == LocalisationStatus::kFailed) {
          result.troubles.push_back(tool->name + " on " + fault.id + ", run " +
                                    std::to_string(run) + ": " +
                                    std::string(to_string(one.status)) + ": " + one.reason);
        }
      }
      result.answers.push_back({fault.id, name_here(*tool), answers.answer(), tool->version,
                                static_cast<int>(answers.runs.size()), answers.mean_seconds()});
    }
    result.faults.push_back(searched);
    scored.push_back({fault, std::move(searched.network),
                      entry.network ? entry.network->string() : base.string() + ".h5"});
  }
  write_file_atomically(options.folder / "answers.csv", to_csv(result.answers));
  result.scores = score_answers(scored, result.answers, study.score);
  return result;
}

Report study_report(const Study& study, const StudyResult& result, Layout layout) {
  Report report = score_report(result.scores, layout);
  Json about{{"format", "neutra-study-result"}, {"version", 1}, {"study", study.name}};
  for (const auto& [name, value] : report.about.items()) {
    if (name != "format" && name != "version") about[name] = value;
  }
  report.about = std::move(about);
  if (layout == Layout::kOneTable) return report;
  ResultTable repairs{"repairs",
                      "Repairs found: programs at least as good as the known fix",
                      {{"fault", "Id", "", -1},
                       {"metric", "Metric", "", -1},
                       {"buggy", "buggy", "Mean", 3},
                       {"level", "to reach", "Mean", 3},
                       {"best", "best repair", "Mean", 3},
                       {"programs", "Programs", "", 0},
                       {"repairs", "Repairs", "", 0},
                       {"significantly_better", "better", "", 0},
                       {"complexity", "Changes", "", 2},
                       {"end", "End", "", -1}},
                      {}};
  for (const auto& [fault, network, end] : result.faults) {
    const std::vector<const Node*> alternatives = network.alternatives();
    ResultTable::Row row{{fault, network.metric}, false};
    row.cells.emplace_back(network.nodes.empty() ? Cell() : Cell(network.nodes.front().mean));
    row.cells.emplace_back(network.ground_truth ? Cell(*network.ground_truth) : Cell());
    const auto worse = [maximize = network.goal == Goal::kMaximize](const Node* a, const Node* b) {
      return maximize ? a->mean < b->mean : a->mean > b->mean;
    };
    const auto best = std::max_element(alternatives.begin(), alternatives.end(), worse);
    row.cells.emplace_back(best == alternatives.end() ? Cell() : Cell((*best)->mean));
    row.cells.emplace_back(static_cast<double>(network.nodes.size()));
    row.cells.emplace_back(static_cast<double>(alternatives.size()));
    row.cells.emplace_back(end == "recorded"
                               ? Cell()
                               : Cell(static_cast<double>(std::count_if(
                                     alternatives.begin(), alternatives.end(),
                                     [](const Node* node) { return node->significant; }))));
    const auto figures = complexity(network);
    row.cells.emplace_back(figures ? Cell(figures->mean) : Cell());
    row.cells.emplace_back(end);
    repairs.rows.push_back(std::move(row));
  }
  report.tables.insert(report.tables.begin(), std::move(repairs));
  return report;
}

}  // namespace neutra
