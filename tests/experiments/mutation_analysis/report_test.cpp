#include "experiments/mutation_analysis/report.h"

#include <gtest/gtest.h>

#include "tests/training/programs.h"

namespace neutra::experiments {

using namespace training;
namespace {

TEST(LocatedText, IsTheDocumentsText) {
  program::Program p = moons();
  p.document["name"] = "a \"quoted\" näme";
  p.document["fit"]["callbacks"] = Json::array();
  const LocatedText located = located_text(p.document);
  EXPECT_EQ(located.text, to_text(p.document));
}

TEST(LocatedText, KnowsPlaces) {
  const Json document = {{"ä", {1, {{"b/c", "x"}}}}, {"d", 2}};
  // {
  //   "ä": [
  //     1,
  //     {
  //       "b/c": "x"
  const LocatedText located = located_text(document);
  const TextSpan value = located.places.at("/ä/1/b~1c");
  EXPECT_EQ(value.first_line, 5u);
  EXPECT_EQ(value.first_column, 14u);
  EXPECT_EQ(value.last_line, 5u);
  EXPECT_EQ(value.last_column, 17u);
  EXPECT_EQ(located.places.at("/ä").first_column, 8u);
  EXPECT_EQ(located.places.at("").last_line, 9u);
}

TEST(MutationReport, HoldsWhatTheSchemaAsks) {
  const program::Program original = moons();
  program::Program changed = original, longer = original;
  changed.document["compile"]["loss"] = "hinge";
  longer.document["data"]["mutations"] = Json::array({{{"op", "change_label"}}});
  const Json report = mutation_report(
      original, "moons.json",
      {{"0",
        "change_loss_function",
        &changed,
        MutantStatus::kKilled,
        "p = 0.01",
        "hinge",
        {"test"},
        {"test", "train"},
        1.5},
       {"1", "change_label", &longer, MutantStatus::kSurvived, "", "50", {}, {"test"}, 0},
       {"2", "change_epochs", &original, MutantStatus::kIgnored, "", "3", {}, {}, 0}},
      {{"test", "test rows"}, {"train", "training rows"}});
  const Json& file = report.at("files").at("moons.json");
  EXPECT_EQ(file.at("source"), to_text(original.document));
  const Json& first = file.at("mutants")[0];
  EXPECT_EQ(first.at("status"), "Killed");
  EXPECT_EQ(first.at("killedBy"), Json::array({"test"}));
  EXPECT_EQ(first.at("duration"), 1500);
  // It stands at the loss.
  std::size_t line = 1;
  const std::string source = file.at("source");
  const std::size_t at = source.find("\"binary_crossentropy\"");
  for (std::size_t i = 0; i < at; ++i) line += source[i] == '\n';
  EXPECT_EQ(first.at("location").at("start").at("line"), line);
  EXPECT_EQ(first.at("location").at("end").at("line"), line);
  // What was added stands where it was added.
  EXPECT_EQ(file.at("mutants")[1].at("status"), "Survived");
  EXPECT_GT(file.at("mutants")[1].at("location").at("end").at("line"),
            file.at("mutants")[1].at("location").at("start").at("line"));
  EXPECT_EQ(file.at("mutants")[2].at("location").at("start").at("line"), 1);
  EXPECT_EQ(report.at("testFiles").at("test sets").at("tests").size(), 2u);
}

}  // namespace
}  // namespace neutra::experiments
