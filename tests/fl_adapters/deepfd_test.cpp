#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "fl_adapters/embedded.h"
#include "fl_adapters/tools/deepfd/model.h"
#include "fl_adapters/tools/deepfd/monitor.h"
#include "fl_adapters/tools/deepfd/seeding.h"
#include "tests/fl_adapters/next_number.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::deepfd {

using namespace training;
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = std::numeric_limits<float>::max();
using Floats = std::vector<float>;

/// The row after one look at a layer's gradients, of the first and the last layer.
Row gradients(const Floats& first, const Floats& last) {
  Row row{};
  const std::vector<Variables> layers{{first}, {last}};
  check_gradients(layers, row);
  return row;
}

TEST(DeepFDRules, DiedRelu) {
  Floats mostly(100, 0.0f), fewer(100, 0.0f);
  for (std::size_t i = 0; i < 60; ++i) mostly[i] = 1;
  for (std::size_t i = 0; i < 61; ++i) fewer[i] = 1;
  const Floats dead(100, 0.0f);
  EXPECT_EQ(gradients(dead, mostly)[kDiedRelu], 1);  // 140 of 200 are 0
  EXPECT_EQ(gradients(dead, fewer)[kDiedRelu], 0);
}

TEST(DeepFDRules, VanishGradient) {
  EXPECT_EQ(gradients({1e-4f}, {1})[kVanishGradient], 1);         // a little less than 1e-4
  EXPECT_EQ(gradients({above(1e-4f)}, {1})[kVanishGradient], 0);  // not small in itself
  const float small = 5e-5f, last = small * 1000;
  EXPECT_EQ(gradients({small}, {below(last)})[kVanishGradient], 0);  // not small beside the last
  EXPECT_EQ(gradients({small}, {above(last)})[kVanishGradient], 1);
}

TEST(DeepFDRules, ExplodeGradient) {
  EXPECT_EQ(gradients({above(70.0f)}, {1})[kExplodeGradient], 1);
  EXPECT_EQ(gradients({70}, {1})[kExplodeGradient], 0);
  EXPECT_EQ(gradients({1e-9f}, {0})[kExplodeGradient], 1);  // infinite ratio
  EXPECT_EQ(gradients({0}, {0})[kExplodeGradient], 0);      // none
}

TEST(DeepFDRules, NanGradientHidesTheOthers) {
  const Row row = gradients({kInfinity, 0, 0, 0}, {0, 0});
  EXPECT_EQ(row[kNanGradient], 1);
  EXPECT_EQ(row[kDiedRelu], 0);
  EXPECT_EQ(gradients({kHuge}, {1})[kNanGradient], 0);
  EXPECT_EQ(gradients({kNan}, {1})[kNanGradient], 1);
}

Row weights(const Variables& now, const std::vector<Floats>& last = {},
            ToolVariant variant = ToolVariant::kRepaired) {
  Row row{};
  check_weights(now, last, variant, row);
  return row;
}

TEST(DeepFDRules, LargeWeight) {
  const Floats large{0, -above(5.0f)}, small{5, -5};
  EXPECT_EQ(weights({large, large})[kLargeWeight], 1);  // once a sample
  EXPECT_EQ(weights({small, small})[kLargeWeight], 0);
}

TEST(DeepFDRules, NanWeight) {
  const Floats broken{1, kNan}, large{kHuge};
  EXPECT_EQ(weights({broken, large})[kNanWeight], 1);
  EXPECT_EQ(weights({broken, large})[kLargeWeight], 0);
  EXPECT_EQ(weights({large})[kNanWeight], 0);
}

TEST(DeepFDRules, ConstantMeanAndDeviationOfWeights) {
  const Floats now{1, 3}, swapped{3, 1}, shifted{2, 4}, wider{0, 4};
  const auto counts = [&](const Floats& last) {
    const Row row = weights({now, now}, {last, last});
    return std::pair(row[kConsMeanWeight], row[kConsStdWeight]);
  };
  EXPECT_EQ(counts(swapped), std::pair(2.0, 2.0));  // each variable counts
  EXPECT_EQ(counts(shifted), std::pair(0.0, 2.0));
  EXPECT_EQ(counts(wider), std::pair(2.0, 0.0));
  // As little as changes a mean and a deviation in single precision.
  EXPECT_EQ(counts({1, above(above(3.0f))}), std::pair(0.0, 0.0));
  EXPECT_EQ(weights({now})[kConsMeanWeight], 0);  // nothing before
}

TEST(DeepFDRules, WeightChangeLittleIsLookedAtWhenRepaired) {
  const Floats little{below(1.1f)}, more{1.1f}, still{2};  // 1.1f is a little more
  EXPECT_EQ(weights({little, still}, {{1}, {2}})[kWeightChangeLittle], 1);
  EXPECT_EQ(weights({more, still}, {{1}, {2}})[kWeightChangeLittle], 0);
  EXPECT_EQ(weights({little, still}, {{1}, {2}}, ToolVariant::kAsPublished)[kWeightChangeLittle],
            0);
}

/// Epochs from losses and accuracies, in training and in validation.
std::vector<Record> epochs(const std::vector<std::array<double, 4>>& values) {
  std::vector<Record> list;
  for (const auto& [loss, accuracy, val_loss, val_accuracy] : values) {
    list.push_back({loss, accuracy, val_loss, val_accuracy});
  }
  return list;
}
Row history(const std::vector<Record>& records, std::int64_t programmed = 1) {
  Row row{};
  check_history(records, programmed, row);
  return row;
}

TEST(DeepFDRules, NotConverge) {
  EXPECT_EQ(history(epochs({{1, 0.7, 1, below(0.6)}, {1, 0.9, 1, 0.1}}))[kNotConverge], 1);
  EXPECT_EQ(history(epochs({{1, below(0.6), 1, 0.7}}))[kNotConverge], 1);
  EXPECT_EQ(history(epochs({{1, 0.6, 1, 0.6}, {1, 0.3, 1, 0.3}}))[kNotConverge], 0);
}

TEST(DeepFDRules, StuckAccuracy) {
  const auto rise = [](double training, double validation) {
    return history(epochs({{1, 0, 1, 0}, {1, training, 1, validation}}))[kScAccuracy];
  };
  EXPECT_EQ(rise(below(0.01), below(0.01)), 1);
  EXPECT_EQ(rise(0, 0.01), 0);
  EXPECT_EQ(rise(0.01, 0), 0);
}

TEST(DeepFDRules, UnstableLoss) {
  const auto swings = [](double high) {
    std::vector<std::array<double, 4>> list;
    for (int i = 0; i < 10; ++i) list.push_back({1, i == 2 || i == 5 ? high : 0, 1, 0.7});
    return history(epochs(list))[kUnstableLoss];
  };
  // Two maxima, each against the minimum of the same number, in ten epochs.
  EXPECT_EQ(swings(0.03), 1);
  EXPECT_EQ(swings(below(0.03)), 0);
  // The same two in eleven epochs are less than a fifth.
  std::vector<std::array<double, 4>> list(11, {1, 0.7, 1, 0.7});
  list[2][1] = list[5][1] = 0.8;
  EXPECT_EQ(history(epochs(list))[kUnstableLoss], 0);
}

TEST(DeepFDRules, NanLoss) {
  EXPECT_EQ(history(epochs({{1, 1, 1, 1}, {std::nan(""), 1, 1, 1}}))[kNanLoss], 1);
  EXPECT_EQ(history(epochs({{1, 1, HUGE_VAL, 1}}))[kNanLoss], 1);
  EXPECT_EQ(history(epochs({{1, 1, 1e5, 1}}))[kNanLoss], 1);
  EXPECT_EQ(history(epochs({{1e9, 1, below(1e5), 1}}))[kNanLoss], 0);
  // Nothing else is looked at then.
  EXPECT_EQ(history(epochs({{1, 0.1, std::nan(""), 0.1}}))[kNotConverge], 0);
}

TEST(DeepFDRules, NanAcc) {
  EXPECT_EQ(history(epochs({{1, std::nan(""), 1, 1}}))[kNanAcc], 1);
  EXPECT_EQ(history(epochs({{1, 1, 1, std::nan("")}}))[kNanAcc], 1);
  EXPECT_EQ(history(epochs({{1, 0, 1, 0}}))[kNanAcc], 0);
}

TEST(DeepFDRules, TestNotWell) {
  const auto gap = [](double train, double test) {
    return history(epochs({{1, train, 1, test}}))[kTestNotWell];
  };
  EXPECT_EQ(gap(0.1, 0), 1);
  EXPECT_EQ(gap(below(0.1), 0), 0);
  EXPECT_EQ(gap(1, below(0.93)), 1);
  EXPECT_EQ(gap(1, 0.93), 0);
  // Up to 0.9 the larger gap is asked for.
  EXPECT_EQ(gap(0.9, 0.82), 0);
  EXPECT_EQ(gap(above(0.9), 0.82), 1);
}

TEST(DeepFDRules, TestTurnBad) {
  const auto turn = [](double loss, double val_loss) {
    return history(epochs({{loss, 1, 0, 1}, {0, 1, val_loss, 1}}))[kTestTurnBad];
  };
  EXPECT_EQ(turn(above(0.01), above(0.01)), 1);
  EXPECT_EQ(turn(above(0.01), 0.01), 0);
  EXPECT_EQ(turn(0.01, above(0.01)), 0);
  // The last step counts.
  EXPECT_EQ(history(epochs({{1, 1, 1, 1}, {0.9, 1, 1.1, 1}, {0.8, 1, 1.0, 1}}))[kTestTurnBad], 0);
}

TEST(DeepFDRules, DecreaseOfAccuracyAndIncreaseOfLoss) {
  const auto counts = [](double loss, double accuracy) {
    const Row row = history(epochs({{1, 0.5, 1, 1}, {loss, accuracy, 1, 1}}));
    return std::pair(row[kIncreaseLoss], row[kDecreaseAcc]);
  };
  EXPECT_EQ(counts(above(1.0), below(0.5)), std::pair(1.0, 1.0));
  EXPECT_EQ(counts(1, 0.5), std::pair(0.0, 0.0));
}

TEST(DeepFDRules, JudgesOnceThreeTenthsOfTheEpochsAreThere) {
  const auto bad = epochs({{1, 0.1, 1, 0.1}, {2, 0.1, 1, 0.1}, {3, 0.1, 1, 0.1}});
  EXPECT_EQ(history(bad, 10)[kIncreaseLoss], 1);
  EXPECT_EQ(history(bad, 11)[kIncreaseLoss], 0);
  EXPECT_EQ(history(bad, 11)[kLoss], 3);  // values are written down at once
}

TEST(DeepFDRules, BatchesHaveNoValidationToJudge) {
  // What the published tool sees: the first entry is a batch's.
  std::vector<Record> mixed{{1, 0.1, {}, {}}, {1, 0.1, 1e9, 0.0}, {0.5, 0.1, {}, {}}};
  const Row row = history(mixed);
  for (const Series never :
       {kNotConverge, kScAccuracy, kNanLoss, kTestNotWell, kTestTurnBad, kValLoss, kValAcc}) {
    EXPECT_EQ(row[never], 0) << series_name(never);
  }
}

TEST(DeepFDMonitor, CountsGrowFromSampleToSample) {
  const Floats kernel{9, 9}, gradient{80, 0}, last{1, 0};
  const auto layer = [&](const Floats& g) {
    training::LayerView view;
    view.weights = {kernel};
    view.gradients = {g};
    return view;
  };
  const std::vector<training::LayerView> layers{layer(gradient), layer(last)};
  for (const ToolVariant variant : kVariants) {
    Monitor monitor(3, variant);
    monitor.batch_end(1, 0.5);
    monitor.sample(layers);
    monitor.epoch_end({0.9, 0.4, 2.0, 0.3});
    monitor.batch_end(1.5, 0.3);
    monitor.sample(layers);
    ASSERT_EQ(monitor.rows().size(), 2u);
    const bool repaired = variant == ToolVariant::kRepaired;
    const Row &first = monitor.rows()[0], &second = monitor.rows()[1];
    EXPECT_EQ(first[kExplodeGradient], 1);
    EXPECT_EQ(second[kExplodeGradient], 2);
    EXPECT_EQ(second[kLargeWeight], 2);
    EXPECT_EQ(second[kConsMeanWeight], 2);
    // The published history has batches and epochs, the repaired one epochs only.
    EXPECT_EQ(first[kLoss], repaired ? 0 : 1);
    EXPECT_EQ(second[kLoss], repaired ? 0.9 : 1.5);
    EXPECT_EQ(second[kValAcc], repaired ? 0.3 : 0);
    EXPECT_EQ(second[kIncreaseLoss], repaired ? 0 : 1);
    EXPECT_EQ(second[kNotConverge], repaired ? 1 : 0);
    EXPECT_EQ(second[kWeightChangeLittle], repaired ? 1 : 0);
  }
}

TEST(DeepFDFeatures, StatisticsArePandas) {
  const auto s = statistics_of({10, 1, 3, 2});
  const std::array<double, 8> expected{
      4, 4.08248290463863, 1.763632614803888, 2.5, 50 / 3.0, 2.041241452319315, 10, 1};
  for (std::size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(s[i], expected[i], 1e-12) << i;
  EXPECT_EQ(statistics_of({}), (std::array<double, 8>{}));
  EXPECT_EQ(statistics_of({7}), (std::array<double, 8>{7, 0, 0, 7, 0, 0, 7, 7}));
  EXPECT_EQ(statistics_of({2, 4})[2], 0);     // skewness takes three
  EXPECT_EQ(statistics_of({3, 3, 3})[2], 0);  // and a spread
}

TEST(DeepFDFeatures, PublishedNamesAreFourPlacesOff) {
  std::vector<Row> rows(3);
  for (Row& row : rows) {
    for (std::size_t s = 0; s < kAllSeries; ++s) row[s] = static_cast<double>(s) + 1;
  }
  const Finals finals{101, 102, 103, 104};
  const auto value = [&](ToolVariant variant, const std::string& name) {
    const auto& names = feature_names(variant);
    const auto at = std::find(names.begin(), names.end(), name);
    EXPECT_NE(at, names.end()) << name;
    return features(rows, finals, variant)[static_cast<std::size_t>(at - names.begin())];
  };
  EXPECT_EQ(feature_names(ToolVariant::kAsPublished).size(), 148u);
  EXPECT_EQ(feature_names(ToolVariant::kRepaired).size(), 180u);
  EXPECT_EQ(features(rows, finals, ToolVariant::kAsPublished).size(), 148u);
  EXPECT_EQ(features(rows, finals, ToolVariant::kRepaired).size(), 180u);
  EXPECT_EQ(value(ToolVariant::kAsPublished, "ft_not_converge_mean"), kTestTurnBad + 1);
  EXPECT_EQ(value(ToolVariant::kAsPublished, "ft_increase_loss_max"), kLoss + 1);
  EXPECT_EQ(value(ToolVariant::kAsPublished, "ft_cons_mean_weight_min"), kAcc + 1);
  EXPECT_EQ(value(ToolVariant::kAsPublished, "ft_cons_std_weight_median"), kValLoss + 1);
  EXPECT_EQ(value(ToolVariant::kAsPublished, "ft_nan_acc_mean"), kValAcc + 1);
  EXPECT_EQ(value(ToolVariant::kRepaired, "ft_not_converge_mean"), kNotConverge + 1);
  EXPECT_EQ(value(ToolVariant::kRepaired, "ft_val_acc_mean"), kValAcc + 1);
  for (const ToolVariant variant : kVariants) {
    EXPECT_EQ(value(variant, "ft_val_loss"), 101);
    EXPECT_EQ(value(variant, "ft_accuracy"), 104);
  }
}

TEST(DeepFDFeatures, WhatIsNotFiniteIsZero) {
  std::vector<Row> rows(2);
  rows[0][kLoss] = std::nan("");
  rows[1][kLoss] = 4;
  rows[0][kAcc] = HUGE_VAL;
  const auto& names = feature_names(ToolVariant::kRepaired);
  const auto all = features(rows, {std::nan(""), 1, HUGE_VAL, 1e300}, ToolVariant::kRepaired);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(std::isfinite(all[i])) << names[i];
    if (names[i] == "ft_loss_mean") {
      EXPECT_EQ(all[i], 2);  // NaN counts as 0
    }
  }
}

/// Rows of two columns; label l is there where column l is above one half.
LabelledRows rows_of(int count) {
  LabelledRows rows;
  rows.columns = 2;
  for (int i = 0; i < count; ++i) {
    const float x = static_cast<float>(i % 10) / 9, y = static_cast<float>(i / 10 % 10) / 9;
    rows.values.insert(rows.values.end(), {x, y});
    rows.labels.push_back({x > 0.5f, y > 0.5f, false, true, (x > 0.5f) != (y > 0.5f)});
  }
  return rows;
}

TEST(DeepFDClassifiers, EachLearnsEachLabel) {
  const LabelledRows rows = rows_of(100);
  const Classifiers classifiers(rows, 1), again(rows, 1);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (const Labels& said : classifiers.predict(rows.row(i))) {
      EXPECT_EQ(said, rows.labels[i]) << i;
    }
    EXPECT_EQ(classifiers.predict(rows.row(i)), again.predict(rows.row(i)));
  }
}

/// Two kinds of examples that differ in the first feature; the second kind has the faults.
Table small_table(const Labels& faults = {false, true, false, false, true}) {
  Table table;
  table.seed = 3;
  table.programs = {"base"};
  table.mutants = 9;
  for (int i = 0; i < 12; ++i) {
    const bool faulty = i % 2;
    Example example;
    example.program = "base";
    example.faults = faulty ? "lr_1e-12__epoch_" + std::to_string(i) : "origin";
    example.hash = {1, static_cast<std::uint64_t>(i)};
    example.accuracy = 0.1 * i;
    if (faulty) example.labels = faults;
    for (const ToolVariant variant : kVariants) {
      auto& rows = example.features[static_cast<std::size_t>(variant)];
      rows.assign(2, std::vector<float>(feature_names(variant).size()));
      for (auto& row : rows) row[0] = static_cast<float>(faulty ? 10 + i : i) / 3;
    }
    table.examples.push_back(std::move(example));
  }
  return table;
}

std::vector<std::vector<float>> trainings(ToolVariant variant, float first, std::size_t count = 9) {
  std::vector<float> row(feature_names(variant).size());
  row[0] = first;
  return std::vector(count, row);
}

TEST(DeepFDModel, NamesWhatItLearned) {
  for (const ToolVariant variant : kVariants) {
    const Model model(small_table(), variant);
    EXPECT_EQ(to_string(model.diagnose(trainings(variant, 6.1f)).labels), "lr, epoch");
    EXPECT_EQ(to_string(model.diagnose(trainings(variant, 0.1f)).labels), "-");
  }
}

TEST(DeepFDModel, OffsetsAndMajority) {
  const Table table = small_table({true, true, true, true, true});
  const Model published(table, ToolVariant::kAsPublished), repaired(table, ToolVariant::kRepaired);
  // Named in `count` of nine trainings, by all classifiers.
  const auto said = [&](ToolVariant variant, std::size_t count) {
    auto rows = trainings(variant, 0.1f, 9 - count);
    const auto faulty = trainings(variant, 6.1f, count);
    rows.insert(rows.end(), faulty.begin(), faulty.end());
    const Diagnosis diagnosis =
        (variant == ToolVariant::kRepaired ? repaired : published).diagnose(rows);
    for (const auto& votes : diagnosis.votes) {
      for (const int named : votes) EXPECT_EQ(named, static_cast<int>(count));
    }
    EXPECT_EQ(diagnosis.iterations, 9);
    return to_string(diagnosis.labels);
  };
  // More than 0, 2, 3, 5 and 6 of them.
  const std::string one = "opt", three = "opt, lr", four = "opt, lr, act",
                    six = "opt, lr, act, epoch", all = "opt, lr, act, loss, epoch";
  const std::vector<std::string> needed{"-", one, one, three, four, four, six, all, all, all};
  for (std::size_t count = 0; count <= 9; ++count) {
    EXPECT_EQ(said(ToolVariant::kAsPublished, count), needed[count]) << count;
    EXPECT_EQ(said(ToolVariant::kRepaired, count), count > 4 ? all : "-") << count;
  }
}

TEST(DeepFDModel, EachLabelHasItsMessage) {
  const std::array<std::pair<std::string, std::string>, kLabels> expected{{
      {"[optimizer] the training runs like one with the wrong optimiser", "OCH"},
      {"[lr] the training runs like one with a learning rate far too large or too small", "HLR"},
      {"[act] the training runs like one whose last layer has the wrong activation", "ACH"},
      {"[loss] the training runs like one with a loss for another kind of task", "LCH"},
      {"[epoch] the training runs like one with far too few epochs", "HNE"},
  }};
  EXPECT_EQ(message_table().codes().size(), kLabels);
  for (std::size_t label = 0; label < kLabels; ++label) {
    const ToolMessage message = message_table().message(std::string(label_name(label)));
    EXPECT_EQ(std::pair(message.text, to_string(answer_of({message}))), expected[label]);
  }
}

TEST(DeepFDModel, PublishedScalingSqueezesWhatIsInTheBatch) {
  const auto said = [](ToolVariant variant) {
    auto rows = trainings(variant, 5.0f, 8);
    rows.push_back(trainings(variant, 1000.0f, 1)[0]);  // an outlier among the nine
    return to_string(Model(small_table(), variant).diagnose(rows).labels);
  };
  EXPECT_EQ(said(ToolVariant::kAsPublished), "-");
  EXPECT_EQ(said(ToolVariant::kRepaired), "lr, epoch");
}

TEST(DeepFDModel, EvaluationCounts) {
  Table held_out;
  const auto add = [&](const Labels& labels, float first) {
    Example example;
    example.labels = labels;
    for (const ToolVariant variant : kVariants) {
      example.features[static_cast<std::size_t>(variant)] = trainings(variant, first);
    }
    held_out.examples.push_back(std::move(example));
  };
  const Labels both{false, true, false, false, true}, lr{false, true, false, false, false};
  add({}, 0.1f);    // a correct program, not accused
  add({}, 6.1f);    // accused
  add(both, 6.1f);  // exact
  add(both, 0.1f);  // missed
  add(lr, 6.1f);    // epoch named though not there
  add({true, true, true, true, true}, 6.1f);
  const Evaluation e = evaluate(Model(small_table(), ToolVariant::kRepaired), held_out);
  EXPECT_EQ(e.mutants, 4);
  EXPECT_EQ(e.exact, 1);
  EXPECT_EQ(to_string(e.frequent), "lr, epoch");
  EXPECT_EQ(e.frequent_exact, 2);
  EXPECT_EQ(e.all_exact, 1);
  EXPECT_EQ(e.correct, 2);
  EXPECT_EQ(e.accused, 1);
  EXPECT_EQ(e.labels[1].true_positive, 3);
  EXPECT_EQ(e.labels[1].false_negative, 1);
  EXPECT_EQ(e.labels[4].false_positive, 1);
  EXPECT_DOUBLE_EQ(e.labels[0].balanced_accuracy(), 0.5);  // never named
  EXPECT_DOUBLE_EQ(e.labels[4].balanced_accuracy(), (2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(e.labels[1].balanced_accuracy(), (0.75 + 0.5) / 2);  // in every mutant
}

TEST(DeepFDModel, FileReadsBack) {
  const Table table = small_table();
  const std::string text = to_text(table, 2);
  const Table read = table_from_json(parse_json(text, "m.json"), "m.json");
  EXPECT_EQ(to_text(read, 2), text);
  EXPECT_EQ(read.examples.size(), table.examples.size());
  EXPECT_EQ(read.examples[3].labels, table.examples[3].labels);
  EXPECT_EQ(read.examples[3].features, table.examples[3].features);
  EXPECT_EQ(read.find({1, 3}), &read.examples[3]);
  EXPECT_EQ(read.find({2, 3}), nullptr);
}

TEST(DeepFDModel, RefusesWhatTheFormatDoesNotAllow) {
  const Json good = parse_json(to_text(small_table(), 2), "m.json");
  const auto expect_error = [&](const std::string& place,
                                const std::function<void(Json&)>& change) {
    Json json = good;
    change(json);
    try {
      table_from_json(json, "m.json");
      FAIL() << place << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_NE(std::string(error.what()).find("m.json: " + place), std::string::npos)
          << error.what();
    }
  };
  expect_error("/format", [](Json& j) { j["format"] = "other"; });
  expect_error("/version", [](Json& j) { j["version"] = 2; });
  expect_error("/seed", [](Json& j) { j["seed"] = -1; });
  expect_error("/trainings", [](Json& j) { j["trainings"] = 0; });
  expect_error("/programs", [](Json& j) { j["programs"] = Json::array(); });
  expect_error("/examples", [](Json& j) { j.erase("examples"); });
  expect_error("/examples/1/faults", [](Json& j) { j["examples"][1]["faults"] = "speed_3"; });
  expect_error("/examples/1/hash", [](Json& j) { j["examples"][1]["hash"] = "12"; });
  expect_error("/features/repaired", [](Json& j) { j["features"].erase("repaired"); });
  expect_error("/features/repaired/ft_nothing",
               [](Json& j) { j["features"]["repaired"]["ft_nothing"] = Json::array({1}); });
  expect_error("/features/repaired/ft_val_loss",
               [](Json& j) { j["features"]["repaired"]["ft_val_loss"].erase(0); });
  expect_error("/features/repaired/ft_val_loss",
               [](Json& j) { j["features"]["repaired"]["ft_val_loss"][2] = "1"; });
}

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

TEST(DeepFDBundledModel, IsInOrder) {
  const std::string file = "fl_adapters/tools/deepfd/model.json";
  const Table table = table_from_json(parse_json(embedded::deepfd_model, file), file);
  EXPECT_GE(table.programs.size(), 8u);
  std::array<int, kLabels> counts{};
  for (const Example& example : table.examples) {
    EXPECT_EQ(table.find(example.hash), &example) << example.program << " " << example.faults;
    EXPECT_NE(std::find(table.programs.begin(), table.programs.end(), example.program),
              table.programs.end());
    for (std::size_t l = 0; l < kLabels; ++l) counts[l] += example.labels[l];
  }
  for (const int count : counts) EXPECT_GE(count, 50);
  // The programs that it says it is from.
  for (const std::string& name : table.programs) {
    const Json program = read_json(std::filesystem::path(NEUTRA_SOURCE_DIR) /
                                   "experiments/programs" / (name + ".json"));
    const Example* origin = table.find(program::program_hash({program}));
    ASSERT_NE(origin, nullptr) << name;
    EXPECT_EQ(origin->program, name);
    EXPECT_EQ(origin->faults, "origin");
  }
}

}  // namespace
}  // namespace neutra::fl_adapters::deepfd
