#include "program/optimizer_rules.h"

#include <gtest/gtest.h>

#include "program/edit.h"
#include "program/normal.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::sample;

Program with(const Json& optimizer) {
  Program program = sample("mlp");
  program.document["compile"]["optimizer"] = optimizer;
  return program;
}

Json adam(const Json& config) { return {{"class_name", "Adam"}, {"config", config}}; }

std::string path_of(const Json& optimizer) {
  const auto problems = validate(with(optimizer).document);
  return problems.size() == 1 ? problems[0].path : std::to_string(problems.size());
}

TEST(OptimizerRules, DefaultsAreThoseOfTheRules) {
  const auto config = [](const std::string& name, const std::string& rules) {
    return resolve(with({{"class_name", name}, {"config", {{"rules", rules}}}}))
        .optimizer.at("config");
  };
  EXPECT_EQ(config("Adam", "keras").at("epsilon"), 1e-7);
  EXPECT_EQ(config("Adam", "keras3").at("epsilon"), 1e-7);
  EXPECT_EQ(config("Adam", "torch").at("epsilon"), 1e-8);
  EXPECT_EQ(config("RMSprop", "torch").at("rho"), 0.99);
  EXPECT_EQ(config("Nadam", "keras3").at("schedule_decay"), 1);
  EXPECT_EQ(config("Nadam", "torch").at("schedule_decay"), 0.004);
  EXPECT_EQ(config("Adagrad", "torch").at("initial_accumulator_value"), 0);
}

TEST(OptimizerRules, DefaultsChangeNoHash) {
  const Hash hash = program_hash(with(adam(Json::object())));
  EXPECT_EQ(hash, program_hash(with(adam({{"rules", "keras"}, {"weight_decay", 0}}))));
  EXPECT_EQ(hash, program_hash(with(adam({{"weight_decay", nullptr},
                                          {"undecayed", Json::array()},
                                          {"global_clipnorm", nullptr}}))));
  EXPECT_NE(hash, program_hash(with(adam({{"rules", "torch"}}))));
  EXPECT_EQ(program_hash(with(adam({{"rules", "torch"}}))),
            program_hash(with(adam({{"rules", "torch"}, {"epsilon", 1e-8}}))));
  EXPECT_EQ(program_hash(with(adam({{"undecayed", {"bias", "0/kernel", "bias"}}}))),
            program_hash(with(adam({{"undecayed", {"0/kernel", "bias"}}}))));
}

TEST(OptimizerRules, Problems) {
  const std::string config = "/compile/optimizer/config/";
  EXPECT_EQ(path_of(adam({{"rules", "jax"}})), config + "rules");
  EXPECT_EQ(path_of({{"class_name", "Ftrl"}, {"config", {{"rules", "torch"}}}}), config + "rules");
  EXPECT_EQ(path_of({{"class_name", "SGD"}, {"config", {{"dampening", 0.5}}}}),
            config + "dampening");
  EXPECT_EQ(path_of({{"class_name", "SGD"},
                     {"config", {{"rules", "torch"}, {"dampening", 0.5}, {"nesterov", true}}}}),
            config + "dampening");
  EXPECT_EQ(path_of(adam({{"decoupled_weight_decay", true}})), config + "decoupled_weight_decay");
  EXPECT_EQ(path_of(adam({{"undecayed", {"99/bias"}}})), config + "undecayed");
  EXPECT_EQ(path_of(adam({{"undecayed", {"/bias"}}})), config + "undecayed");
  EXPECT_EQ(path_of(adam({{"undecayed", {3}}})), config + "undecayed");
  EXPECT_EQ(path_of(adam({{"weight_decay", -1}})), config + "weight_decay");
}

TEST(OptimizerRules, AnotherOptimizerKeepsTheRules) {
  Json document =
      with(
          adam(
              {{"rules", "torch"}, {"weight_decay", 0.1}, {"beta_1", 0.5}, {"global_clipnorm", 2}}))
          .document;
  replace_optimizer(document["compile"]["optimizer"], "SGD");
  EXPECT_EQ(
      document["compile"]["optimizer"],
      Json({{"class_name", "SGD"},
            {"config", {{"rules", "torch"}, {"weight_decay", 0.1}, {"global_clipnorm", 2}}}}));
  document = with(adam({{"beta_1", 0.5}, {"clipnorm", 2}})).document;
  replace_optimizer(document["compile"]["optimizer"], "SGD");
  EXPECT_EQ(document["compile"]["optimizer"], Json({{"class_name", "SGD"}}));
}

TEST(OptimizerRules, UndecayedVariablesFollowTheirLayers) {
  Json document = with(adam({{"undecayed", {"0/bias", "1/bias", "gamma"}}})).document;
  const auto undecayed = [&] { return document["compile"]["optimizer"]["config"]["undecayed"]; };
  repeat_layer(document, 0, 2);
  EXPECT_EQ(undecayed(), Json({"0/bias", "2/bias", "gamma"}));
  repeat_layer(document, 0, 0);
  EXPECT_EQ(undecayed(), Json({"1/bias", "gamma"}));
}

}  // namespace
}  // namespace neutra::program
