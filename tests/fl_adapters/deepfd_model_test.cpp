#include "fl_adapters/tools/deepfd/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/json.h"
#include "fl_adapters/embedded.h"
#include "tests/source_file.h"

namespace neutra::fl_adapters::deepfd {
namespace {

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
    const Json program = read_json(source_file("experiments/programs") / (name + ".json"));
    const Example* origin = table.find(program::program_hash({program}));
    ASSERT_NE(origin, nullptr) << name;
    EXPECT_EQ(origin->program, name);
    EXPECT_EQ(origin->faults, "origin");
  }
}

}  // namespace
}  // namespace neutra::fl_adapters::deepfd
