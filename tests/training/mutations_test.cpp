#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "mutation_steps.h"
#include "training/data/dataset.h"

namespace neutra::training {
namespace {

std::int64_t count(const Part& part, double label) {
  return std::count(part.y.values.begin(), part.y.values.end(), label);
}

/// The feature tells which row of the original each one was.
bool ascending(const Part& part) {
  return std::is_sorted(part.x.values.begin(), part.x.values.end());
}

const Numbers kLabels = {1, 0, 0, 2, 0, 1, 0, 0, 2, 1};  // five of 0, three of 1, two of 2

TEST(ChangeLabel, MovesRowsOfTheLargestClass) {
  for (const auto& [percentage, changed] : {std::pair{50.0, 2}, {40.0, 2}, {39.9, 1}, {100.0, 5}}) {
    const Part part = mutated(numbered(kLabels), step("change_label", percentage));
    EXPECT_EQ(count(part, 0), 5 - changed) << percentage;
    EXPECT_TRUE(ascending(part));
    for (std::size_t i = 0; i < kLabels.size(); ++i) {
      if (kLabels[i] != 0) {
        EXPECT_EQ(part.y.values[i], kLabels[i]);
      }
    }
  }
}

TEST(ChangeLabel, DrawsAllOtherLabelsAlike) {
  Numbers labels(30000, 3.0);
  labels.insert(labels.end(), {1, 2, 4});
  const Part part = mutated(numbered(labels), step("change_label", 100));
  EXPECT_EQ(count(part, 3), 0);
  for (const double label : {1, 2, 4}) EXPECT_NEAR(count(part, label), 10000, 350) << label;
}

TEST(ChangeLabel, KnowsOneHotRowsAndTheFirstOfEqualClasses) {
  Part part = numbered({0, 0, 0, 0});
  part.y = {{4, 2}, {1, 0, 0, 1, 1, 0, 0, 1}};
  // (0, 1) comes before (1, 0).
  EXPECT_EQ(mutated(part, step("change_label", 100)).y.values, (Numbers{1, 0, 1, 0, 1, 0, 1, 0}));
}

TEST(ChangeLabel, BlursTargetsOfARegression) {
  Numbers targets;
  for (int i = 0; i < 20000; ++i) targets.push_back(i % 100);
  const Part part = mutated(numbered(targets), on_values(step("change_label", 25)));
  Numbers noise;
  for (std::size_t i = 0; i < targets.size(); ++i) noise.push_back(part.y.values[i] - targets[i]);
  EXPECT_NEAR(deviation_of(noise), deviation_of(targets) * 0.25, 0.1);
}

TEST(DeleteTrainingData, TakesAShareOfEachClass) {
  const Part part = mutated(numbered(kLabels), step("delete_training_data", 50));
  EXPECT_EQ(count(part, 0), 3);
  EXPECT_EQ(count(part, 1), 2);
  EXPECT_EQ(count(part, 2), 1);
  EXPECT_TRUE(ascending(part));
  for (std::size_t i = 0; i < part.y.values.size(); ++i) {
    EXPECT_EQ(part.y.values[i], kLabels[static_cast<std::size_t>(part.x.values[i])]);
  }
  EXPECT_EQ(mutated(numbered(kLabels), step("delete_training_data", 99)).x.rows(), 3);
}

TEST(DeleteTrainingData, TakesAShareOfEachBucket) {
  // The deviation is 10 * sqrt(0.8) = 8.94: two rows below, one within, two above.
  const Part part =
      mutated(numbered({-10, 10, 0, 10, -10}), on_values(step("delete_training_data", 50)));
  EXPECT_EQ(count(part, -10), 1);
  EXPECT_EQ(count(part, 0), 1);
  EXPECT_EQ(count(part, 10), 1);
}

TEST(UnbalanceTrainData, SparesLargeClasses) {
  const Part half = mutated(numbered(kLabels), step("unbalance_train_data", 50));
  EXPECT_EQ(count(half, 0), 5);  // the mean is 10 / 3
  EXPECT_EQ(count(half, 1), 2);
  EXPECT_EQ(count(half, 2), 1);
  const Part all = mutated(numbered(kLabels), step("unbalance_train_data", 100));
  EXPECT_EQ(all.y.values, (Numbers{0, 0, 0, 0, 0}));
  // Empty buckets count in the mean of the others: 4 rows in 3 buckets.
  const Part values =
      mutated(numbered({0, 0.1, 0, 9}), on_values(step("unbalance_train_data", 100)));
  EXPECT_EQ(values.y.values, (Numbers{0, 0.1, 0}));
}

TEST(AddNoise, AsWideAsTheRow) {
  Part part{{{100, 400}, {}}, {{100}, Numbers(100, 0)}};
  for (int row = 0; row < 100; ++row) {
    for (int i = 0; i < 400; ++i) part.x.values.push_back(row * (i % 2));  // deviation row / 2
  }
  const Part noisy = mutated(part, step("add_noise", 40));
  int changed = 0;
  for (std::size_t row = 0; row < 100; ++row) {
    Numbers noise;
    for (std::size_t i = row * 400; i < row * 400 + 400; ++i) {
      noise.push_back(noisy.x.values[i] - part.x.values[i]);
    }
    if (std::all_of(noise.begin(), noise.end(), [](double v) { return v == 0; })) continue;
    ++changed;
    EXPECT_NEAR(deviation_of(noise) / (static_cast<double>(row) / 2 * 0.4), 1, 0.15) << row;
  }
  EXPECT_GE(changed, 39);  // the first row is constant and stays
  EXPECT_LE(changed, 40);
  EXPECT_EQ(noisy.y.values, part.y.values);
}

TEST(MakeOutputClassesOverlap, RepeatsUnderTheSecondLabel) {
  const Part part = mutated(numbered(kLabels), step("make_output_classes_overlap", 60));
  ASSERT_EQ(part.x.rows(), 13);
  std::set<double> copied;
  for (std::size_t i = 0; i < 13; ++i) {
    const double label = kLabels[static_cast<std::size_t>(part.x.values[i])];
    EXPECT_EQ(part.y.values[i], i < 10 ? label : 1);
    if (i < 10) continue;
    EXPECT_EQ(label, 0);
    EXPECT_TRUE(copied.insert(part.x.values[i]).second);
  }
}

TEST(MakeOutputClassesOverlap, TakesTargetsOfTheSecondBucketInTurn) {
  // Deviation 1.5: four rows within, two above, none below.
  const Numbers targets = {0, 4, 0.5, 1, 3, 0};
  const Part part = mutated(numbered(targets), on_values(step("make_output_classes_overlap", 100)));
  EXPECT_EQ(Numbers(part.y.values.begin() + 6, part.y.values.end()), (Numbers{3, 4, 3, 4}));
  const std::set<double> copied(part.x.values.begin() + 6, part.x.values.end());
  EXPECT_EQ(copied, (std::set<double>{0, 2, 3, 5}));
}

TEST(MakeOutputClassesOverlap, NineBucketsForTwoTargets) {
  Part part = numbered({0, 0, 0, 0, 0});
  // Deviations sqrt(0.8) * 10: the corner (below, above) twice, the centre three times.
  part.y = {{5, 2}, {0, 0, -10, 10, 0, 0, -10, 10, 0, 1}};
  const Part overlapped = mutated(part, on_values(step("make_output_classes_overlap", 100)));
  EXPECT_EQ(Numbers(overlapped.y.values.begin() + 10, overlapped.y.values.end()),
            (Numbers{-10, 10, -10, 10, -10, 10}));
}

TEST(DeepMutation, RowsComeGoAndMove) {
  const Part repeated = mutated(numbered(kLabels), step("data_repetition", 35));
  ASSERT_EQ(repeated.x.rows(), 13);
  const Part missing = mutated(numbered(kLabels), step("data_missing", 35));
  EXPECT_EQ(missing.x.rows(), 7);
  EXPECT_TRUE(ascending(missing));
  Numbers many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const Part shuffled = mutated(numbered(many), step("data_shuffle", 50));
  EXPECT_EQ(shuffled.x.values, shuffled.y.values);  // targets move along
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < many.size(); ++i) moved += shuffled.x.values[i] != many[i];
  EXPECT_LE(moved, 500);
  EXPECT_GE(moved, 490);
  Numbers sorted = shuffled.x.values;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, many);
}

TEST(DeepMutation, LabelsAndNoise) {
  Numbers labels(10000, 0.0);
  for (std::size_t i = 0; i < labels.size(); i += 10) labels[i] = 1;
  const Part wrong = mutated(numbered(labels), step("label_error", 40));
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) changed += wrong.y.values[i] != labels[i];
  EXPECT_NEAR(changed, 2000, 150);  // half of the new labels are the old ones

  const Part noisy = mutated(numbered(labels), step("noise_perturbation", 40));
  Numbers noise;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double difference = noisy.x.values[i] - static_cast<double>(i);
    if (difference != 0) noise.push_back(difference);
  }
  EXPECT_NEAR(static_cast<double>(noise.size()), 4000, 1);
  EXPECT_NEAR(deviation_of(noise), 0.1, 0.004);
}

TEST(Mutations, AreTheSameForTheSameSeed) {
  const Json steps = Json::array({step("change_label", 50, 9), step("data_missing", 20, 9)});
  const Part part = mutated(numbered(kLabels), steps);
  const Part again = mutated(numbered(kLabels), steps);
  EXPECT_EQ(part.x.values, again.x.values);
  EXPECT_EQ(part.y.values, again.y.values);
  // Philox gives the same numbers on every machine.
  EXPECT_EQ(
      mutated(numbered({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), step("data_shuffle", 100, 1)).x.values,
      (Numbers{5, 8, 6, 9, 0, 4, 3, 1, 7, 2}));
  Numbers many(100, 0.0);
  const auto removed = [&](const Json& step) { return mutated(numbered(many), step).x.values; };
  EXPECT_NE(removed(step("data_missing", 50, 1)), removed(step("data_missing", 50, 2)));
  // Two steps of one seed draw for themselves.
  Part once = numbered(many), twice = numbered(many);
  mutate(Json::array({step("noise_perturbation", 100, 4)}), once);
  mutate(Json::array({step("noise_perturbation", 100, 4), step("noise_perturbation", 100, 4)}),
         twice);
  EXPECT_NE(twice.x.values[0] - once.x.values[0], once.x.values[0]);
}

TEST(Mutations, SmallClassesAreKnownBeforehand) {
  const auto small = [](std::vector<float> targets, bool regression) {
    const auto rows = static_cast<std::int64_t>(targets.size());
    return has_small_class({{rows}, std::move(targets)}, regression);
  };
  EXPECT_TRUE(small({0, 0, 1}, false));
  EXPECT_FALSE(small({0, 1, 2}, false));
  EXPECT_FALSE(small({1, 1}, false));
  // Buckets of a regression; the upper one is smaller than a third of all.
  EXPECT_TRUE(small({0, 0, 0, 9}, true));
  EXPECT_FALSE(small({0, 0, 0}, true));
  // What can't be told is for the loading to say.
  EXPECT_TRUE(small({0, std::nanf("")}, false));
}

TEST(Mutations, BadDataIsNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message(numbered({1, 1}), step("change_label", 50)),
            "data.mutations[0]: found training rows of one class; allowed: at least two classes of "
            "targets");
  for (const char* op : {"make_output_classes_overlap", "label_error"}) {
    EXPECT_NE(message(numbered({1, 1}), step(op, 50)).find("one class"), std::string::npos) << op;
  }
  for (const char* op : {"change_label", "delete_training_data", "unbalance_train_data",
                         "make_output_classes_overlap", "label_error"}) {
    EXPECT_NE(
        message(numbered({0, nan, 1}), step(op, 50)).find("NaN in the targets of training row 1"),
        std::string::npos)
        << op;
  }
  EXPECT_NE(message(numbered({0, nan}), on_values(step("change_label", 50))).find("NaN"),
            std::string::npos);
  Part features = numbered({0, 1, 2});
  features.x.values[2] = nan;
  EXPECT_NE(message(features, step("add_noise", 50)).find("NaN in the features of training row 2"),
            std::string::npos);
  EXPECT_NE(message(numbered({0, 1}), step("unbalance_train_data", 50)).find("equal size"),
            std::string::npos);
  EXPECT_NE(message(numbered({0, 0.1}), on_values(step("make_output_classes_overlap", 50)))
                .find("accepted"),
            std::string::npos);
  EXPECT_NE(message(numbered({0, 0}), on_values(step("make_output_classes_overlap", 50)))
                .find("one bucket"),
            std::string::npos);
  EXPECT_NE(message(numbered({0, 1}), step("data_missing", 100)).find("leaves no training row"),
            std::string::npos);
}

TEST(Mutations, BadStepsAreNamed) {
  const auto of = [](const char* text) { return message(numbered(kLabels), Json::parse(text)); };
  EXPECT_NE(of(R"({"op":"add_nois","percentage":1})").find("data.mutations[0].op"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"add_noise"})").find("data.mutations[0].percentage: found nothing"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"add_noise","percentage":101})").find("from 0 to 100"), std::string::npos);
  EXPECT_NE(of(R"({"op":"add_noise","percentage":-1})").find("from 0 to 100"), std::string::npos);
  EXPECT_NE(of(R"({"op":"add_noise","percentage":5,"targets":"values"})").find("targets"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"change_label","percentage":5,"targets":"all"})").find("classes, values"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"change_label","percentage":5,"stddev":1})").find("stddev"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"change_label","percent":5})").find("unknown field"), std::string::npos);
  Part part = numbered(kLabels);
  EXPECT_THROW(mutate(step("change_label", 5), part), Error);  // no list
  EXPECT_NE(of(R"(5)").find("no object"), std::string::npos);
}

TEST(Mutations, LeaveTestAndValidationRowsAlone) {
  Json data = Json::parse(R"({"source":"generator","arguments":{"name":"blobs","rows":200},
      "split":{"test_size":0.2,"seed":1},"validation":{"test_size":0.25,"seed":2}})");
  const auto before = load_dataset(data, {});
  data["mutations"] = Json::array({step("delete_training_data", 50), step("add_noise", 100)});
  const auto after = load_dataset(data, {});
  EXPECT_EQ(before->x_train.rows(), 120);
  EXPECT_NEAR(static_cast<double>(after->x_train.rows()), 60, 1);
  EXPECT_EQ(after->info().training_rows, after->x_train.rows());
  EXPECT_EQ(after->x_test.values, before->x_test.values);
  EXPECT_EQ(after->x_validation.values, before->x_validation.values);
  EXPECT_EQ(after->y_holdout.values, before->y_holdout.values);
}

TEST(Mutations, ArePartOfTheIdentity) {
  Json document = Json::parse(R"({"model":{"class_name":"Sequential","config":{"layers":[
      {"class_name":"Dense","config":{"units":1}}]}},"compile":{"loss":"mse"},
      "data":{"source":"generator"}})");
  const Hash hash = program::program_hash({document});
  document["data"]["mutations"] = Json::array();
  EXPECT_EQ(program::program_hash({document}), hash);
  document["data"]["mutations"] = Json::array({step("add_noise", 50)});
  const Hash mutant = program::program_hash({document});
  EXPECT_NE(mutant, hash);
  document["data"]["mutations"] = Json::array({step("add_noise", 50, 2)});
  EXPECT_NE(program::program_hash({document}), mutant);
}

}  // namespace
}  // namespace neutra::training
