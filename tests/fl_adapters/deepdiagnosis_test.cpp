// What DeepDiagnosis looks at first, and what it suggests first.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/fl_adapters/deepdiagnosis_cases.h"
#include "tests/fl_adapters/next_number.h"

namespace neutra::fl_adapters::deepdiagnosis::tests {
namespace {

using training::dense;
using training::layer;

TEST(DeepDiagnosis, QuietTraining) {
  Case c;
  EXPECT_EQ(c.said(60), "");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(60), "");
}

/// Each problem's suggestions in their order, the last one where nothing else is odd.
TEST(DeepDiagnosis, OrderOfSuggestions) {
  enum Odd { kWeights, kInput, kStep };
  const std::string weights = "Poor Weight -> WCI", input = "Normalize the data -> CPP",
                    step = "Learning Rate -> HLR", metric = "Please change optimizer -> OCH",
                    tensor = "Please change Optimizer -> OCH";
  const struct {
    const char* problem;
    std::function<void(EpochTrace&, Values&)> change;
    std::vector<Odd> order;  ///< of what is looked for
    std::string last;
  } problems[] = {
      {" layer 2: Numerical Problem Forward",
       [](EpochTrace&, Values& v) { v[2].outputs = {kNaN}; },
       {kWeights, kInput, kStep},
       "Please change the activaton function at layer: 3 -> ACH(3)"},
      {" layer 2: Numerical Error in Weights",
       [](EpochTrace&, Values& v) {
         v[2].weights[0] = {kNaN, 1};
       },
       {kWeights, kInput, kStep},
       "Please change the activaton function at layer: 3 -> ACH(3)"},
      {" layer 2: Saturated Activation Problem",
       [](EpochTrace& e, Values& v) {
         if (e.epoch == 4) v[2].outputs = {9, 8, 7};
       },
       {kInput, kWeights, kStep},
       "Add dropout layer or Missing activation function -> ACH(2)|LRM"},
      {" layer 1: Dead Node Problem",
       [](EpochTrace&, Values& v) {
         v[1].outputs = {0, 0, 0, 1};
       },
       {kInput, kWeights, kStep},
       "Add dropout layer or Missing activation function -> ACH(1)|LRM"},
      {" layer 2: Unchange Tensor in forward",
       [](EpochTrace&, Values& v) { v[2].outputs = {0.5f}; },
       {kWeights, kStep},
       tensor},
      {" layer 2: Unchange Tensor in Delta Weights",
       [](EpochTrace&, Values& v) {
         v[2].gradients[0] = {0.5f, 0.25f};
       },
       {kWeights, kStep},
       tensor},
      {" layer 2: Unchange Tensor  in Weights",
       [](EpochTrace&, Values& v) {
         v[2].weights[0] = {0.5f, 0.25f};
       },
       {kWeights, kStep},
       tensor},
      {": Loss Not Decreasing",
       [](EpochTrace& e, Values&) { e.loss = 0.5; },
       {kWeights, kInput, kStep},
       metric},
      {": Accurcy Not Increasing",
       [](EpochTrace& e, Values&) { e.accuracy = 0.5; },
       {kWeights, kInput, kStep},
       metric},
      {": Invalid loss", [](EpochTrace& e, Values&) { e.loss = HUGE_VAL; }, {kStep}, metric},
      {": Invalid accuracy", [](EpochTrace& e, Values&) { e.accuracy = 0; }, {kStep}, metric}};
  for (const auto& each : problems) {
    for (std::size_t first = 0; first <= each.order.size(); ++first) {
      // Odd from here on.
      const std::set<Odd> odd(each.order.begin() + static_cast<std::ptrdiff_t>(first),
                              each.order.end());
      Case c;
      c.variant = kRepaired;
      c.setting.epochs = std::string(each.problem).find("Dead") != std::string::npos ? 1 : 100;
      if (odd.contains(kInput)) c.setting.input_max = above(1.0f);
      c.change = [&](EpochTrace& e, Values& v) {
        each.change(e, v);
        const auto moved = static_cast<float>(e.epoch);
        if (odd.contains(kWeights)) v[0].weights[0] = {1e-3f, 2e-3f + 1e-5f * moved};
        if (odd.contains(kStep)) v[4].gradients[0] = {1000, 2000 + moved};
      };
      std::string expected = each.last;
      if (first < each.order.size()) {
        expected = each.order[first] == kWeights ? weights
                   : each.order[first] == kInput ? input
                                                 : step;
      }
      EXPECT_EQ(c.said(20), each.problem + (" | " + expected));
    }
  }
}

TEST(DeepDiagnosis, LayersAreCountedWithTheInputLayer) {
  Case c;
  c.layers.insert(c.layers.begin(), layer("InputLayer", Json::object()));
  c.change = [](EpochTrace&, Values& v) { v[1].outputs = {kNaN}; };
  EXPECT_EQ(c.said(1),
            " layer 1: Numerical Problem Forward | Please change the activaton function at layer: "
            "2 -> ACH(3)");
}

TEST(DeepDiagnosis, OrderOfTheTool) {
  const std::vector<std::function<void(EpochTrace&, Values&)>> breaks{
      [](EpochTrace&, Values& v) { v[0].weights[0] = {0}; },
      [](EpochTrace&, Values& v) { v[0].gradients[0] = {0}; },
      [](EpochTrace&, Values& v) { v[4].weights[0] = {0}; },
      [](EpochTrace&, Values& v) { v[4].gradients[0] = {0}; },
      [](EpochTrace& e, Values&) { e.accuracy = 0; },
      [](EpochTrace& e, Values&) { e.loss = HUGE_VAL; },
      [](EpochTrace&, Values& v) { v[5].outputs = {0}; },
      [](EpochTrace&, Values& v) { v[1].outputs = {0}; }};
  const std::vector<std::string> first{"layer 0: Numerical Error in Weights",
                                       "layer 0: Numerical Error in delta Weights",
                                       "layer 4: Numerical Error in Weights",
                                       "layer 4: Numerical Error in delta Weights",
                                       "Invalid accuracy",
                                       "Invalid loss",
                                       "layer 5: Numerical Problem Forward",
                                       "layer 1: Numerical Problem Forward"};
  for (std::size_t n = 0; n < breaks.size(); ++n) {
    Case c;
    c.change = [&](EpochTrace& e, Values& v) {
      for (std::size_t i = 0; i <= n; ++i) breaks[i](e, v);
    };
    EXPECT_NE(c.said(1).find(first[n]), std::string::npos) << c.said(1);
  }
  Case c = ending(dense(2, "linear"), "mean_squared_error", 0, 0.01f);
  c.change = [](EpochTrace&, Values& v) { v[1].outputs = {-1, 1}; };
  EXPECT_NE(c.said(1).find("Out of Rang"), std::string::npos);
}

TEST(DeepDiagnosis, FailsAtWeightsThatItCannotUnpack) {
  Case c;
  c.change = [](EpochTrace&, Values& v) {
    v[1].weights = {{1, 2}, {1, 2}, {1, 2}, {1, 2}};
    v[0].outputs = {kNaN};
  };
  EXPECT_NE(c.said(1).find("too many values"), std::string::npos);
  c.variant = kRepaired;
  EXPECT_NE(c.said(1).find("Numerical Problem Forward"), std::string::npos);
}

}  // namespace
}  // namespace neutra::fl_adapters::deepdiagnosis::tests
