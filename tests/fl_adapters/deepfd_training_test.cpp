#include <gtest/gtest.h>

#include "base/error.h"
#include "fl_adapters/registry.h"
#include "fl_adapters/tools/deepfd/seeding.h"
#include "tests/source_file.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::deepfd {

using namespace training;
namespace {

/// Learns within its few epochs.
program::Program quick(int epochs = 20) {
  return program_of("blobs", 2, Json::array({dense(8, "relu"), dense(1, "sigmoid")}),
                    "binary_crossentropy", "accuracy", optimizer("Adam", 0.02), epochs);
}

Observation seen(const program::Program& p, int replica = 0) {
  const auto trainer = training::make_local_trainer({});
  training::TrainingJob job;
  job.program = &p;
  job.replica = replica;
  return observe(*trainer, job, {std::begin(kVariants), std::end(kVariants)});
}

double feature(const Observation& seen, ToolVariant variant, const std::string& name) {
  const auto& names = feature_names(variant);
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  return seen.features[static_cast<std::size_t>(variant)][static_cast<std::size_t>(at)];
}

TEST(DeepFDTraining, FeaturesTellATrainingFromABrokenOne) {
  const Observation good = seen(quick());
  EXPECT_EQ(good.result.status, training::RunStatus::kOk);
  EXPECT_GT(good.val_accuracy, 0.95);
  program::Program slow = quick();
  slow.document["compile"]["optimizer"]["config"]["learning_rate"] = 1e-15;
  const Observation stuck = seen(slow);
  // Kernels never move, only biases, which start at zero: each sample after the first finds two
  // variables as they were.
  EXPECT_EQ(feature(stuck, ToolVariant::kRepaired, "ft_cons_mean_weight_max"),
            2 * (stuck.result.steps / 13 - 1));
  EXPECT_EQ(feature(good, ToolVariant::kRepaired, "ft_cons_mean_weight_max"), 0);
  // Early stopping: no loss got better after the first epoch, or ever so slightly.
  EXPECT_LE(stuck.result.steps, good.result.steps);
  // The last epoch's values are there in both variants.
  for (const ToolVariant variant : kVariants) {
    EXPECT_FLOAT_EQ(static_cast<float>(feature(good, variant, "ft_val_accuracy")),
                    static_cast<float>(good.val_accuracy));
  }
}

TEST(DeepFDTraining, SameReplicaSameFeatures) {
  EXPECT_EQ(seen(quick(), 2).features, seen(quick(), 2).features);
  EXPECT_NE(seen(quick(), 2).features, seen(quick(), 3).features);
}

TEST(DeepFDTraining, SamplesEvery256thBatchOfEachEpoch) {
  // A batch a row: 400 training rows make 400 batches, of which 0 and 256 are looked at.
  program::Program p = quick(2);
  p.document["fit"]["batch_size"] = 1;
  const auto trainer = training::make_local_trainer({});
  const program::Program seen_as = watched(p);
  training::TrainingJob job;
  job.program = &seen_as;
  Watcher watcher({ToolVariant::kAsPublished});
  trainer->train(job, &watcher);
  EXPECT_EQ(watcher.monitors().front().rows().size(), 4u);
}

TEST(DeepFDTraining, TableIsTheSameWithAnyNumberOfWorkers) {
  SeedingOptions options;
  options.singles = 1;
  options.several = {1, 0, 0, 0};
  const auto trainer = training::make_local_trainer({});
  const std::vector<FaultyProgram> programs{{"quick", quick()}};
  const auto text = [&](int workers) {
    options.workers = workers;
    return to_text(make_table(programs, *trainer, options), 3);
  };
  const std::string one = text(1);
  EXPECT_EQ(one, text(3));
  const Table table = table_from_json(parse_json(one, "t"), "t");
  ASSERT_GE(table.examples.size(), 2u);
  EXPECT_EQ(table.examples.front().faults, "origin");
  EXPECT_EQ(table.examples.front().hash, program::program_hash(quick()));
  for (std::size_t i = 1; i < table.examples.size(); ++i) {
    EXPECT_LT(table.examples[i].accuracy, table.examples.front().accuracy);  // killed
    EXPECT_NE(table.examples[i].labels, Labels{});
  }
  options.seed = 1;
  EXPECT_NE(one, text(1));
}

TEST(DeepFDTraining, LearnsFromClassificationsOnly) {
  const auto trainer = training::make_local_trainer({});
  EXPECT_THROW(make_table({{"line", line()}}, *trainer, {}), Error);
}

Localisation ask(const program::Program& p, double time_limit = 0) {
  const auto trainer = training::make_local_trainer({});
  LocaliseContext context;
  context.trainer = trainer.get();
  context.time_limit = time_limit;
  return find_tool("deepfd")->localise({"test", p}, context);
}

TEST(DeepFDTool, NamesFaultTypesWithoutLayers) {
  program::Program p = quick(40);
  p.document["compile"]["optimizer"]["config"]["learning_rate"] = 1e-12;
  const Localisation found = ask(p);
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  const program::FaultSet hlr = program::parse_fault_set("HLR", "");
  EXPECT_NE(std::find(found.faults.items.begin(), found.faults.items.end(), hlr.items.front()),
            found.faults.items.end())
      << to_string(found.faults);
  for (const ToolMessage& message : found.messages) {
    EXPECT_TRUE(message.layers.empty());
    EXPECT_EQ(message.faults.size(), 1u);
    EXPECT_NE(message.detail.find("of 9 trainings"), std::string::npos);
  }
}

TEST(DeepFDTool, RefusesProgramsThatItLearnedFrom) {
  const program::Program known{read_json(source_file("experiments/programs/blobs_2.json"))};
  const Localisation refused = ask(known);
  EXPECT_EQ(refused.status, LocalisationStatus::kNotApplicable);
  EXPECT_EQ(refused.reason, "the model was trained on this program (blobs_2, origin)");
  EXPECT_EQ(to_string(refused.faults), "N/A");
}

TEST(DeepFDTool, RegressionsAreWatchedByAccuracy) {
  EXPECT_EQ(ask(line()).status, LocalisationStatus::kOk);
}

TEST(DeepFDTool, TimeLimit) { EXPECT_EQ(ask(quick(), 1e-6).status, LocalisationStatus::kTimeout); }

TEST(DeepFDTool, ProgramsThatKerasRefusesAreNotApplicable) {
  program::Program p = quick();
  p.document["model"]["config"]["layers"][1]["config"]["units"] = 0;
  EXPECT_EQ(ask(p).status, LocalisationStatus::kNotApplicable);
}

}  // namespace
}  // namespace neutra::fl_adapters::deepfd
