#include "training/callbacks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace neutra::training {
namespace {

/// Epoch (from 0) at which a sequence of values stops the training; -1: never.
int stops_at(const Json& config, const std::vector<double>& values,
             const std::string& name = "val_loss") {
  EarlyStopping callback(config);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (callback.epoch_end({{name, values[i]}}, {})) return static_cast<int>(i);
  }
  return -1;
}

// Rates of ReduceLROnPlateau of Keras 3.15 and PyTorch 2.15, whose patience of 1 and cooldown of 2
// are 2 and 3 here.
TEST(ReduceOnPlateau, RatesOfKerasAndPyTorch) {
  const std::vector<double> losses{1.0, 0.8,  0.79,  0.78, 0.5, 0.5, 0.5, 0.5,
                                   0.5, 0.49, 0.495, 0.5,  0.3, 0.3, 0.3, 0.3};
  const auto rates = [&](Json config) {
    config["monitor"] = "loss";
    ReduceOnPlateau callback(config);
    std::vector<double> found;
    double rate = 0.1;
    for (const double loss : losses) {
      rate = callback.epoch_end({{"loss", loss}}, rate);
      found.push_back(std::round(rate * 1e7) / 1e7);
    }
    return found;
  };
  EXPECT_EQ(rates({{"factor", 0.5},
                   {"patience", 2},
                   {"min_delta", 0.02},
                   {"cooldown", 2},
                   {"min_lr", 0.02}}),
            (std::vector<double>{0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.02, 0.02,
                                 0.02, 0.02, 0.02, 0.02, 0.02}));
  EXPECT_EQ(rates({{"factor", 0.1}, {"patience", 1}, {"min_delta", 0}}),
            (std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-5, 1e-6, 1e-7,
                                 1e-7, 0, 0, 0}));
  EXPECT_EQ(rates({{"factor", 0.5},
                   {"patience", 2},
                   {"min_delta", 0.05},
                   {"relative", true},
                   {"cooldown", 3},
                   {"min_lr", 0.02}}),
            (std::vector<double>{0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.025,
                                 0.02, 0.02, 0.02, 0.02, 0.02}));
}

TEST(ReduceOnPlateau, ModesAndMissingValues) {
  ReduceOnPlateau rising({{"monitor", "accuracy"}, {"patience", 1}, {"factor", 0.5}});
  EXPECT_EQ(rising.epoch_end({{"accuracy", 0.5}}, 1), 1);
  EXPECT_EQ(rising.epoch_end({{"accuracy", 0.6}}, 1), 1);
  EXPECT_EQ(rising.epoch_end({{"accuracy", 0.5}}, 1), 0.5);
  ReduceOnPlateau missing({{"monitor", "val_auc"}, {"patience", 0}});
  EXPECT_EQ(missing.epoch_end({{"loss", 1}}, 1), 1);
}

TEST(EarlyStopping, Patience) {
  EXPECT_EQ(stops_at(Json::object(), {3, 2, 2}), 2);
  EXPECT_EQ(stops_at({{"patience", 1}}, {3, 2, 2, 1}), 2);
  EXPECT_EQ(stops_at({{"patience", 2}}, {3, 2, 2, 1, 1, 1}), 5);
  EXPECT_EQ(stops_at({{"patience", 2}}, {3, 2, 1}), -1);
}

TEST(EarlyStopping, MinDeltaSign) {
  EXPECT_EQ(stops_at({{"min_delta", 0.5}}, {3, 2.4, 2}), 2);
  EXPECT_EQ(stops_at({{"min_delta", -0.5}}, {3, 2.4, 2}), 2);  // the sign is Keras's business
  EXPECT_EQ(
      stops_at({{"min_delta", 0.5}, {"monitor", "val_accuracy"}}, {1, 2, 2.3}, "val_accuracy"), 2);
}

TEST(EarlyStopping, ModeBaselineAndMissingValues) {
  EXPECT_EQ(stops_at({{"monitor", "accuracy"}}, {0.5, 0.6, 0.6}, "accuracy"), 2);
  EXPECT_EQ(stops_at({{"monitor", "loss"}, {"mode", "max"}}, {1, 2, 2}, "loss"), 2);
  EXPECT_EQ(stops_at({{"baseline", 1}}, {2, 0.5}), 0);
  EXPECT_EQ(stops_at({{"baseline", 1}}, {0.5, 0.4}), -1);
  EXPECT_EQ(stops_at({{"monitor", "val_auc"}}, {1, 1, 1}), -1);
}

TEST(EarlyStopping, NaNIsNeverBetter) { EXPECT_EQ(stops_at({{"patience", 2}}, {NAN, NAN}), 1); }

TEST(EarlyStopping, RestoresTheBestWeightsOnlyAfterAStop) {
  EarlyStopping callback({{"restore_best_weights", true}, {"patience", 1}});
  const std::vector<float> good{1, 2}, bad{3, 4};
  EXPECT_FALSE(callback.epoch_end({{"val_loss", 1}}, good));
  EXPECT_TRUE(callback.restored().empty());
  EXPECT_TRUE(callback.epoch_end({{"val_loss", 2}}, bad));
  EXPECT_EQ(std::vector<float>(callback.restored().begin(), callback.restored().end()), good);
}

TEST(Callbacks, KnowsWhatIsMonitored) {
  const Callbacks callbacks(Json::parse(
      R"([{"class_name":"EarlyStopping","config":{"monitor":"val_accuracy"}},
          {"class_name":"TerminateOnNaN","config":{}}])"));
  EXPECT_TRUE(callbacks.terminate_on_nan);
  EXPECT_TRUE(callbacks.monitors("accuracy"));
  EXPECT_FALSE(callbacks.monitors("loss"));
  EXPECT_TRUE(callbacks.monitors_validation());
  EXPECT_THROW(Callbacks(Json::parse(R"([{"class_name":"Magic"}])")), Error);
}

}  // namespace
}  // namespace neutra::training
