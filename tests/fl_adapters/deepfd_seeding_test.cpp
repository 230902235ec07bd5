#include "fl_adapters/tools/deepfd/seeding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/training/programs.h"

namespace neutra::fl_adapters::deepfd {
namespace {

using training::line;
using training::moons;

TEST(DeepFDSeeding, PoolsWithoutWhatTheProgramHas) {
  const Seeder seeder(moons(40));
  using Words = std::vector<std::string>;
  EXPECT_EQ(seeder.values(0), (Words{"sgd", "rmsprop", "adadelta", "adagrad"}));
  EXPECT_EQ(seeder.values(1).size(), 16u);
  EXPECT_EQ(seeder.values(2),
            (Words{"relu", "softmax", "softplus", "softsign", "tanh", "selu", "elu", "linear"}));
  EXPECT_EQ(seeder.values(3),
            (Words{"mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_error"}));
  EXPECT_EQ(seeder.values(4), (Words{"4", "2", "1"}));
  EXPECT_EQ(Seeder(moons(1)).values(4), Words{});
}

TEST(DeepFDSeeding, FaultsAreThoseOfTheirLabels) {
  const program::Program base = moons(40);
  const Seeded seeded = Seeder(base).seed({"sgd", "1e-12", "tanh", "mean_squared_error", "2"});
  EXPECT_EQ(seeded.name, "opt_sgd__lr_1e-12__act_tanh__loss_mean_squared_error__epoch_2");
  EXPECT_EQ(to_string(seeded.labels), "opt, lr, act, loss, epoch");
  EXPECT_EQ(to_string(program::diff(seeded.program, base)), "ACH(3), HLR, HNE, LCH, OCH");
  const Seeded origin = Seeder(base).seed({});
  EXPECT_EQ(origin.name, "origin");
  EXPECT_EQ(program::program_hash(origin.program), program::program_hash(base));
}

TEST(DeepFDSeeding, TrainsAsTheToolDoes) {
  program::Program p = line();
  const program::ResolvedProgram resolved = program::resolve(watched(p));
  EXPECT_EQ(resolved.metric, "accuracy");
  EXPECT_EQ(resolved.data.at("validation"), "test");
  ASSERT_EQ(resolved.callbacks.size(), 1u);
  EXPECT_EQ(resolved.callbacks[0].at("class_name"), "EarlyStopping");
  EXPECT_EQ(resolved.callbacks[0].at("config").at("monitor"), "val_loss");
  EXPECT_EQ(resolved.callbacks[0].at("config").at("patience"), 3);
  // Validation rows of its own are kept.
  p.document["fit"]["validation_split"] = 0.25;
  EXPECT_FALSE(watched(p).document["data"].contains("validation"));
}

}  // namespace
}  // namespace neutra::fl_adapters::deepfd
