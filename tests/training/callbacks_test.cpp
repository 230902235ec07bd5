#include "training/callbacks.h"

#include <gtest/gtest.h>

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
