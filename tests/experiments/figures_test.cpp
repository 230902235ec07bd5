#include "experiments/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tests/count.h"

namespace neutra {
namespace {

Node node(std::int64_t id, bool alternative = false, bool significant = false) {
  Node made;
  made.id = id;
  made.parameters = {{"lr", std::to_string(id) + "&"}};
  made.alternative = alternative;
  made.significant = significant;
  made.mean = 0.5;
  return made;
}

TEST(NetworkFigure, DrawsTheRowsWithTheirRoles) {
  Network network;
  network.fault_id = "D4";
  network.nodes = {node(0), node(1), node(2, true), node(3, true, true), node(4)};
  network.edges = {{0, 1}, {1, 2}, {1, 3}};  // node 4 led nowhere
  const std::string picture = network_figure(network);
  constexpr std::size_t kLegend = 3;
  EXPECT_EQ(count(picture, "<line"), 3U);
  EXPECT_EQ(count(picture, "<circle"), 3U + kLegend);
  EXPECT_EQ(count(picture, "fill=\"#0072b2\""), 1U + 1);
  EXPECT_EQ(count(picture, "fill=\"#80d0a0\""), 1U + 1);
  EXPECT_NE(picture.find("node 3, mean 0.5\nlr=3&amp;"), std::string::npos) << picture;
  EXPECT_NE(picture.find("D4, buggy"), std::string::npos);
  EXPECT_EQ(network_figure(network), picture);
}

TEST(NetworkFigure, DepthIsTheColumn) {
  Network network;
  network.nodes = {node(0), node(1), node(2)};
  network.edges = {{0, 1}, {1, 2}, {0, 2}};
  const std::string picture = network_figure(network);
  EXPECT_NE(picture.find("<rect x=\"32\""), std::string::npos) << picture;  // centre 40
  EXPECT_EQ(count(picture, "<circle cx=\"190\""), 2U + 0);  // both one edge away; legend elsewhere
}

TEST(NetworkFigure, OfTheBuggyProgramAlone) {
  Network network;
  network.nodes = {node(0)};
  EXPECT_EQ(count(network_figure(network), "<line"), 0U);
}

TEST(TimeFigure, PlacesToolsByMeanTimeAndF3) {
  ScoreSheet sheet;
  sheet.tools = {"slow", "quick", "untimed"};
  sheet.faults = {"D6", "D7"};
  const auto add = [&](const std::string& fault, const std::string& tool,
                       std::optional<double> seconds, double before, double after) {
    ScoreRow row;
    row.fault = fault;
    row.tool = tool;
    row.seconds = seconds;
    row.before.f = before;
    row.after.score.f = after;
    sheet.rows.push_back(row);
  };
  add("D6", "slow", 50, 0, 1);
  add("D7", "slow", 150, 0.5, 1);
  add("D6", "quick", 1, 0.25, 0.5);
  add("D7", "quick", std::nullopt, 0.25, 0.5);
  add("D6", "untimed", std::nullopt, 1, 1);
  const std::string picture = time_figure(sheet);
  EXPECT_NE(picture.find("slow: 100 s, F3 before 0.25"), std::string::npos) << picture;
  EXPECT_NE(picture.find("slow: 100 s, F3 after 1<"), std::string::npos);
  EXPECT_NE(picture.find("quick: 1 s, F3 after 0.5<"), std::string::npos);
  EXPECT_EQ(picture.find("untimed"), std::string::npos);
  // The axis runs from 1 to 100 seconds, 60 to 490 pixels.
  EXPECT_NE(picture.find("<circle cx=\"60\" cy=\"185\""), std::string::npos) << picture;
  EXPECT_NE(picture.find("<circle cx=\"490\" cy=\"20\""), std::string::npos);
  EXPECT_EQ(count(time_figure({}), "<circle"), 2U);  // the legend
}

TEST(EfficiencyFigure, ALineForEachSeries) {
  const std::string picture = efficiency_figure(
      {{1, 1, "on"}, {1000, 0.95, "on"}, {32, 0.975, "on"}, {1, 1, "off"}, {32, 0.5, "off"}});
  constexpr std::size_t kLegend = 2;
  EXPECT_EQ(count(picture, "<circle"), 5U + kLegend);
  EXPECT_EQ(count(picture, "stroke-width=\"1.5\""), 3U);
  EXPECT_NE(picture.find("1000 workers, on: 0.95"), std::string::npos) << picture;
  EXPECT_NE(picture.find(">1024<"), std::string::npos);  // the axis ends at a power of two
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(efficiency_figure({}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace neutra
