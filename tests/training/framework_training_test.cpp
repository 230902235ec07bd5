// Trainings with what PyTorch and newer versions of Keras have: rules of optimisers, schedules,
// initial weights. Both back ends must train alike.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "program/edit.h"
#include "program/formats/stored_weights.h"
#include "programs.h"
#include "tests/error_of.h"
#include "tests/test_folder.h"

namespace neutra::training {
namespace {

using neutra::tests::error_of;
using neutra::tests::TestFolder;

TrainingJob job(const program::Program& program, int replica = 0) {
  TrainingJob made;
  made.program = &program;
  made.replica = replica;
  return made;
}

program::Program two_moons(Json how, int epochs = 4) {
  program::Program p =
      program_of("moons", 2,
                 Json::array({dense(8, "relu"), layer("BatchNormalization", Json::object()),
                              dense(1, "sigmoid")}),
                 "binary_crossentropy", "loss", std::move(how), epochs);
  p.document["fit"]["batch_size"] = 50;
  return p;
}

std::vector<float> flat(const program::ModelWeights& weights) {
  std::vector<float> all;
  for (const auto& layer : weights) {
    for (const auto& array : layer) all.insert(all.end(), array.begin(), array.end());
  }
  return all;
}

std::vector<float> trained(const program::Program& program, Backend backend,
                           TrainerOptions options = {}) {
  options.backend = backend;
  const TrainedModel model = make_local_trainer(options)->train_model(job(program));
  EXPECT_EQ(model.training.status, RunStatus::kOk) << model.training.message;
  return flat(model.weights);
}

/// Both back ends end with the same weights, which are returned.
std::vector<float> both(const program::Program& program, const TrainerOptions& options = {}) {
  const std::vector<float> eager = trained(program, Backend::kEager, options),
                           fused = trained(program, Backend::kFused, options);
  EXPECT_EQ(eager.size(), fused.size());
  for (std::size_t i = 0; i < std::min(eager.size(), fused.size()); ++i) {
    EXPECT_NEAR(eager[i], fused[i], 2e-4 * std::max(1.0f, std::abs(eager[i])))
        << program.document["compile"]["optimizer"] << program.document["fit"];
  }
  return fused;
}

TEST(Rules, BothBackEndsTrainAlikeAndRulesMatter) {
  const std::vector<float> plain = both(two_moons(optimizer("RMSprop", 0.01)));
  for (const Json& config : {Json{{"rules", "keras3"}}, Json{{"rules", "torch"}},
                             Json{{"rules", "torch"}, {"momentum", 0.5}, {"weight_decay", 0.01}},
                             Json{{"rules", "keras3"}, {"weight_decay", 0.1}},
                             Json{{"rules", "torch"}, {"global_clipnorm", 0.1}}}) {
    Json how = optimizer("RMSprop", 0.01);
    how["config"].update(config);
    EXPECT_NE(both(two_moons(how)), plain) << config;
  }
}

TEST(Rules, ClassWeightsOfPyTorchAreShares) {
  const auto weighted = [](const char* rules, double by) {
    Json how = optimizer("SGD", 0.1);
    how["config"]["rules"] = rules;
    program::Program p =
        program_of("moons", 2, Json::array({dense(8, "tanh"), dense(2, "softmax")}),
                   "sparse_categorical_crossentropy", "loss", std::move(how), 2);
    p.document["fit"]["class_weight"] = {{"0", by}, {"1", 4 * by}};
    // The weights are part of the identity, and that of the random numbers.
    for (Json& each : p.document["model"]["config"]["layers"]) {
      each["config"]["kernel_initializer"] = {{"class_name", "Constant"},
                                              {"config", {{"value", 0.125}}}};
    }
    p.document["fit"]["shuffle"] = false;
    return both(p);
  };
  const std::vector<float> once = weighted("torch", 1), twice = weighted("torch", 2);
  ASSERT_EQ(once.size(), twice.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(once[i], twice[i], 1e-5);
  EXPECT_NE(weighted("keras", 1), weighted("keras", 2));
  EXPECT_NE(weighted("keras", 1), once);
}

TEST(Rules, UndecayedVariablesKeepTheirSize) {
  Json how = optimizer("SGD", 0);  // no step but that of the decay, which has the rate as factor
  how["config"] = {{"learning_rate", 1e-30}, {"rules", "torch"}, {"weight_decay", 1e29}};
  program::Program p = two_moons(how, 1);
  p.document["model"]["config"]["layers"][2]["config"]["bias_initializer"] = "ones";
  const auto last = [](const std::vector<float>& weights) { return weights.back(); };
  EXPECT_LT(last(trained(p, Backend::kFused)), 0.6f);
  p.document["compile"]["optimizer"]["config"]["undecayed"] = {"2/bias"};
  EXPECT_NEAR(last(trained(p, Backend::kFused)), 1, 1e-6);
  p.document["compile"]["optimizer"]["config"]["undecayed"] = {"bias"};
  EXPECT_NEAR(last(both(p)), 1, 1e-6);
}

TEST(Schedules, BothBackEndsAndAPrefix) {
  for (const Json& schedule :
       {Json{{"kind", "cosine"}, {"steps", 4}},
        Json{{"kind", "polynomial"}, {"steps", 3}, {"every", "batch"}},
        Json{{"decay_rate", 0.5}, {"steps", 2}, {"staircase", true}},
        Json{{"kind", "piecewise"}, {"boundaries", {0, 2}}, {"factors", {0.5, 0.1}}}}) {
    program::Program p = two_moons(optimizer("Adam", 0.01));
    p.document["fit"]["schedule"] = schedule;
    const std::vector<float> whole = both(p);
    EXPECT_NE(whole, trained(two_moons(optimizer("Adam", 0.01)), Backend::kFused));
    // Going on from a shorter training gives the same.
    TrainerOptions options = trained_by(Backend::kFused);
    options.reuse_epochs = true;
    const auto trainer = make_local_trainer(options);
    program::Program half = p;
    half.document["fit"]["epochs"] = 2;
    trainer->train(job(half));
    const ReplicaResult resumed = trainer->train(job(p));
    EXPECT_EQ(resumed.epochs_reused, 2);
    EXPECT_EQ(resumed.metric,
              make_local_trainer(trained_by(Backend::kFused))->train(job(p)).metric);
  }
}

TEST(Schedules, PlateausReduceTheRate) {
  program::Program p = two_moons(optimizer("SGD", 0.1), 6);
  const std::vector<float> plain = both(p);
  p.document["fit"]["callbacks"] = Json::array(
      {{{"class_name", "ReduceLROnPlateau"},
        {"config", {{"monitor", "loss"}, {"patience", 1}, {"min_delta", 10}, {"factor", 0.5}}}}});
  EXPECT_NE(both(p), plain);
}

// torch.nn.BatchNorm1d: rows 1, 2, 4 move a running variance of 1 by a tenth to 1.13333.
TEST(Rules, TheMovingVarianceOfASample) {
  const auto moved = [](bool sample, Backend backend) {
    program::Program p = program_of(
        "moons", 2,
        Json::array({layer("BatchNormalization", {{"sample_variance", sample}, {"momentum", 0}}),
                     dense(1, "sigmoid")}),
        "binary_crossentropy", "loss", optimizer("SGD", 0.1), 1);
    p.document["fit"]["batch_size"] = 400;
    return trained(p, backend)[6];  // gamma, beta, moving mean, moving variance of two inputs
  };
  for (const Backend backend : {Backend::kEager, Backend::kFused}) {
    EXPECT_NEAR(moved(true, backend) / moved(false, backend), 400.0 / 399, 1e-6);
  }
}

class InitialWeights : public testing::Test {
 protected:
  TestFolder folder_;

  /// The program with what another training ended with.
  program::Program begun(program::Program program, const std::string& name = "w.h5") {
    const auto trainer = make_local_trainer(trained_by(Backend::kFused));
    const TrainedModel model = trainer->train_model(job(program, 3));
    write_file_atomically(folder_.path() / name,
                          program::weight_file(trainer->resolved(program), model.weights));
    weights_ = flat(model.weights);
    return naming(std::move(program), name);
  }
  program::Program naming(program::Program program, const std::string& name) {
    const std::string bytes = read_regular_file(folder_.path() / name, "weights");
    program.document["fit"]["initial_weights"] = {{"file", name}, {"sha256", sha256(bytes)}};
    return program;
  }
  TrainerOptions options() const {
    TrainerOptions options;
    options.data_path = {folder_.path()};
    return options;
  }

  std::vector<float> weights_;
};

TEST_F(InitialWeights, TrainingsBeginWithThem) {
  program::Program p = begun(two_moons(optimizer("Adam", 0.01)));
  p.document["fit"]["loop"] = {{"step", false}};
  p.document["fit"]["shuffle"] = false;
  std::vector<float> found = trained(p, Backend::kEager, options());
  // Averages move: gamma and beta of layer 1 stand before them.
  ASSERT_EQ(found.size(), weights_.size());
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(found[i], weights_[i]) << i;
  p.document["fit"].erase("loop");
  both(p, options());
}

TEST_F(InitialWeights, ReplicasBeginAlike) {
  program::Program p = begun(two_moons(optimizer("Adam", 0.01)));
  p.document["fit"]["shuffle"] = false;
  TrainerOptions options = this->options();
  options.backend = Backend::kFused;
  const auto trainer = make_local_trainer(options);
  EXPECT_EQ(trainer->train(job(p, 0)).metric, trainer->train(job(p, 1)).metric);
  p.document["fit"]["shuffle"] = true;
  EXPECT_NE(trainer->train(job(p, 0)).metric, trainer->train(job(p, 1)).metric);
}

TEST_F(InitialWeights, LayersOfAnotherShapeAreDrawn) {
  program::Program p = begun(two_moons(optimizer("Adam", 0.01)));
  p.document["fit"]["loop"] = {{"step", false}};
  program::insert_layer(p.document, 2, dense(8, "tanh"));
  const std::vector<float> found = trained(p, Backend::kFused, options());
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(found[i], weights_[i]) << i;
  for (std::size_t i = 1; i <= 9; ++i) {
    EXPECT_EQ(found[found.size() - i], weights_[weights_.size() - i]) << i;
  }
}

TEST_F(InitialWeights, TheFileIsThatOfTheDigest) {
  program::Program p = begun(two_moons(optimizer("Adam", 0.01)));
  const auto message = [&](const program::Program& program) {
    TrainerOptions options = this->options();
    options.backend = Backend::kFused;
    return error_of([&] { make_local_trainer(options)->train(job(program)); });
  };
  EXPECT_EQ(message(p), "");
  program::Program other = p;
  other.document["fit"]["initial_weights"]["sha256"] = std::string(64, 'a');
  EXPECT_NE(message(other).find("a file of SHA-256 "), std::string::npos) << message(other);
  other.document["fit"]["initial_weights"]["file"] = "missing.h5";
  EXPECT_NE(message(other).find("missing.h5"), std::string::npos);
  std::ofstream(folder_.path() / "text.h5") << "text";
  EXPECT_NE(message(naming(p, "text.h5")), "");
}

TEST_F(InitialWeights, TheDigestIsTheIdentity) {
  const program::Program p = begun(two_moons(optimizer("Adam", 0.01)));
  program::Program moved = p, other = p, none = p;
  moved.document["fit"]["initial_weights"]["file"] = "/elsewhere/w.h5";
  other.document["fit"]["initial_weights"]["sha256"] = std::string(64, 'a');
  none.document["fit"]["initial_weights"] = nullptr;
  EXPECT_EQ(program_hash(p), program_hash(moved));
  EXPECT_NE(program_hash(p), program_hash(other));
  EXPECT_NE(program_hash(p), program_hash(none));
  EXPECT_EQ(program_hash(none), program_hash(two_moons(optimizer("Adam", 0.01))));
  other.document["fit"]["initial_weights"]["sha256"] = "short";
  EXPECT_EQ(program::validate(other.document).at(0).path, "/fit/initial_weights/sha256");
}

}  // namespace
}  // namespace neutra::training
