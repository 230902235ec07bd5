#include "training/local_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/parallel.h"
#include "programs.h"
#include "training/fused/engine.h"
#include "training/isa.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

TrainingJob job(const program::Program& program, int replica = 0) {
  TrainingJob made;
  made.program = &program;
  made.replica = replica;
  return made;
}

/// All of a result that doesn't say how it was come by.
std::string essence(const ReplicaResult& result) {
  return std::string(to_string(result.status)) + " " +
         std::to_string(std::bit_cast<std::uint64_t>(result.metric)) + " " +
         std::to_string(result.correct) + "/" + std::to_string(result.total) + " " +
         result.backend + " " + result.message;
}

Json& layers_of(program::Program& p) { return p.document["model"]["config"]["layers"]; }

program::Program with_epochs(program::Program p, int epochs) {
  p.document["fit"]["epochs"] = epochs;
  return p;
}

/// Every layer of the fused back end that has a state or draws numbers.
program::Program stateful(Json how) {
  program::Program p =
      program_of("moons", 2,
                 Json::array({dense(8, "relu"), layer("BatchNormalization", Json::object()),
                              layer("Dropout", {{"rate", 0.25}}), dense(5, "tanh"),
                              layer("Dropout", {{"rate", 0.1}}), dense(1, "sigmoid")}),
                 "binary_crossentropy", "loss", std::move(how), 6);
  p.document["compile"]["metrics"] = Json::array({"accuracy"});
  p.document["fit"]["batch_size"] = 100;
  return p;
}

std::vector<Json> optimizers() {
  std::vector<Json> all;
  for (const std::string& name : optimizer_names()) all.push_back(optimizer(name, 0.01));
  for (const Json& more : {Json{{"momentum", 0.9}}, Json{{"momentum", 0.9}, {"nesterov", true}},
                           Json{{"decay", 0.1}}}) {
    all.push_back(optimizer("SGD", 0.01));
    all.back()["config"].update(more);
  }
  all.push_back(optimizer("RMSprop", 0.01));
  all.back()["config"].update({{"momentum", 0.8}, {"centered", true}});
  all.push_back(optimizer("Adam", 0.01));
  all.back()["config"]["amsgrad"] = true;
  return all;
}

TEST(Backends, Words) {
  for (const Backend backend : {Backend::kAuto, Backend::kEager, Backend::kFused}) {
    EXPECT_EQ(parse_backend(to_string(backend)), backend);
  }
  EXPECT_EQ(to_string(Backend::kAuto), "auto");
  EXPECT_EQ(to_string(Backend::kEager), "eager");
  EXPECT_EQ(to_string(Backend::kFused), "fused");
  EXPECT_EQ(parse_backend("Fused"), std::nullopt);
  EXPECT_EQ(parse_backend(""), std::nullopt);
}

TEST(Backends, AutoTakesFusedWhereItCovers) {
  const program::Program p = moons();
  EXPECT_EQ(make_local_trainer({})->train(job(p)).backend, "fused");
  EXPECT_EQ(make_local_trainer(trained_by(Backend::kFused))->train(job(p)).backend, "fused");
  EXPECT_EQ(make_local_trainer(trained_by(Backend::kEager))->train(job(p)).backend, "eager");
}

/// Programs that only the eager back end trains, and what the other one says.
std::vector<std::pair<program::Program, std::string>> uncovered() {
  std::vector<std::pair<program::Program, std::string>> found;
  program::Program activity = moons();
  layers_of(activity)[0]["config"]["activity_regularizer"] = "l2";
  found.emplace_back(activity, "activity regularizer of layer 0");
  program::Program steps = moons();
  layers_of(steps)[1] = layer("Reshape", {{"target_shape", {8, 2}}});
  layers_of(steps)[2] = layer("LSTM", {{"units", 3}, {"dropout", 0.2}});
  found.emplace_back(steps, "layer LSTM");
  program::Program elu = moons();
  layers_of(elu)[1] = layer("ELU", {{"alpha", -0.5}});
  found.emplace_back(elu, "ELU with alpha");
  program::Program broadcast = moons();
  layers_of(broadcast)[3] = dense(3, "linear");
  broadcast.document["compile"]["loss"] = "cosine_similarity";
  broadcast.document["compile"]["metrics"] = Json::array({"mae"});
  broadcast.document["metric"] = {{"name", "mae"}, {"goal", "minimize"}};
  found.emplace_back(broadcast, "targets of shape (1) for outputs of shape (3)");
  return found;
}

TEST(Backends, AutoTakesEagerElse) {
  for (const auto& [p, reason] : uncovered()) {
    const ReplicaResult result = make_local_trainer({})->train(job(p));
    EXPECT_EQ(result.status, RunStatus::kOk) << reason << ": " << result.message;
    EXPECT_EQ(result.backend, "eager") << reason;
    const ReplicaResult eager = make_local_trainer(trained_by(Backend::kEager))->train(job(p));
    EXPECT_EQ(essence(result), essence(eager)) << reason;
  }
}

TEST(Backends, FusedSaysWhatItDoesNotKnow) {
  for (const auto& [p, reason] : uncovered()) {
    const ReplicaResult result = make_local_trainer(trained_by(Backend::kFused))->train(job(p));
    EXPECT_EQ(result.status, RunStatus::kFailed) << reason;
    EXPECT_NE(result.message.find(reason), std::string::npos) << result.message;
    EXPECT_NE(result.message.find("--backend auto"), std::string::npos) << result.message;
    EXPECT_EQ(result.steps, 0);
    EXPECT_TRUE(std::isnan(result.metric));
  }
}

TEST(Backends, FingerprintsDiffer) {
  const program::Program p = moons();
  std::set<std::string> seen;
  for (const Backend backend : {Backend::kAuto, Backend::kEager, Backend::kFused}) {
    seen.insert(make_local_trainer(trained_by(backend))->fingerprint(p));
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_NE(fused_fingerprint().find("glibc"), std::string::npos);
  EXPECT_NE(fused_fingerprint().front(), ',');  // the kernels have a name
}

TEST(Backends, AgreeOnWhatIsLearnt) {
  const program::Program p = moons(40);
  const double eager = make_local_trainer(trained_by(Backend::kEager))->train(job(p)).metric;
  const double fused = make_local_trainer(trained_by(Backend::kFused))->train(job(p)).metric;
  EXPECT_NEAR(fused, eager, 0.05);
}

TrainerOptions with_reuse() {
  TrainerOptions options;
  options.reuse_epochs = true;
  return options;
}

class Prefixes : public EachBackend {};
NEUTRA_EACH_BACKEND(Prefixes);

/// Half, whole and double the epochs, in every order, give what each gives alone.
TEST_P(Prefixes, ReuseChangesNoBit) {
  const auto plain = trainer();
  for (const Json& how : optimizers()) {
    const program::Program p = stateful(how);
    std::map<int, program::Program> programs;
    std::map<int, std::string> alone;
    for (const int epochs : {3, 6, 12}) {
      programs[epochs] = with_epochs(p, epochs);
      const ReplicaResult result = plain->train(job(programs[epochs]));
      EXPECT_EQ(result.status, RunStatus::kOk) << how << result.message;
      EXPECT_EQ(result.epochs_reused, 0);
      alone[epochs] = essence(result);
    }
    EXPECT_NE(alone[3], alone[6]);
    const auto reusing = trainer(with_reuse());
    std::map<int, std::int64_t> reused;
    for (const int epochs : {6, 3, 12, 6}) {
      const ReplicaResult result = reusing->train(job(programs[epochs]));
      EXPECT_EQ(essence(result), alone[epochs]) << how << ", " << epochs << " epochs";
      reused[epochs] = result.epochs_reused;
      if (epochs == 3) {
        EXPECT_EQ(result.samples_reused, result.samples);
      }
    }
    EXPECT_EQ(reused[3], 3);
    EXPECT_EQ(reused[12], 6);
    const auto rising = trainer(with_reuse());
    for (const int epochs : {3, 6, 12}) {
      const ReplicaResult result = rising->train(job(programs[epochs]));
      EXPECT_EQ(essence(result), alone[epochs]) << how << ", rising to " << epochs;
      EXPECT_EQ(result.epochs_reused, epochs == 3 ? 0 : epochs / 2);
      EXPECT_EQ(result.samples, epochs * 400);
      EXPECT_EQ(result.samples_reused, result.epochs_reused * 400);
    }
  }
}

TEST_P(Prefixes, OnlyTheSameProgramSeedAndReplica) {
  const auto reusing = trainer(with_reuse());
  const program::Program p = moons(4), longer = moons(8);
  reusing->train(job(p));
  EXPECT_EQ(reusing->train(job(longer, 1)).epochs_reused, 0);
  TrainingJob other_seed = job(longer);
  other_seed.seed = 9;
  EXPECT_EQ(reusing->train(other_seed).epochs_reused, 0);
  TrainingJob independent = job(longer);
  independent.stream = StreamKey::kIndependent;
  EXPECT_EQ(reusing->train(independent).epochs_reused, 0);
  program::Program wider = longer;
  layers_of(wider)[0]["config"]["units"] = 17;
  EXPECT_EQ(reusing->train(job(wider)).epochs_reused, 0);
  EXPECT_EQ(reusing->train(job(longer)).epochs_reused, 4);
}

TEST_P(Prefixes, NotWhereCallbacksOrObserversLook) {
  const auto reusing = trainer(with_reuse());
  program::Program p = moons(4), longer = moons(8);
  for (program::Program* one : {&p, &longer}) {
    one->document["fit"]["callbacks"] =
        Json::parse(R"([{"class_name":"TerminateOnNaN","config":{}}])");
  }
  reusing->train(job(p));
  EXPECT_EQ(reusing->train(job(longer)).epochs_reused, 0);
  const program::Program q = moons(4), longer_q = moons(8);
  Observer nobody;
  reusing->train(job(q), &nobody);
  EXPECT_EQ(reusing->train(job(longer_q), &nobody).epochs_reused, 0);
}

TEST_P(Prefixes, StatesHaveABound) {
  const program::Program p = moons(4), longer = moons(8);
  TrainerOptions small = with_reuse();
  small.state_bytes = 0;
  const auto none = trainer(small);
  const std::string first = essence(none->train(job(p)));
  const ReplicaResult result = none->train(job(longer));
  EXPECT_EQ(result.epochs_reused, 0);
  EXPECT_EQ(essence(result), essence(trainer()->train(job(longer))));
  EXPECT_EQ(first, essence(trainer()->train(job(p))));
}

TEST_P(Prefixes, DivergedTrainingsAreNoDifferentWithReuse) {
  program::Program p = moons(8);
  layers_of(p) =
      Json::array({dense(4, "relu", {{"bias_initializer", "ones"}}), dense(1, "linear")});
  layers_of(p)[0]["config"]["batch_input_shape"] = Json::array({nullptr, 2});
  p.document["compile"]["loss"] = "mean_squared_error";
  for (const double rate : {1e3, 1e12}) {
    p.document["compile"]["optimizer"] = optimizer("SGD", rate);
    const auto reusing = trainer(with_reuse());
    for (const int epochs : {8, 4, 16, 2, 1}) {
      const program::Program q = with_epochs(p, epochs);
      const ReplicaResult alone = trainer()->train(job(q));
      EXPECT_EQ(alone.status, RunStatus::kDiverged);
      EXPECT_EQ(essence(reusing->train(job(q))), essence(alone)) << rate << ", " << epochs;
    }
  }
}

TEST(Backends, ResultsDependOnTheJobAlone) {
  std::vector<program::Program> programs{moons(), line(), stateful(optimizer("Nadam", 0.01))};
  program::Program wide = moons(1);
  layers_of(wide)[0]["config"]["units"] = 200;
  layers_of(wide)[2]["config"]["units"] = 150;  // a kernel for sgemm
  programs.push_back(wide);
  const std::size_t count = 3 * programs.size();
  std::vector<std::string> alone;
  for (const int workers : {1, 2, 4}) {
    for (const bool reuse : {false, true}) {
      TrainerOptions options = trained_by(Backend::kFused);
      options.reuse_epochs = reuse;
      const auto trainer = make_local_trainer(options);
      std::vector<std::string> found(count);
      run_all(count, workers, nullptr, [&](std::size_t i) {
        found[i] = essence(trainer->train(
            job(programs[i % programs.size()], static_cast<int>(i / programs.size()))));
      });
      if (alone.empty()) alone = found;
      EXPECT_EQ(found, alone) << workers << " workers";
    }
  }
}

/// Runs this test program's one test in a process of its own with NEUTRA_ISA set; what it printed.
std::string in_child(const std::string& isa, const std::string& test) {
  const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX NEUTRA_ISA=" + isa +
                              " '" + std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + test + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "no process";
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  const int status = pclose(pipe);
  std::string lines = status == 0 ? "" : "failed: " + text;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("result ")) lines += line + "\n";
  }
  return lines;
}

TEST(Backends, DISABLED_PrintsResults) {
  std::cout << "result " << fused_fingerprint() << '\n';
  const program::Program p = stateful(optimizer("Adam", 0.01));
  const auto trainer = make_local_trainer(trained_by(Backend::kFused));
  for (int replica = 0; replica < 3; ++replica) {
    std::cout << "result " << essence(trainer->train(job(p, replica))) << '\n';
  }
}

TEST(Backends, AnInstructionSetCanBeAskedFor) {
  if (!supports(InstructionSet::kAvx2)) GTEST_SKIP() << "no AVX2";
  const std::string first = in_child("avx2", "Backends.DISABLED_PrintsResults");
  EXPECT_EQ(first, in_child("avx2", "Backends.DISABLED_PrintsResults"));
  EXPECT_TRUE(first.starts_with("result avx2, ")) << first;
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 4) << first;
  if (supports(InstructionSet::kAvx512)) {
    const std::string wide = in_child("avx512", "Backends.DISABLED_PrintsResults");
    EXPECT_TRUE(wide.starts_with("result avx512, ")) << wide;
  }
  const std::string wrong = in_child("sse2", "Backends.DISABLED_PrintsResults");
  EXPECT_TRUE(wrong.starts_with("failed: ")) << wrong;
}

}  // namespace
}  // namespace neutra::training
