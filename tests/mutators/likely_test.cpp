#include "mutators/likely.h"

#include <gtest/gtest.h>

namespace neutra::mutators {
namespace {

program::ProgramSpace space_of(const std::string& task, int units, const std::string& activation) {
  program::Program program{parse_json(R"({
    "format": "neutra-program", "version": 1,
    "model": {"class_name": "Sequential", "config": {"name": "m", "layers": [
      {"class_name": "Dense", "config": {"units": 4, "activation": "sigmoid", "batch_input_shape": [null, 3]}},
      {"class_name": "Dense", "config": {"units": 1}}]}},
    "compile": {"optimizer": "SGD", "loss": "hinge", "metrics": ["accuracy"]},
    "fit": {"batch_size": 16, "epochs": 1},
    "data": {"source": "hdf5", "arguments": {"file": "small.h5"}}})",
                                      "m.json")};
  program.document["task"] = task;
  Json& output = program.document["model"]["config"]["layers"][1]["config"];
  output["units"] = units;
  output["activation"] = activation;
  return program::ProgramSpace::with_default_keys(program);
}

Likelihood of(const program::ProgramSpace& space, const char* key, const char* before,
              const char* after) {
  return LikelyChanges(space).of({"", key, before, after});
}

TEST(LikelyChanges, KnowWhatTheTaskAsksFor) {
  const program::ProgramSpace binary = space_of("classification", 1, "softmax");
  EXPECT_TRUE(of(binary, "act2", "softmax", "sigmoid").makes_usual);
  EXPECT_FALSE(of(binary, "act2", "softmax", "relu").makes_usual);
  EXPECT_TRUE(of(binary, "loss", "hinge", "binary_crossentropy").makes_usual);
  EXPECT_FALSE(of(binary, "loss", "hinge", "categorical_crossentropy").makes_usual);
  EXPECT_FALSE(of(binary, "loss", "mean_squared_error", "binary_crossentropy").makes_usual);
  EXPECT_LT(of(binary, "loss", "hinge", "binary_crossentropy").value,
            of(binary, "loss", "hinge", "mean_squared_error").value);

  const program::ProgramSpace classes = space_of("classification", 3, "sigmoid");
  EXPECT_TRUE(of(classes, "act2", "relu", "softmax").makes_usual);
  EXPECT_TRUE(of(classes, "loss", "hinge", "categorical_crossentropy").makes_usual);

  // The same where the program names no input shape.
  program::Program shapeless = classes.base();
  shapeless.document["model"]["config"]["layers"][0]["config"].erase("batch_input_shape");
  const program::ProgramSpace unknown = program::ProgramSpace::with_default_keys(shapeless);
  EXPECT_TRUE(of(unknown, "act2", "relu", "softmax").makes_usual);
  EXPECT_TRUE(of(unknown, "loss", "hinge", "categorical_crossentropy").makes_usual);

  const program::ProgramSpace regression = space_of("regression", 1, "sigmoid");
  EXPECT_TRUE(of(regression, "act2", "sigmoid", "linear").makes_usual);
  EXPECT_TRUE(of(regression, "loss", "hinge", "mean_squared_error").makes_usual);

  EXPECT_TRUE(of(regression, "act1", "sigmoid", "relu").makes_usual);  // a hidden one
  EXPECT_TRUE(of(regression, "ki1", "zeros", "glorot_uniform").makes_usual);
  EXPECT_FALSE(of(regression, "ki1", "glorot_uniform", "zeros").makes_usual);
}

TEST(LikelyChanges, NumbersMoveTowardsTheUsualOnes) {
  const program::ProgramSpace space = space_of("classification", 1, "sigmoid");
  EXPECT_TRUE(of(space, "lr", "10.0", "1.0").makes_usual);
  EXPECT_FALSE(of(space, "lr", "10.0", "100.0").makes_usual);
  EXPECT_FALSE(of(space, "lr", "0.01", "0.001").makes_usual);
  EXPECT_LT(of(space, "lr", "0.1", "0.01").value, of(space, "lr", "0.1", "1.0").value);
  EXPECT_TRUE(of(space, "epochs", "1", "2").makes_usual);
  EXPECT_TRUE(of(space, "batch_size", "1000", "32").makes_usual);
}

TEST(LikelyChanges, KindsAreOrdered) {
  const program::ProgramSpace space = space_of("classification", 1, "sigmoid");
  EXPECT_LT(of(space, "loss", "hinge", "huber").kind, of(space, "act1", "relu", "elu").kind);
  EXPECT_LT(of(space, "lr", "0.1", "0.01").kind, of(space, "bi1", "zeros", "ones").kind);
  EXPECT_FALSE(of(space, "no_such_key", "1", "2").makes_usual);
}

}  // namespace
}  // namespace neutra::mutators
