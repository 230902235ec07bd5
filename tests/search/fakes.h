#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "search/search.h"
#include "tests/test_folder.h"

namespace neutra::search::tests {

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
inline std::uint64_t text_hash(const std::string& text, std::uint64_t seed) {
  for (const char c : text) seed = mixed(seed ^ static_cast<unsigned char>(c));
  return seed;
}

/// Programs with a few keys of a few values each. Where `a` is 0, `b` means nothing: several
/// strings are one program. Where `a` and `c` are both 2 there is no program at all.
class FakeSpace : public SearchSpace {
 public:
  explicit FakeSpace(int keys = 4, int values = 3) : keys_(keys), values_(values) {}
  std::vector<mutators::Neighbour> neighbours(
      const program::Parameters& parameters) const override {
    std::vector<mutators::Neighbour> result;
    for (const auto& [key, before] : parameters) {
      for (int value = 0; value < values_; ++value) {
        const std::string after = std::to_string(value);
        if (after == before) continue;
        mutators::Neighbour neighbour{{"change", key, before, after}, parameters};
        neighbour.parameters[key] = after;
        result.push_back(std::move(neighbour));
      }
    }
    return result;
  }
  program::Program program(const program::Parameters& parameters) const override {
    if (parameters.at("a") == "2" && parameters.count("c") && parameters.at("c") == "2") {
      throw input_error("a and c are both 2");
    }
    program::Parameters meaning = parameters;
    if (meaning.at("a") == "0") meaning["b"] = "any";
    return {{{"meaning", program::to_string(meaning)}}};
  }
  Hash hash(const program::Program& program) const override {
    const auto text = program.document.at("meaning").get<std::string>();
    return {text_hash(text, 1), text_hash(text, 2)};
  }
  program::Parameters start() const {
    program::Parameters parameters;
    for (int key = 0; key < keys_; ++key)
      parameters[std::string(1, static_cast<char>('a' + key))] = "0";
    return parameters;
  }

 private:
  int keys_, values_;
};

struct Landscape {
  std::uint64_t seed = 0;
  bool counts = true;       ///< accuracies as counts of 20; else errors as doubles
  double not_a_number = 0;  ///< share of trainings that diverge
  double refused = 0;       ///< share of programs that Keras would refuse
  std::string deadly = {};  ///< a program that kills its process
  int microseconds = 0;     ///< of a training
  /// Values add up to how good a program is, 0 to 17, so that most changes of a repair may be taken
  /// back; else programs have nothing to do with each other.
  bool additive = false;
};

class FakeTrainer : public training::Trainer {
 public:
  explicit FakeTrainer(Landscape landscape) : landscape_(std::move(landscape)) {}
  training::ReplicaResult train(const training::TrainingJob& job) override {
    const auto text = job.program->document.at("meaning").get<std::string>();
    if (text == landscape_.deadly) std::abort();
    if (landscape_.microseconds > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(landscape_.microseconds));
    }
    training::ReplicaResult result = result_of(text, job.replica);
    // Together: the other worker must not begin another training between the two.
    const std::lock_guard lock(mutex_);
    if (++trainings == stop_after) stop = true;
    return result;
  }
  training::ReplicaResult result_of(const std::string& text, int replica) const {
    const std::uint64_t quality =
        landscape_.additive ? sum_of_values(text) : text_hash(text, landscape_.seed);
    const std::uint64_t noise =
        mixed(text_hash(text, landscape_.seed) + static_cast<std::uint64_t>(replica) + 1);
    training::ReplicaResult result;
    result.backend = "fake";
    result.seconds = landscape_.microseconds * 1e-6;
    result.samples = 10;
    if (share(mixed(noise)) < landscape_.not_a_number) {
      result.status = training::RunStatus::kDiverged;
      result.metric = std::numeric_limits<double>::quiet_NaN();
    } else if (landscape_.counts) {
      result.total = 20;
      result.correct = static_cast<std::int64_t>(quality % 18 + noise % 3);
      result.metric = static_cast<double>(result.correct) / 20;
    } else {
      const std::uint64_t error = landscape_.additive ? 17 - quality : quality % 7;
      result.metric = static_cast<double>(error) / 10 + static_cast<double>(noise % 3) / 10;
    }
    return result;
  }
  std::optional<std::string> refusal(const program::Program& program) override {
    const auto text = program.document.at("meaning").get<std::string>();
    if (share(text_hash(text, landscape_.seed + 99)) < landscape_.refused) return "refused";
    return std::nullopt;
  }
  std::string fingerprint(const program::Program&) override { return "fake"; }

  std::atomic<int> trainings = 0;
  int stop_after = -1;
  std::atomic<bool> stop = false;

 private:
  /// From 0 to 17; that of the buggy program is 6.
  std::uint64_t sum_of_values(const std::string& text) const {
    int sum = 6;
    for (const auto& [key, value] : program::parse_parameters(text, "")) {
      if (value == "0" || value == "any") continue;
      sum += static_cast<int>(text_hash(key + value, landscape_.seed) % 4) - 1;
    }
    return static_cast<std::uint64_t>(std::clamp(sum, 0, 17));
  }
  static double share(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
  Landscape landscape_;
  std::mutex mutex_;
};

/// In memory where possible, since stores sync often.
struct TemporaryFolder : neutra::tests::TestFolder {
  TemporaryFolder() : TestFolder(root()) {}
  static std::filesystem::path root() {
    const std::filesystem::path memory = "/dev/shm";
    return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  }
};

struct Case {
  FakeSpace space{4, 3};
  Landscape landscape;
  SearchConfig config;
  SearchTask task;
};

/// A random search: both rules, both goals, ties, NaNs, invalid programs, budgets and depths.
inline Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Case c;
  c.space = FakeSpace(3 + below(3), 2 + below(2));
  c.landscape.seed = seed;
  c.landscape.counts = below(2) == 0;
  c.landscape.not_a_number = below(3) == 0 ? 0.05 : 0;
  c.landscape.refused = below(2) == 0 ? 0.1 : 0;
  c.config.rule = below(2) == 0 ? Rule::kAlgorithm1 : Rule::kRecorded;
  c.config.top_k = 1 + below(4);
  c.config.replicas = 1 + below(5);
  if (below(3) == 0) c.config.max_depth = 1 + below(3);
  if (below(2) == 0) c.config.budget_evaluations = 1 + below(80);
  c.config.fingerprint = "fake";
  c.task.fault_id = "F" + std::to_string(seed);
  c.task.start = c.space.start();
  c.task.goal = c.landscape.counts ? program::Goal::kMaximize : program::Goal::kMinimize;
  c.task.metric = c.landscape.counts ? "accuracy" : "mae";
  c.task.metric_bound = c.landscape.counts ? 1 : 0;
  program::Parameters fixed = c.task.start;
  fixed["c"] = "1";
  c.task.fixed = c.space.program(fixed);
  c.task.fixed_parameters = fixed;
  // A level always, since the known fix may be among those that don't train.
  c.config.ground_truth_metric = c.landscape.counts ? 0.65 + 0.05 * below(5) : 0.1 * below(4);
  return c;
}

/// A search of up to 60 evaluations over accuracies, without anything unusual.
inline Case plain_case(std::uint64_t seed) {
  Case c;
  c.landscape.seed = seed;
  c.config.top_k = 3;
  c.config.replicas = 5;
  c.config.ground_truth_metric = 0.8;
  c.config.fingerprint = "fake";
  c.config.budget_evaluations = 60;
  c.task.fault_id = "F" + std::to_string(seed);
  c.task.start = c.space.start();
  c.task.metric = "accuracy";
  c.task.metric_bound = 1;
  program::Parameters fixed = c.task.start;
  fixed["c"] = "1";
  c.task.fixed = c.space.program(fixed);
  c.task.fixed_parameters = fixed;
  return c;
}

/// One without a budget, with 60 neighbours of each program.
inline Case wide_case() {
  Case c = plain_case(2);
  c.space = FakeSpace(20, 4);  // 60 neighbours
  c.task.start = c.space.start();
  program::Parameters fixed = c.task.start;
  fixed["c"] = "1";
  c.task.fixed = c.space.program(fixed);
  c.task.fixed_parameters = fixed;
  c.config.budget_evaluations.reset();
  return c;
}

inline std::string tsv(const Network& network) {
  std::ostringstream out;
  write_tsv(network, out);
  return out.str();
}

inline SearchOutcome run(const Case& c, const RunOptions& options, FakeTrainer& trainer,
                         const std::filesystem::path& store) {
  return run_search(c.task, c.space, c.config, options, trainer, store);
}

}  // namespace neutra::search::tests
