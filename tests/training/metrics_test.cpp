#include "training/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "program/metric_name.h"
#include "program/vocabulary.h"
#include "training/keras_release.h"

namespace neutra::training {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Metric measured(const char* name, const std::vector<float>& o, const program::Shape& os,
                const std::vector<float>& t, const program::Shape& ts) {
  Metric metric(name);
  metric.add({o, os}, {t, ts});
  return metric;
}

TEST(Metrics, Argmax) {
  EXPECT_EQ(argmax(std::vector<float>{1, 3, 3, 2}), 1u);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, 3, 4}), 2u);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, kNaN}), 0u);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, -std::numeric_limits<float>::infinity()}), 0u);
}

TEST(Metrics, BinaryWhereTheOutputHasOneUnit) {
  const Metric m = measured("accuracy", {0.6f, 0.5f, 0.4f, kNaN}, {4, 1}, {1, 1, 0, 0}, {4, 1});
  EXPECT_EQ(m.correct(), 3);  // 0.5 isn't above the threshold; NaN counts as 0
  EXPECT_EQ(m.total(), 4);
  EXPECT_DOUBLE_EQ(m.value(), 0.75);
}

TEST(Metrics, BinaryBroadcastsTheOutput) {
  const Metric m = measured("accuracy", {0.6f, 0.4f}, {2, 1}, {1, 0, 1, 0, 0, 1}, {2, 3});
  EXPECT_EQ(m.correct(), 4);
  EXPECT_EQ(m.total(), 6);
}

TEST(Metrics, SparseWhereTheTargetHasOneColumnOrLessRank) {
  const std::vector<float> o{0.1f, 0.9f, 0.8f, 0.2f, 0.3f, 0.7f};
  EXPECT_EQ(measured("accuracy", o, {3, 2}, {1, 1, 0.5f}, {3, 1}).correct(), 1);
  EXPECT_EQ(measured("accuracy", o, {3, 2}, {1, 0, 1}, {3}).correct(), 3);
}

TEST(Metrics, CategoricalTakesTheFirstMaximumOfBoth) {
  // A target of zeros counts as class 0, as does an output of NaN.
  const Metric m = measured("accuracy", {0.1f, 0.9f, kNaN, kNaN, 0.5f, 0.5f}, {3, 2},
                            {0, 1, 0, 0, 1, 1}, {3, 2});
  EXPECT_EQ(m.correct(), 3);
}

TEST(Metrics, ErrorsBroadcastAndAddUp) {
  Metric mae("mae");
  mae.add({std::vector<float>{1, 2}, {2, 1}}, {std::vector<float>{0, 0, 0, 4}, {2, 2}});
  mae.add({std::vector<float>{5}, {1, 1}}, {std::vector<float>{3, 5}, {1, 2}});
  EXPECT_DOUBLE_EQ(mae.value(), (1 + 1 + 2 + 2 + 2 + 0) / 6.0);
  EXPECT_EQ(mae.correct(), -1);
  EXPECT_DOUBLE_EQ(measured("mse", {1, 2}, {2, 1}, {3, 3}, {2}).value(), 2.5);
  EXPECT_TRUE(std::isnan(measured("mae", {kNaN, 2}, {2, 1}, {3, 3}, {2, 1}).value()));
  EXPECT_TRUE(std::isnan(Metric("mae").value()));
}

TEST(Metrics, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Metric("loss"), Error);
  EXPECT_THROW(Metric("no such metric"), Error);
  EXPECT_THROW(measured("mae", {1, 2}, {1, 2}, {1, 2, 3}, {1, 3}), Error);
}

TEST(Metrics, EveryNameIsMeasuredAndEveryLossHasOne) {
  for (const program::Entry& entry : program::entries(program::Vocabulary::kMetric)) {
    EXPECT_TRUE(entry.facts.contains("goal")) << entry.name;
    if (entry.name != "loss") {
      EXPECT_TRUE(std::isnan(Metric(entry.name).value())) << entry.name;
    }
  }
  for (const program::Entry& loss : program::entries(program::Vocabulary::kLoss)) {
    EXPECT_NE(program::find(program::Vocabulary::kMetric, loss.name), nullptr) << loss.name;
  }
}

/// The examples of the functions' own documentation (tf.keras 2.4).
TEST(Metrics, LossesAreKerass) {
  const std::vector<float> labels{0, 1, 0, 0}, ones{1, 1, 0, 0}, p{0.6f, 0.4f, 0.4f, 0.6f};
  const auto on = [&](const char* name, const std::vector<float>& outputs) {
    return measured(name, outputs, {2, 2}, labels, {2, 2}).value();
  };
  EXPECT_NEAR(on("mae", ones), 0.25, 1e-7);
  EXPECT_NEAR(on("mse", ones), 0.25, 1e-7);
  EXPECT_NEAR(on("rmse", ones), 0.5, 1e-7);
  EXPECT_NEAR(on("mean_absolute_percentage_error", ones), 250000000.0, 50);
  EXPECT_NEAR(on("mean_squared_logarithmic_error", ones), 0.12011322, 1e-7);
  EXPECT_NEAR(on("logcosh", ones), 0.10844523, 1e-7);
  EXPECT_NEAR(on("poisson", ones), 0.49999997, 1e-7);
  EXPECT_NEAR(on("huber", p), 0.155, 1e-7);
  EXPECT_NEAR(on("hinge", p), 1.3, 1e-6);
  EXPECT_NEAR(on("squared_hinge", p), 1.86, 1e-6);
  EXPECT_NEAR(on("categorical_hinge", p), 1.4, 1e-6);
  EXPECT_NEAR(on("binary_crossentropy", p), 0.81492424, 1e-6);
  EXPECT_NEAR(on("kullback_leibler_divergence", p), 0.45814306, 1e-6);
  EXPECT_NEAR(measured("cosine_similarity", {1, 0, 1, 1}, {2, 2}, {0, 1, 1, 1}, {2, 2}).value(),
              0.5, 1e-7);
  const std::vector<float> scores{0.05f, 0.95f, 0, 0.1f, 0.8f, 0.1f};
  EXPECT_NEAR(
      measured("categorical_crossentropy", scores, {2, 3}, {0, 1, 0, 0, 0, 1}, {2, 3}).value(),
      1.1769392, 1e-6);
  EXPECT_NEAR(measured("sparse_categorical_crossentropy", scores, {2, 3}, {1, 2}, {2}).value(),
              1.1769392, 1e-6);
}

TEST(Metrics, ProbabilitiesAreClipped) {
  const double most = -std::log(1e-7);
  EXPECT_NEAR(measured("categorical_crossentropy", {1, 0}, {1, 2}, {0, 1}, {1, 2}).value(), most,
              1e-5);
  EXPECT_NEAR(measured("sparse_categorical_crossentropy", {1, 0}, {1, 2}, {1}, {1}).value(), most,
              1e-5);
  EXPECT_NEAR(measured("binary_crossentropy", {0}, {1, 1}, {1}, {1, 1}).value(), -std::log(2e-7),
              1e-5);
  EXPECT_TRUE(std::isnan(measured("binary_crossentropy", {kNaN}, {1, 1}, {1}, {1, 1}).value()));
}

TEST(Metrics, HingesLookAtTheLabelsOfAllRows) {
  Metric hinge("hinge");
  hinge.add({std::vector<float>{0.5f}, {1, 1}}, {std::vector<float>{0}, {1, 1}});
  EXPECT_DOUBLE_EQ(hinge.value(), 1.5);  // 0 means -1
  hinge.add({std::vector<float>{0.5f}, {1, 1}}, {std::vector<float>{3}, {1, 1}});
  EXPECT_DOUBLE_EQ(hinge.value(), (1 + 0) / 2.0);  // it doesn't
}

TEST(Metrics, AccuraciesUnderTheirOwnNames) {
  const Metric binary =
      measured("binary_accuracy", {0.98f, 1, 0, 0.6f}, {2, 2}, {1, 1, 0, 0}, {2, 2});
  EXPECT_EQ(binary.correct(), 3);
  EXPECT_EQ(binary.total(), 4);  // by element, not by row
  EXPECT_EQ(
      measured("binary_accuracy(threshold=0)", {-1, 0.3f, -0.2f, 2}, {4, 1}, {0, 1, 1, 1}, {4, 1})
          .correct(),
      3);  // of logits
  EXPECT_EQ(
      measured("binary_accuracy(threshold=-0.25)", {-1, -0.2f}, {2, 1}, {0, 1}, {2, 1}).correct(),
      2);
  const std::vector<float> scores{0.1f, 0.9f, 0.8f, 0.05f, 0.95f, 0};
  EXPECT_EQ(measured("categorical_accuracy", scores, {2, 3}, {0, 0, 1, 0, 1, 0}, {2, 3}).correct(),
            1);
  EXPECT_EQ(measured("sparse_categorical_accuracy", scores, {2, 3}, {2, 1}, {2, 1}).correct(), 1);
  EXPECT_EQ(measured("sparse_categorical_accuracy", scores, {2, 3}, {2, 1}, {2}).total(), 2);
}

TEST(Metrics, TopK) {
  const std::vector<float> scores{0.1f, 0.9f, 0.8f, 0.05f, 0.95f, 0, 0.3f, 0.3f, 0.3f};
  const std::vector<float> hot{0, 0, 1, 0, 1, 0, 0, 0, 1}, labels{2, 1, 2};
  for (const auto& [k, correct] : std::vector<std::pair<int, int>>{{1, 2}, {2, 3}, {5, 3}}) {
    Metric categorical(to_string(program::MetricName{"top_k_categorical_accuracy", k}));
    categorical.add({scores, {3, 3}}, {hot, {3, 3}});
    EXPECT_EQ(categorical.correct(), correct) << k;  // equal scores are as good as one another
    Metric sparse(to_string(program::MetricName{"sparse_top_k_categorical_accuracy", k}));
    sparse.add({scores, {3, 3}}, {labels, {3, 1}});
    EXPECT_EQ(sparse.correct(), correct) << k;
    EXPECT_EQ(sparse.total(), 3);
  }
  // A row with NaN doesn't count, even far from the target; nor does a label without a score.
  EXPECT_EQ(measured("top_k_categorical_accuracy", {1, kNaN}, {1, 2}, {1, 0}, {1, 2}).correct(), 0);
  EXPECT_EQ(measured("sparse_top_k_categorical_accuracy", {1, 0}, {1, 2}, {2}, {1}).correct(), 0);
}

/// The examples of scikit-learn's documentation.
TEST(Metrics, R2) {
  EXPECT_NEAR(measured("r2", {2.5f, 0, 2, 8}, {4, 1}, {3, -0.5f, 2, 7}, {4, 1}).value(),
              0.9486081370449679, 1e-12);
  EXPECT_NEAR(measured("r2", {0, 2, -1, 2, 8, -5}, {3, 2}, {0.5f, 1, -1, 1, 7, -6}, {3, 2}).value(),
              0.9368005266622779, 1e-12);
  EXPECT_DOUBLE_EQ(measured("r2", {1, 1}, {2, 1}, {1, 1}, {2, 1}).value(), 1);  // constant targets
  EXPECT_DOUBLE_EQ(measured("r2", {1, 2}, {2, 1}, {1, 1}, {2, 1}).value(), 0);
  EXPECT_TRUE(std::isnan(measured("r2", {1, kNaN}, {2, 1}, {1, 1}, {2, 1}).value()));
  // Far from 0 the plain sum of squares has no digits left.
  EXPECT_NEAR(measured("r2", {1e7f, 1e7f + 2}, {2, 1}, {1e7f, 1e7f + 4}, {2, 1}).value(), 0.5,
              1e-9);
}

TEST(Metrics, MacroF1IsOverTheClassesThatAreNamed) {
  const std::vector<float> predicted{1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0};
  EXPECT_NEAR(measured("macro_f1", predicted, {6, 3}, {0, 1, 2, 0, 1, 2}, {6, 1}).value(),
              0.26666666666666666, 1e-12);
  // Class 2 is neither a target nor an output; class 1 is never found.
  EXPECT_DOUBLE_EQ(
      measured("macro_f1", {1, 0, 0, 1, 0, 0}, {2, 3}, {1, 0, 0, 0, 1, 0}, {2, 3}).value(),
      (2.0 / 3 + 0) / 2);
  EXPECT_DOUBLE_EQ(measured("macro_f1", {0.9f, 0.2f, 0.8f}, {3, 1}, {1, 0, 0}, {3, 1}).value(),
                   (2.0 / 3 + 2.0 / 3) / 2);
}

TEST(Metrics, AucCountsAllThresholds) {
  EXPECT_DOUBLE_EQ(measured("AUC", {0.1f, 0.4f, 0.35f, 0.8f}, {4, 1}, {0, 0, 1, 1}, {4, 1}).value(),
                   0.75);
  // Scores that fall between two of Keras's 200 thresholds.
  EXPECT_DOUBLE_EQ(measured("AUC", {0.5001f, 0.5002f}, {2, 1}, {0, 1}, {2, 1}).value(), 1);
  EXPECT_DOUBLE_EQ(measured("AUC", {0.5f, 0.5f, 0.5f}, {3, 1}, {0, 1, 1}, {3, 1}).value(), 0.5);
  EXPECT_TRUE(std::isnan(measured("AUC", {0.1f, 0.2f}, {2, 1}, {1, 1}, {2, 1}).value()));
  EXPECT_TRUE(std::isnan(measured("AUC", {kNaN, 0.2f}, {2, 1}, {0, 1}, {2, 1}).value()));
  // One class against the rest: 1, 0.5 and (class 2 has no rows) nothing.
  const std::vector<float> scores{0.9f, 0.3f, 0, 0.8f, 0.3f, 0, 0.1f, 0.3f, 0};
  EXPECT_DOUBLE_EQ(measured("AUC", scores, {3, 3}, {0, 0, 1}, {3, 1}).value(), 0.75);
  EXPECT_DOUBLE_EQ(measured("AUC", scores, {3, 3}, {1, 0, 0, 1, 0, 0, 0, 1, 0}, {3, 3}).value(),
                   0.75);
}

TEST(Metrics, PrecisionAndRecall) {
  const std::vector<float> outputs{1, 0, 1, 1}, targets{0, 1, 1, 1};
  EXPECT_DOUBLE_EQ(measured("Precision", outputs, {4, 1}, targets, {4, 1}).value(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(measured("Recall", outputs, {4, 1}, targets, {4, 1}).value(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(measured("Precision", {0, 0}, {2, 1}, {1, 0}, {2, 1}).value(), 0);  // 0 of 0
}

TEST(Metrics, BatchesMakeNoDifference) {
  std::vector<float> outputs, targets, labels;
  for (int i = 0; i < 24; ++i) outputs.push_back(static_cast<float>((i * 7) % 24) / 24 + 0.01f);
  for (int row = 0; row < 8; ++row) {
    for (int c = 0; c < 3; ++c) targets.push_back(c == (row * row) % 3 ? 1 : 0);
    labels.push_back(static_cast<float>((row * row) % 3));
  }
  for (const program::Entry& entry : program::entries(program::Vocabulary::kMetric)) {
    if (entry.name == "loss") continue;
    const bool sparse = entry.name.starts_with("sparse");
    const std::vector<float>& y = sparse ? labels : targets;
    const std::int64_t width = sparse ? 1 : 3;
    const double whole = measured(entry.name.c_str(), outputs, {8, 3}, y, {8, width}).value();
    for (const std::int64_t size : {1, 3}) {
      Metric metric(entry.name);
      for (std::int64_t begin = 0; begin < 8; begin += size) {
        const std::int64_t count = std::min<std::int64_t>(size, 8 - begin);
        const auto part = [&](const std::vector<float>& all, std::int64_t n) {
          return std::span(all).subspan(static_cast<std::size_t>(begin * n),
                                        static_cast<std::size_t>(count * n));
        };
        metric.add({part(outputs, 3), {count, 3}}, {part(y, width), {count, width}});
      }
      EXPECT_NEAR(metric.value(), whole, 1e-12) << entry.name << " in batches of " << size;
    }
    if (!entry.facts.contains("range")) continue;
    const Json& low = entry.facts["range"][0];
    const Json& high = entry.facts["range"][1];
    EXPECT_TRUE(low.is_null() || whole >= low.get<double>()) << entry.name;
    EXPECT_TRUE(high.is_null() || whole <= high.get<double>()) << entry.name;
  }
}

TEST(Metrics, OriginalScale) {
  const TargetScale scale{{10, 100}, {1, 2}};
  Metric metric("mae(scale=original)", scale);
  metric.add({std::vector<float>{1, 1, 2, 2}, {2, 2}}, {std::vector<float>{0, 0, 2, 1}, {2, 2}});
  EXPECT_DOUBLE_EQ(metric.value(), (10 + 100 + 0 + 100) / 4.0);
  Metric share("mean_absolute_percentage_error(scale=original)", scale);
  share.add({std::vector<float>{1, 1}, {1, 2}}, {std::vector<float>{0, 0}, {1, 2}});
  EXPECT_DOUBLE_EQ(share.value(), 100 * (10.0 / 1 + 100.0 / 2) / 2);
  Metric plain("mean_absolute_percentage_error", scale);
  plain.add({std::vector<float>{2, 2}, {1, 2}}, {std::vector<float>{1, 1}, {1, 2}});
  EXPECT_DOUBLE_EQ(plain.value(), 100);
}

/// keras/engine/training.py, Model.compile, and keras/metrics.py of 2.2.4.
TEST(Metrics, AccuracyOfKeras224) {
  const auto accuracy = [](const std::string& loss) {
    return metric_of(KerasRelease::k224, "accuracy", loss);
  };
  EXPECT_EQ(metric_of(KerasRelease::k224, "mae", "hinge"), "mae");
  EXPECT_EQ(metric_of(KerasRelease::kTf24, "accuracy", "binary_crossentropy"), "accuracy");
  // The loss makes it binary: each output counts. tf.keras compares the largest.
  const std::vector<float> wide{0.6f, 0.3f, 0.1f};
  const std::string binary = accuracy("binary_crossentropy");
  EXPECT_EQ(accuracy("keras-2.2.4/binary_crossentropy"), binary);
  EXPECT_DOUBLE_EQ(measured(binary.c_str(), wide, {1, 3}, {0, 1, 0}, {1, 3}).value(), 1.0 / 3);
  EXPECT_EQ(measured("accuracy", wide, {1, 3}, {0, 1, 0}, {1, 3}).value(), 0);
  // One output is rounded; tf.keras asks whether it is above 0.5.
  const std::string mse = accuracy("mean_squared_error");
  EXPECT_EQ(measured(mse.c_str(), {2.2f, 0.5f}, {2, 1}, {2, 0}, {2, 1}).correct(), 2);
  EXPECT_EQ(measured("accuracy", {2.2f, 0.5f}, {2, 1}, {2, 0}, {2, 1}).correct(), 1);
  // Class indices belong to the sparse loss alone.
  const std::string sparse = accuracy("sparse_categorical_crossentropy");
  EXPECT_EQ(measured(sparse.c_str(), wide, {1, 3}, {0}, {1, 1}).correct(), 1);
  EXPECT_EQ(measured(mse.c_str(), wide, {1, 3}, {1, 0, 0}, {1, 3}).correct(), 1);
}

}  // namespace
}  // namespace neutra::training
