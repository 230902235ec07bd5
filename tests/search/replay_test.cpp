// Replays of the published searches: with the recorded metrics for the recorded programs and none
// for all others, the rule `recorded` must generate the recorded ids and keep the recorded rows.

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/json.h"
#include "base/numbers.h"
#include "tests/search/fakes.h"
#include "tests/shared_data.h"
#include "tests/source_file.h"

namespace neutra::search::tests {
namespace {

struct Record {
  std::vector<std::string> keys;  ///< in the order of enumeration
  program::Goal goal = program::Goal::kMaximize;
  program::Parameters root;
  std::map<std::string, std::vector<double>> metrics;           ///< by parameter string
  std::map<std::int64_t, std::string> programs;                 ///< by id
  std::set<std::tuple<std::int64_t, std::int64_t, bool>> rows;  ///< parent, child, is_gt
};

/// The operators of the records over parameter strings.
class RecordedSpace : public SearchSpace {
 public:
  explicit RecordedSpace(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  std::vector<mutators::Neighbour> neighbours(
      const program::Parameters& parameters) const override {
    std::vector<mutators::Neighbour> result;
    for (const std::string& key : keys_) {
      const std::string& before = parameters.at(key);
      for (const std::string& after : values(key, before)) {
        if (after == before) continue;
        result.push_back({{"", key, before, after}, parameters});
        result.back().parameters[key] = after;
      }
    }
    return result;
  }
  program::Program program(const program::Parameters& parameters) const override {
    return {{{"meaning", program::to_string(parameters)}}};
  }
  Hash hash(const program::Program& program) const override { return FakeSpace().hash(program); }

 private:
  static std::vector<std::string> values(const std::string& key, const std::string& value) {
    const auto begins = [&](const char* prefix) { return key.rfind(prefix, 0) == 0; };
    if (begins("act")) return {"relu", "sigmoid", "exponential", "softmax"};
    if (begins("ki") || begins("bi")) return {"he_normal", "glorot_normal", "random_normal"};
    if (begins("layer"))
      return value == "1" ? std::vector<std::string>{"0", "2"} : std::vector<std::string>{};
    if (key == "loss") {
      return {"mean_squared_error",
              "mean_absolute_error",
              "mean_absolute_percentage_error",
              "mean_squared_logarithmic_error",
              "squared_hinge",
              "hinge",
              "categorical_hinge",
              "logcosh",
              "categorical_crossentropy",
              "sparse_categorical_crossentropy",
              "binary_crossentropy",
              "kullback_leibler_divergence",
              "poisson"};
    }
    if (key == "batch_size") return {"16", "32", "64", "128", "256", "512"};
    if (key == "optimizer") return {"adamax", "nadam", "sgd"};
    if (key == "lr") {
      return {python_repr(std::stod(value) * 10), python_repr(std::stod(value) / 10)};
    }
    const int number = std::stoi(value);  // unit, epochs
    std::vector<std::string> result = {std::to_string(number * 2)};
    if (number > 1) result.push_back(std::to_string(number / 2));
    return result;
  }
  std::vector<std::string> keys_;
};

class ReplayTrainer : public training::Trainer {
 public:
  explicit ReplayTrainer(const Record& record) : record_(record) {}
  training::ReplicaResult train(const training::TrainingJob& job) override {
    training::ReplicaResult result;
    result.metric = std::numeric_limits<double>::quiet_NaN();
    const auto found = record_.metrics.find(job.program->document.at("meaning").get<std::string>());
    if (found != record_.metrics.end()) {
      // Recorded with two decimals: hundredths are exact.
      result.metric = found->second.at(static_cast<std::size_t>(job.replica));
      result.correct = std::lround(result.metric * 100);
      result.total = 100;
    }
    return result;
  }
  std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  std::string fingerprint(const program::Program&) override { return "replay"; }

 private:
  const Record& record_;
};

/// The worst mean among the recorded repairs: a level that separates them from the others.
double level_of(const Record& record) {
  const bool larger = record.goal == program::Goal::kMaximize;
  double level = larger ? 1e9 : -1e9;  // nothing reaches it
  for (const auto& [parent, child, repaired] : record.rows) {
    if (!repaired) continue;
    std::int64_t hundredths = 0;
    for (const double metric : record.metrics.at(record.programs.at(child))) {
      hundredths += std::lround(metric * 100);
    }
    const double mean = static_cast<double>(hundredths) / 1000;
    level = larger ? std::min(level, mean) : std::max(level, mean);
  }
  return level;
}

void expect_replayed(const Record& record) {
  TemporaryFolder folder;
  SearchTask task;
  task.fault_id = "recorded";
  task.start = record.root;
  task.goal = record.goal;
  task.metric = "accuracy";
  SearchConfig config;
  config.rule = Rule::kRecorded;
  config.ground_truth_metric = level_of(record);
  config.budget_evaluations = record.programs.rbegin()->first + 150;  // past the last record
  ReplayTrainer trainer(record);
  RunOptions options;
  options.workers = 2;
  const auto outcome =
      run_search(task, RecordedSpace(record.keys), config, options, trainer, folder / "s.h5");
  for (const auto& [id, program] : record.programs) {
    const Node* node = outcome.network.find(id);
    ASSERT_NE(node, nullptr) << id;
    EXPECT_EQ(program::to_string(node->parameters), program);
    EXPECT_LE(node->depth, 4);
  }
  std::set<std::tuple<std::int64_t, std::int64_t, bool>> rows;
  for (const Edge& edge : outcome.network.edges) {
    rows.insert({edge.parent, edge.child, outcome.network.find(edge.child)->alternative});
  }
  EXPECT_EQ(rows, record.rows);
}

/// An extract of a record: keys, goal, root with its metrics, then a line for each row
/// (parent, id, changed key, is_gt, metrics).
Record read_extract(const std::filesystem::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  const auto numbers = [](std::istream& line) {
    std::vector<double> values;
    for (double value; line >> value;) values.push_back(value);
    return values;
  };
  Record record;
  std::map<std::int64_t, program::Parameters> parameters;
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    std::string word, rest;
    line >> word;
    if (word == "keys") {
      while (line >> rest) record.keys.push_back(rest);
    } else if (word == "goal") {
      line >> rest;
      record.goal = *program::parse_goal(rest);
    } else {
      std::int64_t id = 0;
      if (word == "root") {
        line >> rest;
        parameters[0] = record.root = program::parse_parameters(rest, "");
      } else {
        const std::int64_t parent = std::stoll(word);
        std::string change, repaired;
        line >> id >> change >> repaired;
        parameters[id] = parameters.at(parent);
        for (const auto& [key, value] : program::parse_parameters(change, ""))
          parameters[id][key] = value;
        record.rows.insert({parent, id, repaired == "True"});
      }
      record.programs[id] = program::to_string(parameters[id]);
      record.metrics[record.programs[id]] = numbers(line);
    }
  }
  return record;
}

TEST(Replay, D7) {
  expect_replayed(read_extract(source_file("tests/search/data/recorded_d7.txt")));
}
TEST(Replay, R4) {
  expect_replayed(read_extract(source_file("tests/search/data/recorded_r4.txt")));
}

/// The key order of a subject, by the family of its records.
std::vector<std::string> keys_of(const std::string& name, const program::Parameters& root) {
  std::vector<std::string> keys;
  const auto add = [&](const std::vector<std::string>& prefixes) {
    for (int number = 1; number < 10; ++number) {
      for (const std::string& prefix : prefixes) {
        const std::string key = prefix + std::to_string(number);
        if (root.count(key)) keys.push_back(key);
      }
    }
  };
  const auto append = [&](std::initializer_list<const char*> more) {
    keys.insert(keys.end(), more.begin(), more.end());
  };
  if (std::isdigit(static_cast<unsigned char>(name[0]))) {
    for (const char* prefix : {"ki", "bi", "act", "layer", "unit"}) add({prefix});
    append({"loss", "batch_size", "optimizer", "lr", "epochs"});
  } else {
    add({"act"});
    add({"ki", "bi"});
    append({"optimizer", "lr", "batch_size", "epochs", "loss"});
    const bool units_first = name[0] == 'C';
    add({units_first ? "unit" : "layer"});
    add({units_first ? "layer" : "unit"});
  }
  return keys;
}

TEST(Replay, EveryPublishedNetwork) {
  const std::filesystem::path folder = neutra::tests::shared_data("flstudy/alt_gt");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename());
    const Network network = read_network_tsv(entry.path());
    const std::string name = entry.path().stem();
    Record record;
    record.goal = name == "51181393" ? program::Goal::kMinimize : program::Goal::kMaximize;
    record.root = network.find(0)->parameters;
    record.keys = keys_of(name, record.root);
    for (const Node& node : network.nodes) {
      record.programs[node.id] = program::to_string(node.parameters);
      record.metrics[record.programs[node.id]] = node.metrics;
    }
    for (const Edge& edge : network.edges) {
      record.rows.insert({edge.parent, edge.child, network.find(edge.child)->alternative});
    }
    expect_replayed(record);
    ++files;
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace neutra::search::tests
