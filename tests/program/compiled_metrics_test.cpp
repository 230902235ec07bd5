#include "program/compiled_metrics.h"

#include <gtest/gtest.h>

#include "support.h"

namespace neutra::program {
namespace {

using Names = std::vector<std::string>;

Program with(Json metrics) {
  Program p;
  p.document = {{"model",
                 {{"class_name", "Sequential"},
                  {"config",
                   {{"layers",
                     {{{"class_name", "Dense"},
                       {"config", {{"units", 1}, {"batch_input_shape", {nullptr, 2}}}}}}}}}}},
                {"compile", {{"loss", "mse"}, {"metrics", std::move(metrics)}}},
                {"data", {{"source", "generator"}}}};
  return p;
}

TEST(CompiledMetrics, ThoseThatAreMeasuredByCanonicalName) {
  EXPECT_EQ(compiled_metrics(with({"mean_absolute_error", "acc", "mae"}).document),
            (Names{"mae", "accuracy"}));
  EXPECT_EQ(compiled_metrics(with(Json::array()).document), Names{});
  EXPECT_EQ(compiled_metrics(Json()), Names{});
  EXPECT_EQ(compiled_metrics(Json{{"compile", 3}}), Names{});
}

TEST(CompiledMetrics, ScriptsKnowNothingOfTheMetric) {
  const Program plain = script_of(with({"acc"}));
  EXPECT_EQ(resolve(plain).metric, "accuracy");
  EXPECT_EQ(resolve(plain).task, "classification");
  for (const char* metric : {"mae", "loss", "accuracy"}) {
    Program p = with({"acc"});
    p.document["metric"] = {{"name", metric}};
    EXPECT_EQ(program_hash(script_of(p)), program_hash(plain)) << metric;
  }
  EXPECT_EQ(resolve(script_of(with(Json::array()))).metric, "loss");
  EXPECT_EQ(resolve(script_of(with(Json::array()))).task, "regression");
  Program told = with(Json::array());
  told.document["task"] = "classification";
  EXPECT_EQ(resolve(script_of(told)).task, "classification");
  // The metric that follows from compile.metrics changes no hash.
  EXPECT_EQ(program_hash(script_of(with({"acc"}))), program_hash(with({"acc"})));
}

}  // namespace
}  // namespace neutra::program
