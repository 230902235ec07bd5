#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "mutation_steps.h"
#include "training/data/columns.h"
#include "training/data/data_faults.h"
#include "training/data/dataset.h"

namespace neutra::training {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json share(const char* op, double percentage) { return {{"op", op}, {"percentage", percentage}}; }
Json with(Json step, const Json& fields) {
  step.update(fields);
  return step;
}

/// Rows of several features.
Part table(std::int64_t width, Numbers x, Numbers y) {
  const auto rows = static_cast<std::int64_t>(y.size());
  return {{{rows, width}, std::move(x)}, {{rows}, std::move(y)}};
}

/// NaN equals NaN.
bool same(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(Columns, LeaveOutWhatIsNotFinite) {
  const Columns columns =
      describe_columns({{4, 3}, {1, kNaN, kNaN, 3, 5, kInfinity, kNaN, 5, kNaN, 5, 5, kNaN}});
  EXPECT_EQ(columns.mean[0], 3);
  EXPECT_EQ(columns.stddev[0], std::sqrt(8.0 / 3));
  EXPECT_EQ(columns.min[0], 1);
  EXPECT_EQ(columns.max[0], 5);
  EXPECT_EQ(columns.mean[1], 5);
  EXPECT_EQ(columns.stddev[1], 0);
  EXPECT_TRUE(std::isnan(columns.mean[2]));
  EXPECT_GT(columns.min[2], columns.max[2]);
}

TEST(DataFaults, NothingAtZeroPercent) {
  const Part images{{{3, 2, 2, 2}, Numbers(24, 0.25)}, {{3}, {0, 1, 2}}};
  std::vector<Json> steps = {on_values(share("concept_drift", 0)),
                             with(share("cast_features", 0), {{"type", "int8"}}),
                             with(share("change_layout", 0), {{"layout", "transposed"}}),
                             Json{{"op", "class_imbalance"}, {"ratio", 1}}};
  for (const auto& [name, operation] : data_fault_operations()) {
    const std::set<std::string>& fields = operation.fields;
    if (!fields.contains("percentage") || fields.contains("type") || fields.contains("layout")) {
      continue;  // above
    }
    steps.push_back(share(name.c_str(), 0));
  }
  EXPECT_GE(steps.size(), 12u);
  for (const Json& step : steps) {
    SCOPED_TRACE(step.dump());
    const Part part = mutated(images, step);
    EXPECT_EQ(part.x.values, images.x.values);
    EXPECT_EQ(part.y.values, images.y.values);
  }
}

TEST(ClassConditionalNoise, GoesToTheNearestClass) {
  // Means 0, 10 and 13: 0 -> 1, 1 -> 2, 2 -> 1.
  const Numbers x = {-1, 1, 0, 0, 9, 11, 12, 14, 13}, y = {0, 0, 0, 0, 1, 1, 2, 2, 2};
  const Part all = mutated(table(1, x, y), share("class_conditional_noise", 100));
  EXPECT_EQ(all.y.values, (Numbers{1, 1, 1, 1, 2, 2, 1, 1, 1}));
  EXPECT_EQ(all.x.values, x);
  // The share of each class, rounded down: two, one and one.
  const Part half = mutated(table(1, x, y), share("class_conditional_noise", 50));
  std::map<std::pair<double, double>, int> changed;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (half.y.values[i] != y[i]) ++changed[{y[i], half.y.values[i]}];
  }
  EXPECT_EQ(changed,
            (std::map<std::pair<double, double>, int>{{{0, 1}, 2}, {{1, 2}, 1}, {{2, 1}, 1}}));
}

TEST(ClassConditionalNoise, KnowsOneHotRowsAndMissingFeatures) {
  Part part = table(2, {0, kNaN, 4, 0, 6, 7}, {0, 0, 0});
  part.y = {{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  // (0, 0, 1) is 53 / 2 from (0, 1, 0) and 36 / 1 from (1, 0, 0).
  EXPECT_EQ(mutated(part, share("class_conditional_noise", 100)).y.values,
            (Numbers{0, 1, 0, 1, 0, 0, 0, 1, 0}));
}

TEST(ClassConditionalNoise, NeedsClasses) {
  EXPECT_NE(message(numbered({1, 1}), share("class_conditional_noise", 50)).find("one class"),
            std::string::npos);
  Numbers targets;
  for (int i = 0; i < 1001; ++i) targets.push_back(i);
  EXPECT_NE(message(numbered(targets), share("class_conditional_noise", 50))
                .find("found 1001 classes; allowed: at most 1000"),
            std::string::npos);
}

TEST(ContradictingDuplicates, AreNearAndDisagree) {
  Numbers x, y;
  for (int i = 0; i < 2000; ++i) {
    x.insert(x.end(), {i + 1.0, 0, kNaN});
    y.push_back(i % 4);
  }
  const Part part = mutated(table(3, x, y), share("contradicting_duplicates", 50));
  ASSERT_EQ(part.x.rows(), 3000);
  EXPECT_TRUE(same({part.x.values.begin(), part.x.values.begin() + 6000}, x));
  EXPECT_TRUE(std::equal(y.begin(), y.end(), part.y.values.begin()));
  std::map<double, int> labels;
  for (std::size_t i = 2000; i < 3000; ++i) {
    ++labels[part.y.values[i]];
    EXPECT_EQ(part.x.values[3 * i + 1], 0);
    EXPECT_TRUE(std::isnan(part.x.values[3 * i + 2]));
  }
  for (const auto& [label, count] : labels) EXPECT_NEAR(count, 250, 60) << label;
  EXPECT_EQ(labels.size(), 4u);

  const Part exact =
      mutated(table(3, x, y), with(share("contradicting_duplicates", 100), {{"stddev", 0}}));
  ASSERT_EQ(exact.x.rows(), 4000);
  std::set<double> copied;
  for (std::size_t i = 2000; i < 4000; ++i) {
    const double row = exact.x.values[3 * i] - 1;
    EXPECT_NE(exact.y.values[i], y[static_cast<std::size_t>(row)]);
    copied.insert(row);
  }
  EXPECT_EQ(copied.size(), 2000u);

  const Part ones = mutated(table(1, Numbers(5000, 1),
                                  [] {
                                    Numbers targets(5000, 0);
                                    targets[0] = 1;
                                    return targets;
                                  }()),
                            share("contradicting_duplicates", 100));
  EXPECT_NEAR(deviation_of({ones.x.values.begin() + 5000, ones.x.values.end()}), 0.01, 0.0005);
}

TEST(ContradictingDuplicates, OfARegression) {
  const Numbers targets = {0.5, 1.5, 2.5, 3.5};
  const Part part = mutated(numbered(targets), share("contradicting_duplicates", 100));
  ASSERT_EQ(part.y.rows(), 8);
  for (std::size_t i = 4; i < 8; ++i) {
    const auto row = static_cast<std::size_t>(std::lround(part.x.values[i]));
    EXPECT_NE(part.y.values[i], targets[row]);
    EXPECT_NE(std::find(targets.begin(), targets.end(), part.y.values[i]), targets.end());
  }
}

Numbers sizes(const Part& part) {
  std::map<double, double> found;
  for (const double label : part.y.values) ++found[label];
  Numbers result;
  for (const auto& [label, count] : found) result.push_back(count);
  return result;
}

Json imbalance(double ratio, const char* profile = "long_tailed") {
  return {{"op", "class_imbalance"}, {"ratio", ratio}, {"profile", profile}, {"seed", 3}};
}

TEST(ClassImbalance, LongTailAndStep) {
  Numbers labels;
  for (int i = 0; i < 500; ++i) labels.push_back(i % 5);
  EXPECT_EQ(sizes(mutated(numbered(labels), imbalance(100))), (Numbers{100, 31, 10, 3, 1}));
  EXPECT_EQ(sizes(mutated(numbered(labels), imbalance(10, "step"))),
            (Numbers{100, 100, 100, 10, 10}));
  EXPECT_EQ(sizes(mutated(numbered(labels), imbalance(1e6))), (Numbers{100, 3, 1, 1, 1}));
  const Part part = mutated(numbered(labels), imbalance(4));
  EXPECT_TRUE(std::is_sorted(part.x.values.begin(), part.x.values.end()));
  for (std::size_t i = 0; i < part.y.values.size(); ++i) {
    EXPECT_EQ(part.y.values[i], labels[static_cast<std::size_t>(part.x.values[i])]);
  }
}

TEST(ClassImbalance, KeepsWhatIsSmallerAlready) {
  Numbers labels(40, 1);
  labels.insert(labels.end(), 100, 2);
  labels.insert(labels.end(), 20, 3);
  // The order of size is 2, 1, 3; their limits are 100, 50 and 25.
  EXPECT_EQ(sizes(mutated(numbered(labels), imbalance(4))), (Numbers{40, 100, 20}));
  EXPECT_EQ(sizes(mutated(numbered(labels), imbalance(16))), (Numbers{25, 100, 6}));
  // A greater ratio removes more of the same rows, also where a smaller one spares a class.
  const Part part = mutated(numbered(labels), imbalance(6));
  EXPECT_EQ(sizes(part), (Numbers{40, 100, 16}));
  const Part more = mutated(numbered(labels), imbalance(16));
  EXPECT_TRUE(std::includes(part.x.values.begin(), part.x.values.end(), more.x.values.begin(),
                            more.x.values.end()));
}

TEST(ClassImbalance, OfBuckets) {
  // The deviation is about 8.7: ten rows below, four within, ten above.
  Numbers targets(10, -10);
  targets.insert(targets.end(), 4, 0);
  targets.insert(targets.end(), 10, 10);
  EXPECT_EQ(sizes(mutated(numbered(targets), on_values(imbalance(10)))), (Numbers{10, 1, 3}));
  EXPECT_NE(message(numbered({0, 0}), on_values(imbalance(10))).find("one bucket"),
            std::string::npos);
  EXPECT_NE(message(numbered({1, 1}), imbalance(10)).find("one class"), std::string::npos);
  EXPECT_NE(message(numbered({1, 2}), imbalance(10, "tail")).find("long_tailed, step"),
            std::string::npos);
}

TEST(CovariateDrift, FadesOrStops) {
  // Deviations 2, 0 and 1; the third column has a gap.
  const Numbers x = {-2, 7, -1, 2, 7, kNaN, -2, 7, 1, 2, 7, kNaN}, y = {0, 1, 0, 1};
  EXPECT_TRUE(same(mutated(table(3, x, y), share("covariate_drift", 100)).x.values,
                   {0, 7, 0, 3.5, 7, kNaN, -1, 7, 1.5, 2.5, 7, kNaN}));
  const Json sudden = with(share("covariate_drift", 50), {{"form", "sudden"}, {"shift", -3}});
  EXPECT_TRUE(same(mutated(table(3, x, y), sudden).x.values,
                   {-8, 7, -4, -4, 7, kNaN, -2, 7, 1, 2, 7, kNaN}));
  EXPECT_EQ(mutated(table(3, x, y), sudden).y.values, y);
  EXPECT_NE(
      message(table(3, x, y), with(sudden, {{"form", "gradual"}})).find("incremental, sudden"),
      std::string::npos);
}

TEST(CovariateDrift, EachPixelByItsDeviation) {
  const Part images{{{2, 1, 2, 1}, {0, 0, 0, 4}}, {{2}, {0, 1}}};
  EXPECT_EQ(mutated(images, with(share("covariate_drift", 100), {{"form", "sudden"}})).x.values,
            (Numbers{0, 2, 0, 6}));
}

TEST(ZeroSampleWeights, NoTargetIsANumber) {
  const Part part = table(2, {1, 2, 3, 4}, {0, 1});
  const Part weighted = mutated(part, {{"op", "zero_sample_weights"}});
  EXPECT_EQ(weighted.x.values, part.x.values);
  EXPECT_TRUE(same(weighted.y.values, {kNaN, kNaN}));
  EXPECT_NE(message(part, {{"op", "zero_sample_weights"}, {"percentage", 5}}).find("percentage"),
            std::string::npos);
}

TEST(ConceptDrift, NextClassUpToAPointInTime) {
  const Numbers labels = {5, 2, 9, 2, 5, 9};
  EXPECT_EQ(mutated(numbered(labels), share("concept_drift", 60)).y.values,
            (Numbers{9, 5, 2, 2, 5, 9}));
  EXPECT_EQ(mutated(numbered(labels), share("concept_drift", 100)).y.values,
            (Numbers{9, 5, 2, 5, 9, 2}));
  Part hot = numbered({0, 0, 0});
  hot.y = {{3, 2}, {0, 1, 1, 0, 0, 1}};
  EXPECT_EQ(mutated(hot, share("concept_drift", 100)).y.values, (Numbers{1, 0, 0, 1, 1, 0}));
  EXPECT_NE(message(numbered({1, 1}), share("concept_drift", 50)).find("one class"),
            std::string::npos);
}

TEST(ConceptDrift, ValuesByOneDeviation) {
  EXPECT_EQ(mutated(numbered({0, 4, 0, 4}), on_values(share("concept_drift", 50))).y.values,
            (Numbers{2, 6, 0, 4}));
  Part two = numbered({0, 0});
  two.y = {{2, 2}, {0, 1, 6, 1}};
  EXPECT_EQ(mutated(two, on_values(share("concept_drift", 100))).y.values, (Numbers{3, 1, 9, 1}));
  EXPECT_NE(message(numbered({0, kNaN}), on_values(share("concept_drift", 50))).find("NaN"),
            std::string::npos);
}

TEST(OutOfDistribution, NoiseInTheRangeOfEachColumn) {
  Numbers x, y;
  for (int i = 0; i < 1000; ++i) {
    x.insert(x.end(), {i % 2 == 0 ? -1.0 : 3.0, 7, kNaN});
    y.push_back(i % 3);
  }
  const Part part = mutated(table(3, x, y), step("out_of_distribution", 40));
  EXPECT_EQ(part.y.values, y);
  Numbers drawn;
  for (std::size_t i = 0; i < 1000; ++i) {
    const double value = part.x.values[3 * i];
    if (value != -1 && value != 3) drawn.push_back(value);
    EXPECT_EQ(part.x.values[3 * i + 1], 7);
    EXPECT_TRUE(std::isnan(part.x.values[3 * i + 2]));
  }
  EXPECT_EQ(drawn.size(), 400u);
  const auto [least, most] = std::minmax_element(drawn.begin(), drawn.end());
  EXPECT_GE(*least, -1);
  EXPECT_LT(*most, 3);
  EXPECT_NEAR(deviation_of(drawn), 4 / std::sqrt(12), 0.1);
}

TEST(MissingValues, OfAShareOfAllNumbers) {
  Numbers x(20000), y(2000, 0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 10);
  const Part part = mutated(table(10, x, y), step("missing_values", 30));
  Numbers zeros;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (part.x.values[i] == 0) {
      zeros.push_back(static_cast<double>(i % 10));
    } else {
      EXPECT_EQ(part.x.values[i], x[i]);
    }
  }
  EXPECT_NEAR(static_cast<double>(zeros.size()), 6000, 200);  // three deviations
  for (int c = 0; c < 10; ++c) EXPECT_NEAR(std::count(zeros.begin(), zeros.end(), c), 600, 65) << c;
  // A greater share has those of a smaller one.
  const Part more = mutated(table(10, x, y), step("missing_values", 40));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (part.x.values[i] == 0) {
      EXPECT_EQ(more.x.values[i], 0);
    }
  }
}

TEST(MissingValues, Fills) {
  const Numbers x = {1, 4, 3, kNaN}, y = {0, 1};
  const auto filled = [&](const Json& fill) {
    return mutated(table(2, x, y), with(share("missing_values", 100), {{"fill", fill}})).x.values;
  };
  EXPECT_EQ(filled(-999), (Numbers{-999, -999, -999, -999}));
  EXPECT_EQ(filled("mean"), (Numbers{2, 4, 2, 4}));
  EXPECT_TRUE(same(filled("nan"), Numbers(4, kNaN)));
  for (const Json& fill : {Json("zero"), Json(true), Json()}) {
    EXPECT_NE(message(table(2, x, y), with(share("missing_values", 1), {{"fill", fill}}))
                  .find("a number, \"mean\", \"nan\""),
              std::string::npos)
        << fill;
  }
}

TEST(MissingValues, AreTrainingDataLikeOthers) {
  Json data = Json::parse(R"({"source":"generator","arguments":{"name":"blobs","rows":100},
      "split":{"test_size":0.2,"seed":1}})");
  data["mutations"] = {with(step("missing_values", 10), {{"fill", "nan"}}),
                       step("class_conditional_noise", 10), step("out_of_distribution", 10)};
  const auto dataset = load_dataset(data, {});
  EXPECT_GT(std::count_if(dataset->x_train.values.begin(), dataset->x_train.values.end(),
                          [](float v) { return std::isnan(v); }),
            0);
  EXPECT_EQ(std::count_if(dataset->x_test.values.begin(), dataset->x_test.values.end(),
                          [](float v) { return std::isnan(v); }),
            0);
}

Numbers cast(const char* type, Numbers x, double percentage = 100) {
  const auto rows = static_cast<std::int64_t>(x.size());
  return mutated({{{rows, 1}, std::move(x)}, {{rows}, Numbers(static_cast<std::size_t>(rows), 0)}},
                 with(share("cast_features", percentage), {{"type", type}}))
      .x.values;
}

TEST(CastFeatures, Integers) {
  EXPECT_EQ(cast("uint8", {0.9, -0.9, 255.5, 256, -1, -300.5, 1e9}),
            (Numbers{0, 0, 255, 0, 255, 212, 0}));
  EXPECT_EQ(cast("int8", {0.9, 127, 128, 255, -128, -129}), (Numbers{0, 127, -128, -1, -128, 127}));
  EXPECT_EQ(cast("int32", {-1.7, 2147483647, 2147483648, -2147483649}),
            (Numbers{-1, 2147483647, -2147483648, 2147483647}));
  const Numbers half = cast("int8", Numbers(10, 0.5), 50);
  EXPECT_EQ(std::count(half.begin(), half.end(), 0), 5);
  for (const double value : {kNaN, kInfinity}) {
    EXPECT_NE(
        message(table(1, {1, value}, {0, 1}), with(share("cast_features", 1), {{"type", "int8"}}))
            .find(" in the features of training row 1; allowed: numbers"),
        std::string::npos);
  }
}

TEST(CastFeatures, Float16) {
  EXPECT_EQ(cast("float16", {1, -0.1, 2049, 2051, 65504, 65519.9, 65520, -1e9}),
            (Numbers{1, -0.0999755859375, 2048, 2052, 65504, 65504, kInfinity, -kInfinity}));
  // The smallest normal and subnormal numbers, half of the latter (even: 0), and a little more.
  EXPECT_EQ(cast("float16", {0x1p-14, 0x1p-24, 0x1p-25, 0x1.1p-25, 0x1.8p-15}),
            (Numbers{0x1p-14, 0x1p-24, 0, 0x1p-24, 0x1.8p-15}));
  EXPECT_TRUE(same(cast("float16", {kNaN, kInfinity, 0}), {kNaN, kInfinity, 0}));
  EXPECT_NE(message(table(1, {1}, {0}), with(share("cast_features", 1), {{"type", "float8"}}))
                .find("float16, int32, int8, uint8"),
            std::string::npos);
}

TEST(ClipFeatures, CutsBothEndsOfEachColumn) {
  const Numbers x = {0, 5, 2, 5, 10, kNaN, 9, kInfinity}, y = {0, 0, 1, 1};
  EXPECT_TRUE(same(mutated(table(2, x, y), share("clip_features", 30)).x.values,
                   {1.5, 5, 2, 5, 8.5, kNaN, 8.5, kInfinity}));
  EXPECT_TRUE(same(mutated(table(2, x, y), share("clip_features", 100)).x.values,
                   {5, 5, 5, 5, 5, kNaN, 5, kInfinity}));
}

TEST(ScaleFeatures, OfAShareOfTheRows) {
  const Part part = mutated(table(2, Numbers(20, 0.5), Numbers(10, 1)), step("scale_features", 30));
  int scaled = 0;
  for (std::size_t i = 0; i < 20; i += 2) {
    EXPECT_EQ(part.x.values[i], part.x.values[i + 1]);
    scaled += part.x.values[i] == 127.5;
  }
  EXPECT_EQ(scaled, 3);
  EXPECT_EQ(
      mutated(table(1, {2}, {0}), with(share("scale_features", 100), {{"factor", -0.5}})).x.values,
      Numbers{-1});
}

TEST(ChangeLayout, OfImages) {
  // One image of 2 x 2 pixels with 3 channels: pixel p has p0, p1, p2.
  const Part image{{{1, 2, 2, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}}, {{1}, {0}}};
  const auto stored = [&](const char* layout) {
    return mutated(image, with(share("change_layout", 100), {{"layout", layout}})).x.values;
  };
  EXPECT_EQ(stored("reversed_channels"), (Numbers{2, 1, 0, 12, 11, 10, 22, 21, 20, 32, 31, 30}));
  EXPECT_EQ(stored("channels_first"), (Numbers{0, 10, 20, 30, 1, 11, 21, 31, 2, 12, 22, 32}));
  EXPECT_EQ(stored("transposed"), (Numbers{0, 1, 2, 20, 21, 22, 10, 11, 12, 30, 31, 32}));
}

TEST(ChangeLayout, NeedsImagesItCanHold) {
  const auto refusal = [](std::vector<std::int64_t> extents, const char* layout) {
    const auto size = static_cast<std::size_t>(Table{extents, {}}.row_size());
    return message({{std::move(extents), Numbers(size, 0)}, {{1}, {0}}},
                   with(share("change_layout", 100), {{"layout", layout}}));
  };
  EXPECT_EQ(refusal({1, 2, 3, 1}, "transposed"),
            "data.mutations[0]: found features of the shape (2, 3, 1); allowed: square images");
  EXPECT_NE(refusal({1, 2, 2, 1}, "channels_first").find("at least two channels"),
            std::string::npos);
  EXPECT_NE(refusal({1, 4}, "reversed_channels").find("the shape (4)"), std::string::npos);
  EXPECT_EQ(refusal({1, 2, 3, 2}, "channels_first"), "accepted");
  EXPECT_NE(refusal({1, 2, 2, 3}, "bgr").find("reversed_channels, channels_first, transposed"),
            std::string::npos);
}

TEST(DataFaults, FieldsBelongToTheirOperations) {
  const auto of = [](const char* text) { return message(numbered({0, 1}), Json::parse(text)); };
  EXPECT_NE(of(R"({"op":"class_imbalance","percentage":5})").find("data.mutations[0].percentage"),
            std::string::npos);
  EXPECT_EQ(of(R"({"op":"class_imbalance"})"),
            "data.mutations[0].ratio: found nothing; allowed: a number from 1");
  EXPECT_NE(of(R"({"op":"class_imbalance","ratio":0.5})").find("a number from 1"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"cast_features","percentage":5})").find(".type: found nothing"),
            std::string::npos);
  EXPECT_NE(of(R"({"op":"change_layout","percentage":5})").find(".layout: found nothing"),
            std::string::npos);
  EXPECT_EQ(of(R"({"op":"clip_features","percentage":5,"stddev":1})"),
            "data.mutations[0].stddev: found one for op clip_features; allowed: one for "
            "contradicting_duplicates, noise_perturbation");
}

}  // namespace
}  // namespace neutra::training
